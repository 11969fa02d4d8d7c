//! What a case looks like, and what would make no sense in one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::event::Event;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    #[serde(rename = "id")]
    _id: String,
    kind: Kind,
    #[serde(rename = "family")]
    _family: String,
    #[serde(rename = "in")]
    pub given: Given,
    pub out: Out,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// One request.
    Select,
    /// A history.
    Sequence,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Given {
    pub cfg: Settings,
    pub pods: Vec<Pod>,
    pub bindings: Vec<Binding>,
    pub events: Vec<Event>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    pub filters: Vec<Filter>,
    pub weighers: Vec<Weigher>,
    pub affinity_keys: Vec<String>,
    pub threshold_pct: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Filter {
    All,
    Az,
    Affinity,
    Maintenance,
    Capacity,
}

impl Filter {
    /// As vectors write it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Az => "az",
            Self::Affinity => "affinity",
            Self::Maintenance => "maintenance",
            Self::Capacity => "capacity",
        }
    }
}

/// Written `[name, multiplier]`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) struct Weigher {
    pub name: WeigherName,
    pub multiplier: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WeigherName {
    CreationTime,
    IdleCapacity,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pod {
    pub id: String,
    pub az: String,
    pub created: i64,
    #[serde(deserialize_with = "Option::deserialize")]
    pub tag: Option<Tag>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub usage: Option<Usage>,
    pub threshold_pct: Option<f64>,
    pub maintenance: Option<bool>,
}

/// Written `[key, value]`.
#[derive(Debug, Deserialize)]
pub(super) struct Tag {
    pub key: String,
    pub value: String,
}

/// By resource.
pub(super) type Usage = BTreeMap<String, Amount>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Amount {
    pub used: i64,
    pub total: i64,
}

/// Written `[tenant, pod, az, tag, start, end]`.
#[derive(Debug, Deserialize)]
pub(super) struct Binding {
    pub tenant: String,
    pub pod: String,
    pub az: String,
    /// Empty, or `key=value`.
    pub tag: String,
    pub start: i64,
    pub end: Option<i64>,
}

/// An answer, given or expected: compared as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Out {
    /// One for each event, null where nothing is decided.
    pub steps: Vec<Value>,
    /// The whole table at the end.
    pub bindings: Vec<Value>,
}

impl Case {
    /// Accepts the case.
    ///
    /// # Errors
    /// What contradicts itself.
    pub(super) fn check(&self) -> Result<(), String> {
        let Given {
            cfg,
            pods,
            bindings,
            events,
        } = &self.given;
        if self.kind == Kind::Select && !matches!(events[..], [Event::Request(_)]) {
            return Err("field in.events: a case of kind select has one event, a request".into());
        }
        check_percent(cfg.threshold_pct).map_err(|why| format!("field in.cfg: {why}"))?;
        for (number, pod) in pods.iter().enumerate() {
            pod.check(cfg)
                .map_err(|why| format!("field in.pods[{number}]: {why}"))?;
        }
        for (number, binding) in bindings.iter().enumerate() {
            binding
                .check()
                .map_err(|why| format!("field in.bindings[{number}]: {why}"))?;
        }
        let mut before = i64::MIN;
        for (number, event) in events.iter().enumerate() {
            event
                .check(cfg, before)
                .map_err(|why| format!("field in.events[{number}]: {why}"))?;
            before = event.time();
        }
        Ok(())
    }
}

impl Pod {
    /// Accepts a pod under these settings.
    ///
    /// # Errors
    /// What contradicts them.
    pub(super) fn check(&self, cfg: &Settings) -> Result<(), String> {
        self.threshold_pct.map_or(Ok(()), check_percent)?;
        match &self.tag {
            Some(tag) if !cfg.affinity_keys.contains(&tag.key) => Err(format!(
                "the key \"{}\" of its tag is not in affinity_keys",
                tag.key
            )),
            _ => Ok(()),
        }
    }
}

impl Binding {
    fn check(&self) -> Result<(), String> {
        if !self.tag.is_empty() && !self.tag.contains('=') {
            return Err(format!(
                "the tag is \"{}\", and should be empty or key=value",
                self.tag
            ));
        }
        match self.end {
            Some(end) if end < self.start => {
                Err(format!("it ends at {end}, before its start {}", self.start))
            }
            _ => Ok(()),
        }
    }
}

fn check_percent(threshold: f64) -> Result<(), String> {
    match threshold < 0.0 {
        true => Err(format!("threshold_pct is {threshold}, less than 0")),
        false => Ok(()),
    }
}
