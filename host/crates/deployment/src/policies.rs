//! The policies of a deployment, each with its revision.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::DeploymentError;
use placewright_model::Rfc3339;
use placewright_plugins as plugins;
use placewright_store::{Change, PolicyRevision};

/// Where a policy comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = PolicyOrigin)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// It comes with the program, and cannot be changed.
    Program,
    /// Somebody put it there through the API.
    Api,
    /// A file of the folder of policies.
    File(String),
}

/// A policy as it is kept: its document, not yet checked against a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = Policy)]
#[serde(rename_all = "kebab-case")]
pub struct PolicyRecord {
    /// What it is attached by.
    #[schema(value_type = String, example = "mine")]
    pub name: Arc<str>,
    /// Counts up with every change; 0 for one that comes with the program.
    #[schema(example = 3)]
    pub revision: u64,
    /// Where it came from.
    pub origin: Origin,
    /// When it was changed last, in seconds since 1970-01-01 UTC.
    #[schema(example = 1764000000)]
    pub at: i64,
    /// The same time.
    #[schema(value_type = String, format = DateTime)]
    pub time: Rfc3339,
    /// Who changed it last.
    #[schema(example = "ci")]
    pub by: String,
    /// Who made it. While it decides nowhere, others change it only if they may write policies
    /// for all clusters.
    #[schema(example = "ci")]
    pub owner: String,
    /// The document, TOML or JSON.
    #[schema(value_type = String, example = "[[filters]]\nunit = \"memory\"\n")]
    pub text: Arc<str>,
}

/// What is kept of a revision besides its number.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    origin: Origin,
    #[serde(default)]
    owner: Option<String>,
    text: Arc<str>,
}

impl PolicyRecord {
    /// Bytes that it counts for.
    pub(super) fn bytes(&self) -> u64 {
        LEAST.max(self.text.len() as u64)
    }

    /// What problems call its document.
    pub fn file(&self) -> String {
        match &self.origin {
            Origin::File(file) => file.clone(),
            _ if self.text.trim_start().starts_with('{') => format!("{}.json", self.name),
            _ => format!("{}.toml", self.name),
        }
    }

    /// The revision of a policy as it was kept.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn restored(kept: &PolicyRevision) -> Result<Self, DeploymentError> {
        let body: Body = serde_json::from_str(&kept.body).map_err(|error| {
            DeploymentError::Refused(format!(
                "cannot read from the store policy \"{}\": {error}",
                kept.name
            ))
        })?;
        Ok(Self {
            name: kept.name.as_str().into(),
            revision: kept.revision,
            origin: body.origin,
            at: kept.at,
            time: Rfc3339(kept.at),
            by: kept.by.clone(),
            owner: body.owner.unwrap_or_else(|| kept.by.clone()),
            text: body.text,
        })
    }

    /// The change that keeps it.
    pub(super) fn kept(&self) -> Change {
        let body = Body {
            origin: self.origin.clone(),
            owner: Some(self.owner.clone()),
            text: self.text.clone(),
        };
        Change::PutPolicy {
            name: self.name.to_string(),
            revision: self.revision,
            at: self.at,
            by: self.by.clone(),
            body: serde_json::to_string(&body).unwrap_or_default(),
        }
    }
}

/// Bytes that a policy counts for at least: each is read and checked whenever a unit changes.
const LEAST: u64 = 64 << 10;

/// Bytes of a policy's document at most, wherever it comes from.
pub(super) const LARGEST_POLICY: usize = 1 << 20;

/// What somebody who wants to change a policy must have rights for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyUse {
    /// Who made it; None: there is none yet.
    pub owner: Option<String>,
    /// The clusters in which it decides, and those that are being given it.
    pub clusters: Vec<Arc<str>>,
}

/// All policies by name.
#[derive(Debug, Clone)]
pub(super) struct Policies {
    records: BTreeMap<Arc<str>, Arc<PolicyRecord>>,
}

impl Policies {
    /// Those that come with the program, and those that were kept. A kept one of the
    /// name of one that comes with the program has come before it did, and goes on.
    pub(super) fn new(kept: impl IntoIterator<Item = PolicyRecord>) -> Self {
        let of_program = plugins::POLICIES.iter().map(|policy| PolicyRecord {
            name: policy.name.into(),
            revision: 0,
            origin: Origin::Program,
            at: 0,
            time: Rfc3339(0),
            by: "program".to_owned(),
            owner: "program".to_owned(),
            text: policy.text.into(),
        });
        let all = of_program.chain(kept);
        Self {
            records: all
                .map(|record| (record.name.clone(), Arc::new(record)))
                .collect(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Result<&Arc<PolicyRecord>, DeploymentError> {
        let known = || self.records.keys().map(|name| &**name);
        let record = self.records.get(name);
        record.ok_or_else(|| DeploymentError::unknown("policy", name, known()))
    }

    pub(super) fn find(&self, name: &str) -> Option<&Arc<PolicyRecord>> {
        self.records.get(name)
    }

    /// Bytes of the policies that somebody made through the API, but for the one of that name.
    pub(super) fn bytes_of(&self, owner: &str, except: &str) -> u64 {
        let own = self.records.values();
        let own = own.filter(|it| it.owner == owner && it.origin == Origin::Api);
        let own = own.filter(|it| *it.name != *except);
        own.map(|it| it.bytes()).sum()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<PolicyRecord>> {
        self.records.values()
    }

    pub(super) fn put(&mut self, record: PolicyRecord) -> Arc<PolicyRecord> {
        let record = Arc::new(record);
        self.records.insert(record.name.clone(), record.clone());
        record
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.records.remove(name);
    }
}
