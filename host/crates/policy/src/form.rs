//! The keys of a policy document.

use super::{InfiniteCosts, Keep, OnFailure, Position, Scaling, Search, Tie, Unheeded};
use placewright_document::form::{BOOLEAN, Key, NUMBER, Shape, TEXT, key, required};
use placewright_document::{Word, words};
use placewright_model::{Bounds, Kind};

/// The unit of an entry, with one that can stand there.
const fn unit(example: &'static str) -> Key {
    let meaning = "Name or alias of the unit, if need be with the beginning of its digest: memory, memory@9f2c41";
    required("unit", TEXT, meaning).such_as(example)
}

const SETTINGS: Key = key(
    "settings",
    Shape::Open,
    "What the unit is set to; the unit's description says what there is",
);
const ENABLED: Key = key(
    "enabled",
    BOOLEAN,
    "False: it is checked and not asked; true if not given",
);
const ON_FAILURE: &str = "What becomes of a decision in which the unit fails";

const FILTERS: Shape = Shape::Tables(FILTER);
const COSTS: Shape = Shape::Tables(COST);
const SELECTIONS: Shape = Shape::Tables(SELECTION);

/// A policy.
pub(super) const POLICY: &[Key] = &[
    key(
        "name",
        TEXT,
        "Name of the policy; that of the file if not given",
    )
    .such_as("mine"),
    key("description", TEXT, "What it is for").such_as("For web servers"),
    key(
        "tie-rule",
        Shape::Words(words::<Tie>),
        "How ties between hosts of equal cost are broken, rule by rule; fewest-vms, then id if not given",
    ),
    key(
        "settings",
        Shape::Open,
        "Settings for every unit of the policy that has a setting of that name; those of an entry win",
    ),
    key(
        "stages",
        Shape::Tables(STAGE),
        "Rounds of filters, costs and selections, in order",
    ),
    key("filters", FILTERS, "The filters of a policy of one stage"),
    key("costs", COSTS, "The costs of a policy of one stage"),
    key(
        "selections",
        SELECTIONS,
        "The selections of a policy of one stage",
    ),
    key(
        "effects",
        Shape::Tables(EFFECTS),
        "Units that say what follows from a placement, in order",
    ),
    key(
        "order",
        Shape::Table(ORDER),
        "The unit that puts the requests of a batch in order; by priority, current score and size if not given",
    ),
    key(
        "infinite-costs",
        Shape::Word(words::<InfiniteCosts>),
        "Whether a host whose costs add up to infinity is taken if there is no other: last-resort, or no-place, for units by which such a host cannot take the VM; last-resort if not given",
    ),
    key(
        "search",
        Shape::Word(words::<Search>),
        "Whether a batch may be searched for a plan that leaves out less than first-come order does; allowed if not given",
    ),
    key(
        "balance",
        Shape::Table(BALANCE),
        "The unit that proposes moves while the cluster runs",
    ),
    key(
        "watches",
        Shape::Tables(WATCH),
        "Conditions of which units can read since when they hold",
    ),
    key(
        "unheeded",
        Shape::Word(words::<Unheeded>),
        "What becomes of a request with a need that no filter of the policy checks; refuse if not given",
    ),
    key(
        "unheeded-needs",
        Shape::Open,
        "The same for single needs by their names: zone = \"ignore\"",
    ),
];

/// A stage.
pub(super) const STAGE: &[Key] = &[
    key(
        "name",
        TEXT,
        "Name of the stage, unique in the policy; numbered if not given",
    )
    .such_as("fit"),
    key("filters", FILTERS, "Units that remove hosts"),
    key("costs", COSTS, "Units that say how well hosts suit"),
    key("selections", SELECTIONS, "Units that refine the candidates"),
    key(
        "keep",
        Shape::Word(words::<Keep>),
        "Which candidates go on: all that are left, or only the best, those of least cost; all if not given",
    ),
];

/// An entry of `filters`.
pub(super) const FILTER: &[Key] = &[
    unit("memory"),
    key(
        "name",
        TEXT,
        "Unique among the policy's filters; the unit's name if not given",
    )
    .such_as("memory"),
    key(
        "position",
        Shape::Word(words::<Position>),
        "Where it stands among the filters of its stage; any if not given",
    ),
    key("on-failure", Shape::Word(judging), ON_FAILURE),
    SETTINGS,
    ENABLED,
];

/// An entry of `costs`.
pub(super) const COST: &[Key] = &[
    unit("even-distribution"),
    key(
        "name",
        TEXT,
        "Unique among the policy's costs; the unit's name if not given",
    )
    .such_as("spread"),
    key(
        "factor",
        NUMBER,
        "Its costs are multiplied by this, which may be negative; 1 if not given",
    )
    .such_as("2"),
    key(
        "scaling",
        Shape::Word(words::<Scaling>),
        "What is done with its costs before; none if not given",
    ),
    key(
        "tier",
        Shape::Value(Kind::Integer, None, TIERS),
        "Costs of tier 1 are compared first, those of tier 2 where these are equal; 1 if not given",
    )
    .such_as("1"),
    key("on-failure", Shape::Word(judging), ON_FAILURE),
    SETTINGS,
    ENABLED,
];

const TIERS: Bounds = Bounds {
    least: Some(1.0),
    greatest: Some(u32::MAX as f64),
};

/// An entry of `selections`.
pub(super) const SELECTION: &[Key] = &[
    unit("equal-shares"),
    key(
        "name",
        TEXT,
        "Unique among the policy's selections; the unit's name if not given",
    )
    .such_as("best"),
    key("on-failure", Shape::Word(selecting), ON_FAILURE),
    SETTINGS,
    ENABLED,
];

/// An entry of `effects`.
pub(super) const EFFECTS: &[Key] = &[
    unit("cpu-pinning"),
    key(
        "name",
        TEXT,
        "Unique among the policy's effects; the unit's name if not given",
    )
    .such_as("pin"),
    SETTINGS,
    ENABLED,
];

/// The table `order`.
pub(super) const ORDER: &[Key] = &[unit("placement-strategy"), SETTINGS];

/// The table `balance`.
pub(super) const BALANCE: &[Key] = &[unit("even-distribution"), SETTINGS];

/// An entry of `watches`.
pub(super) const WATCH: &[Key] = &[
    required(
        "name",
        TEXT,
        "The name under which units read since when it holds",
    ).such_as("busy"),
    required("column", TEXT, "The column of hosts that it is about").such_as("cpu.usage"),
    key(
        "at-least",
        Shape::Any,
        "The condition holds for values from here",
    ).such_as("0.8"),
    key(
        "at-most",
        Shape::Any,
        "The condition holds for values up to here; if that is less than at-least, for values outside of the two",
    ).such_as("0.95"),
];

fn judging() -> Vec<&'static str> {
    vec![OnFailure::Fail.word(), OnFailure::LeaveOut.word()]
}

fn selecting() -> Vec<&'static str> {
    vec![OnFailure::Fail.word(), OnFailure::BestCost.word()]
}
