//! The settings of a case as policy documents.

use placewright_plugins as plugins;
use serde_json::{Value, json};

use super::case::{Filter, Settings, WeigherName};

/// A policy document.
pub(super) struct Document {
    /// For a sentence.
    pub name: String,
    pub text: String,
}

/// Policies that come with the program, each with its only weigher. They have all
/// filters in the usual order, and [`KEY`] and [`THRESHOLD`].
const EMBEDDED: [(&str, WeigherName); 2] = [
    ("tricircle", WeigherName::CreationTime),
    ("tricircle-idlest", WeigherName::IdleCapacity),
];
const FILTERS: [Filter; 5] = [
    Filter::All,
    Filter::Az,
    Filter::Affinity,
    Filter::Maintenance,
    Filter::Capacity,
];
const KEY: &str = "resource";
const THRESHOLD: f64 = 90.0;

/// The unit that is this filter. None: it passes everything.
fn filter_unit(filter: Filter) -> Option<&'static str> {
    match filter {
        Filter::All => None,
        Filter::Az => Some("availability-zone"),
        Filter::Affinity => Some("resource-affinity"),
        Filter::Maintenance => Some("pod-maintenance"),
        Filter::Capacity => Some("idle-capacity"),
    }
}

fn weigher_unit(weigher: WeigherName) -> &'static str {
    match weigher {
        WeigherName::CreationTime => "creation-time",
        WeigherName::IdleCapacity => "idle-capacity",
    }
}

/// What the filters' entries are called, in order.
pub(super) fn filter_names(cfg: &Settings) -> Vec<Option<String>> {
    let units: Vec<_> = cfg.filters.iter().copied().map(filter_unit).collect();
    let names = (0..).zip(&units);
    names
        .map(|(place, unit)| Some(name((*unit)?, units[..place].iter().flatten())))
        .collect()
}

/// The unit's name, with a number if entries before have it too.
fn name<'a>(unit: &str, before: impl Iterator<Item = &'a &'a str>) -> String {
    match before.filter(|other| **other == unit).count() {
        0 => unit.to_owned(),
        same => format!("{unit}-{}", same + 1),
    }
}

/// The document that is made from the settings, and the policy of the program that
/// says the same, if there is one.
///
/// # Errors
/// If it cannot be written.
pub(super) fn policies(cfg: &Settings) -> Result<Vec<Document>, String> {
    let mut documents = vec![Document {
        name: "a policy of these settings".to_owned(),
        text: toml::to_string(&document(cfg)).map_err(|error| error.to_string())?,
    }];
    let says_the_same = |weigher: WeigherName| {
        cfg.filters == FILTERS
            && matches!(cfg.weighers[..], [only] if only.name == weigher && only.multiplier == 1.0)
            && cfg.affinity_keys == [KEY]
            && cfg.threshold_pct == THRESHOLD
    };
    for (name, weigher) in EMBEDDED {
        if says_the_same(weigher) {
            let policy = plugins::policy(name);
            let policy = policy.ok_or_else(|| format!("there is no policy \"{name}\""))?;
            documents.push(Document {
                name: format!("the policy {name}"),
                text: policy.text.to_owned(),
            });
        }
    }
    Ok(documents)
}

fn document(cfg: &Settings) -> Value {
    let keys = cfg.affinity_keys.iter();
    json!({
        "name": "vector",
        "tie-rule": ["listed"],
        "settings": {
            "affinity-keys": keys.map(|key| json!({ "key": key })).collect::<Vec<_>>(),
            "by-zone": cfg.filters.contains(&Filter::Az),
            "by-tag": cfg.filters.contains(&Filter::Affinity),
        },
        "stages": [
            {
                "name": "bound",
                "filters": filters(cfg),
                "selections": [{ "unit": "pod-binding", "on-failure": "fail" }],
            },
            { "name": "heaviest", "costs": costs(cfg) },
        ],
        "effects": [{ "unit": "pod-binding" }],
    })
}

fn filters(cfg: &Settings) -> Vec<Value> {
    let entries = cfg.filters.iter().zip(filter_names(cfg));
    let entry = |(filter, name): (&Filter, Option<String>)| {
        let settings = match filter {
            Filter::Capacity => json!({ "threshold": cfg.threshold_pct }),
            _ => json!({}),
        };
        Some(json!({ "unit": filter_unit(*filter)?, "name": name?, "settings": settings }))
    };
    entries.filter_map(entry).collect()
}

fn costs(cfg: &Settings) -> Vec<Value> {
    let units: Vec<_> = (cfg.weighers.iter())
        .map(|weigher| weigher_unit(weigher.name))
        .collect();
    let entries = (0..).zip(units.iter().zip(&cfg.weighers));
    entries
        .map(|(place, (unit, weigher))| {
            json!({
                "unit": unit,
                "name": name(unit, units[..place].iter()),
                "factor": weigher.multiplier,
                "scaling": "min-max",
            })
        })
        .collect()
}
