//! What each host is short of, and by how much.

use placewright_sdk::prelude::*;

use crate::Utilization;
use crate::need::Need;

/// An amount that a VM needs.
#[derive(Row)]
pub struct VmAmount {
    name: Text,
    need: i64,
}

/// A VM to be placed.
#[derive(Row)]
pub struct Vm {
    #[table("amounts")]
    amounts: Rows<VmAmount>,
}

/// An amount of a host.
#[derive(Row)]
pub struct HostAmount {
    name: Text,
    total: i64,
    used: i64,
    pending: i64,
}

/// A host.
#[derive(Row)]
pub struct Host {
    #[table("amounts")]
    amounts: Rows<HostAmount>,
}

impl Host {
    fn free(&self, name: &Text) -> i64 {
        let amount = self.amounts.iter().find(|amount| amount.name == *name);
        amount.map_or(0, |amount| amount.total - amount.used - amount.pending)
    }
}

/// The VMs, and the hosts that were looked at.
#[derive(Request)]
pub struct Question {
    #[table("members")]
    vms: Rows<Vm>,
    hosts: Rows<Host>,
}

impl Explain for Utilization {
    type Request = Question;
    type Settings = ();

    /// A fact for each amount of which a host has too little: `short of NAME`, and how
    /// much is missing.
    fn explain(question: &Question, (): &()) -> Result<Vec<Fact>, Problem> {
        let mut needs = Vec::new();
        for vm in &question.vms {
            needs.extend(vm.amounts.iter().map(|amount| (amount.name, amount.need)));
        }
        let Need(needs) = Need::sum(needs)?;
        let mut facts = Vec::new();
        for (row, host) in question.hosts.numbered() {
            for (name, need) in &needs {
                let short = need.saturating_sub(host.free(name));
                if short > 0 {
                    facts.push(Fact::new(format!("short of {name}"), short).about("hosts", row));
                }
            }
        }
        Ok(facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(amounts: &[(&str, i64, i64)]) -> Host {
        let amount = |&(name, total, pending): &(&str, i64, i64)| HostAmount {
            name: name.into(),
            total,
            used: 1,
            pending,
        };
        Host {
            amounts: amounts.iter().map(amount).collect(),
        }
    }

    #[test]
    fn each_amount_that_is_short_is_told_with_how_much_is_missing() {
        let amount = |name: &str, need| VmAmount {
            name: name.into(),
            need,
        };
        let vm = Vm {
            amounts: vec![amount("cpu", 4), amount("gpu", 1), amount("disk", 0)].into(),
        };
        let question = Question {
            vms: vec![vm].into(),
            hosts: vec![
                host(&[("cpu", 5, 0), ("gpu", 2, 0)]),
                host(&[("cpu", 5, 3)]),
            ]
            .into(),
        };
        let facts = Utilization::explain(&question, &()).expect("nothing is refused");
        assert_eq!(
            facts,
            [
                Fact::new("short of cpu", 3).about("hosts", 1),
                Fact::new("short of gpu", 1).about("hosts", 1),
            ]
        );
    }
}
