//! Plain data of our own: values, rows of facts, hosts, VMs, groups, requests.
//!
//! Nothing here knows of WebAssembly, files or clocks. The names of columns and
//! tables, with their kinds and meaning, are in [`schema`].
//!
//! Read [`Value`], [`Facts`], [`Host`], [`Vm`] and [`Request`] first.

#![forbid(unsafe_code)]

pub mod budget;
pub mod measure;
pub mod schema;
pub mod serial;

mod bounds;
mod doubt;
mod facts;
mod holding;
mod host_state;
mod moment;
mod nearest;
mod request;
mod sentence;
mod word;
mod write;

pub use bounds::Bounds;
pub use doubt::{doubt_of_gpus, doubt_of_room, doubts, doubts_of_changes};
pub use facts::{Facts, FactsChange, Group, GroupRule, Host, Pinning, Vm, gpus_needed};
pub use holding::Holding;
pub use host_state::{Departure, HostState};
pub use measure::Measure;
pub use moment::{Rfc3339, is_rfc3339, read_time, rfc3339, rfc3339_key, seconds_since_1970};
pub use nearest::nearest;
pub use request::{NamedVm, Request};
pub use sentence::{
    LONGEST_SENTENCE, cut, excerpt, is_hidden, one_line, turns, visible, visible_json,
};
pub use word::{Word, words};
pub use write::{Effect, Entity, Moment, RowChange, Write};

use std::fmt;
use std::sync::Arc;

/// The greatest integer that may cross to a unit, 2^53 - 1: some guest languages
/// have no others. As an `until` it means "for good".
pub const GREATEST_INTEGER: i64 = (1 << 53) - 1;

/// The kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A whole number within ±(2^53 - 1).
    Integer,
    /// A 64-bit float, never NaN.
    Number,
    /// True or false.
    Boolean,
    /// A text.
    Text,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Text => "text",
        })
    }
}

/// One value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// Any number.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// Text.
    Text(Arc<str>),
}

impl Value {
    /// The kind of column that this value fits.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Integer(_) => Kind::Integer,
            Value::Number(_) => Kind::Number,
            Value::Boolean(_) => Kind::Boolean,
            Value::Text(_) => Kind::Text,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(v) => write!(f, "{v}"),
            Value::Number(v) => write!(f, "{v}"),
            Value::Boolean(v) => write!(f, "{v}"),
            Value::Text(v) => f.write_str(v),
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Integer(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Number(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Boolean(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.into())
    }
}
