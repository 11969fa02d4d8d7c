//! Host score: keeps the hosts whose score for the VM is 0 or more, and prefers those
//! of the highest. A VM that has a score above 0 where it runs stays there unless
//! another host has a higher one.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;
use scores::{Current, Location, Said, Score};

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    stickiness: Option<i64>,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("attribute.health")]
    health: Option<i64>,
    #[table("location")]
    location: Rows<Location>,
    #[table("current")]
    current: Rows<Current>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is forbidden: its score is minus infinity
    Forbidden,
    /// has a score below 0
    BelowZero,
}

/// How strongly each of the VMs wants to stay where it runs.
struct Stickiness(Vec<i64>);

impl Stickiness {
    /// The scores of the VMs on a host.
    fn scores(&self, host: &Host) -> impl Iterator<Item = Score> {
        let said = said(host);
        (0..)
            .zip(&self.0)
            .map(move |(vm, stickiness)| said.score(vm, *stickiness))
    }
}

fn said(host: &Host) -> Said<'_> {
    Said {
        location: &host.location,
        current: &host.current,
        health: host.health,
    }
}

struct HostScore;

impl RowWise for HostScore {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Stickiness;

    fn prepare(request: &Request, (): &()) -> Result<Stickiness, Problem> {
        let vms = request.vms.iter();
        Ok(Stickiness(
            vms.map(|vm| vm.stickiness.unwrap_or(0)).collect(),
        ))
    }
}

impl RowFilter for HostScore {
    /// Every one of the VMs must be allowed there.
    fn keep(stickiness: &Stickiness, host: &Host) -> Verdict<Reason> {
        let lowest = stickiness.scores(host).min().unwrap_or_default();
        Verdict::keep_if(lowest > Score::FORBIDDEN, Reason::Forbidden)
            .and(|| Verdict::keep_if(lowest >= Score::ZERO, Reason::BelowZero))
    }
}

impl RowCost for HostScore {
    /// Minus the score. Scores are whole numbers, so half a point more puts the host
    /// where the VM runs before all others of the same score, and before no others.
    fn cost(stickiness: &Stickiness, host: &Host) -> f64 {
        let score: i64 = stickiness.scores(host).map(Score::value).sum();
        let all_run_here = || (0..).zip(&stickiness.0).all(|(vm, _)| said(host).runs(vm));
        let stays = score > 0 && !host.current.is_empty() && all_run_here();
        0.0 - score as f64 - if stays { 0.5 } else { 0.0 }
    }
}

placewright_sdk::export!(HostScore: filter, cost_function);

#[cfg(test)]
mod tests;
