//! The cost of a host: the less, the busier its CPUs are when the VMs run there.

use host_load::cpu::Cpu;
use host_load::placing::{Current, Newcomers, Pending, Vm};
use placewright_sdk::prelude::*;

use crate::{PowerSaving, Settings};

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
}

/// What is added to a host, and up to where it may be filled.
pub struct Need {
    vms: Newcomers,
    /// None = up to any load.
    high_utilization: Option<f64>,
}

impl RowWise for PowerSaving {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            vms: Newcomers::new(&request.vms, settings.counting()),
            high_utilization: settings.high_utilization,
        })
    }
}

impl RowCost for PowerSaving {
    /// Minus the load in percent, pending VMs and new ones included; +infinity where
    /// it is not known, or too high without the new ones.
    fn cost(need: &Need, host: &Host) -> f64 {
        let added = need.vms.added(&host.current);
        let before = need.vms.before(&host.cpu(), &host.pending());
        let limit = need.high_utilization.unwrap_or(f64::INFINITY);
        let before = before.filter(|shared| shared.percent() as f64 <= limit);
        let shared = before.and_then(|shared| shared.with(added.load, added.exclusive));
        shared.map_or(f64::INFINITY, |shared| 0.0 - shared.cost(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(percent: f64) -> f64 {
        cost_up_to(Some(75.0), percent)
    }

    fn cost_up_to(high_utilization: Option<f64>, percent: f64) -> f64 {
        let host = Host {
            cores: Some(4),
            threads: Some(8),
            total: Millicores::cores(4),
            usage: Some(percent / 100.0),
            exclusive: 0,
            vcpus_unmeasured: 0,
            load_pending: Millicores(0),
            spm: None,
            current: Rows::default(),
        };
        let vm = Vm {
            vcpus: 4,
            usage: None,
            exclusive: false,
            running: false,
        };
        let settings = Settings {
            high_utilization,
            ..Settings::defaults().expect("all have defaults")
        };
        let request = Request {
            vms: vec![vm].into(),
        };
        let need = PowerSaving::prepare(&request, &settings).expect("nothing is refused");
        PowerSaving::cost(&need, &host)
    }

    #[test]
    fn the_busier_host_costs_less_up_to_the_limit() {
        assert_eq!([cost(0.0), cost(40.0), cost(75.0)], [-10.0, -50.0, -85.0]);
        assert_eq!(cost(76.0), f64::INFINITY);
        assert_eq!(cost_up_to(None, 99.0), -109.0);
    }
}
