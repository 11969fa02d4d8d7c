//! A plan as programs read it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::{
    BalancePlan, Cause, Nearest, Origin, PlannedMove, RefusedMove, RemovedHosts,
    StandingReservation, Stuck,
};
use placewright_chain::Proposed;
use placewright_model::{Effect, Facts, Rfc3339, RowChange, Value, Write};

/// What a plan says besides its moves.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct PlanTold {
    /// Seconds since 1970-01-01 UTC at which it was made.
    #[cfg_attr(feature = "openapi", schema(example = 1764000000))]
    pub now: i64,
    /// The same time.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub now_time: Rfc3339,
    /// The version of the inventory that it was made on.
    #[cfg_attr(feature = "openapi", schema(example = 4711))]
    pub inventory_version: u64,
    /// What it was made for: `balance` or `evacuation`.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "balance"))]
    pub origin: &'static str,
    /// The hosts that are to be emptied.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["h1", "h2"])))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Arc<str>>,
    /// Host states and findings that are proposed: they are left to an operator.
    pub notes: Vec<Proposed>,
    /// VMs that should leave their hosts and cannot, and why.
    pub stuck: Vec<StuckShown>,
    /// Of hosts that are to be emptied: places that are reserved on them, or elsewhere for VMs
    /// that run on them.
    pub reserved: Vec<StandingReservationShown>,
    /// What else the balance unit proposed, and why it is not done.
    pub refused: Vec<RefusedShown>,
    /// Of a plan without moves: why there are none, sentence by sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(example = json!(["every host costs less than the margin"])))]
    pub reasons: Vec<String>,
    /// Whether the plan ends because it may hold no more moves: there may be more.
    pub cut_short: bool,
}

/// A place that is reserved on a host that is to be emptied, or elsewhere for a VM that runs
/// on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StandingReservation))]
#[serde(rename_all = "kebab-case")]
pub struct StandingReservationShown {
    /// Id of the VM.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-3"))]
    pub vm: Arc<str>,
    /// Where its place is reserved.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub host: Arc<str>,
    /// Where it runs, if it runs.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h2"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Arc<str>>,
    /// Seconds since 1970-01-01 UTC after which it ends if nobody confirms it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, example = 1764000300))]
    pub expires: Option<i64>,
    /// The same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub expires_time: Option<Rfc3339>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct MoveShown {
    /// Its place in the plan, counted from 1.
    #[cfg_attr(feature = "openapi", schema(example = 1))]
    pub step: usize,
    /// Id of the VM.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-3"))]
    pub vm: Arc<str>,
    /// Where it runs before the step.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h2"))]
    pub from: Arc<str>,
    /// Where it runs after the step: the same host, if only its facts change.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub to: Arc<str>,
    /// Whether it runs while it is moved (a live migration); false: it is stopped or paused, or
    /// is started on its new host, as its host is down or faulty.
    pub live: bool,
    /// VMs that a hard group keeps together with it: all of them are begun at once.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["web-4"])))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Arc<str>>,
    /// Why it is moved, for programs.
    pub cause: Cause,
    /// Id of the group of which it breaks the hard rule, if that is the cause.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-apart"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Arc<str>>,
    /// Why it is moved.
    #[cfg_attr(feature = "openapi", schema(example = "it costs less there"))]
    pub reason: String,
    /// What the VM costs where it runs before the step, tier by tier; null is infinite. Absent
    /// if it must leave its host whatever it costs there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Option<f64>>, example = json!([0.8])))]
    pub cost_before: Option<Vec<f64>>,
    /// What it costs where it runs after the step, tier by tier; null is infinite.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Option<f64>>, example = json!([0.25])))]
    pub cost_after: Vec<f64>,
    /// Rows of tables that are changed with the move.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeShown>,
}

/// A VM that should leave its host and cannot.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StuckVm))]
#[serde(rename_all = "kebab-case")]
pub struct StuckShown {
    /// Id of the VM.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-3"))]
    pub vm: Arc<str>,
    /// Where it runs.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h2"))]
    pub from: Arc<str>,
    /// Why it should leave, for programs.
    pub cause: Cause,
    /// Why it should leave.
    #[cfg_attr(feature = "openapi", schema(example = "its host is in maintenance"))]
    pub reason: String,
    /// Why it cannot.
    #[cfg_attr(feature = "openapi", schema(example = "no host takes it"))]
    pub why: String,
    /// Where the policy's filters are why: how many hosts each reason removed, in policy order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<RemovedHosts>,
    /// The host that came nearest to taking it, and what that host lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Nearest))]
    pub nearest: Option<Nearest>,
}

/// A proposal that is not followed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = RefusedMove))]
#[serde(rename_all = "kebab-case")]
pub struct RefusedShown {
    /// How many steps of the plan come before.
    #[cfg_attr(feature = "openapi", schema(example = 2))]
    pub after: usize,
    /// Id of the VM.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-3"))]
    pub vm: Arc<str>,
    /// Where it runs.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h2"))]
    pub from: Arc<str>,
    /// Why it is not moved.
    #[cfg_attr(feature = "openapi", schema(example = "no host takes it"))]
    pub because: String,
}

/// A change of a row that goes with a move.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = RowChange))]
pub struct ChangeShown {
    /// Name of the table.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "gpus"))]
    table: Arc<str>,
    /// A row that is added: its values, by column.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = values))]
    append: Option<Facts>,
    /// Number of the row in which something changes, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = usize, example = 0))]
    row: Option<usize>,
    /// What changes in it, by column; null takes a value away.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = values))]
    set: Option<BTreeMap<Arc<str>, Option<Value>>>,
    /// Number of the row that is removed, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = usize, example = 1))]
    remove: Option<usize>,
}

/// Values by column.
#[cfg(feature = "openapi")]
fn values() -> utoipa::openapi::schema::Object {
    let value = placewright_chain::openapi::nullable_value();
    let values = utoipa::openapi::ObjectBuilder::new();
    let values = values.additional_properties(Some(value));
    values
        .description(Some("Values, by column; null takes one away"))
        .build()
}

impl BalancePlan {
    /// What it says besides its moves.
    pub fn told(&self) -> PlanTold {
        let (origin, hosts) = match &self.origin {
            Origin::Balance => ("balance", Vec::new()),
            Origin::Evacuation(hosts) => ("evacuation", hosts.clone()),
        };
        PlanTold {
            now: self.now,
            now_time: Rfc3339(self.now),
            inventory_version: self.inventory_version,
            origin,
            hosts,
            notes: self.notes.clone(),
            stuck: self.stuck.iter().map(stuck).collect(),
            reserved: self.reserved.iter().map(standing).collect(),
            refused: self.refused.iter().map(refused).collect(),
            reasons: self.reasons.clone(),
            cut_short: self.cut_short,
        }
    }

    /// Its moves, in order.
    pub fn moves_told(&self) -> impl Iterator<Item = MoveShown> {
        (1..).zip(&self.moves).map(|(step, planned)| MoveShown {
            step,
            vm: planned.vm.clone(),
            from: planned.from.clone(),
            to: planned.to.clone(),
            live: planned.live,
            together: planned.together.clone(),
            cause: planned.cause,
            group: planned.group.clone(),
            reason: planned.reason.clone(),
            cost_before: planned.cost_before.clone(),
            cost_after: planned.cost_after.clone(),
            changes: planned.changes.iter().filter_map(change).collect(),
        })
    }
}

fn standing(standing: &StandingReservation) -> StandingReservationShown {
    StandingReservationShown {
        vm: standing.vm.clone(),
        host: standing.host.clone(),
        from: standing.from.clone(),
        expires: standing.expires,
        expires_time: standing.expires.map(Rfc3339),
    }
}

fn stuck(stuck: &Stuck) -> StuckShown {
    StuckShown {
        vm: stuck.vm.clone(),
        from: stuck.from.clone(),
        cause: stuck.cause,
        reason: stuck.reason.clone(),
        why: stuck.because.to_string(),
        removed: stuck.because.removed().to_vec(),
        nearest: stuck.because.nearest(),
    }
}

fn refused(refused: &RefusedMove) -> RefusedShown {
    RefusedShown {
        after: refused.after,
        vm: refused.vm.clone(),
        from: refused.from.clone(),
        because: refused.because.to_string(),
    }
}

fn change(write: &Write) -> Option<ChangeShown> {
    let Effect::Row { table, change, .. } = &write.effect else {
        return None;
    };
    let table = table.clone();
    Some(match change.clone() {
        RowChange::Append(facts) => ChangeShown {
            table,
            append: Some(facts),
            ..ChangeShown::default()
        },
        RowChange::Set(row, values) => ChangeShown {
            table,
            row: Some(row),
            set: Some(values.into_iter().collect()),
            ..ChangeShown::default()
        },
        RowChange::Remove(row) => ChangeShown {
            table,
            remove: Some(row),
            ..ChangeShown::default()
        },
    })
}

impl PlannedMove {
    /// What is written of the VM, for people: `attribute.secondary: host = n2`.
    pub fn changes_shown(&self) -> Vec<String> {
        self.changes.iter().filter_map(for_people).collect()
    }
}

fn for_people(write: &Write) -> Option<String> {
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

fn said(value: &Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Text(value) => value.to_string(),
    }
}
