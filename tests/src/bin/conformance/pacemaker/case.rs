//! What a case looks like.

use std::collections::BTreeMap;

use placewright_model::GREATEST_INTEGER;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    #[serde(rename = "id")]
    _id: String,
    #[serde(default)]
    pub kind: Kind,
    #[serde(default, rename = "why")]
    _why: String,
    pub strategy: Strategy,
    pub nodes: Vec<Node>,
    pub resources: Vec<Resource>,
    #[serde(default)]
    pub groups: Vec<Group>,
    #[serde(default)]
    pub colocations: Vec<Colocation>,
    /// By resource: the name of a node, or [`STOPPED`].
    pub expect: BTreeMap<String, String>,
}

/// Stands in `expect` for a resource that gets no node.
pub(super) const STOPPED: &str = "stopped";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Each resource for itself.
    #[default]
    Primitive,
    /// With groups.
    Group,
    /// With colocations, maybe of groups.
    Colocation,
}

impl Kind {
    /// As vectors write it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Primitive => "primitive",
            Self::Group => "group",
            Self::Colocation => "colocation",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Strategy {
    Default,
    Utilization,
    Balanced,
    Minimal,
}

impl Strategy {
    /// The policy that comes with the program for it.
    pub(super) fn policy(self) -> &'static str {
        match self {
            Self::Default => "pacemaker-default",
            Self::Utilization => "pacemaker-utilization",
            Self::Balanced => "pacemaker-balanced",
            Self::Minimal => "pacemaker-minimal",
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    pub name: String,
    #[serde(default)]
    pub cap: BTreeMap<String, Amount>,
    #[serde(default)]
    pub standby: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resource {
    pub id: String,
    #[serde(default, rename = "use")]
    pub needs: BTreeMap<String, Amount>,
    pub prio: Option<Whole>,
    /// The node where it runs now; none or empty: it does not run.
    pub on: Option<String>,
    pub stick: Option<Whole>,
    /// Scores by node.
    #[serde(default)]
    pub loc: BTreeMap<String, Whole>,
}

impl Resource {
    /// The node where it runs now.
    pub(super) fn node(&self) -> Option<&str> {
        self.on.as_deref().filter(|on| !on.is_empty())
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub id: String,
    /// Ids of resources.
    pub members: Vec<String>,
    #[serde(default, rename = "prio")]
    _prio: Option<Whole>,
    #[serde(default)]
    pub loc: BTreeMap<String, Whole>,
}

/// Both ends are ids of resources or of groups.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Colocation {
    pub rsc: String,
    pub with: String,
    #[serde(rename = "score")]
    _score: Whole,
}

/// A priority or a score: a whole number that may cross to a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "i64")]
pub(super) struct Whole(pub i64);

impl TryFrom<i64> for Whole {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        match (-GREATEST_INTEGER..=GREATEST_INTEGER).contains(&number) {
            true => Ok(Self(number)),
            false => Err(format!(
                "a number must be within ±{GREATEST_INTEGER}, not {number}"
            )),
        }
    }
}

/// How much of something a node has or a resource needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Whole")]
pub(super) struct Amount(pub i64);

impl TryFrom<Whole> for Amount {
    type Error = String;

    fn try_from(Whole(amount): Whole) -> Result<Self, String> {
        match amount {
            ..0 => Err(format!("an amount must be 0 or more, not {amount}")),
            _ => Ok(Self(amount)),
        }
    }
}
