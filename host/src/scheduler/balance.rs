//! The periodic pass with the policy's balance unit: proposals are held against the
//! ordinary chain, put in an order in which each is legal, reviewed, and then begun
//! or cancelled.
//!
//! A plan is made on a copy of the inventory. It is a row of steps of one move each:
//! the unit is asked anew after every step, so whoever stops after any of them has
//! only made moves that the chain makes and that lower its cost.

mod apply;
mod cool_down;
mod gain;
mod pass;
mod saved;
mod world;

pub use apply::BalanceError;
pub(super) use cool_down::CoolDown;
pub use saved::SavedPlan;

use std::sync::Arc;

use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};

use super::{PlaceError, Scheduler};
use crate::chain::{Proposed, Refusal};
use crate::model::{Effect, RowChange, Value, Write};

/// How a pass goes about its work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BalanceOptions {
    /// A move is made only if it lowers the policy's cost by more than this, in the
    /// first tier in which the costs differ by more than this.
    pub margin: f64,
    /// Seconds for which a VM stays where it was moved to. If there are any, no VM is moved
    /// twice in one plan.
    pub cool_down: i64,
    /// The most moves of one plan.
    pub moves: usize,
}

impl Default for BalanceOptions {
    fn default() -> Self {
        Self {
            // More than rounding does.
            margin: 1e-9,
            cool_down: 300,
            moves: 100,
        }
    }
}

/// What is to be moved, in an order in which each step is legal after those before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BalancePlan {
    /// Seconds since 1970-01-01 UTC at which it was made.
    pub now: i64,
    /// The version of the inventory that it was made on.
    pub inventory_version: u64,
    /// One move after the other.
    pub moves: Vec<PlannedMove>,
    /// Host states and findings that the unit proposes for the cluster as it is:
    /// they are left to an operator.
    pub notes: Vec<Proposed>,
    /// What else the unit proposed, and why it is not done: for the state before each
    /// step.
    pub refused: Vec<RefusedMove>,
    /// Whether the plan ends because it may hold no more moves: there may be more.
    pub cut_short: bool,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedMove {
    pub vm: Arc<str>,
    /// Where it runs before the step.
    pub from: Arc<str>,
    /// Where it runs after the step: the same host, if only its facts change.
    pub to: Arc<str>,
    /// Completes "host FROM ...".
    pub reason: String,
    /// What the VM costs where it runs before the step, tier by tier; none if the
    /// chain would not leave it there.
    #[serde(default, deserialize_with = "saved::costs_if_any")]
    pub cost_before: Option<Vec<f64>>,
    /// What it costs where it runs after the step.
    #[serde(deserialize_with = "saved::costs")]
    pub cost_after: Vec<f64>,
    /// What is written of the VM.
    #[serde(
        serialize_with = "changes",
        skip_serializing_if = "Vec::is_empty",
        skip_deserializing
    )]
    pub changes: Vec<Write>,
}

impl PlannedMove {
    /// What is written of the VM, for people: `attribute.secondary: host = n2`.
    pub fn changes_shown(&self) -> Vec<String> {
        self.changes.iter().filter_map(shown).collect()
    }
}

/// A proposal that is not followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RefusedMove {
    /// How many steps of the plan come before.
    pub after: usize,
    pub vm: Arc<str>,
    pub from: Arc<str>,
    pub because: Because,
}

/// Why a proposal is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Because {
    #[error("the VM was moved a short time ago")]
    Cooling,
    #[error("the VM has a place reserved elsewhere")]
    OnTheMove,
    #[error("the policy's filters leave none of the hosts that are proposed")]
    NoHost,
    #[error("the policy would take host \"{0}\" instead")]
    OtherHost(Arc<str>),
    #[error("the policy would leave it where it is")]
    Stays,
    #[error("the policy's cost falls by no more than the margin")]
    NoGain,
    #[error("what goes with the move cannot be written: {0}")]
    Writes(String),
    /// What was said when the plan was made, of one that was kept.
    #[error("{0}")]
    Said(String),
}

impl Serialize for Because {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Scheduler {
    /// What the policy's balance unit proposes at `now` (seconds), in order of
    /// preference, whether the chain agrees or not. Nothing is changed.
    ///
    /// # Errors
    /// If the unit refuses or fails.
    pub fn balance(&mut self, now: i64) -> Result<Vec<Proposed>, Refusal> {
        self.inventory.advance(now);
        self.runner
            .chain()
            .balance(&self.inventory, now, self.options.chain_limit)
    }

    /// Plan moves at `now` (seconds) that the policy's balance unit proposes, that the
    /// chain would make, and that lower its cost. Nothing is changed.
    ///
    /// # Errors
    /// If a unit refuses or fails that the policy cannot do without.
    pub fn plan_balance(
        &mut self,
        now: i64,
        options: &BalanceOptions,
    ) -> Result<BalancePlan, PlaceError> {
        self.inventory.advance(now);
        pass::Pass::new(self, now, options).plan()
    }
}

fn changes<S: Serializer>(writes: &[Write], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(None)?;
    for write in writes {
        if let Effect::Row { table, change, .. } = &write.effect {
            list.serialize_element(&Change { table, change })?;
        }
    }
    list.end()
}

struct Change<'a> {
    table: &'a str,
    change: &'a RowChange,
}

impl Serialize for Change<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("table", self.table)?;
        match self.change {
            RowChange::Append(facts) => map.serialize_entry("append", facts)?,
            RowChange::Set(row, values) => {
                map.serialize_entry("row", row)?;
                let values: std::collections::BTreeMap<&str, _> = values
                    .iter()
                    .map(|(column, value)| (&**column, value))
                    .collect();
                map.serialize_entry("set", &values)?;
            }
            RowChange::Remove(row) => map.serialize_entry("remove", row)?,
        }
        map.end()
    }
}

fn said(value: &Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Text(value) => value.to_string(),
    }
}

fn shown(write: &Write) -> Option<String> {
    let Effect::Row { table, change, .. } = &write.effect else {
        return None;
    };
    let values: Vec<String> = match change {
        RowChange::Append(facts) => facts
            .values()
            .map(|(column, value)| format!("{column} = {}", said(value)))
            .collect(),
        RowChange::Set(_, values) => values
            .iter()
            .map(|(column, value)| match value {
                Some(value) => format!("{column} = {}", said(value)),
                None => format!("no {column}"),
            })
            .collect(),
        RowChange::Remove(row) => vec![format!("without row {row}")],
    };
    Some(format!("{table}: {}", values.join(", ")))
}
