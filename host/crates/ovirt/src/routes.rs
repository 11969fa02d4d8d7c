//! The table of routes: for each one who may call it, what it takes, and what it does.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::{MethodFilter, on, post};

use super::call::{Handle, answer};
use super::fault;
use super::site::Site;
use super::{
    clusters, events, groups, hosts, jobs, labels, migrate, policies, root, sso, units, upgrade,
    vms,
};
use placewright_deployment::Deployment;
use placewright_http::permission::{open, rule};
use placewright_http::{Access, BodySize, Face, Permission, Rule, Scope};

/// All paths of an engine begin with it.
pub const PREFIX: &str = "/ovirt-engine";

/// Parameters that clients send with everything.
const USUAL: &[&str] = &["async", "correlation_id", "filter", "follow", "all_content"];

/// Parameters of lists.
const LISTED: &[&str] = &[
    "async",
    "correlation_id",
    "filter",
    "follow",
    "all_content",
    "max",
];

/// Parameters of lists in which something may be looked for.
const SEARCHED: &[&str] = &[
    "async",
    "correlation_id",
    "filter",
    "follow",
    "all_content",
    "max",
    "search",
    "case_sensitive",
];

/// Parameters of the list of events.
const EVENTS: &[&str] = &[
    "async",
    "correlation_id",
    "filter",
    "follow",
    "all_content",
    "max",
    "search",
    "case_sensitive",
    "from",
    "wait",
];

/// Parameters of the list of hosts.
const HOSTS: &[&str] = &[
    "async",
    "correlation_id",
    "filter",
    "follow",
    "all_content",
    "max",
    "search",
    "case_sensitive",
    "migration_target_of",
    "check_vms_in_affinity_closure",
];

type Route = (Rule, Handle);

const fn see(path: &'static str, query: &'static [&'static str], handle: Handle) -> Route {
    (
        rule("GET", path, Permission::View, Scope::Any).query(query),
        handle,
    )
}

const fn send(
    method: &'static str,
    path: &'static str,
    permission: Permission,
    handle: Handle,
) -> Route {
    let rule = rule(method, path, permission, Scope::Any);
    (rule.takes(BodySize::Usual).query(USUAL), handle)
}

/// Every route that needs a token. Besides, a route asks for its permission on each cluster
/// that it concerns.
const ROUTES: [Route; 68] = {
    use Permission::{Administer, AttachPolicies, AuthorPolicies, Operate};
    [
        see("/ovirt-engine/api", USUAL, root::show),
        see("/ovirt-engine/api/", USUAL, root::show),
        see(
            "/ovirt-engine/api/datacenters",
            SEARCHED,
            root::data_centers,
        ),
        see("/ovirt-engine/api/macpools", LISTED, root::mac_pools),
        see(
            "/ovirt-engine/api/schedulingpolicyunits",
            LISTED,
            units::list,
        ),
        see(
            "/ovirt-engine/api/schedulingpolicyunits/{id}",
            USUAL,
            units::show,
        ),
        send(
            "DELETE",
            "/ovirt-engine/api/schedulingpolicyunits/{id}",
            Administer,
            units::remove,
        ),
        see(
            "/ovirt-engine/api/schedulingpolicies",
            LISTED,
            policies::list,
        ),
        send(
            "POST",
            "/ovirt-engine/api/schedulingpolicies",
            AuthorPolicies,
            policies::create,
        ),
        see(
            "/ovirt-engine/api/schedulingpolicies/{id}",
            USUAL,
            policies::show,
        ),
        send(
            "PUT",
            "/ovirt-engine/api/schedulingpolicies/{id}",
            AuthorPolicies,
            policies::update,
        ),
        send(
            "DELETE",
            "/ovirt-engine/api/schedulingpolicies/{id}",
            AuthorPolicies,
            policies::remove,
        ),
        see(
            "/ovirt-engine/api/schedulingpolicies/{id}/clusters",
            LISTED,
            policies::clusters,
        ),
        see(
            "/ovirt-engine/api/schedulingpolicies/{id}/{list}",
            LISTED,
            policies::list_entries,
        ),
        send(
            "POST",
            "/ovirt-engine/api/schedulingpolicies/{id}/{list}",
            AuthorPolicies,
            policies::add,
        ),
        see(
            "/ovirt-engine/api/schedulingpolicies/{id}/{list}/{entry}",
            USUAL,
            policies::show_entry,
        ),
        send(
            "DELETE",
            "/ovirt-engine/api/schedulingpolicies/{id}/{list}/{entry}",
            AuthorPolicies,
            policies::remove_entry,
        ),
        see("/ovirt-engine/api/clusters", SEARCHED, clusters::list),
        see("/ovirt-engine/api/clusters/{id}", USUAL, clusters::show),
        send(
            "PUT",
            "/ovirt-engine/api/clusters/{id}",
            AttachPolicies,
            clusters::update,
        ),
        send(
            "POST",
            "/ovirt-engine/api/clusters/{id}/upgrade",
            Operate,
            upgrade::upgrade,
        ),
        see(
            "/ovirt-engine/api/clusters/{id}/affinitygroups",
            LISTED,
            groups::list,
        ),
        send(
            "POST",
            "/ovirt-engine/api/clusters/{id}/affinitygroups",
            Operate,
            groups::create,
        ),
        see(
            "/ovirt-engine/api/clusters/{id}/affinitygroups/{group}",
            USUAL,
            groups::show,
        ),
        send(
            "PUT",
            "/ovirt-engine/api/clusters/{id}/affinitygroups/{group}",
            Operate,
            groups::update,
        ),
        send(
            "DELETE",
            "/ovirt-engine/api/clusters/{id}/affinitygroups/{group}",
            Operate,
            groups::remove,
        ),
        see(
            "/ovirt-engine/api/clusters/{id}/affinitygroups/{group}/{list}",
            LISTED,
            groups::list_members,
        ),
        send(
            "POST",
            "/ovirt-engine/api/clusters/{id}/affinitygroups/{group}/{list}",
            Operate,
            groups::add_member,
        ),
        see(
            "/ovirt-engine/api/clusters/{id}/affinitygroups/{group}/{list}/{member}",
            USUAL,
            groups::show_member,
        ),
        send(
            "DELETE",
            "/ovirt-engine/api/clusters/{id}/affinitygroups/{group}/{list}/{member}",
            Operate,
            groups::remove_member,
        ),
        see("/ovirt-engine/api/events", EVENTS, events::list),
        send("POST", "/ovirt-engine/api/events", Operate, events::create),
        see("/ovirt-engine/api/events/{id}", USUAL, events::show),
        see("/ovirt-engine/api/jobs", SEARCHED, jobs::list),
        send("POST", "/ovirt-engine/api/jobs", Operate, jobs::create),
        see("/ovirt-engine/api/jobs/{id}", USUAL, jobs::show),
        send(
            "POST",
            "/ovirt-engine/api/jobs/{id}/end",
            Operate,
            jobs::end,
        ),
        send(
            "POST",
            "/ovirt-engine/api/jobs/{id}/clear",
            Operate,
            jobs::clear,
        ),
        see(
            "/ovirt-engine/api/jobs/{id}/steps",
            LISTED,
            jobs::list_steps,
        ),
        send(
            "POST",
            "/ovirt-engine/api/jobs/{id}/steps",
            Operate,
            jobs::add_step,
        ),
        see(
            "/ovirt-engine/api/jobs/{id}/steps/{step}",
            USUAL,
            jobs::show_step,
        ),
        send(
            "POST",
            "/ovirt-engine/api/jobs/{id}/steps/{step}/end",
            Operate,
            jobs::end_step,
        ),
        see("/ovirt-engine/api/affinitylabels", LISTED, labels::list),
        send(
            "POST",
            "/ovirt-engine/api/affinitylabels",
            Operate,
            labels::create,
        ),
        see("/ovirt-engine/api/affinitylabels/{id}", USUAL, labels::show),
        send(
            "PUT",
            "/ovirt-engine/api/affinitylabels/{id}",
            Operate,
            labels::update,
        ),
        send(
            "DELETE",
            "/ovirt-engine/api/affinitylabels/{id}",
            Operate,
            labels::remove,
        ),
        see(
            "/ovirt-engine/api/affinitylabels/{id}/{list}",
            LISTED,
            labels::list_members,
        ),
        send(
            "POST",
            "/ovirt-engine/api/affinitylabels/{id}/{list}",
            Operate,
            labels::add_member,
        ),
        see(
            "/ovirt-engine/api/affinitylabels/{id}/{list}/{member}",
            USUAL,
            labels::show_member,
        ),
        send(
            "DELETE",
            "/ovirt-engine/api/affinitylabels/{id}/{list}/{member}",
            Operate,
            labels::remove_member,
        ),
        see(
            "/ovirt-engine/api/hosts/{id}/affinitylabels",
            LISTED,
            labels::list_assigned,
        ),
        send(
            "POST",
            "/ovirt-engine/api/hosts/{id}/affinitylabels",
            Operate,
            labels::assign,
        ),
        see(
            "/ovirt-engine/api/hosts/{id}/affinitylabels/{label}",
            USUAL,
            labels::show_assigned,
        ),
        send(
            "DELETE",
            "/ovirt-engine/api/hosts/{id}/affinitylabels/{label}",
            Operate,
            labels::withdraw,
        ),
        see(
            "/ovirt-engine/api/vms/{id}/affinitylabels",
            LISTED,
            labels::list_assigned,
        ),
        send(
            "POST",
            "/ovirt-engine/api/vms/{id}/affinitylabels",
            Operate,
            labels::assign,
        ),
        see(
            "/ovirt-engine/api/vms/{id}/affinitylabels/{label}",
            USUAL,
            labels::show_assigned,
        ),
        send(
            "DELETE",
            "/ovirt-engine/api/vms/{id}/affinitylabels/{label}",
            Operate,
            labels::withdraw,
        ),
        see("/ovirt-engine/api/hosts", HOSTS, hosts::list),
        see("/ovirt-engine/api/hosts/{id}", USUAL, hosts::show),
        see(
            "/ovirt-engine/api/hosts/{id}/{list}",
            LISTED,
            hosts::list_below,
        ),
        see(
            "/ovirt-engine/api/hosts/{id}/{list}/{entry}",
            USUAL,
            hosts::show_below,
        ),
        see("/ovirt-engine/api/vms", SEARCHED, vms::list),
        see("/ovirt-engine/api/vms/{id}", USUAL, vms::show),
        see("/ovirt-engine/api/vms/{id}/{list}", LISTED, vms::list_below),
        see(
            "/ovirt-engine/api/vms/{id}/{list}/{entry}",
            USUAL,
            vms::show_below,
        ),
        send(
            "POST",
            "/ovirt-engine/api/vms/{id}/migrate",
            Operate,
            migrate::migrate,
        ),
    ]
};

/// Signing in, which needs no token.
const OPEN: [Rule; 2] = [
    open("POST", "/ovirt-engine/sso/oauth/token").takes(BodySize::Form),
    open("POST", "/ovirt-engine/services/sso-logout").takes(BodySize::Form),
];

/// Who may call which route.
pub const RULES: &[Rule] = &{
    let mut rules = [OPEN[0]; ROUTES.len() + OPEN.len()];
    let mut index = 0;
    while index < rules.len() {
        rules[index] = match index < OPEN.len() {
            true => OPEN[index],
            false => ROUTES[index - OPEN.len()].0,
        };
        index += 1;
    }
    rules
};

/// What oVirt's clients speak to.
pub fn face(deployment: Arc<Deployment>, access: Arc<Access>) -> Face {
    let site = Arc::new(Site::new(deployment));
    let signing = Router::new()
        .route("/ovirt-engine/sso/oauth/token", post(sso::token))
        .route("/ovirt-engine/services/sso-logout", post(sso::logout))
        .with_state(access);
    let mut routes = Router::new();
    for (rule, handle) in ROUTES {
        let method = match rule.method {
            "GET" => MethodFilter::GET,
            "POST" => MethodFilter::POST,
            "PUT" => MethodFilter::PUT,
            _ => MethodFilter::DELETE,
        };
        let answers = async move |State(site): State<Arc<Site>>, request: Request| {
            answer(site, handle, request).await
        };
        routes = routes.route(rule.path, on(method, answers));
    }
    let face = Face::new(
        PREFIX,
        routes.with_state(site).merge(signing),
        RULES,
        "/ovirt-engine/api names what there is",
    );
    Face {
        secret: sso::secret,
        problem: fault::of_layer,
        ..face
    }
}
