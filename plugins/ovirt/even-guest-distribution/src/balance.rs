//! Moves from the hosts with the most VMs to hosts with clearly fewer.

use host_load::moving::{Cluster, Host, Now, Place};
use placewright_sdk::prelude::*;

use crate::{EvenGuestDistribution, Settings};

/// The cluster as it runs.
#[derive(Request)]
pub struct Request {
    request: Now,
    hosts: Rows<Host>,
}

#[derive(Reason, Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// has the most VMs, and too many
    TooManyVms,
}

impl Balance for EvenGuestDistribution {
    type Request = Request;
    type Settings = Settings;
    type Reason = Reason;
    type Writes = ();

    fn balance(request: &Request, settings: &Settings) -> Result<Vec<Proposal<Reason>>, Problem> {
        let cluster = Cluster::new(&request.request, &request.hosts, settings.limits());
        let slots = settings.slots();
        let taken = |host: &Place| slots.taken(host.vms(), host.manages_storage());
        let most = cluster.hosts(|_| true).into_iter().map(taken).max();
        let Some(most) = most.filter(|most| *most >= settings.high_vm_count) else {
            return Ok(Vec::new());
        };
        let sources = cluster.hosts(|host| taken(host) == most);
        let destinations = cluster.hosts(|host| most - taken(host) >= settings.migration_threshold);
        Ok(cluster.moves(&sources, &destinations, Reason::TooManyVms))
    }
}

#[cfg(test)]
mod tests {
    use host_load::moving::Vm;

    use super::*;

    fn host(vms: i64, percents: &[f64]) -> Host {
        let vm = |percent: &f64| Vm {
            vcpus: 1,
            memory: Bytes::gib(1),
            usage: Some(percent / 100.0),
            exclusive: false,
            migratable: true,
        };
        Host {
            state: "up".into(),
            cores: Some(4),
            threads: Some(4),
            cpu: Millicores::cores(4),
            usage: Some(0.1),
            exclusive: 0,
            vcpus: vms,
            memory: Bytes::gib(64),
            memory_reserved: Bytes(0),
            memory_overcommit: 1.0,
            memory_committed: Bytes(0),
            vms_count: vms,
            vms_pending: 0,
            vms_migrating: 0,
            since: None,
            spm: None,
            vms: percents.iter().map(vm).collect(),
        }
    }

    /// Moves as (VM, among).
    fn moves(hosts: Vec<Host>) -> Vec<(u32, Vec<u32>)> {
        let request = Request {
            request: Now { now: Seconds(0) },
            hosts: hosts.into(),
        };
        let settings = Settings::defaults().expect("all have defaults");
        let proposals = EvenGuestDistribution::balance(&request, &settings);
        let moves = proposals.expect("nothing is refused").into_iter();
        let parts = moves.filter_map(|proposal| match proposal {
            Proposal::Move { vm, among, .. } => Some((vm, among)),
            _ => None,
        });
        parts.collect()
    }

    #[test]
    fn vms_go_from_the_fullest_hosts_to_those_a_threshold_below() {
        let hosts = vec![host(12, &[30.0, 5.0]), host(8, &[1.0]), host(7, &[])];
        assert_eq!(moves(hosts), [(1, vec![2, 0]), (0, vec![2, 0])]);
    }

    #[test]
    fn several_hosts_may_have_the_most() {
        let hosts = vec![host(12, &[5.0]), host(12, &[5.0]), host(1, &[])];
        assert_eq!(moves(hosts), [(0, vec![2, 0]), (0, vec![2, 1])]);
    }

    #[test]
    fn managing_storage_counts_as_some_vms() {
        let managing = |vms| Host {
            spm: Some(true),
            ..host(vms, &[5.0])
        };
        assert_eq!(moves(vec![managing(6), host(6, &[])]), [(0, vec![1, 0])]);
        assert_eq!(moves(vec![managing(4), host(4, &[])]), []);
        // The fullest host is not the one that manages.
        assert_eq!(moves(vec![managing(3), host(12, &[5.0])]), []);
    }

    #[test]
    fn few_vms_are_left_where_they_are() {
        assert_eq!(moves(vec![host(9, &[5.0]), host(0, &[])]), []);
        assert_eq!(moves(vec![host(10, &[5.0]), host(0, &[])]).len(), 1);
        assert_eq!(moves(vec![host(40, &[5.0])]), []);
    }

    #[test]
    fn hosts_that_are_busy_or_short_of_memory_are_given_none() {
        let busy = Host {
            usage: Some(0.75),
            ..host(0, &[])
        };
        let short = Host {
            memory_committed: Bytes::gib(63),
            ..host(0, &[])
        };
        assert_eq!(moves(vec![host(12, &[5.0]), busy, short]), []);
    }
}
