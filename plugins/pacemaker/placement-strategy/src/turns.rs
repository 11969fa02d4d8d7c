//! Who of a batch has its turn first.
//!
//! The VM of the highest priority. Among equals, and not under `default`: the one with
//! the highest score where it runs (one that runs nowhere has the lowest there is);
//! then the one with the higher score on the first host on which scores differ; then
//! the one that is listed first. Size plays no part.

use std::cmp::{Ordering, Reverse};

use named_amounts::FreeAmount;
use placewright_sdk::prelude::*;
use scores::{Current, Location, Said, Score};

use crate::Strategy;
use crate::capacity::{self, Lines};

/// What is read of each VM of the batch.
#[derive(Row)]
pub struct Vm {
    pub priority: i64,
    pub stickiness: Option<i64>,
}

/// What is read of each host, in whatever state.
#[derive(Row)]
pub struct Host {
    pub id: Text,
    pub state: Text,
    #[column("attribute.health")]
    pub health: Option<i64>,
    #[table("location")]
    pub location: Rows<Location>,
    #[table("current")]
    pub current: Rows<Current>,
    #[table("amounts")]
    pub amounts: Rows<FreeAmount>,
}

impl Host {
    fn said(&self) -> Said<'_> {
        Said {
            location: &self.location,
            current: &self.current,
            health: self.health,
        }
    }

    /// Are the VMs told apart by their scores on this host?
    fn tells_apart(&self) -> bool {
        !self.location.is_empty() || !self.current.is_empty()
    }

    fn is_up(&self) -> bool {
        self.state == "up"
    }
}

/// The VMs of the batch and all hosts.
#[derive(Request)]
pub struct Batch {
    #[table("members")]
    pub vms: Rows<Vm>,
    pub hosts: Rows<Host>,
}

/// The VMs in the order of their turns.
pub fn turns(batch: &Batch, strategy: Strategy) -> Vec<u32> {
    let mut vms: Vec<(u32, Vm)> = batch.vms.numbered().collect();
    if strategy == Strategy::Default {
        vms.sort_by_key(|(_, vm)| Reverse(vm.priority));
    } else {
        let scores = Scores::of(batch, strategy);
        vms.sort_by(|(row, vm), (other_row, other)| {
            let by_priority = other.priority.cmp(&vm.priority);
            by_priority.then_with(|| scores.compare(*row as usize, *other_row as usize))
        });
    }
    vms.into_iter().map(|(row, _)| row).collect()
}

/// The scores of the VMs, host by host.
struct Scores {
    vms: Vec<ScoresOfVm>,
    /// By the place of a host: the score there of whoever has none of its own.
    others: Vec<Score>,
}

/// The scores of one VM.
struct ScoresOfVm {
    /// Where it runs.
    here: Score,
    /// Where something is said of it: the places of hosts, ascending.
    apart: Vec<(usize, Score)>,
}

impl Scores {
    fn of(batch: &Batch, strategy: Strategy) -> Self {
        let nowhere = || ScoresOfVm {
            here: Score::FORBIDDEN,
            apart: Vec::new(),
        };
        let mut scores = Self {
            vms: batch.vms.iter().map(|_| nowhere()).collect(),
            others: Vec::new(),
        };
        let stickiness: Vec<i64> = (batch.vms.iter())
            .map(|vm| vm.stickiness.unwrap_or(0))
            .collect();
        for host in in_order(&batch.hosts, strategy) {
            scores.add(&host, &stickiness);
        }
        scores
    }

    fn add(&mut self, host: &Host, stickiness: &[i64]) {
        let place = self.others.len();
        self.others.push(Score::sum(host.health));
        let said = host.said();
        let located = host.location.iter().map(|row| row.member);
        let running = host.current.iter().map(|row| row.member);
        for member in located.chain(running) {
            let row = usize::try_from(member).unwrap_or(usize::MAX);
            let (Some(vm), Some(stickiness)) = (self.vms.get_mut(row), stickiness.get(row)) else {
                continue;
            };
            let score = said.score(member, *stickiness);
            if said.runs(member) {
                vm.here = score;
            }
            if vm.apart.last().is_none_or(|(last, _)| *last < place) {
                vm.apart.push((place, score));
            }
        }
    }

    /// Less: the one VM has its turn before the other.
    fn compare(&self, one: usize, other: usize) -> Ordering {
        let (one, other) = (&self.vms[one], &self.vms[other]);
        let by_host = || self.first_difference(&one.apart, &other.apart);
        other.here.cmp(&one.here).then_with(by_host)
    }

    fn first_difference(&self, one: &[(usize, Score)], other: &[(usize, Score)]) -> Ordering {
        let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
        let place = |next: Option<&&(usize, Score)>| next.map_or(usize::MAX, |(place, _)| *place);
        loop {
            let first = place(one.peek()).min(place(other.peek()));
            let Some(neither) = self.others.get(first) else {
                return Ordering::Equal;
            };
            let score = one.next_if(|(place, _)| *place == first);
            let other_score = other.next_if(|(place, _)| *place == first);
            let [score, other_score] = [score, other_score].map(|next| match next {
                Some((_, score)) => score,
                None => neither,
            });
            match other_score.cmp(score) {
                Ordering::Equal => {}
                differs => return differs,
            }
        }
    }
}

/// The hosts on which scores can differ, as the strategy prefers them before anything
/// is placed: those that are up first; under `balanced`, those with more capacity
/// first; and by their ids.
fn in_order(hosts: &Rows<Host>, strategy: Strategy) -> Vec<Host> {
    let mut hosts: Vec<Host> = hosts.iter().filter(Host::tells_apart).collect();
    hosts.sort_by(|one, other| one.id.cmp(&other.id));
    let (up, not_up): (Vec<Host>, Vec<Host>) = hosts.into_iter().partition(Host::is_up);
    let mut ordered = by_strategy(up, strategy);
    ordered.extend(by_strategy(not_up, strategy));
    ordered
}

fn by_strategy(hosts: Vec<Host>, strategy: Strategy) -> Vec<Host> {
    if strategy != Strategy::Balanced {
        return hosts;
    }
    let lines = Lines::read(hosts.iter().map(|host| host.amounts.clone()));
    let ranks = capacity::ranks(&lines);
    let mut ranked: Vec<(usize, Host)> = ranks.into_iter().zip(hosts).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, host)| host).collect()
}

#[cfg(test)]
mod tests;
