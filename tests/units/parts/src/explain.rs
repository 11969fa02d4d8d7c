//! Facts about every row that the part is shown.

use placewright_sdk::prelude::*;

use crate::{Parts, Settings};

#[derive(Request)]
pub struct Stage {
    #[table("members")]
    vms: Rows<Vm>,
    candidates: Rows<Candidate>,
    hosts: Rows<Host>,
}

/// What is read of a VM to be placed.
#[derive(Row)]
struct Vm {
    memory: Bytes,
}

/// What is read of a candidate.
#[derive(Row)]
struct Candidate {
    group: i64,
    share: f64,
    cost: f64,
    #[column("cost.first")]
    first: Option<f64>,
}

/// What is read of its host.
#[derive(Row)]
struct Host {
    #[column("batch.placed")]
    placed: i64,
    #[table("vms")]
    vms: Rows<Placed>,
    #[table("current")]
    current: Rows<Current>,
    #[table("amounts")]
    amounts: Rows<Amount>,
}

/// What is read of a VM that has a place on the host.
#[derive(Row)]
struct Placed {
    id: Text,
    #[table("fixed-keys")]
    fixed_keys: Rows<FixedKey>,
    #[table("keys")]
    keys: Rows<Key>,
}

#[derive(Row)]
struct FixedKey {
    name: Text,
    value: f64,
}

#[derive(Row)]
struct Key {
    name: Text,
    value: Text,
}

/// A VM to be placed that runs on the host.
#[derive(Row)]
struct Current {
    member: i64,
}

/// An amount with a name.
#[derive(Row)]
struct Amount {
    name: Text,
    used: i64,
    pending: i64,
}

impl Explain for Parts {
    type Request = Stage;
    type Settings = Settings;

    fn explain(stage: &Stage, _: &Settings) -> Result<Vec<Fact>, Problem> {
        let mut facts = vec![Fact::new("candidates", stage.candidates.len() as i64)];
        for (row, vm) in stage.vms.numbered() {
            facts.push(Fact::new("memory", vm.memory).about("members", row));
        }
        for (row, candidate) in stage.candidates.numbered() {
            let of_candidate = candidate.facts().into_iter();
            facts.extend(of_candidate.map(|fact| fact.about("candidates", row)));
        }
        for (row, host) in stage.hosts.numbered() {
            let of_host = host.facts().into_iter();
            facts.extend(of_host.map(|fact| fact.about("hosts", row)));
        }
        Ok(facts)
    }
}

impl Candidate {
    fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![
            Fact::new("group", self.group),
            Fact::new("share", self.share),
            Fact::new("cost", self.cost),
        ];
        facts.extend(self.first.map(|cost| Fact::new("first", cost)));
        facts
    }
}

impl Host {
    fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![Fact::new("placed", self.placed)];
        for vm in &self.vms {
            let fixed =
                |key: FixedKey| Fact::new(format!("{} fixed {}", vm.id, key.name), key.value);
            facts.extend(vm.fixed_keys.iter().map(fixed));
            let key = |key: Key| Fact::new(format!("{} has {}", vm.id, key.name), key.value);
            facts.extend(vm.keys.iter().map(key));
        }
        let current = self.current.iter().map(|row| row.member);
        facts.extend(current.map(|member| Fact::new("current", member)));
        for amount in &self.amounts {
            facts.push(Fact::new(format!("{} used", amount.name), amount.used));
            facts.push(Fact::new(
                format!("{} pending", amount.name),
                amount.pending,
            ));
        }
        facts
    }
}
