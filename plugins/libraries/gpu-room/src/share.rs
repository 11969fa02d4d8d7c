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
