//! GPU packing: a shared GPU with room first, then a free GPU of a host in use, then
//! an idle host; within each of these bands the fullest first.

#![forbid(unsafe_code)]

use gpu_room::{Gpu, Size, WHOLE, cost_of};
use placewright_sdk::prelude::*;

/// Each band has a third of the points, best first: from 67 to 100, to 66, to 33.
const SHARED: f64 = 100.0;
const IN_USE: f64 = 66.0;
const IDLE: f64 = 33.0;
const BAND: f64 = 33.0;

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
}

struct Need {
    count: i64,
    share: i64,
    largest_gpus: f64,
}

struct GpuPacking;

impl RowWise for GpuPacking {
    type Request = Size;
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
    type Need = Need;

    fn prepare(vm: &Size, settings: &Settings) -> Result<Need, Problem> {
        let (count, share) = vm.of_gpus();
        Ok(Need {
            count,
            share,
            largest_gpus: settings.largest_gpus as f64,
        })
    }
}

impl RowCost for GpuPacking {
    /// VMs without GPUs do not mind where they are.
    fn cost(need: &Need, host: &Host) -> f64 {
        if need.count <= 0 {
            return 0.0;
        }
        let free = || host.gpus.iter().map(|gpu| gpu.free);
        let shared = free().filter(|free| (need.share..WHOLE).contains(free));
        if need.count == 1
            && let Some(least) = shared.min()
        {
            return cost_of(SHARED - BAND * least as f64 / WHOLE as f64);
        }
        let in_use = free().any(|free| free < WHOLE);
        let band = if in_use { IN_USE } else { IDLE };
        let whole = free().filter(|free| *free >= WHOLE).count();
        cost_of(band - BAND * whole as f64 / need.largest_gpus)
    }
}

placewright_sdk::export!(GpuPacking: cost_function);

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(count: i64, share: i64, free: &[i64]) -> f64 {
        let vm = Size {
            count: Some(count),
            share: Some(share),
        };
        let settings = Settings::defaults().expect("all have defaults");
        let need = GpuPacking::prepare(&vm, &settings).expect("nothing is refused");
        let gpus = free.iter().map(|free| Gpu { free: *free }).collect();
        GpuPacking::cost(&need, &Host { gpus })
    }

    #[test]
    fn bands_come_in_their_order() {
        // 100 - 33 * 0.6; 66 - 33/8; 33 - 2 * 33/8.
        let part = |free: &[i64]| cost(1, 500, free);
        assert_eq!(part(&[1000, 600, 700]), -80.0);
        assert_eq!(part(&[1000, 400]), -61.0);
        assert_eq!(part(&[1000, 1000]), -24.0);
        assert_eq!(part(&[1000, 999]), -67.0);
    }

    #[test]
    fn whole_gpus_are_never_shared() {
        assert_eq!(cost(1, 1000, &[1000, 400]), -61.0);
        assert_eq!(cost(2, 1000, &[1000, 1000]), -24.0);
    }

    #[test]
    fn a_vm_without_gpus_goes_anywhere() {
        assert_eq!(cost(0, 1000, &[1000, 400]), 0.0);
    }
}
