//! Placement keys: scores a host by the system keys of a VM, compared with the keys
//! of the host and with how contended its memory and CPUs are and how loaded it is.
//! VMs keep the sticky keys of the hosts that they run on.
//!
//! What is compiled of a VM's keys, and what a key adds to the score, is told in
//! `compiled-keys`.

#![forbid(unsafe_code)]

mod host;
mod sticky;

use compiled_keys::{Key, Keys, ResourceKey};
use placewright_sdk::prelude::*;

use host::{Host, SPECIAL};

/// What is read of a VM to be placed.
#[derive(Row)]
struct Vm {
    #[table("keys")]
    keys: Rows<ResourceKey>,
}

/// The system keys of a VM.
struct Need {
    /// Those to be compared with the host's own keys. Reserved names are not among
    /// them, nor special ones, so that such keys of hosts meet none.
    own: Keys,
    /// Those to be compared with what is worked out of the host.
    special: [Option<Key>; SPECIAL.len()],
}

struct PlacementKeys;

impl RowWise for PlacementKeys {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = Need;

    fn prepare(vm: &Vm, (): &()) -> Result<Need, Problem> {
        let keys = Keys::system(&vm.keys)?;
        Ok(Need {
            own: keys.named(|name| !name.starts_with('#')),
            special: SPECIAL.map(|name| keys.get(name).cloned()),
        })
    }
}

impl RowCost for PlacementKeys {
    /// Minus the score. (Not its negation, which of 0 is -0.)
    fn cost(need: &Need, host: &Host) -> f64 {
        let own = need.own.score(&host.keys);
        let special = need.special.iter().zip(host.special());
        let special = special.filter_map(|(key, value)| Some(key.as_ref()?.score(value?)));
        0.0 - special.fold(own, |score, added| score + added)
    }
}

/// What is read to explain.
#[derive(Request)]
struct Stage {
    #[table("members")]
    vms: Rows<Vm>,
    hosts: Rows<Host>,
}

impl Explain for PlacementKeys {
    type Request = Stage;
    type Settings = ();

    /// The compiled keys of each VM, and the special keys of each host.
    fn explain(stage: &Stage, (): &()) -> Result<Vec<Fact>, Problem> {
        let mut facts = Vec::new();
        for (row, vm) in stage.vms.numbered() {
            facts.extend(Keys::system(&vm.keys)?.facts(row));
        }
        for (row, host) in stage.hosts.numbered() {
            let special = SPECIAL.into_iter().zip(host.special());
            let special = special.filter_map(|(name, value)| Some(Fact::new(name, value?)));
            facts.extend(special.map(|fact| fact.about("hosts", row)));
        }
        Ok(facts)
    }
}

placewright_sdk::export!(PlacementKeys: cost_function, effects, explain);

#[cfg(test)]
mod tests;
