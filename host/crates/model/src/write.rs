//! What follows from a decision, besides the place itself.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Facts, Value};

/// One thing to be written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Write {
    /// When it takes force.
    pub moment: Moment,
    /// What is done.
    pub effect: Effect,
}

/// When a write takes force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// At once, with the decision.
    Decided,
    /// When the VM of this id runs where its place is reserved; at once if it has
    /// none reserved and runs already. Never, if the reservation ends before.
    Running(Arc<str>),
}

/// What a write does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Change a row of a table below an entity.
    Row {
        /// What the row is of.
        entity: Entity,
        /// As documents call it, for example `keys`.
        table: Arc<str>,
        /// What is done to the row.
        change: RowChange,
    },
    /// Add to what the VM's place takes of its host: of `memory` (bytes), `cpu`
    /// (millicores) or a named amount.
    Reserve {
        /// Id of the VM.
        vm: Arc<str>,
        /// Name of the amount.
        amount: Arc<str>,
        /// 0 or more.
        value: i64,
    },
}

/// Whose tables are written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entity {
    /// The stay of this VM on its host, reserved or running: what is written
    /// ends with it.
    Placement(Arc<str>),
    /// The VM of this id.
    Vm(Arc<str>),
    /// The host of this id.
    Host(Arc<str>),
    /// The tenant of this id; it need not be known yet.
    Tenant(Arc<str>),
    /// The cluster.
    Cluster,
}

/// What happens to the rows of a table. Rows are numbered from 0, as they were
/// before everything that is written together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowChange {
    /// Add a row behind all others.
    Append(Facts),
    /// Set these values of a row, or take them away; the others stay.
    Set(usize, Vec<(Arc<str>, Option<Value>)>),
    /// Remove a row.
    Remove(usize),
}

impl Write {
    /// A change of a row, at once.
    pub fn row(entity: Entity, table: impl Into<Arc<str>>, change: RowChange) -> Self {
        Self {
            moment: Moment::Decided,
            effect: Effect::Row {
                entity,
                table: table.into(),
                change,
            },
        }
    }

    /// An addition to what a VM's place takes, at once.
    pub fn reserve(vm: impl Into<Arc<str>>, amount: impl Into<Arc<str>>, value: i64) -> Self {
        Self {
            moment: Moment::Decided,
            effect: Effect::Reserve {
                vm: vm.into(),
                amount: amount.into(),
                value,
            },
        }
    }

    /// The same write, when that VM runs.
    pub fn once_running(self, vm: impl Into<Arc<str>>) -> Self {
        Self {
            moment: Moment::Running(vm.into()),
            ..self
        }
    }
}
