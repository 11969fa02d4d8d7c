//! Which hosts could not be replaced if they failed.
//!
//! For each host by itself, its highly available VMs are put on the other hosts, each
//! on the first that has memory and CPU for it beside those put there before.

use host_load::cpu::{Counting, Cpu};
use placewright_sdk::prelude::*;

use crate::{Cluster, HaReservation, Settings};

/// The cluster as it runs.
#[derive(Request)]
pub struct Request {
    cluster: Cluster,
    hosts: Rows<Host>,
}

/// What is read of a host.
#[derive(Row)]
pub struct Host {
    state: Text,
    #[column("cpu.cores")]
    cores: Option<i64>,
    #[column("cpu.threads")]
    threads: Option<i64>,
    #[column("cpu.total")]
    cpu: Millicores,
    #[column("cpu.usage")]
    usage: Option<f64>,
    #[column("memory.total")]
    memory: Bytes,
    #[column("memory.reserved")]
    memory_reserved: Bytes,
    #[column("memory.overcommit")]
    memory_overcommit: f64,
    #[column("memory.committed")]
    memory_committed: Bytes,
    #[column("memory.pending")]
    memory_pending: Bytes,
    #[table("vms")]
    vms: Rows<Vm>,
}

/// What is read of a VM.
#[derive(Row)]
pub struct Vm {
    ha: bool,
    pending: bool,
    vcpus: i64,
    #[column("cpu.usage")]
    usage: Option<f64>,
    memory: Bytes,
}

#[derive(Reason, Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// is the only one, so that no other could start its highly available VMs
    Alone,
    /// has highly available VMs for which the other hosts have no room
    NotReplaceable,
}

impl Balance for HaReservation {
    type Request = Request;
    type Settings = Settings;
    type Reason = Reason;
    type Writes = ();

    fn balance(request: &Request, settings: &Settings) -> Result<Vec<Proposal<Reason>>, Problem> {
        if request.cluster.reserves != Some(true) {
            return Ok(Vec::new());
        }
        let up: Vec<_> = request.hosts.numbered().collect();
        let up: Vec<_> = up
            .into_iter()
            .filter(|(_, host)| host.state == "up")
            .collect();
        if let [(row, _)] = up[..] {
            return Ok(vec![finding(row, Reason::Alone)]);
        }
        let counting = Counting {
            threads_as_cores: settings.count_threads_as_cores,
            assumed_load: 0.0,
        };
        let rooms: Vec<Room> = up.iter().map(|(_, host)| Room::of(host)).collect();
        let replaceable = |(failing, (_, host)): &(usize, &(u32, Host))| {
            let mut others = rooms.clone();
            others.remove(*failing);
            let mut vms = host.vms.iter().filter(|vm| vm.ha && !vm.pending);
            vms.all(|vm| Room::of_vm(&vm, host, counting).is_taken_from(&mut others))
        };
        let lost = up.iter().enumerate().filter(|entry| !replaceable(entry));
        Ok(lost
            .map(|(_, (row, _))| finding(*row, Reason::NotReplaceable))
            .collect())
    }
}

fn finding(row: u32, reason: Reason) -> Proposal<Reason> {
    Proposal::Finding {
        reason,
        rows: vec![("hosts", row)],
    }
}

/// Memory to promise, and CPU in whole percent of a host.
#[derive(Clone, Copy)]
struct Room {
    memory: i64,
    percent: i64,
}

impl Room {
    /// What a host has left; no CPU if its usage was not measured.
    fn of(host: &Host) -> Self {
        let limit = (host.memory.0 as f64 * host.memory_overcommit) as i64;
        let promised = host
            .memory_committed
            .0
            .saturating_add(host.memory_pending.0);
        Self {
            memory: limit
                .saturating_sub(promised)
                .saturating_sub(host.memory_reserved.0.max(0)),
            percent: host
                .usage
                .map_or(0, |usage| 100 - whole_percent(usage.clamp(0.0, 1.0))),
        }
    }

    /// What a VM takes, its CPU in percent of the host that it runs on.
    fn of_vm(vm: &Vm, host: &Host, counting: Counting) -> Self {
        let cpus = counting.cpus(&Cpu {
            cores: host.cores,
            threads: host.threads,
            total: host.cpu,
            usage: host.usage,
            exclusive: 0,
            spm: None,
        });
        let load = vm
            .usage
            .map_or(0, whole_percent)
            .max(0)
            .saturating_mul(vm.vcpus);
        let cpus = i64::try_from(cpus).unwrap_or(i64::MAX);
        Self {
            memory: vm.memory.0,
            percent: load.checked_div(cpus).unwrap_or(load),
        }
    }

    /// Takes it from the first that has as much; false if none has.
    fn is_taken_from(self, rooms: &mut [Self]) -> bool {
        let has_room =
            |room: &&mut Self| room.memory >= self.memory && room.percent >= self.percent;
        let Some(room) = rooms.iter_mut().find(has_room) else {
            return false;
        };
        room.memory -= self.memory;
        room.percent -= self.percent;
        true
    }
}

fn whole_percent(share: f64) -> i64 {
    (share * 100.0).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(gib: i64, percent: f64) -> Vm {
        Vm {
            ha: true,
            pending: false,
            vcpus: 2,
            usage: Some(percent / 100.0),
            memory: Bytes::gib(gib),
        }
    }

    /// Eight cores, of which so much is in use, and 16 GiB.
    fn host(percent: f64, committed: i64, vms: Vec<Vm>) -> Host {
        Host {
            state: "up".into(),
            cores: Some(8),
            threads: Some(16),
            cpu: Millicores::cores(8),
            usage: Some(percent / 100.0),
            memory: Bytes::gib(16),
            memory_reserved: Bytes(0),
            memory_overcommit: 1.0,
            memory_committed: Bytes::gib(committed),
            memory_pending: Bytes(0),
            vms: vms.into(),
        }
    }

    /// Findings as (host, reason).
    fn findings(hosts: Vec<Host>) -> Vec<(u32, Reason)> {
        let request = Request {
            cluster: Cluster {
                reserves: Some(true),
            },
            hosts: hosts.into(),
        };
        let settings = Settings::defaults().expect("all have defaults");
        let findings = HaReservation::balance(&request, &settings).expect("nothing is refused");
        let parts = findings.into_iter().filter_map(|proposal| match proposal {
            Proposal::Finding { reason, rows } => Some((rows.first()?.1, reason)),
            _ => None,
        });
        parts.collect()
    }

    #[test]
    fn a_host_is_told_of_if_the_others_have_no_memory_for_its_vms() {
        let vms = || vec![vm(4, 0.0), vm(4, 0.0)];
        assert_eq!(
            findings(vec![host(0.0, 8, vms()), host(0.0, 8, vec![])]),
            []
        );
        let tight = vec![host(0.0, 8, vms()), host(0.0, 9, vec![])];
        assert_eq!(findings(tight), [(0, Reason::NotReplaceable)]);
        let two = vec![
            host(0.0, 8, vms()),
            host(0.0, 12, vec![]),
            host(0.0, 12, vec![]),
        ];
        assert_eq!(findings(two), []);
    }

    #[test]
    fn cpu_counts_as_the_share_of_the_host_that_fails() {
        // 50 percent of two vCPUs are 12 of eight cores.
        let vms = || vec![vm(1, 50.0)];
        assert_eq!(
            findings(vec![host(0.0, 0, vms()), host(88.0, 0, vec![])]),
            []
        );
        let busy = vec![host(0.0, 0, vms()), host(89.0, 0, vec![])];
        assert_eq!(findings(busy), [(0, Reason::NotReplaceable)]);
        let unmeasured = Host {
            usage: None,
            ..host(0.0, 0, vec![])
        };
        let hosts = vec![host(0.0, 0, vms()), unmeasured];
        assert_eq!(findings(hosts), [(0, Reason::NotReplaceable)]);
    }

    #[test]
    fn vms_that_are_not_highly_available_need_no_room() {
        let plain = Vm {
            ha: false,
            ..vm(32, 0.0)
        };
        let hosts = vec![host(0.0, 0, vec![plain]), host(0.0, 16, vec![])];
        assert_eq!(findings(hosts), []);
    }

    #[test]
    fn a_host_that_is_alone_cannot_be_replaced() {
        let down = Host {
            state: "down".into(),
            ..host(0.0, 0, vec![])
        };
        assert_eq!(
            findings(vec![down, host(0.0, 0, vec![])]),
            [(1, Reason::Alone)]
        );
        assert_eq!(findings(vec![]), []);
    }
}
