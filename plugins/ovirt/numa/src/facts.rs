//! On which of a host's nodes the virtual nodes of the VMs would be put.

use placewright_sdk::prelude::*;

use crate::{Host, Numa, Vm};

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

impl Explain for Numa {
    type Request = Stage;
    type Settings = ();

    /// Of each host `fits`, and for each virtual node that is pinned, `node N of ID`
    /// with the number of the host's node.
    fn explain(stage: &Stage, (): &()) -> Result<Vec<Fact>, Problem> {
        let need = crate::need(&stage.vms);
        let mut facts = Vec::new();
        if need.0.is_empty() {
            return Ok(facts);
        }
        let ids: Vec<Text> = stage.ids.iter().map(|vm| vm.id).collect();
        for (row, host) in stage.hosts.numbered() {
            let assigned = host.assign(&need);
            facts.push(Fact::new("fits", assigned.is_ok()).about("hosts", row));
            for it in assigned.unwrap_or_default() {
                let id = usize::try_from(it.member).ok().and_then(|vm| ids.get(vm));
                let name = format!("node {} of {}", it.node, id.map_or("", Text::as_str));
                facts.push(Fact::new(name, it.host_node).about("hosts", row));
            }
        }
        Ok(facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{host, node, vm};

    fn explained(vm: Vm, host: Host) -> Vec<Fact> {
        let id = VmId { id: "db".into() };
        let stage = Stage {
            vms: vec![vm].into(),
            ids: vec![id].into(),
            hosts: vec![host].into(),
        };
        Numa::explain(&stage, &()).expect("nothing is refused")
    }

    #[test]
    fn the_nodes_that_a_vm_would_get_are_told() {
        let facts = explained(vm(vec![node(1_024, &[0, 1])]), host(2));
        let expected = [
            Fact::new("fits", true).about("hosts", 0),
            Fact::new("node 0 of db", 1).about("hosts", 0),
        ];
        assert_eq!(facts, expected);
    }

    #[test]
    fn a_host_without_room_is_told_and_vms_without_pins_have_no_facts() {
        let facts = explained(vm(vec![node(9_000, &[0])]), host(1));
        assert_eq!(facts, [Fact::new("fits", false).about("hosts", 0)]);
        assert_eq!(explained(vm(vec![]), host(1)), []);
    }
}
