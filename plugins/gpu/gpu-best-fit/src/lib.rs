//! Best fit for GPU clusters: prefers the host on which the least CPU and GPU, as
//! shares of what the largest host has, stays free.

#![forbid(unsafe_code)]

use std::borrow::Cow;

use gpu_room::{Asked, Largest, Node, Shares, Want, cost_of};
use placewright_sdk::prelude::*;

struct GpuBestFit;

/// What the VM asks for, and what it is a share of.
struct Need {
    want: Want,
    asked: Shares,
    largest: Largest,
}

impl Need {
    /// What the VM takes of a host: less than it asks for where it runs already.
    #[inline]
    fn on(&self, host: &Node) -> Cow<'_, Shares> {
        match host.current.get(0) {
            None => Cow::Borrowed(&self.asked),
            Some(held) => Cow::Owned(self.largest.beyond_held(&self.want, &held)),
        }
    }
}

impl RowWise for GpuBestFit {
    type Request = Asked;
    type Host = Node;
    type Settings = Largest;
    type Reason = ();
    type Need = Need;

    fn prepare(vm: &Asked, settings: &Largest) -> Result<Need, Problem> {
        let largest = Largest { ..*settings };
        let want = vm.want();
        Ok(Need {
            asked: largest.asked(&want),
            want,
            largest,
        })
    }
}

impl RowCost for GpuBestFit {
    /// Both halves count alike: `100 (1 - (free - asked of CPU)/2 - (free - asked of GPUs)/2)`.
    fn cost(need: &Need, host: &Node) -> f64 {
        let free = need.largest.free(host);
        let takes = need.on(host);
        let left = (free.cpu - takes.cpu) + (free.gpu - takes.gpu);
        cost_of(100.0 * (1.0 - left / 2.0))
    }
}

placewright_sdk::export!(GpuBestFit: cost_function);

#[cfg(test)]
mod tests {
    use gpu_room::Gpu;

    use super::*;

    /// The cost of a host with so much free for a VM of 8 cores and 500 thousandths.
    fn cost(cores: i64, free: &[i64]) -> f64 {
        let vm = Asked {
            cpu: Millicores::cores(8),
            count: Some(1),
            share: Some(500),
        };
        let host = Node {
            cpu: Millicores::cores(96),
            cpu_overcommit: None,
            cpu_committed: Millicores::cores(96 - cores),
            cpu_pending: Millicores(0),
            gpus: free.iter().map(|free| Gpu { free: *free }).collect(),
            current: Rows::default(),
        };
        let settings = Largest::defaults().expect("all have defaults");
        let need = GpuBestFit::prepare(&vm, &settings).expect("nothing is refused");
        GpuBestFit::cost(&need, &host)
    }

    #[test]
    fn prefers_the_host_that_is_fuller_afterwards() {
        // 100 - 50 (8/128) - 50 (1500/8000), and 100 - 50 (88/128) - 50 (7500/8000).
        assert_eq!(cost(16, &[1000, 1000]), -87.0);
        assert_eq!(cost(96, &[1000; 8]), -18.0);
    }

    #[test]
    fn is_total_where_the_vm_does_not_fit() {
        assert_eq!(cost(8, &[]), -103.0);
    }
}
