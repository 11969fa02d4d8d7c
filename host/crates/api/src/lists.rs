//! Lists of what a cluster consists of: some of it, in an order, a page at a time.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa::openapi::{RefOr, Schema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::contract;
use placewright_deployment::Deployment;
use placewright_deployment::cluster::{ListError, WantedHosts, WantedVms};
use placewright_http::document::written;
use placewright_http::extract::{Path, Query, repeated};
use placewright_http::problem::{Code, Problem};
use placewright_http::{Page, PageQuery};
use placewright_model::{HostState, Word};

pub(super) fn routes() -> OpenApiRouter<Arc<Deployment>> {
    OpenApiRouter::new()
        .routes(routes!(hosts))
        .routes(routes!(vms))
        .routes(routes!(groups))
        .routes(routes!(tenants))
}

/// Which hosts are wanted: all that fit everything that is given. What is not here is refused
/// before.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct HostsQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    after: Option<String>,
    /// Only hosts in this state: up, maintenance, down or error.
    #[param(schema_with = host_states)]
    state: Option<String>,
    /// Only hosts of this availability zone.
    zone: Option<String>,
    /// Only hosts of the affinity group with this id.
    group: Option<String>,
    /// Only hosts with this in their id or name, in letters of either case.
    text: Option<String>,
    /// The column by which they are listed, with `-` before it for the greatest first, such as
    /// `-memory.free`. Those without a value come last. By id if not given.
    #[param(pattern = "^-?[a-z]")]
    sort: Option<String>,
}

fn host_states() -> RefOr<Schema> {
    contract::one_of_words(HostState::WORDS.iter().map(|(word, _)| *word))
}

/// The hosts of a cluster, by id or in the order that is asked for.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/hosts", operation_id = "list_hosts", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), HostsQuery,
        ("attribute" = Option<Vec<String>>, Query, description = "Only hosts with this value of an attribute, as NAME:VALUE. Given again for more attributes: all must fit")),
    responses((status = OK, body = Page<contract::Host>)))]
async fn hosts(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<HostsQuery>,
    uri: Uri,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let (after, most) = (query.after, PageQuery::of(query.limit).limit()?);
    let wanted = WantedHosts {
        state: query.state,
        zone: query.zone,
        group: query.group,
        attributes: attributes(&uri)?,
        text: query.text,
        sort: query.sort,
    };
    let snapshot = cluster.snapshot().await?;
    written(move || {
        let listed = snapshot.hosts_shown(&wanted, after.as_deref(), most);
        let (items, next) = listed.map_err(refused)?;
        Ok::<_, Problem>(Page { items, next })
    })
    .await
}

/// Which VMs are wanted: all that fit everything that is given. What is not here is refused
/// before.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct VmsQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    after: Option<String>,
    /// Only VMs that run on this host or have a place reserved there.
    host: Option<String>,
    /// Only VMs of this tenant.
    tenant: Option<String>,
    /// true: only VMs for which a place is reserved; false: only those that run.
    pending: Option<bool>,
    /// Only VMs in this state, as it was told of them; one that runs is `up` if nothing was told.
    state: Option<String>,
    /// Only VMs of this availability zone.
    zone: Option<String>,
    /// Only VMs of the affinity group with this id.
    group: Option<String>,
    /// Only VMs with this in their id or name, in letters of either case.
    text: Option<String>,
    /// The column by which they are listed, with `-` before it for the greatest first, such as
    /// `-memory`. Those without a value come last. By id if not given.
    #[param(pattern = "^-?[a-z]")]
    sort: Option<String>,
}

/// The VMs of a cluster that run or have a place reserved, by id or in the order that is asked
/// for.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/vms", operation_id = "list_vms", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), VmsQuery,
        ("attribute" = Option<Vec<String>>, Query, description = "Only VMs with this value of an attribute, as NAME:VALUE. Given again for more attributes: all must fit")),
    responses((status = OK, body = Page<contract::Vm>)))]
async fn vms(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<VmsQuery>,
    uri: Uri,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let (after, most) = (query.after, PageQuery::of(query.limit).limit()?);
    let wanted = WantedVms {
        host: query.host,
        tenant: query.tenant,
        pending: query.pending,
        state: query.state,
        zone: query.zone,
        group: query.group,
        attributes: attributes(&uri)?,
        text: query.text,
        sort: query.sort,
    };
    let snapshot = cluster.snapshot().await?;
    written(move || {
        let listed = snapshot.vms_shown(&wanted, after.as_deref(), most);
        let (items, next) = listed.map_err(refused)?;
        Ok::<_, Problem>(Page { items, next })
    })
    .await
}

/// The attributes that a query asks for, each with its value.
fn attributes(uri: &Uri) -> Result<Vec<(String, String)>, Problem> {
    repeated(uri, "attribute")
        .map(|attribute| match attribute.split_once(':') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => {
                let sentence = "\"attribute\" is written as NAME:VALUE, such as attribute=rack:r1";
                Err(Problem::new(Code::InvalidParameter, sentence))
            }
        })
        .collect()
}

fn refused(error: ListError) -> Problem {
    Problem::new(Code::InvalidParameter, error)
}

/// Which groups are wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct GroupsQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    after: Option<String>,
    /// Only groups that this VM is in by its id.
    vm: Option<String>,
    /// Only groups that this host is in by its id.
    host: Option<String>,
    /// Only groups with this in their id or name, in letters of either case.
    text: Option<String>,
}

impl GroupsQuery {
    fn wants(&self, group: &Value) -> bool {
        let has = |list: &str, id: &Option<String>| {
            let Some(id) = id else {
                return true;
            };
            let members = group[list].as_array();
            members.is_some_and(|members| members.iter().any(|it| it == id))
        };
        has("vms", &self.vm) && has("hosts", &self.host) && holds(group, self.text.as_deref())
    }
}

/// Whether a row has the text in its id or name.
fn holds(row: &Value, text: Option<&str>) -> bool {
    let Some(text) = text.map(str::to_lowercase) else {
        return true;
    };
    let names = ["id", "name"].map(|key| row[key].as_str().unwrap_or_default());
    names.iter().any(|name| name.to_lowercase().contains(&text))
}

/// The affinity groups of a cluster, by id.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/groups", operation_id = "list_groups", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), GroupsQuery),
    responses((status = OK, body = Page<contract::Group>)))]
async fn groups(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<GroupsQuery>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let page = PageQuery {
        limit: query.limit,
        after: query.after.clone(),
    };
    let snapshot = cluster.snapshot().await?;
    written(move || {
        let (vm, host) = (query.vm.as_deref(), query.host.as_deref());
        snapshot.check_members(vm, host).map_err(refused)?;
        let groups = snapshot.groups_shown();
        page.page("groups", groups.filter(|group| query.wants(group)), id)
    })
    .await
}

/// Which tenants are wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TenantsQuery {
    /// Entries at most, from 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// Begin after this entry: the `next` of the page before.
    after: Option<String>,
    /// Only tenants with this in their id or name, in letters of either case.
    text: Option<String>,
}

/// The tenants of a cluster, by id.
#[utoipa::path(get, path = "/v1/clusters/{cluster}/tenants", operation_id = "list_tenants", tag = "inventory",
    params(("cluster" = String, Path, description = "Name of the cluster"), TenantsQuery),
    responses((status = OK, body = Page<contract::Tenant>)))]
async fn tenants(
    State(deployment): State<Arc<Deployment>>,
    Path(cluster): Path<String>,
    Query(query): Query<TenantsQuery>,
) -> Result<Response, Problem> {
    let cluster = deployment.cluster(&cluster)?;
    let page = PageQuery {
        limit: query.limit,
        after: query.after,
    };
    let snapshot = cluster.snapshot().await?;
    written(move || {
        let tenants = snapshot.tenants_shown();
        page.page(
            "tenants",
            tenants.filter(|tenant| holds(tenant, query.text.as_deref())),
            id,
        )
    })
    .await
}

/// The id of a row.
fn id(row: &Value) -> String {
    row["id"].as_str().unwrap_or_default().to_owned()
}
