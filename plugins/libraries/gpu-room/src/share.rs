//! CPU and GPUs as shares of those of the largest host: what `gpu-best-fit` and
//! `gpu-dot-product` have in common.

use placewright_sdk::prelude::*;

use crate::{Gpu, WHOLE, Want, promisable_cpu};

/// What is read of a host.
#[derive(Row)]
pub struct Node {
    /// All its CPU.
    #[column("cpu.total")]
    pub cpu: Millicores,
    /// How much of it may be promised; all of it once, if not given.
    #[column("cpu.overcommit")]
    pub cpu_overcommit: Option<f64>,
    /// Promised to VMs that run.
    #[column("cpu.committed")]
    pub cpu_committed: Millicores,
    /// Promised to VMs that have a place reserved.
    #[column("cpu.pending")]
    pub cpu_pending: Millicores,
    /// Its GPUs.
    #[table("gpus")]
    pub gpus: Rows<Gpu>,
    /// The VM, where it runs here now.
    #[table("current")]
    pub current: Rows<HeldShares>,
}

/// What the VM to be placed holds on the host where it runs.
#[derive(Clone, Row)]
pub struct HeldShares {
    /// Promised CPU.
    pub cpu: Millicores,
    /// How many GPUs.
    #[column("gpu.count")]
    pub count: Option<i64>,
    /// Thousandths of each.
    #[column("gpu.share")]
    pub share: Option<i64>,
}

/// What a share is a share of.
#[derive(Settings)]
pub struct Largest {
    /// CPU of the largest host: shares of CPU are shares of this.
    #[setting(default = "128", least = 1)]
    pub largest_cpu: Millicores,
    /// GPUs of the largest host: shares of GPUs are shares of these.
    #[setting(default = 8, least = 1)]
    pub largest_gpus: i64,
}

/// CPU and GPUs as shares, 1 = as much as the largest host has.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    /// Share of CPU.
    pub cpu: f64,
    /// Share of GPUs.
    pub gpu: f64,
}

impl Largest {
    /// What a VM asks for.
    pub fn asked(&self, want: &Want) -> Shares {
        self.shares(want.cpu, want.thousandths())
    }

    /// What a VM asks for beyond what it holds on the host where it runs.
    pub fn beyond_held(&self, want: &Want, held: &HeldShares) -> Shares {
        let thousandths = held.count.unwrap_or(0).max(0);
        let thousandths = thousandths.saturating_mul(held.share.unwrap_or(WHOLE));
        self.shares(
            want.cpu.saturating_sub(held.cpu.0).max(0),
            want.thousandths().saturating_sub(thousandths).max(0),
        )
    }

    /// What is free of a host.
    pub fn free(&self, node: &Node) -> Shares {
        let promisable = promisable_cpu(node.cpu, node.cpu_overcommit);
        let cpu = promisable - node.cpu_committed - node.cpu_pending;
        self.shares(cpu.0, node.gpus.iter().map(|gpu| gpu.free).sum())
    }

    fn shares(&self, cpu: i64, gpu: i64) -> Shares {
        Shares {
            cpu: cpu as f64 / self.largest_cpu.0 as f64,
            gpu: gpu as f64 / (self.largest_gpus as f64 * WHOLE as f64),
        }
    }
}
