//! What a case expects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::form::{EXPECT, HOST};
use super::moves::ExpectedMove;
use placewright_document::form::Fields;
use placewright_document::{ClusterDocument, Content, Node, Problems, Table, shown};

/// In place of a host's id: that there is none.
pub(super) const NONE: &str = "none";

/// What a case expects. Only what is said is compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// The host that is chosen, or `Some(None)` if there must be none.
    pub chosen: Option<Option<Arc<str>>>,
    /// What the unit's balance must propose to move.
    pub moves: Option<Vec<ExpectedMove>>,
    /// A text that an error must contain.
    pub error: Option<Arc<str>>,
    /// What is expected of hosts, by their ids.
    pub hosts: BTreeMap<Arc<str>, ExpectedHost>,
}

/// What a case expects of a host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExpectedHost {
    /// Whether all filters leave it.
    pub keep: Option<bool>,
    /// Why it is removed; completes "host ...".
    pub reason: Option<Arc<str>>,
    /// Whether the reason will pass by itself.
    pub passing: Option<bool>,
    /// The entry of the policy that removes it.
    pub by: Option<Arc<str>>,
    /// What the tested unit says that it costs.
    pub cost: Option<f64>,
    /// What entries of the policy say that it costs.
    pub costs: BTreeMap<Arc<str>, f64>,
    /// The sums of its weighted costs, tier by tier.
    pub sum: Option<Vec<f64>>,
    /// The group that it is in, from 1.
    pub group: Option<i64>,
    /// Its share of chance in its group.
    pub share: Option<f64>,
}

impl Expected {
    /// Whether nothing is expected.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether only a balance is asked for, for which nothing is to be placed.
    pub(super) fn is_of_balance(&self) -> bool {
        self.moves.is_some() && self.chosen.is_none() && self.hosts.is_empty()
    }

    /// Read what a case expects in a cluster with these hosts.
    pub(super) fn read(
        table: &Table,
        cluster: &ClusterDocument,
        hosts: &BTreeSet<Arc<str>>,
        problems: &mut Problems,
    ) -> Self {
        let fields = Fields::read(table, EXPECT, "\"expect\"", problems);
        let chosen = fields.text("chosen");
        if let (Some(chosen), Some(place)) = (&chosen, fields.place_of("chosen"))
            && **chosen != *NONE
            && !hosts.contains(chosen)
        {
            let message = format!("there is no host \"{}\" in the cluster", shown(chosen));
            let right = hosts.iter().map(|host| &**host).chain([NONE]);
            problems.add_misnamed(place, message, chosen, right);
        }
        let by_host = fields.table("hosts");
        let entries = by_host.into_iter().flat_map(|by_host| &by_host.entries);
        let mut expected = BTreeMap::new();
        for entry in entries {
            if !hosts.contains(&entry.key) {
                let message = format!("there is no host \"{}\" in the cluster", shown(&entry.key));
                let right = hosts.iter().map(|host| &**host);
                problems.add_misnamed(&entry.place, message, &entry.key, right);
            } else if let Some(table) = table_of(&entry.key, &entry.node, problems) {
                expected.insert(entry.key.clone(), ExpectedHost::read(table, problems));
            }
        }
        Self {
            chosen: chosen.map(|chosen| (*chosen != *NONE).then_some(chosen)),
            moves: ExpectedMove::list(&fields, cluster, problems),
            error: fields.text("error"),
            hosts: expected,
        }
    }
}

impl ExpectedHost {
    fn read(table: &Table, problems: &mut Problems) -> Self {
        let fields = Fields::read(table, HOST, "what is expected of a host", problems);
        let costs = fields.table("costs").into_iter();
        let costs = costs.flat_map(|costs| &costs.entries).filter_map(|entry| {
            let cost = cost(&entry.key, &entry.node, problems)?;
            Some((entry.key.clone(), cost))
        });
        let costs = costs.collect();
        Self {
            keep: fields.boolean("keep"),
            reason: fields.text("reason"),
            passing: fields.boolean("passing"),
            by: fields.text("by"),
            cost: fields
                .node("cost")
                .and_then(|node| cost("cost", node, problems)),
            costs,
            sum: fields.node("sum").and_then(|node| sum(node, problems)),
            group: fields.integer("group"),
            share: fields.number("share"),
        }
    }
}

/// A cost, which may be infinite.
fn cost(name: &str, node: &Node, problems: &mut Problems) -> Option<f64> {
    match node.content {
        Content::Integer(cost) => Some(cost as f64),
        Content::Number(cost) if !cost.is_nan() => Some(cost),
        _ => {
            let message = format!("\"{}\" must be a number or inf", shown(name));
            problems.add(&node.place, message);
            None
        }
    }
}

/// The sums of one tier or several.
fn sum(node: &Node, problems: &mut Problems) -> Option<Vec<f64>> {
    match &node.content {
        Content::List(tiers) => tiers
            .iter()
            .map(|tier| cost("sum", tier, problems))
            .collect(),
        _ => Some(vec![cost("sum", node, problems)?]),
    }
}

/// The table that stands under a name.
fn table_of<'t>(name: &str, node: &'t Node, problems: &mut Problems) -> Option<&'t Table> {
    match &node.content {
        Content::Table(table) => Some(table),
        other => {
            let message = format!("\"{}\" must be a table, not {}", shown(name), other.noun());
            problems.add(&node.place, message);
            None
        }
    }
}
