//! The moves that lower the score most.

use placewright_sdk::prelude::*;

use crate::cluster::Cluster;
use crate::moves::{Move, best};
use crate::rows::{Host, Secondary};
use crate::score::least;
use crate::{GanetiScore, Settings};

/// So many moves are proposed, for the case that the first is not made.
const PROPOSED: usize = 8;

/// The cluster as it runs.
#[derive(Request)]
pub struct Request {
    hosts: Rows<Host>,
}

#[derive(Reason, Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// makes the cluster's score higher than it is elsewhere
    HighScore,
}

impl Balance for GanetiScore {
    type Request = Request;
    type Settings = Settings;
    type Reason = Reason;
    type Writes = Secondary;

    fn balance(
        request: &Request,
        settings: &Settings,
    ) -> Result<Vec<Proposal<Reason, Secondary>>, Problem> {
        let cluster = Cluster::new(&request.hosts);
        let moves = ranked(&cluster, settings);
        let first = moves.iter().take(PROPOSED);
        Ok(first.map(|it| proposal(&cluster, it)).collect())
    }
}

/// The best moves of instances, each by another one, that lower the score enough: the
/// best of all first. Of those beyond the first [`PROPOSED`] some are left out.
pub fn ranked(cluster: &Cluster, settings: &Settings) -> Vec<Move> {
    let (now, mut ranked) = best(cluster, PROPOSED);
    // The score is no number where no node is online.
    let can_be_better = now > least(cluster) + settings.min_score;
    if !can_be_better {
        return Vec::new();
    }
    let enough = |it: &Move| now > settings.min_gain_limit || now - it.score >= settings.min_gain;
    ranked.retain(enough);
    let first = (0..ranked.len()).reduce(|best, next| {
        let better = ranked[next].beats(ranked[best].score);
        if better { next } else { best }
    });
    // Among equals the first instance, whatever rounding says.
    if let Some(first) = first {
        let first = ranked.remove(first);
        ranked.sort_by(|a, b| a.score.total_cmp(&b.score));
        ranked.insert(0, first);
    }
    ranked
}

fn proposal(cluster: &Cluster, to: &Move) -> Proposal<Reason, Secondary> {
    let instance = &cluster.instances[to.instance];
    let primary = cluster.nodes[to.primary].row;
    let mut changes = Changes::new();
    if let Some(secondary) = to.secondary.filter(|_| to.secondary != instance.secondary) {
        let host = Some(cluster.nodes[secondary].id.clone());
        changes.set(0, 0, Secondary { host });
    }
    Proposal::Move {
        vm: instance.row,
        among: vec![primary],
        accept: vec![primary],
        changes,
        reason: Reason::HighScore,
    }
}
