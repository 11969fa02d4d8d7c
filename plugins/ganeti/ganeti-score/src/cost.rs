//! What a host costs: the score that the cluster would have with the VMs there.

use placewright_sdk::prelude::*;

use crate::cluster::{Cluster, Instance, Mirror};
use crate::fits::Without;
use crate::moves::scores_with;
use crate::rows::{Host, Source, Vm};
use crate::{GanetiScore, Settings};

/// What an instance costs whose secondary is on a node that is offline, as those
/// nodes are not shown: as in the score.
const OFFLINE: f64 = 4.0;

/// The VMs to be placed, one by one, and where they run now.
#[derive(Request)]
pub struct Request {
    #[table("members")]
    vms: Rows<Vm>,
    sources: Rows<Source>,
}

impl WholeTable for GanetiScore {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
}

impl TableCost for GanetiScore {
    /// The sum over the VMs of the score with that one there; +infinity where one
    /// cannot be.
    fn cost(request: &Request, hosts: &Rows<Host>, _: &Settings) -> Result<Vec<f64>, Problem> {
        let mut costs = vec![0.0; hosts.len()];
        for vm in &request.vms {
            let mut cluster = Cluster::new(hosts);
            let present = take_out(&mut cluster, &vm);
            // A VM that runs on none of these leaves a node that is offline.
            let rescued = present.is_none() && !request.sources.is_empty();
            let instances: Vec<Instance> = (0..cluster.nodes.len())
                .map(|node| cluster.instance(0, &vm, node))
                .collect();
            let scores = scores_with(&cluster, &instances);
            for (instance, score) in instances.iter().zip(scores) {
                let forced = rescued || Some(instance.primary) == present;
                let cost = &mut costs[place(hosts, &cluster, instance.primary)];
                *cost += match can_be(&cluster, instance, forced) {
                    true => score_of(instance, score),
                    false => f64::INFINITY,
                };
            }
        }
        Ok(costs)
    }
}

fn score_of(instance: &Instance, score: f64) -> f64 {
    let lost = if instance.secondary_lost {
        OFFLINE
    } else {
        0.0
    };
    // Where no score can be worked out, no host is better than another.
    if score.is_nan() { 0.0 } else { score + lost }
}

/// The place of a node's row among the hosts.
fn place(hosts: &Rows<Host>, cluster: &Cluster, node: usize) -> usize {
    let first = hosts.numbered().next().map_or(0, |(row, _)| row);
    (cluster.nodes[node].row - first) as usize
}

/// Take a VM that runs out of the cluster, and tell where it is.
fn take_out(cluster: &mut Cluster, vm: &Vm) -> Option<usize> {
    let number = cluster.instances.iter().position(|it| it.id == vm.id)?;
    let instance = cluster.instances.remove(number);
    cluster.take(&instance);
    Some(instance.primary)
}

/// Whether the instance can have its nodes. Of the secondary only the hard limits
/// are looked at: whether it is a new one is not known here.
fn can_be(cluster: &Cluster, instance: &Instance, forced: bool) -> bool {
    let primary = &cluster.nodes[instance.primary];
    let shares = primary.shares(&instance.exclusion) > 0;
    if !Without::other(primary).fits_primary(instance, shares, forced) {
        return false;
    }
    match instance.secondary {
        Some(secondary) if instance.mirror == Mirror::Internal => {
            let node = Without::other(&cluster.nodes[secondary]);
            let reserved = node.reserved_with(instance, instance.primary);
            secondary != instance.primary && node.fits_secondary(instance, reserved, true)
        }
        _ => true,
    }
}
