//! Selectors: what each unit said of the hosts is recorded, and the host is chosen by the
//! sums.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::document::Entry;
use super::outcome::Outcome;
use super::recorded::{self, Recorded, Records};
use super::vector::{UnitNamed, Vector};
use crate::units::Units;

/// A selector of oVirt is a scaling of all costs here.
struct Selector {
    id: &'static str,
    scaling: &'static str,
    /// Whether a host can be chosen of which nothing is recorded.
    takes_strangers: bool,
}

const SELECTORS: &[Selector] = &[
    // RankSelector.
    Selector {
        id: "b280e7de-5df8-401e-b004-a1414d79a687",
        scaling: "rank",
        takes_strangers: true,
    },
    // BasicWeighting.
    Selector {
        id: "0c89f215-9c4f-4bbb-8419-31a2d43ae7ea",
        scaling: "none",
        takes_strangers: false,
    },
];

/// What is recorded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    hosts: Vec<String>,
    /// By the ids of units.
    factors: BTreeMap<String, f64>,
    records: Vec<Record>,
}

/// What a unit said of a host.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    /// Null: it is not known which one.
    unit: Option<String>,
    host: String,
    weight: f64,
}

/// What is expected of a selector.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Null: none is chosen.
    #[serde(deserialize_with = "Option::deserialize")]
    best: Option<String>,
}

/// Run a vector.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(unit: &UnitNamed, vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Expect = vector.expect()?;
    let input: Input = vector.input()?;
    let id = unit.alias()?;
    let selector = SELECTORS.iter().find(|selector| selector.id == id);
    let selector = selector.ok_or_else(|| format!("field unit.id: no selector {id} is known"))?;
    let hosts = input.hosts(selector);
    let costs = input.costs(selector.scaling)?;
    let best = Recorded::new(hosts, costs, units)?.chosen_without(&[])?;
    let shown = |host: Option<&str>| host.unwrap_or("none").to_owned();
    let mut outcome = Outcome::default();
    let (expected, got) = (expect.best.as_deref(), best.as_deref());
    outcome.check("best", expected == got, shown(expected), shown(got));
    Ok(outcome)
}

impl Input {
    fn hosts(&self, selector: &Selector) -> impl Iterator<Item = &str> {
        let recorded = |host: &&String| self.records.iter().any(|record| record.host == **host);
        let hosts = self
            .hosts
            .iter()
            .filter(move |host| selector.takes_strangers || recorded(host));
        hosts.map(String::as_str)
    }

    /// A cost for each unit of which something is recorded, with its factor; 1 if it has
    /// none.
    fn costs(&self, scaling: &'static str) -> Result<Vec<Entry>, String> {
        let mut said: BTreeMap<Option<&str>, Records<'_>> = BTreeMap::new();
        for (place, record) in self.records.iter().enumerate() {
            if !self.hosts.contains(&record.host) {
                let host = &record.host;
                return Err(format!(
                    "field input.records[{place}].host: {host} is not among hosts"
                ));
            }
            let records = said.entry(record.unit.as_deref()).or_default();
            records.push((&record.host, record.weight));
        }
        let costs = said.into_iter().map(|(unit, records)| {
            let factor = unit.and_then(|unit| self.factors.get(unit));
            Entry {
                factor: Some(factor.copied().unwrap_or(1.0)),
                ..recorded::entry(unit.unwrap_or("unknown"), scaling, records)
            }
        });
        Ok(costs.collect())
    }
}
