//! Groups and shares that show what the candidates carried.

use std::collections::BTreeMap;

use placewright_sdk::prelude::*;

use crate::{Parts, Settings, failed, refused};

#[derive(Request)]
pub struct Choice {
    candidates: Rows<Candidate>,
    hosts: Rows<Host>,
}

/// What is read of a candidate; the costs are those of entries of the policy with
/// these names.
#[derive(Row)]
struct Candidate {
    group: i64,
    share: f64,
    cost: f64,
    #[column("cost.first")]
    first: Option<f64>,
    #[column("cost.second")]
    second: Option<f64>,
}

/// What is read of its host.
#[derive(Row)]
struct Host {
    listed: i64,
}

impl Selection for Parts {
    type Request = Choice;
    type Settings = Settings;

    fn refine(choice: &Choice, settings: &Settings) -> Result<Groups, Problem> {
        match settings.refine.as_str() {
            "halves" => Ok(choice.halves()),
            "dead-first" => Ok(choice.dead_first()),
            "weigh-cost" => choice.weighed(|candidate| Some(candidate.cost)),
            "weigh-first" => choice.weighed(|candidate| candidate.first),
            "weigh-second" => choice.weighed(|candidate| candidate.second),
            "nobody" => Ok(Groups::default()),
            "fail" => failed(),
            "refuse" => refused(),
            _ => Ok(choice.kept()),
        }
    }
}

impl Choice {
    /// The groups and shares that the candidates stand in already.
    fn kept(&self) -> Groups {
        let mut groups: BTreeMap<i64, Vec<Share>> = BTreeMap::new();
        for (candidate, standing) in self.candidates.numbered() {
            let share = standing.share;
            let group = groups.entry(standing.group).or_default();
            group.push(Share { candidate, share });
        }
        Groups(groups.into_values().collect())
    }

    /// Two groups: every other host of the list, from the first, then those between.
    fn halves(&self) -> Groups {
        let rows = self.hosts.numbered();
        let (even, odd): (Vec<_>, Vec<_>) = rows.partition(|(_, host)| host.listed % 2 == 0);
        let group = |half: Vec<(u32, Host)>| Groups::only(half.into_iter().map(|(row, _)| row)).0;
        Groups([group(even), group(odd)].concat())
    }

    /// A group without any chance, which is the first host of the list, then a group
    /// of the others.
    fn dead_first(&self) -> Groups {
        let first = self.hosts.iter().map(|host| host.listed).min();
        let rows = self.hosts.numbered();
        let (dead, live): (Vec<_>, Vec<_>) = rows.partition(|(_, host)| Some(host.listed) == first);
        let no_chance = |(candidate, _)| Share {
            candidate,
            share: 0.0,
        };
        let Groups(mut groups) = Groups::only(live.into_iter().map(|(row, _)| row));
        groups.insert(0, dead.into_iter().map(no_chance).collect());
        Groups(groups)
    }

    /// One group, in which the share of each grows with 1 + the number. Listed from
    /// the last to the first, since the order in a group carries no meaning.
    fn weighed(&self, number: impl Fn(&Candidate) -> Option<f64>) -> Result<Groups, Problem> {
        let mut weights = Vec::new();
        for (row, candidate) in self.candidates.numbered() {
            let Some(number) = number(&candidate) else {
                return Err(Problem::refused("a candidate lacks the cost to weigh"));
            };
            weights.push((row, 1.0 + number));
        }
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let share = |(candidate, weight): &(u32, f64)| Share {
            candidate: *candidate,
            share: weight / sum,
        };
        let group: Vec<Share> = weights.iter().rev().map(share).collect();
        let groups = Some(group).filter(|group| !group.is_empty());
        Ok(Groups(groups.into_iter().collect()))
    }
}
