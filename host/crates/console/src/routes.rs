//! The table of pages: for each one who may see it, what it takes, and what answers.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::{get, post};

use crate::ask::{self, Console};
use crate::format::Moment;
use crate::openid::OpenId;
use crate::session::{self, Cookie};
use crate::{
    assets, audit, decision, decisions, events, group, groups, host, hosts, maintenance, migration,
    openid, overview, page, plan, plans, policies, policy, questions, quotas, reservations, search,
    settings, tokens, unit, units, vms,
};
use placewright_http::permission::{ANY, open, rule};
use placewright_http::{Access, BodySize, Face, Permission, Rule, Scope, Transport, Within};

use BodySize::{Form, Usual, Whole};
use Permission::{Administer, AttachPolicies, AuthorPolicies, Operate, View};
use Scope::{All, Any, Cluster};

/// The parameters of a cluster's hosts, as a page and as the panel of one of them.
const FLEET: &[&str] = &[
    "colour", "policy", "cpu", "memory", "group", "filter", "state", "sort", "page", "view", "host",
];

/// Those of what is refreshed of that page: the digest of what it shows already as well.
const MEASURED: &[&str] = &[
    "colour", "policy", "cpu", "memory", "group", "filter", "state", "sort", "page", "view",
    "host", "known",
];

/// Every page.
pub const RULES: &[Rule] = &[
    open("GET", "/assets/{name}"),
    open("GET", "/sign-in"),
    open("POST", "/sign-in").takes(Form),
    open("GET", "/sign-in/openid"),
    // Providers add parameters of their own.
    open("GET", "/sign-in/openid/back").query(ANY),
    open("POST", "/sign-out").takes(Form),
    open("POST", "/scheme").takes(Form),
    rule("GET", "/", View, Any).query(&["filter", "state", "sort"]),
    rule("GET", "/search", View, Any).query(&["text"]),
    rule("GET", "/events", View, Any).query(&["kind", "cluster", "by", "text", "after"]),
    // Whoever may not see the log is told which role may.
    rule("GET", "/audit", View, Any).query(&[
        "kind", "by", "action", "cluster", "result", "status", "text", "since", "until", "after",
    ]),
    rule("GET", "/events/stream", View, Any).query(&["after"]),
    rule("GET", "/clusters/{cluster}", View, Cluster).query(FLEET),
    rule("GET", "/clusters/{cluster}/map", View, Cluster).query(MEASURED),
    rule("GET", "/clusters/{cluster}/panel", View, Cluster).query(FLEET),
    rule("GET", "/clusters/{cluster}/hosts/{host}", View, Cluster).query(&["sort"]),
    rule(
        "GET",
        "/clusters/{cluster}/hosts/{host}/maintenance",
        View,
        Cluster,
    ),
    rule(
        "POST",
        "/clusters/{cluster}/hosts/{host}/state",
        Operate,
        Cluster,
    )
    .takes(Usual),
    rule("GET", "/clusters/{cluster}/vms", View, Cluster)
        .query(&["text", "host", "tenant", "pending", "sort", "after"]),
    rule("GET", "/clusters/{cluster}/vms/{vm}", View, Cluster).query(&["why-not"]),
    rule("GET", "/clusters/{cluster}/vms/{vm}/migrate", View, Cluster).query(&["host"]),
    rule(
        "POST",
        "/clusters/{cluster}/vms/{vm}/migrate",
        Operate,
        Cluster,
    )
    .takes(Usual),
    rule("GET", "/clusters/{cluster}/reservations", View, Cluster).query(&["after"]),
    rule("POST", "/clusters/{cluster}/reservations", Operate, Cluster).takes(Usual),
    rule("GET", "/clusters/{cluster}/groups", View, Cluster)
        .query(&["kept", "filter", "vm", "after", "make"]),
    rule("POST", "/clusters/{cluster}/groups", Operate, Cluster).takes(Usual),
    rule("GET", "/clusters/{cluster}/groups/{group}", View, Cluster),
    rule(
        "POST",
        "/clusters/{cluster}/groups/{group}",
        Operate,
        Cluster,
    )
    .takes(Usual),
    rule("GET", "/clusters/{cluster}/decisions", View, Cluster)
        .query(&["outcome", "filter", "vm", "after"]),
    rule(
        "GET",
        "/clusters/{cluster}/decisions/{number}",
        View,
        Cluster,
    )
    .query(&[
        "host", "policy", "values", "filter", "sort", "rows", "columns",
    ]),
    rule("GET", "/clusters/{cluster}/plans", View, Cluster),
    rule("POST", "/clusters/{cluster}/plans", Operate, Cluster).takes(Usual),
    rule("GET", "/clusters/{cluster}/plans/{number}", View, Cluster),
    rule(
        "POST",
        "/clusters/{cluster}/plans/{number}",
        Operate,
        Cluster,
    )
    .takes(Usual),
    rule("GET", "/clusters/{cluster}/questions", View, Cluster).query(&[
        "ask",
        "now",
        "cpu",
        "memory",
        "gpu.count",
        "gpu.share",
        "gpu-model",
        "page-size",
        "pages",
        "zone",
        "tenant",
        "columns",
        "host",
        "restart",
        "vm",
        "policy",
        "entry",
        "factors",
    ]),
    rule("GET", "/clusters/{cluster}/settings", View, Cluster),
    rule(
        "POST",
        "/clusters/{cluster}/settings",
        AttachPolicies,
        Cluster,
    )
    .takes(Usual),
    rule("GET", "/policies", View, Any).query(&["filter"]),
    rule("GET", "/policies/{policy}", View, Any).query(&[
        "view",
        "cluster",
        "shares-of",
        "sequence",
    ]),
    rule("POST", "/policies/{policy}", AuthorPolicies, Any).takes(Usual),
    rule("POST", "/policies/{policy}/draft", AuthorPolicies, Any).takes(Usual),
    rule("GET", "/quotas", View, Any).query(&["tenant", "cluster", "after", "make"]),
    rule("POST", "/quotas", Administer, All).takes(Usual),
    rule("GET", "/quotas/{quota}", View, Any),
    rule("POST", "/quotas/{quota}", Administer, All).takes(Usual),
    // Whoever may not see tokens is told which role may.
    rule("GET", "/tokens", View, Any),
    rule("POST", "/tokens", Administer, All).takes(Usual),
    rule("POST", "/tokens/{token}", Administer, All).takes(Usual),
    rule("GET", "/units", View, Any).query(&["which", "kind", "filter", "view"]),
    rule("POST", "/units", Administer, All).takes(Whole),
    rule("GET", "/units/{unit}", View, Any),
    rule("POST", "/units/{unit}", Administer, All).takes(Usual),
];

/// The first parts of the paths of pages: each is a face, so that all other paths are the API's.
const PREFIXES: [&str; 13] = [
    "/",
    "/assets",
    "/clusters",
    "/policies",
    "/quotas",
    "/tokens",
    "/units",
    "/events",
    "/audit",
    "/search",
    "/scheme",
    "/sign-in",
    "/sign-out",
];

fn routes() -> Router<Arc<Console>> {
    let pages = Router::new()
        .route("/", get(overview::show))
        .route("/search", get(search::show))
        .route("/events", get(events::show))
        .route("/audit", get(audit::show))
        .route("/events/stream", get(events::stream))
        .route("/clusters/{cluster}", get(hosts::show))
        .route("/clusters/{cluster}/map", get(hosts::cells))
        .route("/clusters/{cluster}/panel", get(hosts::panel))
        .route("/clusters/{cluster}/hosts/{host}", get(host::show))
        .route(
            "/clusters/{cluster}/hosts/{host}/maintenance",
            get(maintenance::show),
        )
        .route(
            "/clusters/{cluster}/hosts/{host}/state",
            post(maintenance::act),
        )
        .route("/clusters/{cluster}/vms", get(vms::list))
        .route("/clusters/{cluster}/vms/{vm}", get(vms::show))
        .route(
            "/clusters/{cluster}/vms/{vm}/migrate",
            get(migration::show).post(migration::act),
        )
        .route(
            "/clusters/{cluster}/reservations",
            get(reservations::list).post(reservations::act),
        )
        .route(
            "/clusters/{cluster}/groups",
            get(groups::list).post(group::make),
        )
        .route(
            "/clusters/{cluster}/groups/{group}",
            get(group::show).post(group::act),
        )
        .route("/clusters/{cluster}/decisions", get(decisions::list))
        .route(
            "/clusters/{cluster}/decisions/{number}",
            get(decision::show),
        )
        .route(
            "/clusters/{cluster}/plans",
            get(plans::list).post(plans::make_one),
        )
        .route(
            "/clusters/{cluster}/plans/{number}",
            get(plan::show).post(plan::act),
        )
        .route("/clusters/{cluster}/questions", get(questions::show))
        .route(
            "/clusters/{cluster}/settings",
            get(settings::show).post(settings::save),
        )
        .route("/policies", get(policies::list))
        .route("/policies/{policy}", get(policy::show).post(policy::act))
        .route("/policies/{policy}/draft", post(policy::draft))
        .route("/quotas", get(quotas::list).post(quotas::make))
        .route("/quotas/{quota}", get(quotas::show).post(quotas::act))
        .route("/tokens", get(tokens::list).post(tokens::create))
        .route("/tokens/{token}", post(tokens::act))
        .route("/units", get(units::list).post(units::upload))
        .route("/units/{unit}", get(unit::show).post(unit::act));
    pages
        .route("/sign-in", get(session::form).post(session::sign_in))
        .route(page::OPENID, get(openid::begin))
        .route(openid::OPENID_BACK, get(openid::back))
        .route("/sign-out", post(session::sign_out))
        .route("/scheme", post(session::scheme))
        .layer(from_fn(session::from_own_pages))
        .route("/assets/{name}", get(assets::show))
}

/// The console as faces of a server, one for each first part of its paths. It asks the API that
/// it is given; `transport` says how browsers reach the server, and `openid` how people sign in who
/// have no token.
pub fn faces(
    api: Face,
    access: Arc<Access>,
    transport: Transport,
    openid: Option<Arc<OpenId>>,
) -> Vec<Face> {
    let is_secure = transport != Transport::Plain;
    let by_openid = openid.is_some();
    let console = Arc::new(Console {
        api: Within::new(api),
        access,
        cookie: Cookie { is_secure },
        openid,
        since: Moment::now(),
        pages: ask::pages(),
    });
    let mut routes = Some(routes().with_state(console));
    let faces = PREFIXES.map(|prefix| {
        let rules = if routes.is_some() { RULES } else { &[] };
        let routes = routes.take().unwrap_or_default();
        Face {
            secret: match is_secure {
                true => session::secure_secret,
                false => session::plain_secret,
            },
            problem: match by_openid {
                true => page::problem_or_openid,
                false => page::problem,
            },
            ..Face::new(
                prefix,
                routes,
                rules,
                "the overview at / leads to all pages",
            )
        }
    });
    faces.into()
}
