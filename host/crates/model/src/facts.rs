//! What is known of hosts, VMs and groups.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Value;

/// Values by column name, and rows of the tables below by table name.
///
/// The names are those of [`super::schema`]; whoever takes facts in checks them.
/// Kept as sorted lists: an inventory holds one for every VM, with few entries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    values: Vec<(Arc<str>, Value)>,
    tables: Vec<(Arc<str>, Vec<Facts>)>,
}

/// The place of `name` in a sorted list, or where it would stand.
fn place<T>(list: &[(Arc<str>, T)], name: &str) -> Result<usize, usize> {
    list.binary_search_by(|(known, _)| (**known).cmp(name))
}

/// Among so few names one is found soonest one after the other: most differ in length.
const FEW: usize = 8;

/// The place of `name` in a sorted list, if it stands there. Compiled where it is used: a name that
/// is known there is compared without a call.
#[inline]
fn find<T>(list: &[(Arc<str>, T)], name: &str) -> Option<usize> {
    match list.len() <= FEW {
        true => list.iter().position(|(known, _)| **known == *name),
        false => place(list, name).ok(),
    }
}

fn insert<T>(list: &mut Vec<(Arc<str>, T)>, name: Arc<str>, value: T) {
    match place(list, &name) {
        Ok(place) => list[place].1 = value,
        Err(place) => list.insert(place, (name, value)),
    }
}

impl Facts {
    /// No facts.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same facts with one more value.
    pub fn with(mut self, column: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.set(column, value);
        self
    }

    /// The same facts with one more row in the table `table` below.
    pub fn with_row(mut self, table: impl Into<Arc<str>>, row: Facts) -> Self {
        self.push_row(table, row);
        self
    }

    /// Set the value of a column.
    pub fn set(&mut self, column: impl Into<Arc<str>>, value: impl Into<Value>) {
        insert(&mut self.values, column.into(), value.into());
    }

    /// Forget the value of a column.
    pub fn unset(&mut self, column: &str) {
        if let Ok(place) = place(&self.values, column) {
            self.values.remove(place);
        }
    }

    /// Add a row to the table `table` below.
    pub fn push_row(&mut self, table: impl Into<Arc<str>>, row: Facts) {
        let table = table.into();
        match place(&self.tables, &table) {
            Ok(place) => self.tables[place].1.push(row),
            Err(place) => self.tables.insert(place, (table, vec![row])),
        }
    }

    /// Replace all rows of the table `table` below. A table without rows is as one that
    /// is not there.
    pub fn set_rows(&mut self, table: impl Into<Arc<str>>, rows: Vec<Facts>) {
        let table = table.into();
        match rows.is_empty() {
            true => drop(self.take_rows(&table)),
            false => insert(&mut self.tables, table, rows),
        }
    }

    /// Take in what is different.
    pub fn change(&mut self, change: &FactsChange) {
        for name in &change.unset {
            self.unset(name);
            self.take_rows(name);
        }
        for (column, value) in change.set.values() {
            self.set(column.clone(), value.clone());
        }
        for (table, rows) in change.set.tables() {
            self.set_rows(table.clone(), rows.to_vec());
        }
    }

    /// Add a row to the table `table` below, before the row that has the number
    /// `at` now, or behind all others. Gives the row's number.
    pub fn insert_row(&mut self, table: &Arc<str>, at: usize, row: Facts) -> usize {
        let place = place(&self.tables, table).unwrap_or_else(|place| {
            self.tables.insert(place, (table.clone(), Vec::new()));
            place
        });
        let rows = &mut self.tables[place].1;
        let at = at.min(rows.len());
        rows.insert(at, row);
        at
    }

    /// Put `row` in the place of the one that has the number `at`, and give that
    /// one, if there is any.
    pub fn replace_row(&mut self, table: &str, at: usize, row: Facts) -> Option<Facts> {
        let place = place(&self.tables, table).ok()?;
        let old = self.tables[place].1.get_mut(at)?;
        Some(std::mem::replace(old, row))
    }

    /// Remove the row that has the number `at`, and give it, if there is any.
    pub fn remove_row(&mut self, table: &str, at: usize) -> Option<Facts> {
        let place = place(&self.tables, table).ok()?;
        let rows = &mut self.tables[place].1;
        let row = (at < rows.len()).then(|| rows.remove(at))?;
        if rows.is_empty() {
            self.tables.remove(place);
        }
        Some(row)
    }

    /// Take out all rows of the table `table` below.
    pub fn take_rows(&mut self, table: &str) -> Vec<Facts> {
        match place(&self.tables, table) {
            Ok(place) => self.tables.remove(place).1,
            Err(_) => Vec::new(),
        }
    }

    /// The value of a column, if there is one.
    #[inline]
    pub fn get(&self, column: &str) -> Option<&Value> {
        let place = find(&self.values, column)?;
        Some(&self.values[place].1)
    }

    /// The value of an integer column.
    #[inline]
    pub fn integer(&self, column: &str) -> Option<i64> {
        match self.get(column) {
            Some(Value::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    /// The value of a number column.
    #[inline]
    pub fn number(&self, column: &str) -> Option<f64> {
        match self.get(column) {
            Some(Value::Number(value)) => Some(*value),
            _ => None,
        }
    }

    /// The value of a boolean column; absent counts as false.
    #[inline]
    pub fn is(&self, column: &str) -> bool {
        matches!(self.get(column), Some(Value::Boolean(true)))
    }

    /// The value of a text column.
    #[inline]
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.get(column) {
            Some(Value::Text(value)) => Some(value),
            _ => None,
        }
    }

    /// The rows of the table `table` below.
    #[inline]
    pub fn rows(&self, table: &str) -> &[Facts] {
        find(&self.tables, table).map_or(&[], |place| self.tables[place].1.as_slice())
    }

    /// All values, by column name.
    pub fn values(&self) -> impl Iterator<Item = (&Arc<str>, &Value)> {
        self.values.iter().map(|(name, value)| (name, value))
    }

    /// All values, by column name, which must stay equal to what it is.
    pub fn values_mut(&mut self) -> impl Iterator<Item = (&mut Arc<str>, &Value)> {
        self.values.iter_mut().map(|(name, value)| (name, &*value))
    }

    /// All tables below, by name.
    pub fn tables(&self) -> impl Iterator<Item = (&Arc<str>, &[Facts])> {
        self.tables
            .iter()
            .map(|(name, rows)| (name, rows.as_slice()))
    }
}

/// What is different in facts; all else stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FactsChange {
    /// Columns with their new values, and tables with all their new rows.
    pub set: Facts,
    /// Names of columns and tables that are taken away.
    pub unset: Vec<Arc<str>>,
}

impl FactsChange {
    /// The part of it that makes these facts different.
    #[must_use]
    pub fn differing_from(&self, facts: &Facts) -> Self {
        let mut part = Self::default();
        let values = self.set.values();
        for (column, value) in values.filter(|(column, value)| facts.get(column) != Some(*value)) {
            part.set.set(column.clone(), value.clone());
        }
        let tables = self.set.tables();
        for (table, rows) in tables.filter(|(table, rows)| facts.rows(table) != *rows) {
            part.set.set_rows(table.clone(), rows.to_vec());
        }
        let is_there = |name: &&Arc<str>| facts.get(name).is_some() || !facts.rows(name).is_empty();
        part.unset = self.unset.iter().filter(is_there).cloned().collect();
        part
    }

    /// Leave out what it says of columns and tables that `is_meant` does not hold for.
    pub fn retain(&mut self, is_meant: impl Fn(&str) -> bool) {
        self.set.values.retain(|(name, _)| is_meant(name));
        self.set.tables.retain(|(name, _)| is_meant(name));
        self.unset.retain(|name| is_meant(name));
    }
}

/// A hypervisor that VMs run on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Unique in its cluster; ids compare as bytes.
    pub id: Arc<str>,
    /// Columns and tables of `hosts`.
    pub facts: Facts,
}

/// A virtual machine, running or to be placed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vm {
    /// Unique in its cluster.
    pub id: Arc<str>,
    /// Columns and tables of `members` and `hosts/vms`, which are the same.
    pub facts: Facts,
    /// Where the VM may or would rather run.
    pub pinning: Pinning,
}

/// Hosts named by a VM.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pinning {
    /// Ids of the hosts that the VM is pinned to (`hosts/pinned`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<Arc<str>>,
    /// Ids of the hosts that the VM prefers (`hosts/preferred`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred: Vec<Arc<str>>,
    /// Ids of hosts with the scores that the VM has for them (`hosts/location`). A
    /// host may stand here several times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub location: Vec<(Arc<str>, i64)>,
}

/// How many GPUs a VM needs with that `gpu.count` and `gpu.share`: one, if it has a share or models of
/// GPUs and no number. None: it says nothing of GPUs.
pub fn gpus_needed(
    count: Option<i64>,
    share: Option<i64>,
    has_models: impl FnOnce() -> bool,
) -> Option<i64> {
    count.or_else(|| (share.is_some() || has_models()).then_some(1))
}

impl Vm {
    /// How many GPUs it needs: see [`gpus_needed`].
    pub fn gpus(&self) -> Option<i64> {
        let facts = &self.facts;
        let has_models = || !facts.rows("gpu-models").is_empty();
        gpus_needed(
            facts.integer("gpu.count"),
            facts.integer("gpu.share"),
            has_models,
        )
    }

    /// Whether its `state` says that it does not run: then it is moved without running.
    pub fn is_stopped(&self) -> bool {
        matches!(self.facts.text("state"), Some("down" | "stopped" | "off"))
    }

    /// Whether its `state` says that it holds memory and does nothing.
    pub fn is_paused(&self) -> bool {
        matches!(self.facts.text("state"), Some("paused" | "suspended"))
    }

    /// A VM of which nothing is known yet but its id.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            facts: Facts::new(),
            pinning: Pinning::default(),
        }
    }

    /// The same VM with one more fact.
    pub fn with(mut self, column: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.facts.set(column, value);
        self
    }
}

impl Host {
    /// A host of which nothing is known yet but its id.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            facts: Facts::new(),
        }
    }

    /// The same host with one more fact.
    pub fn with(mut self, column: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.facts.set(column, value);
        self
    }
}

/// What a group wants of its VMs, or of its VMs and its hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupRule {
    /// Together: on one host; on the group's hosts.
    Positive {
        /// Whether it must be kept.
        hard: bool,
    },
    /// Apart: no two on one host; not on the group's hosts.
    Negative {
        /// Whether it must be kept.
        hard: bool,
    },
}

/// An affinity group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Unique in its cluster.
    pub id: Arc<str>,
    /// Ids of the VMs in it, running or not.
    pub vms: Vec<Arc<str>>,
    /// Ids of the hosts in it.
    pub hosts: Vec<Arc<str>>,
    /// What it wants of its VMs among themselves.
    pub vm_rule: Option<GroupRule>,
    /// What it wants of its VMs and its hosts.
    pub host_rule: Option<GroupRule>,
    /// The more, the more it counts where not all groups can be had; 1 by default.
    pub priority: f64,
    /// What people call it; None: by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// What it is for, in words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// Ids of other groups whose own VMs are in this one, too. One that is not there has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vms_of: Vec<Arc<str>>,
    /// Ids of other groups whose own hosts are in this one, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts_of: Vec<Arc<str>>,
}

impl Group {
    /// A group without members that wants nothing.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            vms: Vec::new(),
            hosts: Vec::new(),
            vm_rule: None,
            host_rule: None,
            priority: 1.0,
            name: None,
            description: None,
            vms_of: Vec::new(),
            hosts_of: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_among_few_and_among_many() {
        for count in [0, 1, FEW, FEW + 1, 3 * FEW] {
            let name = |number: usize| format!("column-{number}");
            let facts = (0..count).fold(Facts::new(), |facts, number| {
                facts.with(name(number).as_str(), number as i64)
            });
            for number in 0..count {
                assert_eq!(facts.integer(&name(number)), Some(number as i64));
            }
            assert_eq!(facts.get("column"), None);
            assert_eq!(facts.get(&name(count)), None);
        }
    }
}
