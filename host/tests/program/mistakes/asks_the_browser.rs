//! Asks a crate for browsers what time it is.

use placewright_sdk::prelude::*;

#[derive(Row)]
struct Vm {
    memory: Bytes,
}

#[derive(Row)]
struct Host {
    #[column("memory.total")]
    total: Bytes,
}

struct ByClock;

impl RowWise for ByClock {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = Bytes;

    fn prepare(vm: &Vm, (): &()) -> Result<Bytes, Problem> {
        Ok(vm.memory)
    }
}

impl RowCost for ByClock {
    fn cost(memory: &Bytes, host: &Host) -> f64 {
        let milliseconds = web_time::now();
        (memory.0 - host.total.0) as f64 + milliseconds
    }
}

placewright_sdk::export!(ByClock: cost_function);
