//! What a row of a table of routes says: who may call the route, which query parameters it takes,
//! and what body. What a route does not take is refused.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::limits::ApiLimits;
use placewright_document::Word;

/// What a token may do. Each role may do what the ones before it may.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "kebab-case")]
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
    /// What a request needs instead that only tries: one with `dry-run=true` in its query.
    pub to_try: Option<Permission>,
    /// The names of the query parameters that it takes.
    pub query: &'static [&'static str],
    /// Whether the route takes a body, and how large it may be.
    pub body: BodySize,
    /// Whether the deployment remembers the route's requests with the places that they reserve:
    /// an answer to a request that comes again is then the deployment's.
    pub is_remembered: bool,
    /// Whether a request is answered anew though one with its Idempotency-Key came before: it
    /// changes nothing, and its answer is too large to be kept in memory.
    pub is_answered_anew: bool,
    /// Whether the route does what it does only if what it is about is as `If-Match` or
    /// `If-None-Match` say. Requests with such a header are refused by other routes that do more
    /// than read.
    pub is_conditional: bool,
}

/// The query parameters of a route that others than its clients add some to: it takes any.
pub const ANY: &[&str] = &["*"];

/// Whether a route takes a body, and how large that may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodySize {
    /// It takes none, or an object without keys: `{}`.
    Nothing,
    /// 16 KiB: the form of a page that nobody needs a token for.
    Form,
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
            Self::Form => limits.body.min(16 << 10),
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

    /// The same for a route that needs only this of a request with `dry-run=true` in its
    /// query, which must then change nothing.
    pub const fn to_try(self, permission: Permission) -> Self {
        Self {
            to_try: Some(permission),
            ..self
        }
    }

    /// What a request with that query needs.
    pub fn permission(&self, query: Option<&str>) -> Option<(Permission, Scope)> {
        let only_tries = || {
            let mut pairs = query.unwrap_or_default().split('&');
            // A pair that is written in another way is not understood: more is asked of it.
            pairs.any(|pair| pair == "dry-run=true")
        };
        let (permission, scope) = self.needs?;
        match self.to_try.filter(|_| only_tries()) {
            Some(to_try) => Some((to_try, scope)),
            None => Some((permission, scope)),
        }
    }

    /// Whether the route changes nothing: what it is asked with POST is a question.
    pub fn only_reads(&self) -> bool {
        let reads = |(permission, _)| permission == Permission::View;
        self.method == "GET" || self.is_answered_anew || self.needs.is_some_and(reads)
    }

    /// The same for a route of which no answer is kept.
    pub const fn answered_anew(self) -> Self {
        Self {
            is_answered_anew: true,
            ..self
        }
    }

    /// The same for a route that looks at `If-Match` and `If-None-Match`.
    pub const fn conditional(self) -> Self {
        Self {
            is_conditional: true,
            ..self
        }
    }

    /// The same for a route whose requests the deployment remembers.
    pub const fn remembered(self) -> Self {
        Self {
            is_remembered: true,
            ..self
        }
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
        to_try: None,
        query: &[],
        body: BodySize::Nothing,
        is_remembered: false,
        is_answered_anew: false,
        is_conditional: false,
    }
}

/// A route for everybody, which takes neither query parameters nor a body.
pub const fn open(method: &'static str, path: &'static str) -> Rule {
    Rule {
        method,
        path,
        needs: None,
        to_try: None,
        query: &[],
        body: BodySize::Nothing,
        is_remembered: false,
        is_answered_anew: false,
        is_conditional: false,
    }
}

#[cfg(test)]
mod tests {
    use super::Permission::{Administer, AttachPolicies, AuthorPolicies, Force, Operate, View};
    use super::*;

    #[test]
    fn questions_only_read_and_what_needs_more_than_to_look_does_not() {
        let of = |method, permission| rule(method, "/v1/x", permission, Scope::Any);
        assert!(of("GET", Administer).only_reads() && of("POST", View).only_reads());
        assert!(of("POST", Administer).answered_anew().only_reads());
        assert!(open("GET", "/v1/health").only_reads());
        assert!(!of("POST", Operate).only_reads() && !of("DELETE", Force).only_reads());
        assert!(!of("POST", Operate).to_try(View).only_reads());
    }

    #[test]
    fn roles_are_stored_and_sent_by_their_words() {
        for (word, role) in Role::WORDS {
            assert_eq!(serde_json::to_value(role).unwrap(), *word);
        }
    }

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
}
