//! When values of hosts were measured, and those that are too old to count.
//!
//! A value that has been outdated is removed as any other is, and so can be looked back
//! behind. The times themselves are not: nothing in the past depends on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::host::Reading;
use super::journal::Undo;
use super::of_changes::names;
use super::{HostEntry, Inventory, InventoryError};
use placewright_document::Statistics;
use placewright_model::{Facts, FactsChange, Value};

/// A column or table of a host that was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement<'a> {
    /// Name of the amount.
    pub name: &'a Arc<str>,
    /// When, in seconds.
    pub measured: i64,
    /// It was too long ago: it counts as absent.
    pub outdated: bool,
}

/// What was measured, by slot and name; None: it is no measurement any more. Noted when
/// the whole change is carried out.
#[derive(Debug, Default)]
pub(super) struct Measured(BTreeMap<(u32, Arc<str>), Option<Reading>>);

impl Measured {
    fn note(&mut self, slot: u32, reading: Reading) {
        self.0.insert((slot, reading.name.clone()), Some(reading));
    }

    pub(super) fn forget(&mut self, slot: u32, name: &Arc<str>) {
        self.0.insert((slot, name.clone()), None);
    }
}

impl HostEntry {
    fn measured_at(&self, name: &str) -> Option<i64> {
        self.reading(name).map(|reading| reading.at)
    }

    fn reading(&self, name: &str) -> Option<&Reading> {
        self.measured.iter().find(|reading| *reading.name == *name)
    }

    fn has(&self, name: &str) -> bool {
        self.facts.get(name).is_some() || !self.facts.rows(name).is_empty()
    }
}

impl Inventory {
    /// Seconds for which what was measured counts; None: for good.
    pub fn statistics_max_age(&self) -> Option<i64> {
        self.statistics_max_age
    }

    /// From now on what was measured longer ago than so many seconds counts as absent;
    /// None: whatever was measured last counts.
    pub fn set_statistics_max_age(&mut self, seconds: Option<i64>) {
        self.statistics_max_age = seconds;
        self.oldest_measured = i64::MIN;
        self.outdate();
    }

    /// The columns and tables of a host that were measured, in no order that matters.
    pub fn measured<'a>(&self, host: &'a HostEntry) -> impl Iterator<Item = Measurement<'a>> {
        host.measured.iter().map(|reading| Measurement {
            name: &reading.name,
            measured: reading.at,
            outdated: !host.has(&reading.name),
        })
    }

    /// The value of a host's column as a client gave it: what is measured counts as
    /// rounded. None if it has no value, or one that follows from others.
    pub fn given<'a>(&self, host: &'a HostEntry, column: &str) -> Option<&'a Value> {
        let fact = host.facts.get(column)?;
        let given = host.reading(column).and_then(|it| it.given.as_ref());
        // What was taken back since is not what was given.
        Some(
            given
                .filter(|it| self.rounded(column, it) == *fact)
                .unwrap_or(fact),
        )
    }

    /// The facts of a host as clients gave them.
    pub fn given_facts(&self, host: &HostEntry) -> Facts {
        let mut facts = host.facts.clone();
        for reading in host.measured.iter().filter(|it| it.given.is_some()) {
            if let Some(given) = self.given(host, &reading.name) {
                facts.set(reading.name.clone(), given.clone());
            }
        }
        facts
    }

    /// Take over from `old` what was measured that is the same here: when, and as what it
    /// counts.
    pub fn measured_as_in(&mut self, old: &Inventory) {
        for (_, known) in old.hosts().filter(|(_, host)| !host.measured.is_empty()) {
            let Some(slot) = self.slot(&known.id) else {
                continue;
            };
            let (mut same, mut rounded) = (Vec::new(), Vec::new());
            for reading in &known.measured {
                let name = &reading.name;
                let Some(host) = self.host(slot) else {
                    continue;
                };
                if known.facts.rows(name) != host.facts.rows(name) {
                    continue;
                }
                let (fact, here) = (known.facts.get(name), host.facts.get(name));
                if here == old.given(known, name) {
                    same.push(reading.clone());
                    rounded.extend(fact.filter(|_| here != fact).map(|it| (name, it.clone())));
                } else if here == fact {
                    same.push(Reading {
                        given: None,
                        ..reading.clone()
                    });
                }
            }
            for (column, value) in rounded {
                self.put_host_value(slot, column, Some(value));
            }
            if let Some(host) = self.host_mut(slot) {
                host.measured = same;
            }
        }
        self.oldest_measured = i64::MIN;
    }

    /// Measured values of a host come in. False if all of them are older than those that
    /// are known.
    ///
    /// # Errors
    /// If the host is unknown or a value does not fit the schema; what came before it
    /// stays.
    pub(super) fn report(
        &mut self,
        statistics: &Statistics,
        measured: &mut Measured,
    ) -> Result<bool, InventoryError> {
        let id = &statistics.host;
        let slot = self.known_slot(id).map_err(|unknown| {
            match self.running(id).or_else(|| self.pending(id)) {
                Some(_) => InventoryError::IsVm(id.clone()),
                None => unknown,
            }
        })?;
        // Clocks differ a little: what is measured is in the past.
        let at = statistics.measured.unwrap_or(self.clock).min(self.clock);
        let mut newer = statistics.facts.clone();
        for name in names(&statistics.facts) {
            let key = (slot, name.clone());
            let known = match measured.0.get(&key) {
                Some(noted) => noted.as_ref().map(|reading| reading.at),
                None => self.host(slot).and_then(|host| host.measured_at(name)),
            };
            if known.is_some_and(|known| known > at) {
                newer.set.unset(name);
                newer.set.take_rows(name);
                newer.unset.retain(|other| other != name);
            }
        }
        let had_usage = self.has_usage(slot);
        for (column, value) in newer.set.values() {
            let rounded = self.rounded(column, value);
            let given = (rounded != *value).then(|| value.clone());
            self.write_host_value(id, column, Some(rounded))?;
            let name = column.clone();
            measured.note(slot, Reading { name, at, given });
        }
        for (table, rows) in newer.set.tables() {
            self.write_host_rows(id, table, rows.to_vec())?;
            let (name, given) = (table.clone(), None);
            measured.note(slot, Reading { name, at, given });
        }
        self.note_shown(slot, &newer.set, Some(at));
        if !had_usage && self.has_usage(slot) {
            self.note_load_not_shown(slot, at);
        }
        let unset = FactsChange {
            unset: newer.unset,
            ..FactsChange::default()
        };
        if !unset.unset.is_empty() {
            self.change_host(id, &unset)?;
        }
        for name in &unset.unset {
            measured.forget(slot, name);
        }
        let is_taken = newer.set != Facts::new() || !unset.unset.is_empty();
        Ok(is_taken || statistics.facts == FactsChange::default())
    }

    /// Keep in mind what was measured, and when.
    pub(super) fn note_measured(&mut self, measured: Measured) {
        let mut last = None;
        for ((slot, name), reading) in measured.0 {
            // Not by a method of the whole: the journal is written to besides.
            let host = self.hosts.get_mut(slot as usize);
            let Some(host) = host.and_then(Option::as_mut).map(Arc::make_mut) else {
                continue;
            };
            if last.replace(slot) != Some(slot) {
                self.journal.replace(slot, &host.measured);
            }
            let at = reading.as_ref().map(|reading| reading.at);
            let known = host.measured.iter_mut().find(|known| known.name == name);
            match (known, reading) {
                (Some(known), Some(reading)) => *known = reading,
                (None, Some(reading)) => host.measured.push(reading),
                (Some(_), None) => host.measured.retain(|known| known.name != name),
                (None, None) => {}
            }
            if let Some(at) = at {
                self.oldest_measured = self.oldest_measured.min(at);
            }
        }
        self.outdate();
    }

    /// What was measured too long ago is absent from now on.
    pub(super) fn outdate(&mut self) {
        let Some(age) = self.statistics_max_age else {
            return;
        };
        let since = self.clock.saturating_sub(age);
        if self.oldest_measured >= since {
            return;
        }
        let mut outdated = Vec::new();
        let mut oldest = i64::MAX;
        for (slot, host) in self.hosts() {
            for reading in host.measured.iter().filter(|it| host.has(&it.name)) {
                match reading.at < since {
                    true => outdated.push((slot, reading.name.clone())),
                    false => oldest = oldest.min(reading.at),
                }
            }
        }
        self.oldest_measured = oldest;
        for (slot, name) in outdated {
            self.make_absent(slot, name);
        }
    }

    /// A second before which nothing that was measured becomes outdated; None: nothing
    /// ever does.
    pub fn next_outdated(&self) -> Option<i64> {
        let age = self.statistics_max_age?;
        match self.oldest_measured {
            i64::MAX => None,
            // It is looked for with the next second.
            i64::MIN => Some(self.clock.saturating_add(1)),
            oldest => Some(oldest.saturating_add(age).saturating_add(1)),
        }
    }

    fn make_absent(&mut self, slot: u32, name: Arc<str>) {
        let old = self
            .host(slot)
            .and_then(|host| host.facts.get(&name).cloned());
        if old.is_some() {
            self.put_host_value(slot, &name, None);
            let column = name;
            self.changed(Undo::HostValue { slot, column, old });
        } else {
            let old = self.put_host_rows(slot, &name, Vec::new());
            let table = name;
            self.changed(Undo::HostRows { slot, table, old });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_document::InventoryChanges;
    use placewright_model::schema::Schema;

    fn report(inventory: &mut Inventory, text: &str) {
        let text = format!(r#"{{"missing": "ignore", "statistics": [{{"id": "h", {text}}}]}}"#);
        let changes = InventoryChanges::read(&text, "c.json", inventory.schema()).unwrap();
        inventory.change(changes).unwrap();
    }

    fn cluster(max_age: i64) -> Inventory {
        let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
        inventory
            .add_host(placewright_model::Host::new("h"))
            .unwrap();
        inventory.set_statistics_max_age(Some(max_age));
        inventory.advance(1000);
        inventory
    }

    #[test]
    fn statistics_of_a_vm_among_those_of_hosts_are_said_to_stand_elsewhere() {
        let mut inventory = cluster(60);
        inventory
            .run_vm(placewright_model::Vm::new("v"), "h")
            .unwrap();
        let text = r#"{"statistics": [{"id": "v", "cpu.usage": 0.5}]}"#;
        let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
        let refused = inventory.change(changes).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "statistics[0] \"v\": there is no host \"v\"; a VM is called so, and what was measured of VMs is given under \"vms\""
        );
    }

    fn usage(inventory: &Inventory) -> Option<f64> {
        let value = inventory.host_value(inventory.slot("h").unwrap(), "cpu.usage");
        value.map(|value| match value {
            placewright_model::Value::Number(number) => number,
            other => panic!("{other}"),
        })
    }

    fn measured(inventory: &Inventory) -> Vec<(&str, i64, bool)> {
        let host = inventory.host(inventory.slot("h").unwrap()).unwrap();
        let measured = inventory.measured(host);
        measured
            .map(|it| (&**it.name, it.measured, it.outdated))
            .collect()
    }

    #[test]
    fn what_was_measured_too_long_ago_is_absent_and_what_came_later_is_not() {
        let mut inventory = cluster(60);
        report(&mut inventory, r#""cpu.usage": 0.5"#);
        report(
            &mut inventory,
            r#""memory.free": 2097152, "measured": 1030"#,
        );
        inventory.advance(1060);
        assert_eq!(usage(&inventory), Some(0.5));
        let before = inventory.version();
        inventory.advance(1061);
        assert_eq!(usage(&inventory), None);
        // A time that is still to come counts as now.
        let times = [("cpu.usage", 1000, true), ("memory.free", 1000, true)];
        assert_eq!(measured(&inventory), times);
        assert_eq!(usage(&inventory.at_version(before).unwrap()), Some(0.5));
        report(&mut inventory, r#""cpu.usage": 0.25"#);
        assert_eq!(usage(&inventory), Some(0.25));
        assert!(inventory.take_back(before));
        inventory.advance(1061);
        assert_eq!(
            usage(&inventory),
            Some(0.5),
            "as fresh as it is known to be"
        );
        inventory.advance(1200);
        assert_eq!(usage(&inventory), None);
    }

    #[test]
    fn an_older_measurement_does_not_replace_a_newer_one() {
        let mut inventory = cluster(60);
        report(&mut inventory, r#""cpu.usage": 0.5, "measured": 990"#);
        report(&mut inventory, r#""cpu.usage": 0.75, "measured": 980"#);
        assert_eq!(usage(&inventory), Some(0.5));
        report(&mut inventory, r#""cpu.usage": 0.75, "measured": 990"#);
        assert_eq!(usage(&inventory), Some(0.75));
        // One that is too old when it comes says nothing.
        inventory.advance(2000);
        report(&mut inventory, r#""cpu.usage": 0.25, "measured": 1900"#);
        assert_eq!(usage(&inventory), None);
    }

    #[test]
    fn a_limit_that_is_set_later_counts_for_what_was_measured_before() {
        let mut inventory = cluster(60);
        inventory.set_statistics_max_age(None);
        report(&mut inventory, r#""cpu.usage": 0.5"#);
        inventory.advance(100_000);
        assert_eq!(usage(&inventory), Some(0.5));
        inventory.set_statistics_max_age(Some(60));
        assert_eq!(usage(&inventory), None);
    }

    #[test]
    fn what_is_withdrawn_or_given_by_an_operator_has_no_age() {
        let mut inventory = cluster(60);
        report(
            &mut inventory,
            r#""cpu.usage": 0.5, "memory.free": 2097152"#,
        );
        report(&mut inventory, r#""cpu.usage": null"#);
        assert_eq!(usage(&inventory), None);
        assert_eq!(measured(&inventory), [("memory.free", 1000, false)]);
        let text = r#"{"hosts": [{"id": "h", "memory.free": 1048576}]}"#;
        let changes = InventoryChanges::read(text, "c.json", inventory.schema()).unwrap();
        inventory.change(changes).unwrap();
        inventory.advance(5000);
        assert_eq!(measured(&inventory), []);
        let slot = inventory.slot("h").unwrap();
        let memory = inventory.host_value(slot, "memory.free");
        assert_eq!(memory, Some(1_048_576.into()));
    }

    #[test]
    fn a_document_that_says_the_same_leaves_the_time_of_the_measurement() {
        let mut inventory = cluster(60);
        report(&mut inventory, r#""cpu.usage": 0.5"#);
        let host = inventory.host(0).unwrap();
        let mut same = Inventory::new("c", Arc::new(Schema::default()));
        let facts = host.facts.clone();
        let id = host.id.clone();
        same.add_host(placewright_model::Host { id, facts })
            .unwrap();
        same.measured_as_in(&inventory);
        assert_eq!(measured(&same), [("cpu.usage", 1000, false)]);
        same.set_statistics_max_age(Some(60));
        same.advance(2000);
        assert_eq!(usage(&same), None);
    }
}
