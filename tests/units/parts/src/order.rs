//! Turns of every form.

use std::cmp::Reverse;

use placewright_sdk::prelude::*;

use crate::{Parts, Settings, failed, refused};

#[derive(Request)]
pub struct Batch {
    #[table("members")]
    vms: Rows<Vm>,
    hosts: Rows<Host>,
}

/// What is read of a VM of the batch.
#[derive(Row)]
struct Vm {
    memory: Bytes,
}

/// What is read of a host; some may be down.
#[derive(Row)]
struct Host {
    #[column("state")]
    _state: Text,
}

impl Order for Parts {
    type Request = Batch;
    type Settings = Settings;

    fn order(batch: &Batch, settings: &Settings) -> Result<Vec<Vec<u32>>, Problem> {
        let mut vms: Vec<(u32, Vm)> = batch.vms.numbered().collect();
        let together = if settings.turns == "pairs" { 2 } else { 1 };
        match settings.turns.as_str() {
            "reversed" => vms.reverse(),
            "largest-first" => vms.sort_by_key(|(_, vm)| Reverse(vm.memory)),
            "all-but-first" => vms = vms.split_off(1.min(vms.len())),
            "one-for-each-host" => vms.truncate(batch.hosts.len()),
            "fail" => return failed(),
            "refuse" => return refused(),
            _ => {}
        }
        let rows: Vec<u32> = vms.into_iter().map(|(row, _)| row).collect();
        Ok(rows.chunks(together).map(<[u32]>::to_vec).collect())
    }
}
