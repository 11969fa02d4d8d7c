//! Fragmentation gradient descent: of all places for a VM it takes the one that leaves
//! most of the free GPUs to VMs as they usually come.
//!
//! What a typical VM cannot use of the free GPUs of a host is a fragment to it. The
//! fragments of a host are the thousandths that typical VMs cannot use, by share of
//! their shapes; the VM goes where it makes the fewest more, or the most less.

#![forbid(unsafe_code)]

mod node;
mod typical;

use std::cell::RefCell;

use gpu_room::{
    ChosenGpu, Current, Gift, Host, Reason, Request, Vm, Want, cost_of, give, promisable_cpu,
};
use placewright_sdk::prelude::*;
use placewright_sdk::row_wise::Together;

use node::Node;
use typical::{Shape, Typical};

#[derive(Settings)]
struct Settings {
    /// The shapes of VMs as they usually come, each with how many of them there are: for
    /// example those that make up 95 % of all. Without any, nothing is a fragment, and
    /// every host with room costs the same.
    typical: Rows<Shape>,
}

/// What is worked out once per call.
struct Need {
    room: gpu_room::Need,
    typical: Typical,
    /// Made once and filled again for every host.
    node: RefCell<Node>,
}

struct Fgd;

impl CheckSettings for Fgd {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        let mut shapes = (1..).zip(settings.typical.iter());
        match shapes.find_map(|(row, shape)| Some((row, shape.problem()?))) {
            Some((row, problem)) => Err(format!("row {row} of typical: {problem}")),
            None => Ok(()),
        }
    }
}

impl RowWise for Fgd {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        let typical = Typical::of(&settings.typical);
        Ok(Need {
            room: gpu_room::Need::of(request),
            node: RefCell::new(Node::with_room_for(&typical)),
            typical,
        })
    }
}

impl RowFilter for Fgd {
    const TOGETHER: Option<Together<Self>> = Some(keep_and_cost);

    #[inline]
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        need.room.keep(host)
    }
}

impl RowCost for Fgd {
    const RANGE: Option<(f64, f64)> = Some((-100.0, 0.0));

    /// `100 sigmoid((fragments before - fragments after) / 1000)`, the more the better;
    /// 0 where there is no room.
    #[inline]
    fn cost(need: &Need, host: &Host) -> f64 {
        match need.room.keep(host) {
            Verdict::Keep => need.cost_with_room(host),
            Verdict::Remove(_) => 0.0,
        }
    }
}

/// Both, with one look at the room.
#[inline(always)]
fn keep_and_cost(need: &Need, host: &Host) -> Option<(Verdict<Reason>, f64)> {
    let verdict = need.room.keep(host);
    let cost = match verdict {
        Verdict::Keep => need.cost_with_room(host),
        Verdict::Remove(_) => 0.0,
    };
    Some((verdict, cost))
}

impl Need {
    /// What a host costs that has CPU, memory and GPUs for the VMs.
    #[inline(never)]
    fn cost_with_room(&self, host: &Host) -> f64 {
        let mut node = self.node.borrow_mut();
        let (cpu, model) = (host.free_cpu(), host.model.as_ref());
        let beyond;
        let wants = match host.current.is_empty() {
            true => {
                let free = host.gpus.iter().map(|gpu| gpu.free);
                node.look_at(&self.typical, cpu, free, model);
                &self.room.wants
            }
            false => {
                let (wants, free) = self.room.beyond_held(host);
                node.look_at(&self.typical, cpu, free.into_iter(), model);
                beyond = wants;
                &beyond
            }
        };
        let mut less = 0.0;
        for want in wants {
            let Some(place) = node.best_place(&self.typical, want) else {
                return 0.0;
            };
            less += place.fragments_less;
            if self.room.wants.len() > 1 {
                node.take(want, &place);
            }
        }
        cost_of(100.0 / (1.0 + (-less / 1000.0).exp()))
    }
}

/// What is read of a placement.
#[derive(Request)]
struct Placement {
    #[table("members")]
    vms: Rows<Vm>,
    hosts: Rows<ChosenHost>,
}

/// What is read of the host that was chosen.
#[derive(Row)]
struct ChosenHost {
    #[column("cpu.total")]
    cpu: Millicores,
    #[column("cpu.overcommit")]
    cpu_overcommit: Option<f64>,
    #[column("cpu.committed")]
    cpu_committed: Millicores,
    #[column("cpu.pending")]
    cpu_pending: Millicores,
    #[column("gpu.model")]
    model: Option<Text>,
    #[table("gpus")]
    gpus: Rows<ChosenGpu>,
    #[table("current")]
    current: Rows<Current>,
}

impl Effects for Fgd {
    type Request = Placement;
    type Settings = Settings;
    type Writes = Gift;

    /// The GPUs that the cost was worked out for.
    fn placed(placement: &Placement, settings: &Settings) -> Result<Changes<Gift>, Problem> {
        let Some(host) = placement.hosts.get(0) else {
            return Ok(Changes::new());
        };
        let typical = Typical::of(&settings.typical);
        let promisable = promisable_cpu(host.cpu, host.cpu_overcommit);
        let cpu = promisable - host.cpu_committed - host.cpu_pending;
        let mut node = Node::with_room_for(&typical);
        let free = host.gpus.iter().map(|gpu| gpu.free);
        node.look_at(&typical, cpu.0, free, host.model.as_ref());
        let vms = placement.vms.numbered();
        let wants = vms.map(|(member, vm)| (member, Want::of(&vm)));
        give(wants, &host.current, &host.gpus, |want, free| {
            node.set_free(free);
            let place = node.best_place(&typical, want)?;
            node.take(want, &place);
            match place.gpu {
                Some(gpu) => Some(vec![gpu]),
                None => want.least_room(free),
            }
        })
    }
}

placewright_sdk::export!(Fgd: filter, cost_function, effects, settings);

#[cfg(test)]
mod tests;
