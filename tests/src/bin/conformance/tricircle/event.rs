//! What happens in a case.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::case::{Pod, Settings, Usage};
use crate::vectors;

#[derive(Debug)]
pub(super) enum Event {
    Request(Request),
    AdminBind(AdminBind),
    Usage(Refresh),
    Maintenance(Maintenance),
    AddPod(AddPod),
    RemovePod(RemovePod),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub t: i64,
    pub tenant: String,
    #[serde(deserialize_with = "Option::deserialize")]
    pub az: Option<String>,
    pub kind: ResourceKind,
    pub extra_specs: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ResourceKind {
    Vm,
    Volume,
}

impl ResourceKind {
    /// As vectors write it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Vm => "vm",
            Self::Volume => "volume",
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AdminBind {
    pub t: i64,
    pub tenant: String,
    pub pod: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refresh {
    t: i64,
    pub pod: String,
    #[serde(deserialize_with = "Option::deserialize")]
    pub usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Maintenance {
    t: i64,
    pub pod: String,
    pub on: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AddPod {
    t: i64,
    pub pod: Pod,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemovePod {
    t: i64,
    pub pod: String,
}

/// By hand: what serde makes of a tagged enum does not say which field is wrong.
impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        let op = fields.remove("op");
        let fields = Value::Object(fields);
        match op.as_ref().and_then(Value::as_str) {
            Some("request") => read(&fields, Self::Request),
            Some("admin_bind") => read(&fields, Self::AdminBind),
            Some("usage") => read(&fields, Self::Usage),
            Some("maintenance") => read(&fields, Self::Maintenance),
            Some("add_pod") => read(&fields, Self::AddPod),
            Some("remove_pod") => read(&fields, Self::RemovePod),
            _ => {
                let op = op.unwrap_or_default();
                Err(format!("field op: there is no such event: {op}"))
            }
        }
        .map_err(D::Error::custom)
    }
}

fn read<T: DeserializeOwned>(fields: &Value, event: fn(T) -> Event) -> Result<Event, String> {
    vectors::read(fields).map(event)
}

impl Event {
    /// When it happens.
    pub(super) fn time(&self) -> i64 {
        match self {
            Self::Request(event) => event.t,
            Self::AdminBind(event) => event.t,
            Self::Usage(event) => event.t,
            Self::Maintenance(event) => event.t,
            Self::AddPod(event) => event.t,
            Self::RemovePod(event) => event.t,
        }
    }

    /// Accepts an event under these settings, after one at the time `before`.
    ///
    /// # Errors
    /// What contradicts them.
    pub(super) fn check(&self, cfg: &Settings, before: i64) -> Result<(), String> {
        if self.time() < before {
            return Err(format!(
                "its time {} is before that of the event before it, {before}",
                self.time()
            ));
        }
        match self {
            Self::AddPod(event) => event.pod.check(cfg),
            _ => Ok(()),
        }
    }
}
