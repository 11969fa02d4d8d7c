//! The answers of the parts `selection`, `effects`, `order` and `explain`.

use wasmtime::component::{ComponentType, Lift};

use super::{Row, Value};

/// Candidates in groups, best group first, with a share of chance inside each.
#[derive(Debug, Clone, Default, PartialEq, ComponentType, Lift)]
#[component(record)]
pub struct Shares {
    /// Offsets into `rows` and `shares`, one more than there are groups.
    pub groups: Vec<u32>,
    /// Row numbers in `candidates`, each at most once.
    pub rows: Vec<u32>,
    /// The share of each, 0 or more.
    pub shares: Vec<f64>,
}

/// Turns of a batch, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct Turns {
    /// Offsets into `rows`, one more than there are turns.
    pub turns: Vec<u32>,
    /// Row numbers in `members`, each at most once.
    pub rows: Vec<u32>,
}

/// One change that follows from a placement.
#[derive(Debug, Clone, PartialEq, ComponentType, Lift)]
#[component(record)]
pub struct Change {
    /// Which of the declared writes, counted from 0.
    pub write: u32,
    /// Whose table is written: a row number in `members` or in `hosts`.
    pub entity: u32,
    /// What is done.
    pub operation: Operation,
}

/// What a change does to a table.
#[derive(Debug, Clone, PartialEq, ComponentType, Lift)]
#[component(variant)]
pub enum Operation {
    /// Add a row.
    #[component(name = "append")]
    Append(Vec<Option<Value>>),
    /// Replace the values of a row.
    #[component(name = "set")]
    Set((u32, Vec<Option<Value>>)),
    /// Remove a row.
    #[component(name = "remove")]
    Remove(u32),
    /// Add to what the placement reserves on the host.
    #[component(name = "reserve")]
    Reserve((String, i64)),
}

/// A value that a part worked out, for a person who asks why.
#[derive(Debug, Clone, PartialEq, ComponentType, Lift)]
#[component(record)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// What it is about, if it is about one row.
    pub about: Option<Row>,
    /// The value.
    pub value: Value,
}
