//! A unit for tests of the runtime that has every part that is asked once in a
//! decision or a batch, and a judge besides. Its settings say what each part does,
//! and what a part is shown comes out in its answer. All of it is what an author
//! could write; what only a broken SDK could answer is in the unit `broken-parts`.

#![forbid(unsafe_code)]

mod effects;
mod explain;
mod judge;
mod order;
mod selection;

use placewright_sdk::prelude::*;

/// One for all parts.
#[derive(Settings)]
struct Settings {
    /// Id of a host that the filter removes.
    without: Option<Text>,
    /// The place in the list of hosts where a host costs nothing; each place further
    /// away costs 1 more.
    #[setting(default = 0, least = 0)]
    near: i64,
    /// What the selection makes of the candidates.
    #[setting(
        default = "keep",
        choices = [
            "keep",
            "halves",
            "dead-first",
            "weigh-cost",
            "weigh-first",
            "weigh-second",
            "nobody",
            "fail",
            "refuse",
        ]
    )]
    refine: Text,
    /// What follows from a placement.
    #[setting(
        default = "nothing",
        choices = [
            "nothing",
            "fix",
            "mark",
            "mark-again",
            "bind",
            "rebind",
            "unbind",
            "tag",
            "reserve",
            "fail",
            "refuse",
        ]
    )]
    follow: Text,
    /// How a batch is put in order.
    #[setting(
        default = "listed",
        choices = [
            "listed",
            "reversed",
            "pairs",
            "largest-first",
            "all-but-first",
            "one-for-each-host",
            "fail",
            "refuse",
        ]
    )]
    turns: Text,
}

struct Parts;

fn failed<T>() -> Result<T, Problem> {
    Err(Problem::failed("the part has lost its way"))
}

fn refused<T>() -> Result<T, Problem> {
    Err(Problem::refused("the VM must name its owner"))
}

placewright_sdk::export!(
    Parts: filter, cost_function, selection, effects, order, explain
);
