//! Where VMs could go, and their way there.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::call::{Call, Reply};
use super::element::{flag, only};
use super::fault::Fault;
use super::import::Element;
use super::inventory::{Part, parts};
use super::jobs;
use super::tree::Tree;
use placewright_deployment::{ClusterState, DeploymentError};
use placewright_document::{Surroundings, read_requests};
use placewright_http::gone::Cancel;
use placewright_http::{Permission, Problem};
use placewright_model::Request;

/// VMs for which hosts are looked for together, at most: for each of them the filters are asked
/// about all hosts.
const MOST_VMS: usize = 100;

/// A cluster, and the ids here of some of its hosts.
pub(crate) type Targets = (Arc<str>, HashSet<Arc<str>>);

/// The VM of that id in oVirt, by its cluster and its id here.
fn found<'p>(parts: &'p [Part], id: &str) -> Result<(&'p Part, Arc<str>), Fault> {
    let mut found = parts
        .iter()
        .filter_map(|part| Some((part, part.vm(id)?.vm.id.clone())));
    found.next().ok_or_else(|| Fault::not_found("VM", id))
}

/// A request about a VM that runs.
fn request(
    call: &Call,
    part: &Part,
    mut wanted: Map<String, Json>,
    vms: &[Arc<str>],
) -> Result<Request, Fault> {
    let vms: Vec<Json> = vms.iter().map(|vm| json!({"id": vm})).collect();
    wanted.insert("vms".to_owned(), vms.into());
    let schema = part.cluster.schema();
    let surroundings = Surroundings {
        schema: &schema,
        now: call.site.deployment.now(),
        hosts: None,
    };
    let text = Json::Object(wanted).to_string();
    let read = read_requests(&text, "action.json", surroundings);
    let mut requests = read.map_err(DeploymentError::from)?;
    requests
        .pop()
        .ok_or_else(|| Fault::refused("Cannot migrate VM. No VM is named"))
}

/// The hosts to which all of the VMs could go, those where they run apart: what the filters of
/// the policy leave.
pub(crate) fn targets(call: &Call, parts: &[Part], vms: &str) -> Result<Targets, Fault> {
    let ids = || vms.split(',').map(str::trim).filter(|id| !id.is_empty());
    if ids().count() > MOST_VMS {
        return Err(Fault::syntax(format!(
            "\"migration_target_of\" names at most {MOST_VMS} VMs"
        )));
    }
    let mut targets: Option<Targets> = None;
    for id in ids() {
        call.goes_on()?;
        let (part, vm) = found(parts, id)?;
        if targets
            .as_ref()
            .is_some_and(|(cluster, _)| *cluster != *part.name())
        {
            return Err(Fault::refused("the VMs are not all in one cluster"));
        }
        let mut request = request(call, part, Map::new(), std::slice::from_ref(&vm))?;
        let inventory = part.inventory();
        let running = inventory.running(&vm);
        let host = running.and_then(|entry| inventory.host(entry.slot));
        request.excluded.extend(host.map(|host| host.id.clone()));
        let hosts = left(call, part, request)?;
        targets = Some(match targets {
            None => (part.name().clone(), hosts),
            Some((cluster, known)) => (cluster, known.intersection(&hosts).cloned().collect()),
        });
    }
    targets.ok_or_else(|| Fault::syntax("\"migration_target_of\" names no VM"))
}

/// The hosts that no filter removes.
fn left(call: &Call, part: &Part, request: Request) -> Result<HashSet<Arc<str>>, Fault> {
    let runtime = tokio::runtime::Handle::current();
    let snapshot = runtime.block_on(part.cluster.snapshot_with_rules())?;
    let caller = call.cancel.clone();
    let work = move |cancel: Cancel| {
        let kept = snapshot.kept()?;
        let options = kept.options(cancel.or(&caller));
        let left = kept.situation_by(&options).remaining(&request);
        let left = left.map_err(DeploymentError::from)?;
        Ok::<_, DeploymentError>(left.into_iter().collect())
    };
    let Some(questions) = &call.questions else {
        return Err(Fault::from(Problem::new(
            placewright_http::Code::Internal,
            "questions are not answered here",
        )));
    };
    let asked = questions.run((&call.caller.name, part.name()), work);
    Ok(runtime.block_on(asked)?)
}

/// The host that an action names, by its id here.
fn host(part: &Part, named: &Element) -> Result<Arc<str>, Fault> {
    let text = |key: &str| named.get(key).map(|it| it.text.as_str());
    let found = match (text("id"), text("name")) {
        (Some(id), _) => part.host(id).map(|(_, host)| host),
        (None, Some(name)) => part.host_by_name(name),
        (None, None) => return Err(Fault::incomplete("Host", "id|name", "migrate")),
    };
    let found = found.map(|host| host.id.clone());
    found.ok_or_else(|| Fault::refused("Cannot migrate VM. There is no such host in its cluster"))
}

/// `POST /vms/{id}/migrate`
pub(crate) fn migrate(call: &Call) -> Result<Reply, Fault> {
    let action = call.body("action")?;
    only(
        action,
        &[
            "host",
            "cluster",
            "force",
            "async",
            "migrate_vms_in_affinity_closure",
            "grace_period",
            "reason",
        ],
    )?;
    let parts = parts(call)?;
    let (part, vm) = found(&parts, call.part("id"))?;
    call.caller.must(Permission::Operate, Some(part.name()))?;
    if flag(action, "migrate_vms_in_affinity_closure")? == Some(true) {
        return Err(Fault::refused(
            "Cannot migrate VM. VMs of one affinity group are not moved together: migrate them one by one",
        ));
    }
    let own = super::clusters::id(part.name());
    let elsewhere = action.get("cluster").and_then(|it| it.get("id"));
    if elsewhere.is_some_and(|it| it.text != own) {
        return Err(Fault::refused(
            "Cannot migrate VM. VMs stay in their cluster",
        ));
    }
    let mut wanted = Map::new();
    if let Some(named) = action.get("host") {
        wanted.insert("allowed".to_owned(), json!([host(part, named)?]));
    }
    if flag(action, "force")? == Some(true) {
        return Err(Fault::refused(
            "Cannot migrate VM. Nothing is forced here: leave \"force\" out",
        ));
    }
    let request = request(call, part, wanted, std::slice::from_ref(&vm))?;
    call.is_about_cluster(part.name());
    call.is_about_vm(&vm);
    let decided = part
        .cluster
        .turn_as(&call.caller, move |state: &mut ClusterState| {
            state.migrate(request, None)
        })
        .wait()?;
    match &decided.host {
        Some(host) => {
            let name = part
                .vm_by_key(&vm)
                .map_or_else(|| vm.to_string(), super::vms::name);
            let job = jobs::migration(call, (part.name(), &vm), host, &name);
            let reference = Tree::new("job").at(&jobs::href(&job), &job);
            let action = Tree::new("action").with(reference);
            Ok(Reply::ok(action.text("status", "complete")))
        }
        None => {
            let body: Json = serde_json::from_str(&decided.body).unwrap_or_default();
            let number = body.get("number").and_then(Json::as_u64);
            Err(Fault::refused(format!(
                "Cannot migrate VM. There is no host that satisfies current scheduling constraints: decision {} of the cluster \"{}\" says of each host why",
                number.unwrap_or_default(),
                part.name()
            )))
        }
    }
}
