//! Which CPUs the VMs would get for themselves on each host.

use placewright_sdk::prelude::*;

use crate::request::{self, Vm};
use crate::{CpuPinning, Host};

/// The VMs, and the hosts in question.
#[derive(Request)]
pub struct Stage {
    #[table("members")]
    pub vms: Rows<Vm>,
    #[table("members")]
    pub ids: Rows<VmId>,
    pub hosts: Rows<Host>,
}

/// Who a VM is.
#[derive(Row)]
pub struct VmId {
    pub id: Text,
}

impl Explain for CpuPinning {
    type Request = Stage;
    type Settings = ();

    /// Of each host `fits`; where it does, `exclusive-cpus`: the threads that VMs
    /// would have for themselves, those there already included; and of each of its
    /// CPUs that a VM of the request would get, `vcpu N of ID` with the CPU's number.
    fn explain(stage: &Stage, (): &()) -> Result<Vec<Fact>, Problem> {
        let asked = request::asked(&stage.vms);
        let mut facts = Vec::new();
        if asked.pinned.is_empty() {
            return Ok(facts);
        }
        let ids: Vec<Text> = stage.ids.iter().map(|vm| vm.id).collect();
        for (row, host) in stage.hosts.numbered() {
            let allotted = host.pin(&asked);
            facts.push(Fact::new("fits", allotted.is_ok()).about("hosts", row));
            let Ok(allotted) = allotted else { continue };
            let exclusive = i64::try_from(allotted.topology.exclusive_threads());
            if let Ok(exclusive) = exclusive {
                facts.push(Fact::new("exclusive-cpus", exclusive).about("hosts", row));
            }
            for own in allotted.own_cpus() {
                let id = usize::try_from(own.member).ok().and_then(|vm| ids.get(vm));
                let id = id.map_or("", Text::as_str);
                let name = format!("vcpu {} of {id}", own.vcpu);
                facts.push(Fact::new(name, own.thread.cpu).about("hosts/cpus", own.thread.row));
            }
        }
        Ok(facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{beside, host, vm};

    fn explained(vm: Vm, host: Host) -> Vec<Fact> {
        let id = VmId { id: "db".into() };
        let stage = Stage {
            vms: vec![vm].into(),
            ids: vec![id].into(),
            hosts: vec![host].into(),
        };
        CpuPinning::explain(&stage, &()).expect("nothing is refused")
    }

    #[test]
    fn the_cpus_that_a_vm_would_get_are_told() {
        let facts = explained(vm("dedicated"), beside(true, &[1], host(&[1, 2, 3])));
        let of_cpu = |vcpu: i64, cpu: i64, row| {
            Fact::new(format!("vcpu {vcpu} of db"), cpu).about("hosts/cpus", row)
        };
        let expected = [
            Fact::new("fits", true).about("hosts", 0),
            Fact::new("exclusive-cpus", 3).about("hosts", 0),
            of_cpu(0, 2, 1),
            of_cpu(1, 3, 2),
        ];
        assert_eq!(facts, expected);
    }

    #[test]
    fn a_host_without_them_is_told_too() {
        let facts = explained(vm("dedicated"), host(&[0]));
        assert_eq!(facts, [Fact::new("fits", false).about("hosts", 0)]);
    }
}
