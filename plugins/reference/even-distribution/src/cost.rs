//! The cost of a host: its CPU load when the VMs run there.

use host_load::cpu::{Counting, Cpu};
use host_load::load::count;
use host_load::placing::{Added, Current, Newcomers, Pending, Vm};
use placewright_sdk::prelude::*;

use crate::{EvenDistribution, Settings};

/// All VMs that are to be placed together on one host.
#[derive(Request)]
pub struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
pub struct Host {
    #[column("cpu.cores")]
    cores: Option<i64>,
    #[column("cpu.threads")]
    threads: Option<i64>,
    #[column("cpu.total")]
    total: Millicores,
    #[column("cpu.usage")]
    usage: Option<f64>,
    #[column("cpu.exclusive")]
    exclusive: i64,
    vcpus: i64,
    #[column("vcpus.pending")]
    vcpus_pending: i64,
    #[column("vcpus.unmeasured")]
    vcpus_unmeasured: i64,
    #[column("load.pending")]
    load_pending: Millicores,
    #[column("attribute.spm")]
    spm: Option<bool>,
    #[table("current")]
    current: Rows<Current>,
}

impl Host {
    fn cpu(&self) -> Cpu {
        Cpu {
            cores: self.cores,
            threads: self.threads,
            total: self.total,
            usage: self.usage,
            exclusive: self.exclusive,
            spm: self.spm,
        }
    }

    fn pending(&self) -> Pending {
        Pending {
            load: self.load_pending,
            unmeasured_vcpus: self.vcpus_unmeasured,
        }
    }

    fn vcpus_with(&self, added: &Added) -> u64 {
        let vcpus = count(self.vcpus).saturating_add(count(self.vcpus_pending));
        vcpus.saturating_add(added.vcpus)
    }
}

/// What is added to a host, and from when on it is crowded.
pub struct Need {
    vms: Newcomers,
    vcpu_ratio: f64,
}

/// How many times as much a crowded host costs: with the usual scale of costs from
/// 1 to 1000, more than any other.
const CROWDED: u64 = 1000;

impl RowWise for EvenDistribution {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        let counting: Counting = settings.counting();
        Ok(Need {
            vms: Newcomers::new(&request.vms, counting),
            vcpu_ratio: settings.vcpu_to_cpu_ratio,
        })
    }
}

impl RowCost for EvenDistribution {
    /// The load in percent, pending VMs and new ones included; +infinity where it is
    /// not known.
    fn cost(need: &Need, host: &Host) -> f64 {
        let added = need.vms.added(&host.current);
        let before = need.vms.before(&host.cpu(), &host.pending());
        let shared = before.and_then(|shared| shared.with(added.load, added.exclusive));
        let Some(shared) = shared else {
            return f64::INFINITY;
        };
        let crowded = shared.is_crowded(host.vcpus_with(&added), need.vcpu_ratio);
        shared.cost(if crowded { CROWDED } else { 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(percent: f64) -> Host {
        Host {
            cores: Some(4),
            threads: Some(8),
            total: Millicores::cores(4),
            usage: Some(percent / 100.0),
            exclusive: 0,
            vcpus: 4,
            vcpus_pending: 0,
            vcpus_unmeasured: 0,
            load_pending: Millicores(0),
            spm: None,
            current: Rows::default(),
        }
    }

    fn need(vcpus: i64, usage: Option<f64>, vcpu_to_cpu_ratio: f64) -> Need {
        let vm = Vm {
            vcpus,
            usage,
            exclusive: false,
            running: usage.is_some(),
        };
        let settings = Settings {
            vcpu_to_cpu_ratio,
            ..Settings::defaults().expect("all have defaults")
        };
        let vms = vec![vm].into();
        EvenDistribution::prepare(&Request { vms }, &settings).expect("nothing is refused")
    }

    #[test]
    fn the_cost_is_the_load_with_pending_and_new_vms() {
        let cost = |need, host| EvenDistribution::cost(&need, &host);
        assert_eq!(cost(need(4, None, 0.0), host(50.0)), 60.0);
        assert_eq!(cost(need(4, Some(0.25), 0.0), host(50.0)), 75.0);
        let pending = Host {
            load_pending: Millicores(200),
            vcpus_unmeasured: 2,
            ..host(50.0)
        };
        assert_eq!(cost(need(4, None, 0.0), pending), 70.0);
    }

    #[test]
    fn a_vm_adds_nothing_to_the_host_where_it_runs() {
        let own = Host {
            current: vec![Current {
                member: 0,
                vcpus: 4,
                exclusive: false,
            }]
            .into(),
            ..host(50.0)
        };
        assert_eq!(
            EvenDistribution::cost(&need(4, Some(0.25), 0.0), &own),
            50.0
        );
    }

    #[test]
    fn a_crowded_host_costs_a_thousand_times_as_much() {
        let cost = |vcpus| EvenDistribution::cost(&need(vcpus, None, 2.0), &host(50.0));
        assert_eq!(cost(3), 58.0);
        assert_eq!(cost(4), 60_000.0);
    }

    #[test]
    fn an_unknown_load_is_worst_of_all() {
        let unmeasured = Host {
            usage: None,
            ..host(0.0)
        };
        let cost = EvenDistribution::cost(&need(1, None, 0.0), &unmeasured);
        assert_eq!(cost, f64::INFINITY);
    }
}
