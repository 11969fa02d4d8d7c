//! Moves that keep load within the limits and empty hosts; then, hosts to be
//! switched.

use host_load::moving::{self, Cluster, Now, Place, least_load_first, most_load_first};
use placewright_sdk::prelude::*;

use crate::power::{self, Step};
use crate::{PowerSaving, Settings};

/// The cluster as it runs.
#[derive(Request)]
pub struct Request {
    request: Now,
    hosts: Rows<moving::Host>,
    #[table("hosts")]
    power: Rows<power::Host>,
}

#[derive(Reason, Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// has had too high a CPU load for too long
    OverUtilized,
    /// has so little CPU load that it could be empty
    UnderUtilized,
    /// has too little memory left to promise
    ShortOfMemory,
    /// has so much memory left to promise that it could be empty
    RichInMemory,
    /// is empty and not needed
    NotNeeded,
    /// is needed again
    Needed,
}

impl Balance for PowerSaving {
    type Request = Request;
    type Settings = Settings;
    type Reason = Reason;
    type Writes = ();

    fn balance(request: &Request, settings: &Settings) -> Result<Vec<Proposal<Reason>>, Problem> {
        let cluster = Cluster::new(&request.request, &request.hosts, settings.limits());
        let mut proposals = move_by_cpu(&cluster, settings);
        proposals.extend(move_by_memory(&cluster, settings));
        if settings.enable_host_power_management {
            let step = power::next_step(&request.power, settings.hosts_in_reserve);
            proposals.extend(step.map(switch));
        }
        Ok(proposals)
    }
}

/// From hosts with too much to do, the busiest first; then from those with too
/// little, the least busy first. Wherever there is room.
fn move_by_cpu(cluster: &Cluster, settings: &Settings) -> Vec<Proposal<Reason>> {
    let high = settings.high_utilization();
    let target = settings.limits().target();
    let mut over = cluster.hosts(|host| cluster.is_over(host, target));
    let mut under = cluster.hosts(|host| cluster.is_under(host, settings.low_utilization, 1));
    let destinations = cluster.hosts(|host| !cluster.is_over(host, high));
    most_load_first(&mut over);
    least_load_first(&mut under);
    let mut proposals = cluster.moves(&over, &destinations, Reason::OverUtilized);
    proposals.extend(cluster.moves(&under, &destinations, Reason::UnderUtilized));
    proposals
}

/// From hosts with too little memory; then from those with much of it unused.
fn move_by_memory(cluster: &Cluster, settings: &Settings) -> Vec<Proposal<Reason>> {
    let low = settings.low_memory;
    let is_short = |host: &Place| host.memory_left() < low && host.vms() > 1;
    let is_rich = |host: &Place| {
        let unused = settings
            .high_memory
            .is_some_and(|high| host.memory_left() > high);
        unused && host.vms() > 0
    };
    let destinations = cluster.hosts(|host| host.memory_left() > low);
    let short = cluster.hosts(is_short);
    let rich = cluster.hosts(is_rich);
    let mut proposals = cluster.moves(&short, &destinations, Reason::ShortOfMemory);
    proposals.extend(cluster.moves(&rich, &destinations, Reason::RichInMemory));
    proposals
}

fn switch(step: Step) -> Proposal<Reason> {
    let (host, state, reason) = match step {
        Step::IntoMaintenance(host) => (host, "maintenance", Reason::NotNeeded),
        Step::Down(host) => (host, "down", Reason::NotNeeded),
        Step::Up(host) => (host, "up", Reason::Needed),
    };
    Proposal::HostState {
        host,
        state: state.into(),
        reason,
    }
}

#[cfg(test)]
mod tests;
