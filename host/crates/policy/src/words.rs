//! The words that a policy document chooses from.

use placewright_document::Word;

/// How hosts of equal cost are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tie {
    /// The host with the fewest VMs, pending ones included.
    FewestVms,
    /// The host that was added first.
    Listed,
    /// The host whose id comes first, compared as bytes.
    Id,
    /// One by the request's draw.
    Draw,
}

impl Tie {
    /// What holds where a policy says nothing.
    pub const DEFAULT: [Self; 2] = [Self::FewestVms, Self::Id];
}

impl Word for Tie {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("fewest-vms", Self::FewestVms),
        ("listed", Self::Listed),
        ("id", Self::Id),
        ("draw", Self::Draw),
    ];
}

/// Where a filter stands among those of its stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Position {
    /// Before all others.
    First,
    /// As written.
    #[default]
    Any,
    /// After all others.
    Last,
}

impl Word for Position {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("first", Self::First),
        ("any", Self::Any),
        ("last", Self::Last),
    ];
}

/// What is done with the costs of one entry before they are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scaling {
    /// Nothing.
    #[default]
    None,
    /// The unit's declared range becomes 0..1.
    Range,
    /// The least cost of the candidates becomes 0, the greatest 1.
    MinMax,
    /// A cost becomes the number of candidates whose cost is strictly lower.
    Rank,
    /// The least cost of the candidates becomes 1, the greatest 1000, in whole
    /// steps, half a step rounded up.
    Stretch,
    /// Stretched, and then ranked: costs of one step are equal.
    StretchedRank,
}

impl Word for Scaling {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("range", Self::Range),
        ("min-max", Self::MinMax),
        ("rank", Self::Rank),
        ("stretch", Self::Stretch),
        ("stretched-rank", Self::StretchedRank),
    ];
}

/// Which of the candidates that a stage has left go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Keep {
    /// All of them.
    #[default]
    All,
    /// Those of the least cost, all tiers compared.
    Best,
}

impl Word for Keep {
    const WORDS: &'static [(&'static str, Self)] = &[("all", Self::All), ("best", Self::Best)];
}

/// What becomes of hosts whose costs add up to infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum InfiniteCosts {
    /// One of them is taken if no other host is left.
    #[default]
    LastResort,
    /// None of them is taken.
    NoPlace,
}

impl Word for InfiniteCosts {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("last-resort", Self::LastResort),
        ("no-place", Self::NoPlace),
    ];
}

/// Whether a batch may be searched for a plan that leaves out less than first-come
/// order does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Search {
    /// If it is asked for.
    #[default]
    Allowed,
    /// Never: who comes first is served first.
    Forbidden,
}

impl Word for Search {
    const WORDS: &'static [(&'static str, Self)] =
        &[("allowed", Self::Allowed), ("forbidden", Self::Forbidden)];
}

/// What becomes of a decision in which a unit fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// It fails: what a filter does if nothing is said.
    Fail,
    /// It is made without the unit, and marked: what a cost does if nothing is
    /// said.
    LeaveOut,
    /// The candidates of best cost are taken, and it is marked: what a selection
    /// does if nothing is said.
    BestCost,
}

impl Word for OnFailure {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("fail", Self::Fail),
        ("leave-out", Self::LeaveOut),
        ("best-cost", Self::BestCost),
    ];
}

/// What becomes of a request with a need that no filter of the policy checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Unheeded {
    /// Nothing.
    Ignore,
    /// It is decided, and the decision warns.
    Warn,
    /// It is refused.
    #[default]
    Refuse,
}

impl Word for Unheeded {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("refuse", Self::Refuse),
        ("warn", Self::Warn),
        ("ignore", Self::Ignore),
    ];
}
