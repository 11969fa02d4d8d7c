//! A record as it was read.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::record::{Kind, Origin};

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = AuditResult)]
pub enum Outcome {
    /// It was carried out.
    Done,
    /// Its caller may not: 401 or 403.
    Refused,
    /// It was answered with another error.
    Failed,
    /// The caller was gone before there was an answer: what was asked for may have been done.
    Unanswered,
}

/// A record of the audit log; what does not apply is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = AuditRecord)]
pub struct Entry {
    /// Counts up by one from record to record, over files and restarts.
    #[schema(example = 4711)]
    pub sequence: u64,
    /// When it happened, in RFC 3339 and UTC, with microseconds.
    #[schema(example = "2026-11-26T08:00:00.123456Z")]
    pub at: String,
    /// What kind of record it is.
    pub kind: Kind,
    /// By which way it came.
    pub origin: Origin,
    /// What came of a call; not there for what is none.
    // Worked out of the others: what a line of the log says of it is passed over. (A field that
    // is never read would be left out of the contract.)
    #[serde(
        default,
        deserialize_with = "passed_over",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Outcome)]
    pub result: Option<Outcome>,
    /// What happened, in one word; not there for calls, which have a route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "unit-in-force")]
    pub what: Option<String>,
    /// The name of the token; `anonymous` where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "ci")]
    pub by: Option<String>,
    /// The other end of the connection: an address and a port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "192.0.2.7:52114")]
    pub peer: Option<String>,
    /// What the request says of where it was forwarded from: a claim of whoever sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "198.51.100.4")]
    pub forwarded_for: Option<String>,
    /// The id of the request, as the log of the server has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "01JDK3ZQ8Y")]
    pub request: Option<String>,
    /// Method of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "POST")]
    pub method: Option<String>,
    /// The pattern of the path, as `/v1/clusters/{cluster}/place`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "/v1/clusters/{cluster}/place")]
    pub route: Option<String>,
    /// Path and query, cut where they are long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "/v1/clusters/north/place")]
    pub path: Option<String>,
    /// Status of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u16, example = 200)]
    pub status: Option<u16>,
    /// The code of the problem, if the answer was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "not-found")]
    pub code: Option<String>,
    /// Whether the answer was that of an earlier request with the same key; not there: it was not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub repeated: bool,
    /// How many calls that changed nothing have no records of their own; this one tells of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(required = false, example = 12)]
    pub left_out: u64,
    /// How many records were lost before this one, since the queue was full.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(required = false, example = 3)]
    pub lost: u64,
    /// Name of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "north")]
    pub cluster: Option<String>,
    /// Name of the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "memory")]
    pub unit: Option<String>,
    /// Name of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "general")]
    pub policy: Option<String>,
    /// Id of the VM that the path names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "web-3")]
    pub vm: Option<String>,
    /// The VMs of the body: the first of them, and how many more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "web-3, web-4")]
    pub vms: Option<String>,
    /// Id of the host that the path names, or that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "h1")]
    pub host: Option<String>,
    /// Number of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 17)]
    pub decision: Option<u64>,
    /// Number of the plan of moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 4)]
    pub plan: Option<u64>,
    /// Number of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 1024)]
    pub event: Option<u64>,
    /// What was there before: a revision, a digest, or what differs of a row, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "\"3\"")]
    pub before: Option<String>,
    /// What is there since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "\"4\"")]
    pub after: Option<String>,
    /// A sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "unit memory 1.2.0 decides")]
    pub message: Option<String>,
    /// The hash of the record, 64 hexadecimal digits: `placewright audit verify --contains` looks
    /// for it.
    #[schema(example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c")]
    pub hash: String,
}

/// No result, whatever there is.
fn passed_over<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Outcome>, D::Error> {
    IgnoredAny::deserialize(reader).map(|_| None)
}

// Serde hands in a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Entry {
    /// The record of a line; None: it is of a version of the program that writes others.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let mut entry: Self = serde_json::from_slice(line).ok()?;
        entry.result = entry.outcome();
        Some(entry)
    }

    fn outcome(&self) -> Option<Outcome> {
        match (self.kind, self.status) {
            (Kind::Refusal, _) | (Kind::Call, Some(401 | 403)) => Some(Outcome::Refused),
            (Kind::Call, None) => Some(Outcome::Unanswered),
            (Kind::Call, Some(status)) if status < 400 => Some(Outcome::Done),
            (Kind::Call, Some(_)) => Some(Outcome::Failed),
            _ => None,
        }
    }

    /// What was done: the word of an event, or method and route of a call.
    fn action(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        match &self.what {
            Some(what) => what.clone(),
            None => format!("{} {}", part(&self.method), part(&self.route)),
        }
    }

    /// Whether what was done has this text, in small or capital letters.
    pub(super) fn does(&self, text: &str) -> bool {
        has(&self.action(), &text.to_lowercase())
    }

    /// Whether an id, a name or a sentence of it has this text, in small or capital letters.
    pub(super) fn says(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let texts = [
            &self.peer,
            &self.forwarded_for,
            &self.request,
            &self.path,
            &self.unit,
            &self.policy,
            &self.vm,
            &self.vms,
            &self.host,
            &self.before,
            &self.after,
            &self.message,
        ];
        let mut texts = texts.into_iter().flatten();
        texts.any(|it| has(it, &text)) || has(&self.action(), &text)
    }
}

/// Whether a text has another one, which is in small letters.
fn has(text: &str, small: &str) -> bool {
    text.to_lowercase().contains(small)
}
