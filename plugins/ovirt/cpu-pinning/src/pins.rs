//! With its place, a VM gets the CPUs that it has for itself: they are held from
//! then on, until the VM leaves.

use placewright_sdk::prelude::*;

use crate::request::{self, Vm};
use crate::{CpuPinning, Host};

/// The VMs, and the host that they are placed on.
#[derive(Request)]
pub struct Placement {
    #[table("members")]
    pub vms: Rows<Vm>,
    pub hosts: Rows<Host>,
}

/// A vCPU that has the CPU for itself.
#[derive(Written)]
#[written(table = "pins", scope = "placement", moment = "decided")]
pub struct OwnCpu {
    vcpu: i64,
    cpu: i64,
}

impl Effects for CpuPinning {
    type Request = Placement;
    type Settings = ();
    type Writes = OwnCpu;

    /// Nothing where the host has no such CPUs: it may be an administrator's choice.
    fn placed(placement: &Placement, (): &()) -> Result<Changes<OwnCpu>, Problem> {
        let mut changes = Changes::new();
        let asked = request::asked(&placement.vms);
        for host in &placement.hosts {
            let Ok(allotted) = host.pin(&asked) else {
                continue;
            };
            for own in allotted.own_cpus() {
                let (vcpu, cpu) = (own.vcpu, own.thread.cpu);
                if let Ok(member) = u32::try_from(own.member) {
                    changes.append(member, OwnCpu { vcpu, cpu });
                }
            }
        }
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{host, vm};
    use placewright_sdk::contract::{Change, Operation, Value};

    /// Member, vCPU, CPU.
    fn written(vms: Vec<Vm>, host: Host) -> Vec<(u32, i64, i64)> {
        let placement = Placement {
            vms: vms.into(),
            hosts: vec![host].into(),
        };
        let changes = CpuPinning::placed(&placement, &()).expect("nothing is refused");
        let pin = |change: Change| {
            let Operation::Append(values) = change.operation else {
                panic!("pins are appended");
            };
            let integer = |value: &Option<Value>| match value {
                Some(Value::Integer(integer)) => *integer,
                _ => panic!("numbers of CPUs are integers"),
            };
            (change.entity, integer(&values[0]), integer(&values[1]))
        };
        changes.into_contract().into_iter().map(pin).collect()
    }

    #[test]
    fn each_vcpu_is_pinned_to_the_threads_that_it_has_for_itself() {
        let vms = vec![vm("manual"), vm("dedicated")];
        let pins = written(vms, host(&[0, 1, 2, 3]));
        assert_eq!(pins, [(1, 0, 0), (1, 1, 1)]);
        let pins = written(vec![vm("isolate-threads")], host(&[0, 1, 2, 3]));
        assert_eq!(pins, [(0, 0, 0), (0, 0, 1), (0, 1, 2), (0, 1, 3)]);
    }

    #[test]
    fn nothing_is_written_for_shared_cpus_or_where_there_are_too_few() {
        assert_eq!(written(vec![vm("manual")], host(&[0, 1])), []);
        assert_eq!(written(vec![vm("dedicated")], host(&[0])), []);
    }
}
