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
    /// The lowest score of a VM on a host, and the sum of all scores there.
    #[inline]
    fn lowest_and_sum(&self, host: &Host) -> (Score, i64) {
        match said(host).of_all() {
            // So it is on most hosts.
            Some(score) => (score, score.value() * self.0.len() as i64),
            None => self.one_by_one(&said(host)),
        }
    }

    fn one_by_one(&self, said: &Said<'_>) -> (Score, i64) {
        let vms = (0..).zip(&self.0);
        let scores = vms.map(|(vm, stickiness)| said.score(vm, *stickiness));
        scores.fold((Score::INFINITE, 0), |(lowest, sum), score| {
            (lowest.min(score), sum + score.value())
        })
    }

    /// Do all of the VMs run there?
    fn all_run_on(&self, host: &Host) -> bool {
        let mut vms = (0..).zip(&self.0);
        !host.current.is_empty() && vms.all(|(vm, _)| said(host).runs(vm))
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
        let (lowest, _) = stickiness.lowest_and_sum(host);
        Verdict::keep_if(lowest > Score::FORBIDDEN, Reason::Forbidden)
            .and(|| Verdict::keep_if(lowest >= Score::ZERO, Reason::BelowZero))
    }
}

impl RowCost for HostScore {
    /// Minus the score. Scores are whole numbers, so half a point more puts the host
    /// where the VM runs before all others of the same score, and before no others.
    fn cost(stickiness: &Stickiness, host: &Host) -> f64 {
        let (_, score) = stickiness.lowest_and_sum(host);
        let stays = score > 0 && stickiness.all_run_on(host);
        0.0 - score as f64 - if stays { 0.5 } else { 0.0 }
    }
}

placewright_sdk::export!(HostScore: filter, cost_function);

#[cfg(test)]
mod tests;
