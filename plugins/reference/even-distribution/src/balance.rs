//! Moves from hosts with too much to do, or too little memory, to others.

use host_load::moving::{Cluster, Host, Now, least_load_first, most_load_first};
use placewright_sdk::prelude::*;

use crate::{EvenDistribution, Settings};

/// The cluster as it runs.
#[derive(Request)]
pub struct Request {
    request: Now,
    hosts: Rows<Host>,
}

#[derive(Reason, Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// has had too high a CPU load for too long, or has too many vCPUs
    OverUtilized,
    /// has too little memory left to promise
    ShortOfMemory,
}

impl Balance for EvenDistribution {
    type Request = Request;
    type Settings = Settings;
    type Reason = Reason;
    type Writes = ();

    fn balance(request: &Request, settings: &Settings) -> Result<Vec<Proposal<Reason>>, Problem> {
        let cluster = Cluster::new(&request.request, &request.hosts, settings.limits());
        let mut proposals = relieve_cpu(&cluster, settings);
        proposals.extend(relieve_memory(&cluster, settings));
        Ok(proposals)
    }
}

/// From the busiest hosts to the least busy ones.
fn relieve_cpu(cluster: &Cluster, settings: &Settings) -> Vec<Proposal<Reason>> {
    let target = settings.limits().target();
    let mut sources = cluster.hosts(|host| cluster.is_over(host, settings.high_utilization));
    let mut destinations = cluster.hosts(|host| cluster.is_under(host, target, 0));
    most_load_first(&mut sources);
    least_load_first(&mut destinations);
    cluster.moves(&sources, &destinations, Reason::OverUtilized)
}

/// A host's only VM stays: it would be short of memory anywhere.
fn relieve_memory(cluster: &Cluster, settings: &Settings) -> Vec<Proposal<Reason>> {
    let sources = cluster.hosts(|host| host.memory_left() < settings.low_memory && host.vms() > 1);
    let destinations = cluster.hosts(|host| host.memory_left() > settings.high_memory);
    cluster.moves(&sources, &destinations, Reason::ShortOfMemory)
}

#[cfg(test)]
mod tests;
