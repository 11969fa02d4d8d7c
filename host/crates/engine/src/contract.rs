//! The contract with units, as Rust types: the only place that mirrors `wit/`.
//!
//! Types and fields carry the names of the WIT. What they mean is said there, in
//! `wit/policy.wit`; here stands only what is particular to this side. Wasmtime
//! checks the types against a component once, when its functions are looked up.

pub mod bounds;
mod description;
mod part;
mod proposal;
mod refinement;
mod value;

pub use description::{
    BalancePart, ColumnRead, Description, EffectsPart, Evaluation, ExplainPart, JudgePart, Moment,
    OrderPart, Position, Reason, Scope, SelectionPart, Setting, SettingColumn, TableRead, Write,
};
pub use part::Part;
pub use proposal::{Finding, HostState, Move, Proposal, Row};
pub use refinement::{Change, Fact, Operation, Shares, Turns};
pub use value::{Kind, Value};

use std::fmt;
use std::sync::Arc;

use wasmtime::component::{ComponentType, Lift, Lower};

/// The WIT package that units are built against, without its version.
pub const PACKAGE: &str = "placewright:policy";

/// The version of the package that this runtime offers.
pub const VERSION: &str = "0.1.0";

/// The interface that holds only types; a component may name it as an import.
pub const TYPES: &str = "types";

/// The interface that a unit may import.
pub const LOG: &str = "log";

/// An interface of the package with the offered version, as components name it:
/// `placewright:policy/judge@0.1.0`.
pub fn interface(name: &str) -> String {
    format!("{PACKAGE}/{name}@{VERSION}")
}

/// The tables of one call: the WIT's record `tables`.
///
/// Meant to be filled again and again: lowering borrows it, copies each list
/// into the unit's memory in one piece, and leaves the allocations here.
#[derive(Debug, Clone, Default, PartialEq, ComponentType, Lower)]
#[component(record)]
pub struct Call {
    /// How many rows each declared table has.
    pub rows: Vec<u32>,
    /// Offsets, and the values of columns of kind integer, boolean and text.
    pub integers: Vec<i64>,
    /// The values of columns of kind number: never NaN, never -0.
    pub numbers: Vec<f64>,
    /// Positions in `integers` without a value, ascending; a 0 stands there.
    #[component(name = "absent-integers")]
    pub absent_integers: Vec<u32>,
    /// Positions in `numbers` without a value, ascending; a 0 stands there.
    #[component(name = "absent-numbers")]
    pub absent_numbers: Vec<u32>,
    /// The dictionary of the call.
    pub texts: Vec<Arc<str>>,
}

impl Call {
    /// Forget all rows and values, and keep the allocations.
    #[inline]
    pub fn clear(&mut self) {
        self.rows.clear();
        self.integers.clear();
        self.numbers.clear();
        self.absent_integers.clear();
        self.absent_numbers.clear();
        self.texts.clear();
    }
}

/// Why a part gives no answer.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(variant)]
pub enum Problem {
    /// The request or a setting is at fault; the caller is told this sentence.
    #[component(name = "refused")]
    Refused(String),
    /// The unit is at fault.
    #[component(name = "failed")]
    Failed(String),
}

/// What is wanted of a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ComponentType, Lift, Lower)]
#[component(record)]
pub struct Answers {
    /// Whether hosts are to be kept or removed.
    pub verdicts: bool,
    /// Whether hosts are to be given costs.
    pub costs: bool,
}

impl Answers {
    /// Verdicts alone.
    pub const VERDICTS: Self = Self {
        verdicts: true,
        costs: false,
    };
    /// Costs alone.
    pub const COSTS: Self = Self {
        verdicts: false,
        costs: true,
    };
    /// Both in one call.
    pub const BOTH: Self = Self {
        verdicts: true,
        costs: true,
    };
}

impl fmt::Display for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.verdicts, self.costs) {
            (true, true) => "verdicts and costs",
            (true, false) => "verdicts",
            (false, true) => "costs",
            (false, false) => "nothing",
        })
    }
}

/// What a judge says of each host; lower costs are better.
#[derive(Debug, Clone, Default, PartialEq, ComponentType, Lift)]
#[component(record)]
pub struct Judgement {
    /// 0 keeps the host, k removes it for the k-th reason. Empty if not wanted.
    pub verdicts: Vec<u8>,
    /// The cost of each host. Empty if not wanted.
    pub costs: Vec<f64>,
    /// The last second at which each answer still holds. Empty = for good.
    pub until: Vec<i64>,
}

/// How weighty a logged sentence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
pub enum Level {
    /// Something failed.
    #[component(name = "error")]
    Error,
    /// Something is odd.
    #[component(name = "warn")]
    Warn,
    /// Worth knowing.
    #[component(name = "info")]
    Info,
    /// For the unit's developer.
    #[component(name = "debug")]
    Debug,
}

impl Level {
    /// The name in the package.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }
}

#[cfg(test)]
mod tests;
