//! Definitions of policies: those that come with the program, and such as people
//! write, through the check of policy documents.

use std::collections::BTreeMap;

use placewright_model::schema::Schema;
use placewright_plugins as plugins;
use serde::Deserialize;

use super::document::{Document, Entry};
use super::outcome::Outcome;
use super::parameters;
use super::vector::Vector;
use crate::units::Units;

/// What comes before the names of oVirt's policies here.
const PREFIX: &str = "ovirt-";
/// The policy that clusters of oVirt have unless told otherwise.
const DEFAULT: &str = "none";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyInput {
    /// Which policies are meant, if not one that is given.
    policies: Option<Policies>,
    policy: Option<Definition>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
enum Policies {
    #[serde(rename = "built-in")]
    BuiltIn,
}

/// A policy as oVirt has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Definition {
    filters: Vec<FilterEntry>,
    functions: Vec<FunctionEntry>,
    /// Id of the unit.
    balance: Option<String>,
    params: BTreeMap<String, String>,
}

/// A filter of a policy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilterEntry {
    /// Id of the unit.
    unit: String,
    #[serde(default)]
    position: i64,
}

/// A weight of a policy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionEntry {
    /// Id of the unit.
    unit: String,
    factor: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    default_policy_count: Option<usize>,
    valid: Option<bool>,
}

/// Run a vector.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let (input, expect): (PolicyInput, Expect) = (vector.input()?, vector.expect()?);
    let mut outcome = Outcome::default();
    match (input.policies, &input.policy) {
        (Some(Policies::BuiltIn), None) => built_in(&expect, units, &mut outcome),
        (None, Some(policy)) => given(policy, &expect, units, &mut outcome)?,
        _ => return Err("field input: needs either policies or policy".to_owned()),
    }
    Ok(outcome)
}

/// All of oVirt's policies that come with the program pass the check.
fn built_in(expect: &Expect, units: &Units, outcome: &mut Outcome) {
    let ours = plugins::POLICIES.iter();
    let ours = ours.filter_map(|policy| Some((policy.name.strip_prefix(PREFIX)?, policy.text)));
    let mut defaults = 0;
    for (name, text) in ours {
        let checked = units.policy(text, Schema::built_in());
        let what = format!("check of policy {name}");
        let shown = checked.as_ref().err().cloned().unwrap_or_default();
        outcome.check(&what, checked.is_ok(), "no problem".to_owned(), shown);
        defaults += usize::from(name == DEFAULT);
    }
    if let Some(expected) = expect.default_policy_count {
        outcome.compare("number of default policies", &expected, &defaults);
    }
}

/// A policy passes the check, or not.
fn given(
    policy: &Definition,
    expect: &Expect,
    units: &Units,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let checked = units.policy(&policy.document()?.text()?, Schema::built_in());
    if let Some(expected) = expect.valid {
        let shown = match &checked {
            Ok(_) => "true".to_owned(),
            Err(problems) => format!("false: {problems}"),
        };
        let same = expected == checked.is_ok();
        outcome.check(
            "whether the policy is valid",
            same,
            expected.to_string(),
            shown,
        );
    }
    Ok(())
}

impl Definition {
    /// The policy as a document of ours.
    fn document(&self) -> Result<Document, String> {
        let filter = |filter: &FilterEntry| {
            let position = match filter.position {
                -1 => "first",
                0 => "any",
                1 => "last",
                other => return Err(format!("field input.policy.filters: position {other}")),
            };
            Ok(Entry {
                unit: filter.unit.clone(),
                position: Some(position),
                ..Entry::default()
            })
        };
        let cost = |function: &FunctionEntry| Entry {
            unit: function.unit.clone(),
            factor: function.factor,
            scaling: Some("rank"),
            ..Entry::default()
        };
        let setting = |(name, value): (&String, &String)| {
            let setting = parameters::setting(name, value);
            let known = setting.map(|(name, value)| (name.to_owned(), value));
            known
                .ok_or_else(|| format!("field input.policy.params.{name}: \"{value}\" is no value"))
        };
        let balance = self.balance.as_ref();
        Ok(Document {
            filters: self.filters.iter().map(filter).collect::<Result<_, _>>()?,
            costs: self.functions.iter().map(cost).collect(),
            balance: balance.map(|unit| Entry::new(unit.as_str(), toml::Table::new())),
            settings: self.params.iter().map(setting).collect::<Result<_, _>>()?,
        })
    }
}
