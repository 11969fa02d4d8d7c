//! Dot product for GPU clusters: prefers the host whose free CPU and GPUs, as shares
//! of what the largest host has, have the least product with what the VM asks for.

#![forbid(unsafe_code)]

use std::borrow::Cow;

use gpu_room::{Asked, Largest, Node, Shares, Want, cost_of};
use placewright_sdk::prelude::*;

struct GpuDotProduct;

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

impl RowWise for GpuDotProduct {
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

impl RowCost for GpuDotProduct {
    /// `100 (1 - (asked · free)/2)`: the less there is of what it asks for most, the better.
    fn cost(need: &Need, host: &Node) -> f64 {
        let free = need.largest.free(host);
        let takes = need.on(host);
        let product = takes.cpu * free.cpu + takes.gpu * free.gpu;
        cost_of(100.0 * (1.0 - product / 2.0))
    }
}

placewright_sdk::export!(GpuDotProduct: cost_function);

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
        let need = GpuDotProduct::prepare(&vm, &settings).expect("nothing is refused");
        GpuDotProduct::cost(&need, &host)
    }

    #[test]
    fn prefers_the_host_with_the_least_product() {
        // 100 - 50 (16/128 8/128) - 50 (500/8000 2000/8000), and 96 cores with 8 GPUs.
        assert_eq!(cost(16, &[1000, 1000]), -98.0);
        assert_eq!(cost(96, &[1000; 8]), -94.0);
    }
}
