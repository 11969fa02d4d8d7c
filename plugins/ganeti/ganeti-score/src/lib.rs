//! Ganeti's cluster score, as its balancer hbal computes it: how evenly nodes are
//! used, and how many things are wrong. Of a VM to be placed, a host costs what the
//! score would be; of a cluster that runs, the moves are proposed that lower it
//! most.
//!
//! The words of this unit are Ganeti's: a node is a host, an instance a VM, which
//! runs on its *primary* node and may have a mirror of its disks on a *secondary*.
//! `rows` is what is read, `cluster` makes nodes and instances of it, `score` says
//! what they are worth, `fits` where an instance may be and `moves` where it can
//! go.

#![forbid(unsafe_code)]

mod balance;
mod cluster;
mod cost;
mod fits;
mod load;
mod misplaced;
mod moves;
mod rows;
mod score;
#[cfg(test)]
mod tests;

use placewright_sdk::prelude::*;

#[derive(Settings)]
struct Settings {
    /// A move must lower the score by this much, once the score is low.
    #[setting(default = 0.01, least = 0)]
    min_gain: f64,
    /// Up to this, the score is low.
    #[setting(default = 0.1, least = 0)]
    min_gain_limit: f64,
    /// Nothing is proposed while the score is no more than this above what it
    /// cannot be less than.
    #[setting(default = 0.000000001, least = 0)]
    min_score: f64,
}

struct GanetiScore;

placewright_sdk::export!(GanetiScore: table_cost_function, balance, aliases = ["hbal"]);
