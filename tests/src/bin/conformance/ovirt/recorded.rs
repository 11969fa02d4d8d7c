//! Costs that are recorded in a vector: a cluster of hosts of which nothing is known, and
//! a policy of units that say what is recorded.

use std::sync::Arc;

use placewright_chain::Explanation;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Host, Request, Vm};
use placewright_scheduler::Scheduler;
use toml::{Table, Value};

use super::document::{Document, Entry};
use crate::units::Units;

/// A unit whose settings say what hosts cost; made from `tests/units/recorded-costs`.
const COMPONENT: &[u8] = include_bytes!("../../../../units/recorded-costs/recorded-costs.wasm");

/// A cost for each of some hosts; of one host they add up.
pub(super) type Records<'a> = Vec<(&'a str, f64)>;

/// An entry of a policy that says what is recorded.
pub(super) fn entry(name: impl Into<String>, scaling: &'static str, records: Records<'_>) -> Entry {
    let rows = records.into_iter().map(|(host, cost)| {
        let row = [("host", Value::from(host)), ("cost", Value::from(cost))];
        Value::Table(
            row.map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
        )
    });
    let mut settings = Table::new();
    settings.insert("records".to_owned(), Value::Array(rows.collect()));
    Entry {
        name: Some(name.into()),
        scaling: Some(scaling),
        ..Entry::new("recorded-costs", settings)
    }
}

/// Hosts, and a policy of recorded costs.
pub(super) struct Recorded(Scheduler);

impl Recorded {
    /// These hosts, under this policy.
    ///
    /// # Errors
    /// What is wrong with either.
    pub(super) fn new<'a>(
        hosts: impl IntoIterator<Item = &'a str>,
        costs: Vec<Entry>,
        units: &Units,
    ) -> Result<Self, String> {
        let mut inventory = Inventory::new("cluster", Arc::new(Schema::default()));
        for host in hosts {
            let added = inventory.add_host(Host::new(host));
            added.map_err(|error| format!("input: {error}"))?;
        }
        let policy = Document {
            costs,
            ..Document::default()
        };
        let scheduler = with_the_unit(units)?.scheduler(inventory, &policy.text()?)?;
        Ok(Self(scheduler))
    }

    /// The host that is chosen, if these are not to be had.
    ///
    /// # Errors
    /// If there is no decision.
    pub(super) fn chosen_without(
        &mut self,
        excluded: &[Arc<str>],
    ) -> Result<Option<Arc<str>>, String> {
        let decision = self.0.place(request(excluded));
        Ok(decision.map_err(|error| error.to_string())?.host.clone())
    }

    /// A decision among all hosts, explained.
    ///
    /// # Errors
    /// If there is no decision.
    pub(super) fn explained(&mut self) -> Result<Explanation, String> {
        let decision = self.0.place(request(&[]));
        let number = decision.map_err(|error| error.to_string())?.number;
        self.0.explain(number).map_err(|error| error.to_string())
    }
}

/// One VM, wherever it is put.
fn request(excluded: &[Arc<str>]) -> Request {
    Request {
        members: vec![Vm::new("vm")],
        excluded: excluded.to_vec(),
        dry_run: true,
        ..Request::default()
    }
}

/// The unit that says what is recorded, in an engine of the units that come with the
/// program.
fn with_the_unit(units: &Units) -> Result<Units, String> {
    let any = units.generation.units().next();
    let engine = any.ok_or("no units come with the program")?.engine();
    let unit = Unit::load(engine, COMPONENT, "recorded-costs.wasm");
    let generation = Generation::new([unit.map_err(|error| error.to_string())?]);
    Ok(Units {
        generation: generation.map_err(|error| error.to_string())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_component_is_made_from_the_sources_beside_it() {
        let built = placewright_tests::units::component("recorded-costs");
        assert!(
            *built == *COMPONENT,
            "to mend it: {} recorded-costs",
            placewright_tests::sources::REMEDY
        );
    }
}
