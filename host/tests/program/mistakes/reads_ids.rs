//! Reads the id of the VM, and so gives no answer that holds for another VM.

use placewright_sdk::prelude::*;

#[derive(Row)]
struct Vm {
    id: Text,
    memory: Bytes,
}

#[derive(Row)]
struct Host {
    #[column("memory.total")]
    total: Bytes,
}

struct Largest;

impl RowWise for Largest {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = Bytes;

    fn prepare(vm: &Vm, (): &()) -> Result<Bytes, Problem> {
        match vm.id.as_str().starts_with("test-") {
            true => Ok(Bytes(0)),
            false => Ok(vm.memory),
        }
    }
}

impl RowCost for Largest {
    fn cost(memory: &Bytes, host: &Host) -> f64 {
        (memory.0 - host.total.0) as f64
    }
}

placewright_sdk::export!(Largest: cost_function);
