//! What a plan of moves says. It is kept as it is here, and told as in `shown`.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use placewright_chain::{Proposed, Removed};
use placewright_model::Write;

/// What is to be moved, in an order in which each step is legal after those before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BalancePlan {
    /// Seconds since 1970-01-01 UTC at which it was made.
    pub now: i64,
    /// The version of the inventory that it was made on.
    pub inventory_version: u64,
    /// What it was made for.
    pub origin: Origin,
    /// One move after the other.
    pub moves: Vec<PlannedMove>,
    /// Host states and findings that are proposed for the cluster as it is: they are left
    /// to an operator.
    pub notes: Vec<Proposed>,
    /// VMs that should leave their hosts and cannot, and why.
    pub stuck: Vec<Stuck>,
    /// Of hosts that are to be emptied: places that are reserved on them, or elsewhere
    /// for VMs that run on them.
    pub reserved: Vec<StandingReservation>,
    /// What else the unit proposed, and why it is not done: for the state before each
    /// step.
    pub refused: Vec<RefusedMove>,
    /// Of a plan without moves: why there are none, sentence by sentence.
    pub reasons: Vec<String>,
    /// Whether the plan ends because it may hold no more moves: there may be more.
    pub cut_short: bool,
}

/// What a plan was made for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// To better a cluster as a whole.
    #[default]
    Balance,
    /// To empty these hosts.
    Evacuation(Vec<Arc<str>>),
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PlannedMove {
    /// Id of the VM.
    pub vm: Arc<str>,
    /// Where it runs before the step.
    pub from: Arc<str>,
    /// Where it runs after the step: the same host, if only its facts change.
    pub to: Arc<str>,
    /// Whether it runs while it is moved (a live migration); false: it is stopped or paused, or
    /// is started on its new host, as its host is down or faulty.
    #[serde(default = "is_live")]
    pub live: bool,
    /// VMs that a hard group keeps together with it, whose moves are steps next to this one:
    /// all of them are begun at once.
    pub together: Vec<Arc<str>>,
    /// Why it is moved, for programs.
    pub cause: Cause,
    /// Id of the group of which it breaks the hard rule, if that is the cause.
    #[serde(default)]
    pub group: Option<Arc<str>>,
    /// Why it is moved: a sentence without its full stop.
    pub reason: String,
    /// What the VM costs where it runs before the step, tier by tier; none if the
    /// chain would not leave it there, or was not asked.
    #[serde(with = "optional_costs")]
    pub cost_before: Option<Vec<f64>>,
    /// What it costs where it runs after the step.
    #[serde(with = "costs")]
    pub cost_after: Vec<f64>,
    /// What is written of the VM: what the balance unit proposes, then what the policy's
    /// effects have follow.
    pub changes: Vec<Write>,
    /// How many of the changes, the first ones, the balance unit proposes.
    pub proposed: usize,
}

/// Of plans that were kept before that was written.
fn is_live() -> bool {
    true
}

impl PlannedMove {
    /// What the balance unit has written with the move.
    pub(super) fn proposed_changes(&self) -> &[Write] {
        self.changes.get(..self.proposed).unwrap_or(&self.changes)
    }
}

/// Why a VM is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Its host is to be emptied.
    Evacuation,
    /// Its host is in maintenance, down or faulty.
    HostState,
    /// It breaks the hard rule of a group where it runs.
    HardGroup,
    /// Its host has promised more than it may.
    OverCommitted,
    /// The policy's balance unit proposes it.
    Balance,
}

/// A VM that should leave its host and cannot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Stuck {
    /// Id of the VM.
    pub vm: Arc<str>,
    /// Where it runs.
    pub from: Arc<str>,
    /// Why it should leave, for programs.
    pub cause: Cause,
    /// Why it should leave: a sentence without its full stop.
    pub reason: String,
    /// Why it cannot.
    pub because: MoveError,
}

/// A place that is reserved on a host that is to be emptied, or elsewhere for a VM that runs
/// on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StandingReservation {
    /// Id of the VM.
    pub vm: Arc<str>,
    /// Where its place is reserved.
    pub host: Arc<str>,
    /// Where it runs, if it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<Arc<str>>,
    /// Seconds since 1970-01-01 UTC after which it ends if nobody confirms it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires: Option<i64>,
}

/// A proposal that is not followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RefusedMove {
    /// How many steps of the plan come before.
    pub after: usize,
    /// Id of the VM.
    pub vm: Arc<str>,
    /// Id of the host that the VM runs on.
    pub from: Arc<str>,
    /// Why it is not followed.
    pub because: MoveError,
}

/// Why a proposal is not followed, or a VM stays that should leave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum MoveError {
    #[error("the VM was moved a short time ago")]
    Cooling,
    #[error("the VM has a place reserved already")]
    OnTheMove,
    #[error("the policy's filters leave none of the hosts that are proposed")]
    NoHost,
    #[error("the policy would take host \"{0}\" instead")]
    OtherHost(Arc<str>),
    #[error("the policy would leave it where it is")]
    Stays,
    #[error("the policy's cost falls by no more than the margin")]
    NoGain,
    #[error("{0}")]
    Unheeded(String),
    #[error("what goes with the move cannot be written: {0}")]
    Writes(String),
    #[error("it may not be moved while it runs")]
    NotMigratable,
    #[error("{}", nowhere(*.considered, .removed, .vms, .nearest.as_ref()))]
    Nowhere {
        /// How many hosts the policy was asked about.
        considered: usize,
        /// How many of them each reason removed, in policy order.
        removed: Vec<RemovedHosts>,
        /// Ids of the VMs for which one host was looked for.
        #[serde(default)]
        vms: Vec<Arc<str>>,
        /// The host that came nearest to taking them.
        #[serde(default)]
        nearest: Option<Nearest>,
    },
    #[error(
        "no host takes all VMs of group {group}: host \"{host}\" came nearest, and VM \"{vm}\" cannot go there: {why}"
    )]
    Apart {
        group: Arc<str>,
        /// The host to which most of them could go.
        host: Arc<str>,
        /// The first VM that could not.
        vm: Arc<str>,
        why: Box<MoveError>,
    },
    #[error("every host that the policy's filters leave costs infinitely much")]
    Infinite,
    #[error("where the policy would put it, host \"{0}\", no less would be wrong")]
    NoBetter(Arc<str>),
    #[error("{0}")]
    Undecided(String),
}

/// How many hosts are out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RemovedHosts {
    /// The policy's entry that removed them; `state` of hosts that are not up, `request` of
    /// those that the request excludes.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "memory"))]
    pub filter: Arc<str>,
    /// Completes "host ...".
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "has too little memory"))]
    pub reason: Arc<str>,
    /// Waiting for pending placements may help.
    pub passing: bool,
    /// How many.
    #[cfg_attr(feature = "openapi", schema(example = 12))]
    pub hosts: usize,
    /// Of hosts that are not up, and so were not considered: the ids of the first ones.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["h7", "h8"])))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<Arc<str>>,
}

impl fmt::Display for RemovedHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            filter,
            reason,
            hosts,
            names,
            passing,
        } = self;
        let passing = if *passing { " for now" } else { "" };
        write!(f, "{filter}: {hosts} ({reason}{passing})")?;
        if names.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", names.join(", "))?;
        match hosts.saturating_sub(names.len()) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl From<&Removed> for RemovedHosts {
    fn from(removed: &Removed) -> Self {
        Self {
            filter: removed.filter.clone(),
            reason: removed.reason.clone(),
            passing: removed.passing,
            hosts: removed.hosts,
            names: removed.names.clone(),
        }
    }
}

/// The host that came nearest to taking VMs: no other one went further through the policy's
/// filters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Nearest {
    /// Id of the host.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub host: Arc<str>,
    /// The policy's entry that removed it.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "memory"))]
    pub filter: Arc<str>,
    /// What it lacks: completes "host ...".
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "has too little memory"))]
    pub reason: Arc<str>,
}

fn nowhere(
    considered: usize,
    removed: &[RemovedHosts],
    vms: &[Arc<str>],
    nearest: Option<&Nearest>,
) -> String {
    let reasons: Vec<String> = removed.iter().map(ToString::to_string).collect();
    let reasons = reasons.join("; ");
    if considered == 0 {
        return match reasons.is_empty() {
            true => "the cluster has no host that is in question".to_owned(),
            false => format!("no host that is up is in question: {reasons}"),
        };
    }
    let what = match vms {
        [] | [_] => "it".to_owned(),
        vms => format!("VMs {} together", vms.join(", ")),
    };
    let taken = match considered {
        1 => format!("the one host in question does not take {what}"),
        _ => format!("none of {considered} hosts takes {what}"),
    };
    match nearest.filter(|_| considered > 1) {
        Some(Nearest { host, reason, .. }) => {
            format!("{taken}: {reasons}; nearest is host {host}, which {reason}")
        }
        None => format!("{taken}: {reasons}"),
    }
}

impl MoveError {
    /// The host that came nearest, and what it lacks, if that is known.
    pub(super) fn nearest(&self) -> Option<Nearest> {
        match self {
            Self::Nowhere { nearest, .. } => nearest.clone(),
            Self::Apart { host, why, .. } => Some(Nearest {
                host: host.clone(),
                filter: why.nearest().map_or_else(|| "".into(), |it| it.filter),
                reason: match why.nearest() {
                    Some(nearest) => nearest.reason,
                    None => why.to_string().into(),
                },
            }),
            _ => None,
        }
    }

    /// How many hosts each reason removed, if filters are why.
    pub(super) fn removed(&self) -> &[RemovedHosts] {
        match self {
            Self::Nowhere { removed, .. } => removed,
            Self::Apart { why, .. } => why.removed(),
            _ => &[],
        }
    }
}

/// Costs, of which JSON cannot tell those that are infinite.
mod costs {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(costs: &[f64], to: S) -> Result<S::Ok, S::Error> {
        costs.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let costs: Vec<Option<f64>> = Vec::deserialize(from)?;
        Ok(finite_or_not(costs))
    }

    pub(super) fn finite_or_not(costs: Vec<Option<f64>>) -> Vec<f64> {
        let costs = costs.into_iter();
        costs.map(|cost| cost.unwrap_or(f64::INFINITY)).collect()
    }
}

/// The same, where there may be none.
mod optional_costs {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        costs: &Option<Vec<f64>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        costs.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Vec<f64>>, D::Error> {
        let costs: Option<Vec<Option<f64>>> = Option::deserialize(from)?;
        Ok(costs.map(super::costs::finite_or_not))
    }
}

impl Stuck {
    fn about(&self) -> (&str, &str, Cause) {
        (&self.vm, &self.from, self.cause)
    }
}

impl BalancePlan {
    /// The places of the moves that are begun with the one at that place, itself included: they
    /// stand next to each other.
    pub fn together(&self, place: usize) -> std::ops::Range<usize> {
        let Some(this) = self.moves.get(place) else {
            return place..place;
        };
        let goes_with =
            |other: &PlannedMove| this.together.contains(&other.vm) && other.to == this.to;
        let before = self.moves[..place].iter().rev();
        let before = before.take_while(|other| goes_with(other)).count();
        let after = self.moves[place + 1..].iter();
        let after = after.take_while(|other| goes_with(other)).count();
        place - before..place + 1 + after
    }

    /// Whether both would do the same moves, and leave the same VMs stuck.
    pub fn is_like(&self, other: &Self) -> bool {
        let same = |one: &PlannedMove, other: &PlannedMove| {
            (&one.vm, &one.from, &one.to, &one.changes)
                == (&other.vm, &other.from, &other.to, &other.changes)
        };
        self.origin == other.origin
            && self.notes == other.notes
            && self.moves.len() == other.moves.len()
            && self.moves.iter().zip(&other.moves).all(|(a, b)| same(a, b))
            && self
                .stuck
                .iter()
                .map(Stuck::about)
                .eq(other.stuck.iter().map(Stuck::about))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_back_as_it_was_written_infinite_costs_included() {
        let plan = BalancePlan {
            now: 1,
            inventory_version: 2,
            origin: Origin::Evacuation(vec!["h".into()]),
            moves: vec![PlannedMove {
                vm: "v".into(),
                from: "h".into(),
                to: "g".into(),
                live: false,
                together: vec!["w".into()],
                cause: Cause::Evacuation,
                group: None,
                reason: "host h is to be emptied".into(),
                cost_before: Some(vec![f64::INFINITY, 1.0]),
                cost_after: vec![2.0, f64::INFINITY],
                changes: vec![Write::reserve("v", "memory", 5).once_running("v")],
                proposed: 1,
            }],
            notes: vec![Proposed::Finding {
                reason: "is full".into(),
                about: vec![("hosts".into(), "h".into())],
            }],
            stuck: vec![Stuck {
                vm: "s".into(),
                from: "h".into(),
                cause: Cause::HostState,
                reason: "host h is down".into(),
                because: MoveError::Nowhere {
                    considered: 2,
                    removed: vec![RemovedHosts {
                        filter: "memory".into(),
                        reason: "has too little memory".into(),
                        passing: false,
                        hosts: 2,
                        names: Vec::new(),
                    }],
                    vms: vec!["s".into()],
                    nearest: Some(Nearest {
                        host: "g".into(),
                        filter: "memory".into(),
                        reason: "has too little memory".into(),
                    }),
                },
            }],
            reserved: Vec::new(),
            refused: vec![RefusedMove {
                after: 0,
                vm: "r".into(),
                from: "h".into(),
                because: MoveError::OtherHost("g".into()),
            }],
            reasons: vec!["no".into()],
            cut_short: false,
        };
        let text = serde_json::to_string(&plan).unwrap();
        let read: BalancePlan = serde_json::from_str(&text).unwrap();
        assert_eq!(read, plan);
        let why = plan.stuck[0].because.to_string();
        assert_eq!(
            why,
            "none of 2 hosts takes it: memory: 2 (has too little memory); nearest is host g, which has too little memory"
        );
    }
}
