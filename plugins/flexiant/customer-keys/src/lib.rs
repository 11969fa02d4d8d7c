//! Customer keys: scores a host by the keys that customers and billing entities set
//! on a VM, compared with those of the VMs that are placed there, as they were when
//! these were placed, and with the reserved keys of the host.
//!
//! What is compiled of a VM's keys, and what a key adds to the score, is told in
//! `compiled-keys`.

#![forbid(unsafe_code)]

use compiled_keys::{HostKey, Keys, ResourceKey};
use placewright_sdk::prelude::*;

/// What is read of a VM to be placed.
#[derive(Row)]
struct Vm {
    #[table("keys")]
    keys: Rows<ResourceKey>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("keys")]
    keys: Rows<HostKey>,
    #[table("vms")]
    vms: Rows<PlacedVm>,
}

/// What is read of a VM that is placed on the host.
#[derive(Row)]
struct PlacedVm {
    #[table("fixed-keys")]
    keys: Rows<HostKey>,
}

/// The customer keys of a VM.
struct Need {
    all: Keys,
    /// Those with a name that is reserved, for which hosts have keys too.
    reserved: Keys,
}

struct CustomerKeys;

impl RowWise for CustomerKeys {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = Need;

    fn prepare(vm: &Vm, (): &()) -> Result<Need, Problem> {
        let all = Keys::customer(&vm.keys)?;
        Ok(Need {
            reserved: all.named(|name| name.starts_with('_')),
            all,
        })
    }
}

impl RowCost for CustomerKeys {
    /// Minus the score. (Not its negation, which of 0 is -0.)
    fn cost(need: &Need, host: &Host) -> f64 {
        let vms: f64 = host.vms.iter().map(|vm| need.all.score(&vm.keys)).sum();
        0.0 - (vms + need.reserved.score(&host.keys))
    }
}

/// What is read to fix keys, and to explain.
#[derive(Request)]
struct Placement {
    #[table("members")]
    vms: Rows<Vm>,
}

/// A key as it is for as long as the VM stays where it is placed.
#[derive(Written)]
#[written(table = "fixed-keys", scope = "placement", moment = "decided")]
struct FixedKey {
    name: Text,
    value: f64,
}

impl Effects for CustomerKeys {
    type Request = Placement;
    type Settings = ();
    type Writes = FixedKey;

    /// Fixes the compiled keys, so that what is set later does not count before the
    /// VM is placed anew.
    fn placed(placement: &Placement, (): &()) -> Result<Changes<FixedKey>, Problem> {
        let mut changes = Changes::new();
        for (row, vm) in placement.vms.numbered() {
            for key in Keys::customer(&vm.keys)?.iter() {
                let (name, value) = (key.name.clone(), key.value);
                changes.append(row, FixedKey { name, value });
            }
        }
        Ok(changes)
    }
}

impl Explain for CustomerKeys {
    type Request = Placement;
    type Settings = ();

    /// The compiled keys of each VM.
    fn explain(placement: &Placement, (): &()) -> Result<Vec<Fact>, Problem> {
        let mut facts = Vec::new();
        for (row, vm) in placement.vms.numbered() {
            facts.extend(Keys::customer(&vm.keys)?.facts(row));
        }
        Ok(facts)
    }
}

placewright_sdk::export!(CustomerKeys: cost_function, effects, explain);

#[cfg(test)]
mod tests;
