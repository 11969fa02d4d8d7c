//! A stack of policies as a policy document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An entry of a stack. Which of the fields go with which policy is for the check of
/// the policy document to say.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    policy: Name,
    enabled: Option<bool>,
    weights: Option<BTreeMap<String, f64>>,
    percent: Option<f64>,
    period_s: Option<i64>,
    unit: Option<String>,
    mode: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Name {
    RoundRobin,
    LeastUsed,
    PenaltyForFailure,
    Priority,
    Cost,
}

impl Name {
    fn unit(self) -> &'static str {
        match self {
            Self::RoundRobin => "equal-shares",
            Self::LeastUsed => "least-used",
            Self::PenaltyForFailure => "failure-penalty",
            Self::Priority => "priority",
            Self::Cost => "cost",
        }
    }

    fn is_base(self) -> bool {
        matches!(self, Self::RoundRobin | Self::LeastUsed)
    }
}

impl Entry {
    fn is_enabled(&self) -> bool {
        self.enabled != Some(false)
    }

    fn is_enabled_base(&self) -> bool {
        self.is_enabled() && self.policy.is_base()
    }
}

/// The stack without bases, except where one is the first that is enabled.
pub(super) fn without_misplaced_bases(stack: &[Entry]) -> Vec<Entry> {
    let first = stack.iter().position(Entry::is_enabled);
    let entries = stack.iter().enumerate();
    entries
        .filter(|(place, entry)| !entry.is_enabled_base() || Some(*place) == first)
        .map(|(_, entry)| entry.clone())
        .collect()
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Document<'a> {
    tie_rule: [&'static str; 1],
    filters: [Filter; 2],
    selections: Vec<Selection<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Filter {
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<&'static str>,
    on_failure: &'static str,
}

impl Filter {
    fn new(unit: &'static str, position: Option<&'static str>) -> Self {
        Self {
            unit,
            position,
            on_failure: "fail",
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Selection<'a> {
    name: String,
    unit: &'static str,
    on_failure: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    settings: Settings<'a>,
}

/// What is given; the others are as the units have them.
#[derive(Default, Serialize)]
struct Settings<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<Weight<'a>>>,
}

#[derive(Serialize)]
struct Weight<'a> {
    account: &'a str,
    weight: f64,
}

impl<'a> Selection<'a> {
    fn new(
        name: String,
        unit: &'static str,
        enabled: Option<bool>,
        settings: Settings<'a>,
    ) -> Self {
        Self {
            name,
            unit,
            on_failure: "fail",
            enabled,
            settings,
        }
    }

    /// An entry of a stack, called by its place: a policy may stand there twice.
    fn of(place: usize, entry: &'a Entry) -> Self {
        let weight = |(account, weight): (&'a String, &f64)| Weight {
            account,
            weight: *weight,
        };
        let weights = entry.weights.as_ref();
        let settings = Settings {
            percent: entry.percent,
            period: entry.period_s,
            unit: entry.unit.as_deref(),
            mode: entry.mode.as_deref(),
            weights: weights.map(|weights| weights.iter().map(weight).collect()),
        };
        let unit = entry.policy.unit();
        Self::new(format!("{unit} at {place}"), unit, entry.enabled, settings)
    }
}

/// The policy document of a stack. Without a base, all accounts have weight 1.
///
/// # Errors
/// If it cannot be written.
pub(super) fn document(stack: &[Entry]) -> Result<String, String> {
    let mut selections = Vec::with_capacity(stack.len() + 1);
    if !stack.iter().any(Entry::is_enabled_base) {
        let (name, unit) = ("base".to_owned(), Name::RoundRobin.unit());
        selections.push(Selection::new(name, unit, None, Settings::default()));
    }
    let entries = stack.iter().enumerate();
    selections.extend(entries.map(|(place, entry)| Selection::of(place, entry)));
    let document = Document {
        tie_rule: ["id"],
        // Quotas are counted over all hosts of an account.
        filters: [
            Filter::new("quota", Some("first")),
            Filter::new("image-pushed", None),
        ],
        selections,
    };
    toml::to_string(&document).map_err(|error| error.to_string())
}
