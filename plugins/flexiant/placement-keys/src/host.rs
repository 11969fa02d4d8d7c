//! What is read of a host, and the special keys that are worked out of it.

use compiled_keys::HostKey;
use placewright_sdk::prelude::*;

/// What is read of a host.
#[derive(Row)]
pub struct Host {
    #[column("memory.total")]
    pub memory: Bytes,
    #[column("memory.overcommit")]
    pub memory_overcommit: f64,
    #[column("memory.committed")]
    pub memory_committed: Bytes,
    #[column("memory.pending")]
    pub memory_pending: Bytes,
    #[column("cpu.total")]
    pub cpu: Millicores,
    #[column("cpu.overcommit")]
    pub cpu_overcommit: Option<f64>,
    pub vcpus: i64,
    #[column("vcpus.pending")]
    pub vcpus_pending: i64,
    #[column("cpu.usage")]
    pub load: Option<f64>,
    #[table("keys")]
    pub keys: Rows<HostKey>,
}

/// The names of the special keys.
pub const SPECIAL: [&str; 3] = ["#RAM", "#CPU", "#LOAD"];

impl Host {
    /// The values of the special keys. A host of which the load is not measured has
    /// no `#LOAD`.
    pub fn special(&self) -> [Option<f64>; SPECIAL.len()] {
        let memory = (self.memory_committed.0 as f64) + (self.memory_pending.0 as f64);
        let vcpus = (self.vcpus as f64) + (self.vcpus_pending as f64);
        let cpus = self.cpu.0 as f64 / 1000.0;
        [
            Some(contention(
                memory,
                self.memory.0 as f64 * self.memory_overcommit,
            )),
            Some(contention(vcpus, cpus * self.cpu_overcommit.unwrap_or(1.0))),
            self.load.map(|load| load.clamp(0.0, 1.0)),
        ]
    }
}

/// The share that is allocated, at most all. All, where there is nothing to
/// allocate.
fn contention(allocated: f64, of: f64) -> f64 {
    if of > 0.0 {
        (allocated / of).clamp(0.0, 1.0)
    } else {
        1.0
    }
}
