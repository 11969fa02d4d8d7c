//! GPUs: keeps the hosts with the GPUs that VMs need, and gives the VMs theirs when
//! they are placed. VMs that need none may run on any host, and had rather run on
//! one without GPUs.
//!
//! It looks at GPUs alone: CPU and memory are for the units `cpu` and `memory`, which
//! know what a host may promise.

#![forbid(unsafe_code)]

use gpu_room::{ChosenGpu, Current, Gift, GpuVm, WHOLE, Want, fits, give, have_models};
use placewright_sdk::prelude::*;

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<GpuVm>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    /// The model of all its GPUs.
    #[column("gpu.model")]
    model: Option<Text>,
    #[table("gpus")]
    gpus: Rows<ChosenGpu>,
    #[table("current")]
    current: Rows<Current>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has no GPUs
    NoGpus,
    /// has no GPUs of a model that the VM accepts
    WrongModel,
    /// has too few GPUs with enough free
    TooFewGpus,
}

/// What each of the VMs wants, in the order of the members.
struct Need(Vec<Want>);

struct Gpus;

impl RowWise for Gpus {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, (): &()) -> Result<Need, Problem> {
        let wants = request.vms.iter().map(|vm| Want::of_gpus(&vm));
        Ok(Need(wants.collect()))
    }
}

impl RowFilter for Gpus {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let wants = &need.0;
        if wants.iter().all(|want| want.count <= 0) {
            return Verdict::Keep;
        }
        let accepted = have_models(wants, &host.current, &host.gpus, host.model.as_ref());
        let has_enough = || fits(wants, &host.current, &host.gpus);
        // Who stays with what it has does so even where the host tells of no GPUs.
        Verdict::keep_if(!host.gpus.is_empty() || has_enough(), Reason::NoGpus)
            .and(|| Verdict::keep_if(accepted, Reason::WrongModel))
            .and(|| Verdict::keep_if(has_enough(), Reason::TooFewGpus))
    }
}

impl RowCost for Gpus {
    const RANGE: Option<(f64, f64)> = Some((0.0, 1.0));

    /// For VMs that want GPUs, the share of the host's GPUs that nobody has, so that
    /// GPUs in use are filled first; for others, 1 where there are GPUs.
    fn cost(need: &Need, host: &Host) -> f64 {
        let all = host.gpus.len() as i64 * WHOLE;
        if all == 0 {
            return 0.0;
        }
        if need.0.iter().all(|want| want.count <= 0) {
            return 1.0;
        }
        let free: i64 = host.gpus.iter().map(|gpu| gpu.free.clamp(0, WHOLE)).sum();
        free as f64 / all as f64
    }
}

/// What is read of a placement.
#[derive(Request)]
struct Placement {
    #[table("members")]
    vms: Rows<GpuVm>,
    hosts: Rows<ChosenHost>,
}

/// What is read of the host that was chosen.
#[derive(Row)]
struct ChosenHost {
    #[table("gpus")]
    gpus: Rows<ChosenGpu>,
    #[table("current")]
    current: Rows<Current>,
}

impl Effects for Gpus {
    type Request = Placement;
    type Settings = ();
    type Writes = Gift;

    /// The GPUs with the least room that is enough.
    fn placed(placement: &Placement, (): &()) -> Result<Changes<Gift>, Problem> {
        let Some(host) = placement.hosts.get(0) else {
            return Ok(Changes::new());
        };
        let vms = placement.vms.numbered();
        let wants = vms.map(|(member, vm)| (member, Want::of_gpus(&vm)));
        give(wants, &host.current, &host.gpus, Want::least_room)
    }
}

placewright_sdk::export!(Gpus: filter, cost_function, effects);

#[cfg(test)]
mod tests;
