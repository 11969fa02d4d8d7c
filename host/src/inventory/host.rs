//! One host of the inventory, its columns apart.

use std::sync::Arc;

use crate::model::{Facts, Host, Value};

/// An amount with a name of the operator's choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Amount {
    pub name: Arc<str>,
    pub total: i64,
    /// Needed by the VMs that run on the host, and by what is not listed.
    pub used: i64,
    /// Needed by the VMs that have a place reserved.
    pub pending: i64,
}

/// A host: what was given of it, and what it carries.
#[derive(Debug, Clone)]
pub struct HostEntry {
    pub id: Arc<str>,
    /// As given; sums over VMs are in the columns.
    pub facts: Facts,
    /// Entries of the VM table, running and pending, in the order of the VMs' ids.
    pub vms: Vec<u32>,
    pub amounts: Vec<Amount>,
    /// Columns and tables that came as statistics, each with when it was measured.
    pub(super) measured: Vec<(Arc<str>, i64)>,
    /// Place in the order in which hosts were added.
    pub listed: i64,
}

impl HostEntry {
    pub(super) fn new(host: Host, listed: i64) -> Self {
        let amounts = amounts_of(&host.facts);
        Self {
            id: host.id,
            facts: host.facts,
            vms: Vec::new(),
            amounts,
            measured: Vec::new(),
            listed,
        }
    }

    /// Add to what VMs take of an amount. One that the host does not have is the
    /// concern of filters.
    pub(super) fn count_amount(&mut self, name: &str, by: i64, pending: bool) {
        if let Some(amount) = self.amounts.iter_mut().find(|a| &*a.name == name) {
            let sum = if pending {
                &mut amount.pending
            } else {
                &mut amount.used
            };
            *sum = sum.saturating_add(by);
        }
    }
}

/// The amounts that the facts of a host give.
pub(super) fn amounts_of(facts: &Facts) -> Vec<Amount> {
    facts
        .rows("amounts")
        .iter()
        .filter_map(|row| {
            let Some(Value::Text(name)) = row.get("name") else {
                return None;
            };
            Some(Amount {
                name: name.clone(),
                total: row.integer("total").unwrap_or(0),
                used: row.integer("used").unwrap_or(0),
                pending: row.integer("pending").unwrap_or(0),
            })
        })
        .collect()
}
