//! Who may do what: roles, permissions, and the permission that each route needs.

use super::limits::ApiLimits;
use placewright_document::Word;

/// What a token may do. Each role may do what the ones before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Look.
    Viewer,
    /// Tell of hosts and VMs, place, move.
    Operator,
    /// Write policies and say which clusters they are for.
    PolicyAuthor,
    /// Everything: units, clusters, the server itself.
    Admin,
}

impl Word for Role {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("viewer", Self::Viewer),
        ("operator", Self::Operator),
        ("policy-author", Self::PolicyAuthor),
        ("admin", Self::Admin),
    ];
}

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// See state, decisions, units and policies.
    View,
    /// Change the inventory; place, confirm, cancel, migrate; run a balance plan.
    Operate,
    /// Choose the host of a VM without asking any unit.
    Force,
    /// Create, edit and delete policies: on every cluster that they are attached to.
    AuthorPolicies,
    /// Say which policy a cluster has, and what it sets otherwise.
    AttachPolicies,
    /// Units, clusters, the server itself.
    Administer,
}

impl Permission {
    /// The least of the roles that have it.
    pub fn least_role(self) -> Role {
        match self {
            Self::View => Role::Viewer,
            Self::Operate => Role::Operator,
            Self::AuthorPolicies | Self::AttachPolicies => Role::PolicyAuthor,
            Self::Force | Self::Administer => Role::Admin,
        }
    }
}

impl Role {
    /// Whether the role has the permission.
    pub fn allows(self, permission: Permission) -> bool {
        self >= permission.least_role()
    }
}

/// Of which clusters a token must be for a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Of the one that the path names as `{cluster}`.
    Cluster,
    /// Of any: the route itself looks which ones it is about, and shows no others.
    Any,
    /// Of all: the route is about the whole server.
    All,
}

/// What a route needs.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Method in capitals.
    pub method: &'static str,
    /// Path with its variable parts, as the route is declared: `/v1/clusters/{cluster}`.
    pub path: &'static str,
    /// None: the route is for everybody, without a token.
    pub needs: Option<(Permission, Scope)>,
    /// How large the body of a request may be.
    pub body: BodySize,
}

/// How large the body of a request may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodySize {
    /// 1 MiB: a request, a question, a policy. Policies in the folder may have as much.
    Usual,
    /// 4 MiB: the VMs of a batch.
    Batch,
    /// As much as the option `request-body` says: an inventory, changes of one, a unit.
    Whole,
}

impl BodySize {
    /// In bytes. What the option says is the bound for all routes.
    pub fn bytes(self, limits: &ApiLimits) -> usize {
        match self {
            Self::Usual => limits.body.min(1 << 20),
            Self::Batch => limits.body.min(4 << 20),
            Self::Whole => limits.body,
        }
    }
}

impl Rule {
    /// The same for a route that takes bodies of that size.
    pub const fn takes(self, body: BodySize) -> Self {
        Self { body, ..self }
    }
}

/// A route that needs a permission.
pub const fn rule(
    method: &'static str,
    path: &'static str,
    permission: Permission,
    scope: Scope,
) -> Rule {
    Rule {
        method,
        path,
        needs: Some((permission, scope)),
        body: BodySize::Usual,
    }
}

/// A route for everybody.
pub const fn open(method: &'static str, path: &'static str) -> Rule {
    Rule {
        method,
        path,
        needs: None,
        body: BodySize::Usual,
    }
}

/// Every route with what it needs. A route that is not here is refused.
pub const RULES: &[Rule] = &[
    open("GET", "/v1/health"),
    open("GET", "/v1/ready"),
    open("GET", "/v1/openapi.json"),
    rule("GET", "/metrics", Permission::View, Scope::All),
    rule("GET", "/v1/clusters", View, Any),
    rule("POST", "/v1/clusters", Administer, All).takes(Whole),
    rule("GET", "/v1/clusters/{cluster}", View, Cluster),
    rule("DELETE", "/v1/clusters/{cluster}", Administer, Cluster),
    rule("GET", "/v1/clusters/{cluster}/settings", View, Cluster),
    rule(
        "PUT",
        "/v1/clusters/{cluster}/settings",
        AttachPolicies,
        Cluster,
    ),
    rule("GET", "/v1/clusters/{cluster}/unheeded", View, Cluster),
    rule("GET", "/v1/clusters/{cluster}/inventory", View, Cluster),
    rule("PUT", "/v1/clusters/{cluster}/inventory", Operate, Cluster).takes(Whole),
    rule(
        "POST",
        "/v1/clusters/{cluster}/inventory/changes",
        Operate,
        Cluster,
    )
    .takes(Whole),
    rule("GET", "/v1/clusters/{cluster}/hosts", View, Cluster),
    rule("GET", "/v1/clusters/{cluster}/hosts/{host}", View, Cluster),
    rule(
        "PUT",
        "/v1/clusters/{cluster}/hosts/{host}",
        Operate,
        Cluster,
    ),
    rule(
        "PATCH",
        "/v1/clusters/{cluster}/hosts/{host}",
        Operate,
        Cluster,
    ),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/hosts/{host}",
        Operate,
        Cluster,
    ),
    rule("GET", "/v1/clusters/{cluster}/vms", View, Cluster),
    rule("GET", "/v1/clusters/{cluster}/vms/{vm}", View, Cluster),
    rule("PUT", "/v1/clusters/{cluster}/vms/{vm}", Operate, Cluster),
    rule("PATCH", "/v1/clusters/{cluster}/vms/{vm}", Operate, Cluster),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/vms/{vm}",
        Operate,
        Cluster,
    ),
    rule("GET", "/v1/clusters/{cluster}/groups", View, Cluster),
    rule(
        "GET",
        "/v1/clusters/{cluster}/groups/{group}",
        View,
        Cluster,
    ),
    rule(
        "PUT",
        "/v1/clusters/{cluster}/groups/{group}",
        Operate,
        Cluster,
    ),
    rule(
        "PATCH",
        "/v1/clusters/{cluster}/groups/{group}",
        Operate,
        Cluster,
    ),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/groups/{group}",
        Operate,
        Cluster,
    ),
    rule("GET", "/v1/clusters/{cluster}/tenants", View, Cluster),
    rule(
        "GET",
        "/v1/clusters/{cluster}/tenants/{tenant}",
        View,
        Cluster,
    ),
    rule(
        "PUT",
        "/v1/clusters/{cluster}/tenants/{tenant}",
        Operate,
        Cluster,
    ),
    rule(
        "PATCH",
        "/v1/clusters/{cluster}/tenants/{tenant}",
        Operate,
        Cluster,
    ),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/tenants/{tenant}",
        Operate,
        Cluster,
    ),
    rule("POST", "/v1/clusters/{cluster}/place", Operate, Cluster),
    rule("POST", "/v1/clusters/{cluster}/migrate", Operate, Cluster),
    rule(
        "POST",
        "/v1/clusters/{cluster}/place-batch",
        Operate,
        Cluster,
    )
    .takes(Batch),
    rule("POST", "/v1/clusters/{cluster}/confirm", Operate, Cluster),
    rule("POST", "/v1/clusters/{cluster}/cancel", Operate, Cluster),
    rule("GET", "/v1/clusters/{cluster}/reservations", View, Cluster),
    rule(
        "GET",
        "/v1/clusters/{cluster}/reservations/{vm}",
        View,
        Cluster,
    ),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/reservations/{vm}",
        Operate,
        Cluster,
    ),
    rule(
        "POST",
        "/v1/clusters/{cluster}/reservations/{vm}/renew",
        Operate,
        Cluster,
    ),
    rule("GET", "/v1/clusters/{cluster}/decisions", View, Cluster),
    rule(
        "GET",
        "/v1/clusters/{cluster}/decisions/{number}",
        View,
        Cluster,
    ),
    rule(
        "GET",
        "/v1/clusters/{cluster}/decisions/{number}/explanation",
        View,
        Cluster,
    ),
    rule(
        "POST",
        "/v1/clusters/{cluster}/decisions/{number}/replay",
        View,
        Cluster,
    ),
    rule("POST", "/v1/clusters/{cluster}/why", View, Cluster),
    rule("POST", "/v1/clusters/{cluster}/capacity", View, Cluster),
    rule("POST", "/v1/clusters/{cluster}/what-if", View, Cluster),
    rule("GET", "/v1/clusters/{cluster}/plans", View, Cluster),
    rule("POST", "/v1/clusters/{cluster}/plans", Operate, Cluster),
    rule("POST", "/v1/clusters/{cluster}/evacuate", Operate, Cluster),
    rule(
        "GET",
        "/v1/clusters/{cluster}/plans/{number}",
        View,
        Cluster,
    ),
    rule(
        "POST",
        "/v1/clusters/{cluster}/plans/{number}/begin",
        Operate,
        Cluster,
    ),
    rule(
        "POST",
        "/v1/clusters/{cluster}/plans/{number}/cancel",
        Operate,
        Cluster,
    ),
    rule("GET", "/v1/policies", View, Any),
    rule("GET", "/v1/policies/{policy}", View, Any),
    rule("GET", "/v1/policies/{policy}/history", View, Any),
    // Besides, the route asks for the permission on each cluster of the policy.
    rule("PUT", "/v1/policies/{policy}", AuthorPolicies, Any),
    rule("DELETE", "/v1/policies/{policy}", AuthorPolicies, Any),
    rule("POST", "/v1/policies/{policy}/check", AuthorPolicies, Any),
    rule("POST", "/v1/policies/{policy}/clone", AuthorPolicies, Any),
    rule("GET", "/v1/units", View, Any),
    rule("GET", "/v1/units/{unit}", View, Any),
    rule("GET", "/v1/units/{unit}/inspection", View, Any),
    rule("GET", "/v1/units/{unit}/history", View, Any),
    rule("PUT", "/v1/units", Administer, All).takes(Whole),
    rule("POST", "/v1/units/check", Administer, All).takes(Whole),
    rule("POST", "/v1/units/replay", Administer, All).takes(Whole),
    rule("DELETE", "/v1/units/{unit}", Administer, All),
    rule("POST", "/v1/units/{unit}/rollback", Administer, All),
    rule("POST", "/v1/units/{unit}/enable", Administer, All),
    rule("POST", "/v1/units/{unit}/disable", Administer, All),
    rule("POST", "/v1/units/{unit}/pin", Administer, All),
    rule("POST", "/v1/units/{unit}/unpin", Administer, All),
    rule("POST", "/v1/units/shadow", Administer, All).takes(Whole),
    rule("GET", "/v1/units/{unit}/shadow", View, All),
    rule("DELETE", "/v1/units/{unit}/shadow", Administer, All),
    rule("POST", "/v1/units/{unit}/shadow/promote", Administer, All),
    rule("GET", "/v1/unit-files", View, All),
    rule("GET", "/v1/events", View, Any),
    rule("POST", "/v1/reload", Administer, All),
];

use BodySize::{Batch, Whole};
use Permission::{Administer, AttachPolicies, AuthorPolicies, Operate, View};
use Scope::{All, Any, Cluster};

#[cfg(test)]
mod tests {
    use super::Permission::Force;
    use super::*;

    #[test]
    fn each_role_may_what_the_ones_before_it_may() {
        let table = [
            (Role::Viewer, vec![View]),
            (Role::Operator, vec![View, Operate]),
            (
                Role::PolicyAuthor,
                vec![View, Operate, AuthorPolicies, AttachPolicies],
            ),
            (
                Role::Admin,
                vec![
                    View,
                    Operate,
                    AuthorPolicies,
                    AttachPolicies,
                    Force,
                    Administer,
                ],
            ),
        ];
        for (role, allowed) in table {
            for permission in [
                View,
                Operate,
                AuthorPolicies,
                AttachPolicies,
                Force,
                Administer,
            ] {
                assert_eq!(
                    role.allows(permission),
                    allowed.contains(&permission),
                    "{role:?} {permission:?}"
                );
            }
        }
    }

    #[test]
    fn rules_name_the_cluster_where_they_ask_for_it() {
        for rule in RULES {
            let asks = matches!(rule.needs, Some((_, Scope::Cluster)));
            assert_eq!(asks, rule.path.contains("{cluster}"), "{}", rule.path);
        }
    }
}
