//! GPU clustering: hosts first that run VMs with GPUs of the same size, so that VMs of
//! one size stand together; in both bands the fullest host first.

#![forbid(unsafe_code)]

use gpu_room::{Gpu, Size, WHOLE, cost_of};
use placewright_sdk::prelude::*;

/// Points of a full host that runs VMs of the same size, and of one that does not.
const SAME: f64 = 100.0;
const OTHER: f64 = 50.0;
const BAND: f64 = 50.0;

#[derive(Settings)]
struct Settings {
    /// GPUs of the largest host.
    #[setting(default = 8, least = 1)]
    largest_gpus: i64,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("gpus")]
    gpus: Rows<Gpu>,
    #[table("vms")]
    vms: Rows<Size>,
}

struct Need {
    /// How many GPUs, and the share of each.
    size: (i64, i64),
    largest: f64,
}

struct GpuClustering;

impl RowWise for GpuClustering {
    type Request = Size;
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
    type Need = Need;

    fn prepare(vm: &Size, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            size: vm.of_gpus(),
            largest: settings.largest_gpus as f64 * WHOLE as f64,
        })
    }
}

impl RowCost for GpuClustering {
    /// VMs without GPUs do not mind where they are.
    fn cost(need: &Need, host: &Host) -> f64 {
        if need.size.0 <= 0 {
            return 0.0;
        }
        let same = host.vms.iter().any(|vm| vm.of_gpus() == need.size);
        let free: i64 = host.gpus.iter().map(|gpu| gpu.free).sum();
        let inside = (BAND * free as f64 / need.largest).floor();
        cost_of(if same { SAME } else { OTHER } - inside)
    }
}

placewright_sdk::export!(GpuClustering: cost_function);

#[cfg(test)]
mod tests {
    use super::*;

    fn size((count, share): (i64, i64)) -> Size {
        Size {
            count: Some(count),
            share: Some(share),
        }
    }

    fn cost(of_vm: (i64, i64), free: &[i64], vms: &[(i64, i64)]) -> f64 {
        let settings = Settings::defaults().expect("all have defaults");
        let need = GpuClustering::prepare(&size(of_vm), &settings).expect("nothing is refused");
        let host = Host {
            gpus: free.iter().map(|free| Gpu { free: *free }).collect(),
            vms: vms.iter().copied().map(size).collect(),
        };
        GpuClustering::cost(&need, &host)
    }

    #[test]
    fn the_same_size_comes_first_and_then_the_fuller_host() {
        let half = (1, 500);
        // 100 - 50 * 1500/8000, and 50 - 50 * 500/8000.
        assert_eq!(cost(half, &[500, 1000], &[(2, 1000), half]), -91.0);
        assert_eq!(cost(half, &[500], &[(1, 499), (2, 500)]), -47.0);
        assert_eq!(cost(half, &[], &[]), -50.0);
    }

    #[test]
    fn a_vm_without_gpus_goes_anywhere() {
        assert_eq!(cost((0, 1000), &[500], &[(0, 1000)]), 0.0);
    }
}
