//! GPU memory: keeps the hosts whose GPUs have the memory that a VM needs, and wastes
//! the least of it.
//!
//! Which hosts have GPUs left, and which of them a VM gets, is the unit `gpu-fit`'s
//! question.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// A VM to be placed. Each one of several is asked about by itself.
#[derive(Row)]
struct Vm {
    #[column("gpu.count")]
    gpus: Option<i64>,
    #[column("gpu.share")]
    share: Option<i64>,
    /// GPU memory that it needs on each of its GPUs.
    #[column("attribute.gpu-memory")]
    memory: Option<Bytes>,
}

#[derive(Row)]
struct Host {
    /// Memory of each of its GPUs, which are all alike.
    #[column("attribute.gpu-memory")]
    memory: Option<Bytes>,
    #[table("gpus")]
    gpus: Rows<Gpu>,
}

#[derive(Row)]
struct Gpu {
    /// Thousandths that nobody has; less than 0 where more was given than there is.
    free: i64,
}

#[derive(Settings)]
struct Settings {
    /// Whether VMs without GPUs cost more where GPUs are free.
    #[setting(default = true)]
    keep_free: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has GPUs of unknown memory
    UnknownMemory,
    /// has GPUs with too little memory
    TooLittleMemory,
}

enum Need {
    /// No GPU.
    Nothing { keep_free: bool },
    /// So many GPUs, a share of each in thousandths, with so much memory if that is
    /// known.
    Gpus {
        count: i64,
        share: i64,
        memory: Option<i64>,
    },
}

/// What a share of a GPU's memory comes to.
fn part(memory: Bytes, thousandths: i64) -> i64 {
    let bytes = i128::from(memory.0) * i128::from(thousandths) / 1000;
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

struct GpuMemory;

impl RowWise for GpuMemory {
    type Request = Vm;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(vm: &Vm, settings: &Settings) -> Result<Need, Problem> {
        Ok(match vm.gpus {
            Some(count @ 1..) => Need::Gpus {
                count,
                share: vm.share.unwrap_or(1000),
                memory: vm.memory.map(|memory| memory.0),
            },
            _ => Need::Nothing {
                keep_free: settings.keep_free,
            },
        })
    }
}

impl RowFilter for GpuMemory {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let Need::Gpus {
            share,
            memory: Some(memory),
            ..
        } = need
        else {
            return Verdict::Keep;
        };
        match host.memory {
            None => Verdict::Remove(Reason::UnknownMemory),
            Some(has) => Verdict::keep_if(part(has, *share) >= *memory, Reason::TooLittleMemory),
        }
    }
}

impl RowCost for GpuMemory {
    /// Bytes of GPU memory that the VM is given and does not need; for one without
    /// GPUs, all that is free, since it takes CPU and memory from those who could use it.
    fn cost(need: &Need, host: &Host) -> f64 {
        let of_gpu = host.memory.unwrap_or_default();
        let wasted = match need {
            Need::Nothing { keep_free: false } => 0,
            Need::Nothing { keep_free: true } => {
                let free = host.gpus.iter().map(|gpu| gpu.free.max(0));
                part(of_gpu, free.fold(0, i64::saturating_add))
            }
            Need::Gpus { memory: None, .. } => 0,
            Need::Gpus {
                count,
                share,
                memory: Some(memory),
            } => count.saturating_mul((part(of_gpu, *share) - memory).max(0)),
        };
        wasted as f64
    }
}

placewright_sdk::export!(GpuMemory: filter, cost_function);

#[cfg(test)]
mod tests;
