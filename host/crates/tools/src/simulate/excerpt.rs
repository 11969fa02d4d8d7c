//! The excerpt of a real trace that comes with the program, and a fleet for it.

use super::fleet::Fleet;
use super::trace::{Trace, TraceError};

/// Packed by `host/data/README.md`.
const TRACE: &[u8] = include_bytes!("../../../../data/azure-packing-2020-excerpt.csv.gz");

/// Hosts as in the larger servers of the trace, and so few of them that it gets tight.
pub const FLEET: Fleet = Fleet {
    hosts: 260,
    cpu: 40_000,
    memory: 512 << 30,
};

/// Two weeks of a quarter of the tenants in a 1 % sample of the Azure Trace for Packing
/// 2020.
///
/// # Errors
/// None with the excerpt that is packed.
pub fn trace() -> Result<Trace, TraceError> {
    Trace::read("excerpt of the Azure Trace for Packing 2020", TRACE)
}
