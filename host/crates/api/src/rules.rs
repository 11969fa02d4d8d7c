//! The table of routes: for each one who may call it, which query parameters it takes, and what
//! body. What a route does not take is refused.

use placewright_http::permission::{BodySize, Permission, Rule, Scope, open, rule};

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
    .takes(Usual)
    .conditional(),
    rule(
        "PATCH",
        "/v1/clusters/{cluster}/settings",
        AttachPolicies,
        Cluster,
    )
    .takes(Usual)
    .conditional(),
    rule("GET", "/v1/clusters/{cluster}/unheeded", View, Cluster),
    rule("GET", "/v1/clusters/{cluster}/unit-costs", View, Cluster).query(LISTED),
    rule("GET", "/v1/clusters/{cluster}/inventory", View, Cluster),
    rule("PUT", "/v1/clusters/{cluster}/inventory", Operate, Cluster)
        .takes(Whole)
        .query(&["vanishing-hosts", "vanishing-vms"])
        .conditional(),
    rule(
        "POST",
        "/v1/clusters/{cluster}/inventory/changes",
        Operate,
        Cluster,
    )
    .takes(Whole)
    .conditional(),
    rule(
        "GET",
        "/v1/clusters/{cluster}/inventory/follow",
        View,
        Cluster,
    )
    .query(&["after", "kind"]),
    rule("GET", "/v1/clusters/{cluster}/sums", View, Cluster),
    rule("GET", "/v1/clusters/{cluster}/rates", View, Cluster),
    rule("GET", "/v1/clusters/{cluster}/host-columns", View, Cluster).query(&["columns"]),
    rule("GET", "/v1/clusters/{cluster}/host-schema", View, Cluster),
    rule(
        "GET",
        "/v1/clusters/{cluster}/group-standings",
        View,
        Cluster,
    )
    .query(&["limit", "after", "kept", "hard", "vm", "text"]),
    rule("GET", "/v1/clusters/{cluster}/hosts", View, Cluster).query(&[
        "limit",
        "after",
        "state",
        "zone",
        "group",
        "text",
        "sort",
        "attribute",
    ]),
    rule("GET", "/v1/clusters/{cluster}/hosts/{host}", View, Cluster),
    rule(
        "PUT",
        "/v1/clusters/{cluster}/hosts/{host}",
        Operate,
        Cluster,
    )
    .takes(Usual)
    .conditional(),
    rule(
        "PATCH",
        "/v1/clusters/{cluster}/hosts/{host}",
        Operate,
        Cluster,
    )
    .takes(Usual)
    .conditional(),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/hosts/{host}",
        Operate,
        Cluster,
    )
    .conditional(),
    rule("GET", "/v1/clusters/{cluster}/vms", View, Cluster).query(&[
        "limit",
        "after",
        "host",
        "tenant",
        "pending",
        "state",
        "zone",
        "group",
        "text",
        "sort",
        "attribute",
    ]),
    rule("GET", "/v1/clusters/{cluster}/vms/{vm}", View, Cluster),
    rule("PUT", "/v1/clusters/{cluster}/vms/{vm}", Operate, Cluster)
        .takes(Usual)
        .conditional(),
    rule("PATCH", "/v1/clusters/{cluster}/vms/{vm}", Operate, Cluster)
        .takes(Usual)
        .conditional(),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/vms/{vm}",
        Operate,
        Cluster,
    )
    .conditional(),
    rule("GET", "/v1/clusters/{cluster}/groups", View, Cluster)
        .query(&["limit", "after", "vm", "host", "text"]),
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
    .takes(Usual)
    .conditional(),
    rule(
        "PATCH",
        "/v1/clusters/{cluster}/groups/{group}",
        Operate,
        Cluster,
    )
    .takes(Usual)
    .conditional(),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/groups/{group}",
        Operate,
        Cluster,
    )
    .conditional(),
    rule(
        "PUT",
        "/v1/clusters/{cluster}/groups/{group}/vms/{vm}",
        Operate,
        Cluster,
    )
    .conditional(),
    rule(
        "PUT",
        "/v1/clusters/{cluster}/groups/{group}/hosts/{host}",
        Operate,
        Cluster,
    )
    .conditional(),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/groups/{group}/vms/{vm}",
        Operate,
        Cluster,
    )
    .conditional(),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/groups/{group}/hosts/{host}",
        Operate,
        Cluster,
    )
    .conditional(),
    rule("GET", "/v1/clusters/{cluster}/tenants", View, Cluster).query(&["limit", "after", "text"]),
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
    .takes(Usual)
    .conditional(),
    rule(
        "PATCH",
        "/v1/clusters/{cluster}/tenants/{tenant}",
        Operate,
        Cluster,
    )
    .takes(Usual)
    .conditional(),
    rule(
        "DELETE",
        "/v1/clusters/{cluster}/tenants/{tenant}",
        Operate,
        Cluster,
    )
    .conditional(),
    rule("POST", "/v1/clusters/{cluster}/place", Operate, Cluster)
        .takes(Usual)
        .query(&["wait", "dry-run", "all-or-nothing"])
        .to_try(View)
        .remembered(),
    rule("POST", "/v1/clusters/{cluster}/migrate", Operate, Cluster)
        .takes(Usual)
        .query(&["wait", "dry-run", "all-or-nothing"])
        .to_try(View)
        .remembered(),
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
    ])
    .to_try(View)
    .remembered(),
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
    rule("GET", "/v1/clusters/{cluster}/decisions", View, Cluster)
        .query(&["limit", "after", "vm", "host", "placed", "text"]),
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
    )
    .query(&["policy"]),
    rule(
        "GET",
        "/v1/clusters/{cluster}/decisions/{number}/why",
        View,
        Cluster,
    )
    .query(&["host", "policy"]),
    rule(
        "POST",
        "/v1/clusters/{cluster}/decisions/{number}/replay",
        View,
        Cluster,
    ),
    rule("GET", "/v1/clusters/{cluster}/history", View, Cluster).query(&["since"]),
    rule("POST", "/v1/clusters/{cluster}/why", View, Cluster)
        .takes(Usual)
        .query(&["host"]),
    rule("POST", "/v1/clusters/{cluster}/capacity", View, Cluster)
        .takes(Usual)
        .query(&["at-most"]),
    rule("POST", "/v1/clusters/{cluster}/host-costs", View, Cluster)
        .takes(Usual)
        .query(&["policy"]),
    rule("POST", "/v1/clusters/{cluster}/what-if", View, Cluster).query(&["without", "restart"]),
    // Besides, the route asks for all clusters of the policy.
    rule(
        "POST",
        "/v1/clusters/{cluster}/draft",
        AuthorPolicies,
        Cluster,
    )
    .takes(Usual)
    .query(&[
        "policy",
        "decisions",
        "examples",
        "shares-of",
        "in-sequence",
    ]),
    rule("GET", "/v1/clusters/{cluster}/plans", View, Cluster).query(LISTED),
    rule("POST", "/v1/clusters/{cluster}/plans", Operate, Cluster)
        .takes(Usual)
        .query(&["dry-run"])
        .to_try(View),
    rule("POST", "/v1/clusters/{cluster}/evacuate", Operate, Cluster)
        .takes(Usual)
        .query(&["dry-run"])
        .to_try(View),
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
    rule("PUT", "/v1/policies/{policy}", AuthorPolicies, Any)
        .takes(Usual)
        .conditional(),
    rule("DELETE", "/v1/policies/{policy}", AuthorPolicies, Any).conditional(),
    rule("POST", "/v1/policies/{policy}/check", AuthorPolicies, Any).takes(Usual),
    rule("POST", "/v1/policies/{policy}/clone", AuthorPolicies, Any).takes(Usual),
    rule("GET", "/v1/units", View, Any).query(LISTED),
    rule("GET", "/v1/units/{unit}", View, Any),
    rule("GET", "/v1/units/{unit}/inspection", View, Any),
    rule("GET", "/v1/units/{unit}/history", View, Any).query(LISTED),
    // Besides, the route shows the clusters of the token.
    rule("GET", "/v1/units/{unit}/costs", View, Any).query(LISTED),
    rule("PUT", "/v1/units", Administer, All)
        .query(&["override-policies"])
        .takes(Whole),
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
    rule("GET", "/v1/unit-stagings", View, All).query(LISTED),
    rule("GET", "/v1/events", View, Any),
    rule("GET", "/v1/events/recent", View, Any)
        .query(&["limit", "after", "kind", "cluster", "by", "text"]),
    rule("GET", "/v1/quotas", View, Any).query(&["limit", "after", "tenant", "cluster"]),
    // Besides, the route shows those of all clusters and of clusters of the token.
    rule("GET", "/v1/quotas/{quota}", View, Any),
    rule("PUT", "/v1/quotas/{quota}", Administer, All)
        .takes(Usual)
        .conditional(),
    rule("PATCH", "/v1/quotas/{quota}", Administer, All)
        .takes(Usual)
        .conditional(),
    rule("DELETE", "/v1/quotas/{quota}", Administer, All).conditional(),
    rule("GET", "/v1/tokens", Administer, All).query(LISTED),
    rule("POST", "/v1/tokens", Administer, All).takes(Usual),
    rule("GET", "/v1/tokens/{token}", Administer, All),
    rule("DELETE", "/v1/tokens/{token}", Administer, All),
    rule("GET", "/v1/audit", Administer, All).query(&[
        "limit", "after", "kind", "by", "action", "cluster", "result", "status", "text", "since",
        "until",
    ]),
    rule("POST", "/v1/reload", Administer, All),
    rule("POST", "/v1/backup", Administer, All).answered_anew(),
];

use BodySize::{Batch, Usual, Whole};
use Permission::{Administer, AttachPolicies, AuthorPolicies, Operate, View};
use Scope::{All, Any, Cluster};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_the_cluster_where_they_ask_for_it() {
        for rule in RULES {
            let asks = matches!(rule.needs, Some((_, Scope::Cluster)));
            assert_eq!(asks, rule.path.contains("{cluster}"), "{}", rule.path);
        }
    }
}
