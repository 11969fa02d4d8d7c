//! Another policy to compare with: without some entries, or with other factors.

use std::sync::Arc;

use placewright_model::nearest;
use placewright_policy::{Policy, UnitName};

/// What is supposed to be otherwise in a policy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    /// Entries that are not asked. Entries of all lists that have the name are meant;
    /// where none has it, those of the unit of that name.
    pub without: Vec<String>,
    /// Cost entries with the factors that they have instead.
    pub factors: Vec<(String, f64)>,
}

/// A change that a policy does not take.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum UnknownEntryError {
    #[error(
        "policy \"{policy}\" has no {what} \"{name}\"{}",
        hint(.nearest, .names)
    )]
    NoEntry {
        policy: Arc<str>,
        what: &'static str,
        name: String,
        /// The one that was probably meant.
        nearest: Option<String>,
        /// All that there are.
        names: Vec<String>,
    },
    #[error("the factor of \"{name}\" must be a finite number, not {factor}")]
    Factor { name: String, factor: f64 },
}

fn hint(nearest: &Option<String>, names: &[String]) -> String {
    match nearest {
        Some(name) => format!(" (did you mean \"{name}\"?)"),
        None if names.is_empty() => "; it has none".to_owned(),
        None => format!("; it has {}", names.join(", ")),
    }
}

/// An entry of a policy, as far as changes go.
struct Entry<'p> {
    name: &'p Arc<str>,
    unit: &'p UnitName,
    enabled: &'p mut bool,
    factor: Option<&'p mut f64>,
}

impl Change {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.without.is_empty() && self.factors.is_empty()
    }

    /// The policy as it would be.
    ///
    /// # Errors
    /// If it has no such entry, or a factor is not finite.
    pub fn of(&self, policy: &Policy) -> Result<Policy, UnknownEntryError> {
        let mut changed = policy.clone();
        for name in &self.without {
            let entries = find(&mut changed, name, "entry", |_| true)?;
            for entry in entries {
                *entry.enabled = false;
            }
        }
        for (name, factor) in &self.factors {
            if !factor.is_finite() {
                return Err(UnknownEntryError::Factor {
                    name: name.clone(),
                    factor: *factor,
                });
            }
            let costs = find(&mut changed, name, "cost", |entry| entry.factor.is_some())?;
            for old in costs.into_iter().filter_map(|entry| entry.factor) {
                *old = *factor;
            }
        }
        Ok(changed)
    }
}

/// The entries of that name or else of that unit, among those that are meant.
fn find<'p>(
    policy: &'p mut Policy,
    name: &str,
    what: &'static str,
    meant: impl Fn(&Entry<'_>) -> bool,
) -> Result<Vec<Entry<'p>>, UnknownEntryError> {
    let policy_name = policy.name.clone();
    let mut entries = entries(policy);
    entries.retain(|entry| meant(entry));
    let named = |entry: &Entry<'_>| **entry.name == *name;
    let of_unit = |entry: &Entry<'_>| *entry.unit.name == *name;
    if entries.iter().any(named) {
        entries.retain(named);
    } else if entries.iter().any(of_unit) {
        entries.retain(of_unit);
    } else {
        let mut names: Vec<String> = Vec::new();
        for entry in &entries {
            if !names.iter().any(|known| **known == **entry.name) {
                names.push(entry.name.to_string());
            }
        }
        return Err(UnknownEntryError::NoEntry {
            policy: policy_name,
            what,
            name: name.to_owned(),
            nearest: nearest(name, names.iter().map(String::as_str)).map(str::to_owned),
            names,
        });
    }
    Ok(entries)
}

fn entries(policy: &mut Policy) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    for stage in &mut policy.stages {
        entries.extend(stage.filters.iter_mut().map(|it| Entry {
            name: &it.name,
            unit: &it.unit,
            enabled: &mut it.enabled,
            factor: None,
        }));
        entries.extend(stage.costs.iter_mut().map(|it| Entry {
            name: &it.name,
            unit: &it.unit,
            enabled: &mut it.enabled,
            factor: Some(&mut it.factor),
        }));
        entries.extend(stage.selections.iter_mut().map(|it| Entry {
            name: &it.name,
            unit: &it.unit,
            enabled: &mut it.enabled,
            factor: None,
        }));
    }
    entries.extend(policy.effects.iter_mut().map(|it| Entry {
        name: &it.name,
        unit: &it.unit,
        enabled: &mut it.enabled,
        factor: None,
    }));
    entries
}
