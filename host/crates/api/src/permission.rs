//! The table of routes: for each one who may call it, which query parameters it takes, and what
//! body. What a route does not take is refused.

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

/// What a route needs and takes.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Method in capitals.
    pub method: &'static str,
    /// Path with its variable parts, as the route is declared: `/v1/clusters/{cluster}`.
    pub path: &'static str,
    /// None: the route is for everybody, without a token.
    pub needs: Option<(Permission, Scope)>,
    /// The names of the query parameters that it takes.
    pub query: &'static [&'static str],
    /// Whether the route takes a body, and how large it may be.
    pub body: BodySize,
}

/// Whether a route takes a body, and how large that may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodySize {
    /// It takes none, or an object without keys: `{}`.
    Nothing,
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
            Self::Nothing => 0,
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

    /// The same for a route that takes these query parameters.
    pub const fn query(self, query: &'static [&'static str]) -> Self {
        Self { query, ..self }
    }
}

/// A route that needs a permission, and takes neither query parameters nor a body.
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
        query: &[],
        body: BodySize::Nothing,
    }
}

/// A route for everybody, which takes neither query parameters nor a body.
pub const fn open(method: &'static str, path: &'static str) -> Rule {
    Rule {
        method,
        path,
        needs: None,
        query: &[],
        body: BodySize::Nothing,
    }
}

/// The query parameters of paged lists.
const LISTED: &[&str] = &["limit", "after"];

/// Every route: its permission, query parameters and body. A route that is not here is refused, as are query
/// parameters and bodies that are not.
pub const RULES: &[Rule] = &[
    open("GET", "/v1/health"),
    open("GET", "/v1/ready"),
    open("GET", "/v1/openapi.json"),
    rule("GET", "/metrics", Permission::View, Scope::All),
    rule("GET", "/v1/clusters", View, Any).query(LISTED),
    rule("POST", "/v1/clusters", Administer, All)
        .takes(Whole)
        .query(&["policy"]),
    rule("GET", "/v1/clusters/{cluster}", View, Cluster),
    rule("DELETE", "/v1/clusters/{cluster}", Administer, Cluster),
    rule("GET", "/v1/clusters/{cluster}/settings", View, Cluster),
    rule(
        "PUT",
        "/v1/clusters/{cluster}/settings",
        AttachPolicies,
        Cluster,
    )
    .takes(Usual),
    rule("GET", "/v1/clusters/{cluster}/unheeded", View, Cluster),
    rule("GET", "/v1/clusters/{cluster}/inventory", View, Cluster),
    rule("PUT", "/v1/clusters/{cluster}/inventory", Operate, Cluster)
        .takes(Whole)
        .query(&["vanishing-hosts", "vanishing-vms"]),
    rule(
        "POST",
        "/v1/clusters/{cluster}/inventory/changes",
        Operate,
        Cluster,
    )
    .takes(Whole),
    rule("GET", "/v1/clusters/{cluster}/hosts", View, Cluster).query(&["limit", "after", "state"]),
    rule("GET", "/v1/clusters/{cluster}/hosts/{host}", View, Cluster),
    rule(
        "PUT",
        "/v1/clusters/{cluster}/hosts/{host}",
        Operate,
        Cluster,
    )
    .takes(Usual),
    rule(
        "PATCH",
        "/v1/clusters/{cluster}/hosts/{host}",
        Operate,
        Cluster,
    )
    .takes(Usual),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/hosts/{host}",
        Operate,
        Cluster,
    ),
    rule("GET", "/v1/clusters/{cluster}/vms", View, Cluster)
        .query(&["limit", "after", "host", "tenant", "pending"]),
    rule("GET", "/v1/clusters/{cluster}/vms/{vm}", View, Cluster),
    rule("PUT", "/v1/clusters/{cluster}/vms/{vm}", Operate, Cluster).takes(Usual),
    rule("PATCH", "/v1/clusters/{cluster}/vms/{vm}", Operate, Cluster).takes(Usual),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/vms/{vm}",
        Operate,
        Cluster,
    ),
    rule("GET", "/v1/clusters/{cluster}/groups", View, Cluster).query(LISTED),
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
    )
    .takes(Usual),
    rule(
        "PATCH",
        "/v1/clusters/{cluster}/groups/{group}",
        Operate,
        Cluster,
    )
    .takes(Usual),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/groups/{group}",
        Operate,
        Cluster,
    ),
    rule("GET", "/v1/clusters/{cluster}/tenants", View, Cluster).query(LISTED),
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
    )
    .takes(Usual),
    rule(
        "PATCH",
        "/v1/clusters/{cluster}/tenants/{tenant}",
        Operate,
        Cluster,
    )
    .takes(Usual),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/tenants/{tenant}",
        Operate,
        Cluster,
    ),
    rule("POST", "/v1/clusters/{cluster}/place", Operate, Cluster)
        .takes(Usual)
        .query(&["wait", "dry-run", "all-or-nothing"]),
    rule("POST", "/v1/clusters/{cluster}/migrate", Operate, Cluster)
        .takes(Usual)
        .query(&["wait", "dry-run", "all-or-nothing"]),
    rule(
        "POST",
        "/v1/clusters/{cluster}/place-batch",
        Operate,
        Cluster,
    )
    .takes(Batch)
    .query(&[
        "all-or-nothing",
        "listed",
        "dry-run",
        "from-nothing",
        "search",
    ]),
    rule("POST", "/v1/clusters/{cluster}/confirm", Operate, Cluster).takes(Usual),
    rule("POST", "/v1/clusters/{cluster}/cancel", Operate, Cluster).takes(Usual),
    rule("GET", "/v1/clusters/{cluster}/reservations", View, Cluster).query(LISTED),
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
    )
    .takes(Usual),
    rule("GET", "/v1/clusters/{cluster}/decisions", View, Cluster).query(LISTED),
    rule(
        "GET",
        "/v1/clusters/{cluster}/decisions/{number}",
        View,
        Cluster,
    )
    .query(&["runners-up"]),
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
    rule("POST", "/v1/clusters/{cluster}/why", View, Cluster)
        .takes(Usual)
        .query(&["host"]),
    rule("POST", "/v1/clusters/{cluster}/capacity", View, Cluster)
        .takes(Usual)
        .query(&["at-most"]),
    rule("POST", "/v1/clusters/{cluster}/what-if", View, Cluster).query(&["without", "restart"]),
    rule("GET", "/v1/clusters/{cluster}/plans", View, Cluster).query(LISTED),
    rule("POST", "/v1/clusters/{cluster}/plans", Operate, Cluster)
        .takes(Usual)
        .query(&["dry-run"]),
    rule("POST", "/v1/clusters/{cluster}/evacuate", Operate, Cluster)
        .takes(Usual)
        .query(&["dry-run"]),
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
    )
    .takes(Usual),
    rule(
        "POST",
        "/v1/clusters/{cluster}/plans/{number}/cancel",
        Operate,
        Cluster,
    ),
    rule("GET", "/v1/policies", View, Any).query(LISTED),
    rule("GET", "/v1/policies/{policy}", View, Any),
    rule("GET", "/v1/policies/{policy}/history", View, Any).query(LISTED),
    // Besides, the route asks for the permission on each cluster of the policy.
    rule("PUT", "/v1/policies/{policy}", AuthorPolicies, Any).takes(Usual),
    rule("DELETE", "/v1/policies/{policy}", AuthorPolicies, Any),
    rule("POST", "/v1/policies/{policy}/check", AuthorPolicies, Any).takes(Usual),
    rule("POST", "/v1/policies/{policy}/clone", AuthorPolicies, Any).takes(Usual),
    rule("GET", "/v1/units", View, Any).query(LISTED),
    rule("GET", "/v1/units/{unit}", View, Any),
    rule("GET", "/v1/units/{unit}/inspection", View, Any),
    rule("GET", "/v1/units/{unit}/history", View, Any).query(LISTED),
    rule("PUT", "/v1/units", Administer, All).takes(Whole),
    rule("POST", "/v1/units/check", Administer, All).takes(Whole),
    rule("POST", "/v1/units/replay", Administer, All)
        .takes(Whole)
        .query(&["decisions", "examples"]),
    rule("DELETE", "/v1/units/{unit}", Administer, All),
    rule("POST", "/v1/units/{unit}/rollback", Administer, All).takes(Usual),
    rule("POST", "/v1/units/{unit}/enable", Administer, All),
    rule("POST", "/v1/units/{unit}/disable", Administer, All),
    rule("POST", "/v1/units/{unit}/pin", Administer, All),
    rule("POST", "/v1/units/{unit}/unpin", Administer, All),
    rule("POST", "/v1/units/shadow", Administer, All)
        .takes(Whole)
        .query(&["every"]),
    rule("GET", "/v1/units/{unit}/shadow", View, All),
    rule("DELETE", "/v1/units/{unit}/shadow", Administer, All),
    rule("POST", "/v1/units/{unit}/shadow/promote", Administer, All),
    rule("GET", "/v1/unit-files", View, All).query(LISTED),
    rule("GET", "/v1/events", View, Any),
    rule("POST", "/v1/reload", Administer, All),
];

use BodySize::{Batch, Usual, Whole};
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
