//! Policies over the unit `parts`, and what its explain part tells.

use placewright_chain::{Explanation, FactShown};
use placewright_inventory::Inventory;
use placewright_model::{Facts, Host, Request, Value};
use placewright_scheduler::{Decision, Scheduler};

use crate::scene::{GIB, cluster, request, scheduler, vm};
use crate::units::generation;

/// A scheduler of so many hosts, listed as `h0`, `h1` and so on, under the policy.
///
/// # Panics
/// If there is anything wrong with the policy.
pub fn parts(hosts: usize, policy: &str) -> Scheduler {
    of(cluster(hosts), policy)
}

/// A scheduler of that cluster under the policy.
///
/// # Panics
/// If there is anything wrong with the policy.
pub fn of(inventory: Inventory, policy: &str) -> Scheduler {
    scheduler(inventory, policy, &generation(&["parts", "overhead"]))
}

/// A policy that lets something follow from each placement, and explains itself. The
/// nearer a host is to the first of the list, the less it costs.
pub fn following(follow: &str) -> String {
    format!(
        "[[costs]]\nunit = 'parts'\n\
         [[effects]]\nunit = 'parts'\nsettings.follow = '{follow}'\n"
    )
}

/// A policy that puts batches in that order. The nearer a host is to the first of
/// the list, the less it costs.
pub fn ordering(turns: &str) -> String {
    format!("[[costs]]\nunit = 'parts'\n[order]\nunit = 'parts'\nsettings.turns = '{turns}'\n")
}

/// A request to place a VM of that id, with that draw.
pub fn drawn(id: &str, draw: f64) -> Request {
    Request {
        draw: Some(draw),
        ..request(vm(id))
    }
}

/// A request of that tenant.
pub fn of_tenant(tenant: &str, id: &str, now: i64) -> Request {
    Request {
        facts: Facts::new().with("tenant", tenant),
        now,
        ..request(vm(id))
    }
}

/// A host with so many of the amount `gpu`.
pub fn with_gpus(id: &str, gpus: i64) -> Host {
    let mut host = Host::new(id)
        .with("cpu.cores", 16_i64)
        .with("memory.total", 64 * GIB);
    let amount = Facts::new().with("name", "gpu").with("total", gpus);
    host.facts.push_row("amounts", amount);
    host
}

/// The groups of a decision: ids of hosts with their shares.
pub fn shares(decision: &Decision) -> Vec<Vec<(&str, f64)>> {
    let groups = decision.shares.iter().map(|group| group.iter());
    groups
        .map(|group| group.map(|(id, share)| (&**id, *share)).collect())
        .collect()
}

/// All facts of an explanation's last stage.
///
/// # Panics
/// If there is no stage.
pub fn facts(explanation: &Explanation) -> &[FactShown] {
    &explanation.stages.last().expect("there is a stage").facts
}

/// The value of the fact of that name about that row.
pub fn fact<'a>(explanation: &'a Explanation, name: &str, row: &str) -> Option<&'a Value> {
    let about = |fact: &&FactShown| {
        let about = fact.about.as_ref();
        fact.name == name && about.is_some_and(|(_, id)| id == row)
    };
    facts(explanation)
        .iter()
        .find(about)
        .map(|fact| &fact.value)
}
