//! What a unit says of itself.

use wasmtime::component::{ComponentType, Lift};

use super::{Answers, Kind, Part, Value};

/// What a unit is.
#[derive(Debug, Clone, PartialEq, ComponentType, Lift)]
#[component(record)]
pub struct Description {
    /// Lower-case words joined by hyphens.
    pub name: String,
    /// Semantic version of the unit.
    pub version: String,
    /// One sentence for the admin.
    pub summary: String,
    /// Names or ids under which other systems know the same rule.
    pub aliases: Vec<String>,
    /// What an admin may set.
    pub settings: Vec<Setting>,
    /// Filter, cost function, or both.
    pub judge: Option<JudgePart>,
    /// Refinement of the candidates.
    pub selection: Option<SelectionPart>,
    /// What follows from a placement.
    pub effects: Option<EffectsPart>,
    /// Proposals for a cluster that runs.
    pub balance: Option<BalancePart>,
    /// The turns of a batch.
    pub order: Option<OrderPart>,
    /// Values behind a judgement.
    pub explain: Option<ExplainPart>,
}

impl Description {
    /// Whether the part is described. `unit` always is; `settings` is not
    /// described but only exported.
    pub fn describes(&self, part: Part) -> bool {
        match part {
            Part::Unit => true,
            Part::Settings => false,
            part => self.reads(part).is_some(),
        }
    }

    /// The tables that a part reads, if it is described.
    pub fn reads(&self, part: Part) -> Option<&[TableRead]> {
        match part {
            Part::Unit | Part::Settings => None,
            Part::Judge => self.judge.as_ref().map(|part| &part.reads),
            Part::Selection => self.selection.as_ref().map(|part| &part.reads),
            Part::Effects => self.effects.as_ref().map(|part| &part.reads),
            Part::Balance => self.balance.as_ref().map(|part| &part.reads),
            Part::Order => self.order.as_ref().map(|part| &part.reads),
            Part::Explain => self.explain.as_ref().map(|part| &part.reads),
        }
        .map(Vec::as_slice)
    }

    /// The reasons that a part gives by number, if it has any.
    pub fn reasons(&self, part: Part) -> &[Reason] {
        match part {
            Part::Judge => self.judge.as_ref().map(|part| &part.reasons),
            Part::Balance => self.balance.as_ref().map(|part| &part.reasons),
            _ => None,
        }
        .map_or(&[], Vec::as_slice)
    }
}

/// One column that a part reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash, ComponentType, Lift)]
#[component(record)]
pub struct ColumnRead {
    /// Name, for example `memory.free`.
    pub column: String,
    /// The kind that the author expects.
    pub kind: Kind,
    /// Whether the part is never shown a row without this value.
    pub required: bool,
    /// Whether the part is not asked where the value is absent or false.
    pub gate: bool,
}

/// One table that a part reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash, ComponentType, Lift)]
#[component(record)]
pub struct TableRead {
    /// Name, for example `hosts/vms`.
    pub table: String,
    /// The columns, in the order in which they are sent.
    pub columns: Vec<ColumnRead>,
}

impl TableRead {
    /// The table that this one stands below.
    pub fn parent(&self) -> Option<&str> {
        self.table.rsplit_once('/').map(|(parent, _)| parent)
    }
}

/// Why a host is removed or something is proposed.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct Reason {
    /// Completes the sentence "host h1 ...".
    pub text: String,
    /// Whether waiting for pending placements may help.
    pub passing: bool,
}

/// What an answer about one host depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
pub enum Evaluation {
    /// On the host's row, the rows below it and tables that are not about hosts.
    #[component(name = "row-wise")]
    RowWise,
    /// On the whole table.
    #[component(name = "whole-table")]
    WholeTable,
}

/// A filter, a cost function, or both.
#[derive(Debug, Clone, PartialEq, ComponentType, Lift)]
#[component(record)]
pub struct JudgePart {
    /// What it can answer.
    pub answers: Answers,
    /// What its answers depend on.
    pub evaluation: Evaluation,
    /// The tables that it reads.
    pub reads: Vec<TableRead>,
    /// The reasons of its verdicts.
    pub reasons: Vec<Reason>,
    /// The least and the greatest cost, +infinity apart, if they are fixed.
    #[component(name = "cost-range")]
    pub cost_range: Option<(f64, f64)>,
}

/// Where a unit stands in a list of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
pub enum Position {
    /// Before all others.
    #[component(name = "first")]
    First,
    /// Anywhere.
    #[component(name = "any")]
    Any,
    /// After all others.
    #[component(name = "last")]
    Last,
}

/// A refinement of the candidates.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct SelectionPart {
    /// The tables that it reads.
    pub reads: Vec<TableRead>,
    /// Where it must stand among the selections of a stage.
    pub position: Position,
}

/// What a written row belongs to, and how long it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
pub enum Scope {
    /// The placement of the VM on this host.
    #[component(name = "placement")]
    Placement,
    /// The VM.
    #[component(name = "vm")]
    Vm,
    /// The tenant.
    #[component(name = "tenant")]
    Tenant,
    /// The host.
    #[component(name = "host")]
    Host,
    /// The cluster.
    #[component(name = "cluster")]
    Cluster,
}

/// When a write takes force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
pub enum Moment {
    /// Together with the decision.
    #[component(name = "decided")]
    Decided,
    /// When the VM is reported to run.
    #[component(name = "running")]
    Running,
}

/// A table that an effects part writes.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct Write {
    /// A table of the scope's entity.
    pub table: String,
    /// Its columns, in the order in which values are given.
    pub columns: Vec<(String, Kind)>,
    /// What the rows belong to.
    pub scope: Scope,
    /// When they take force.
    pub moment: Moment,
}

/// What follows from a placement.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct EffectsPart {
    /// The tables that it reads.
    pub reads: Vec<TableRead>,
    /// The tables that it writes.
    pub writes: Vec<Write>,
}

/// Proposals for a cluster that runs.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct BalancePart {
    /// The tables that it reads.
    pub reads: Vec<TableRead>,
    /// What its moves may write; only of scope vm.
    pub writes: Vec<Write>,
    /// The reasons of its proposals.
    pub reasons: Vec<Reason>,
}

/// The turns of a batch.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct OrderPart {
    /// The tables that it reads.
    pub reads: Vec<TableRead>,
}

/// Values behind a judgement.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct ExplainPart {
    /// The tables that it reads.
    pub reads: Vec<TableRead>,
}

/// One column of a setting that is a table.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct SettingColumn {
    /// Name of the column.
    pub name: String,
    /// Kind of its values.
    pub kind: Kind,
    /// Whether every row has it.
    pub required: bool,
    /// A sentence for the admin.
    pub meaning: String,
}

/// One thing that an admin may set.
#[derive(Debug, Clone, PartialEq, ComponentType, Lift)]
#[component(record)]
pub struct Setting {
    /// For example `headroom`.
    pub name: String,
    /// Kind of the value.
    pub kind: Kind,
    /// The unit of measure as in the schema.
    pub measure: Option<String>,
    /// Used where the admin sets nothing.
    pub default: Option<Value>,
    /// Whether a policy must set it.
    pub required: bool,
    /// Lower bound of integers and numbers, included.
    pub least: Option<f64>,
    /// Upper bound of integers and numbers, included.
    pub greatest: Option<f64>,
    /// A regular expression that the whole of a text must match.
    pub pattern: Option<String>,
    /// If not empty, the only texts allowed.
    pub choices: Vec<String>,
    /// A sentence for the admin.
    pub meaning: String,
    /// If not empty, the setting is a table with these columns.
    pub columns: Vec<SettingColumn>,
}
