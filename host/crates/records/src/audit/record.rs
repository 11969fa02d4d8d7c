//! What is recorded.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::file::END_MISSING;
use placewright_model::{excerpt, visible_json};

/// What happened, of records that tell neither of a call nor of an event.
pub const WORDS: [&str; 10] = [
    "server-started",
    "server-stopped",
    "configuration-read",
    "configuration-refused",
    "torn",
    "note-missing",
    END_MISSING,
    "file-full",
    "left-out",
    "lost",
];

/// Bytes of a text that a record has of what a caller sent, at most.
const LONGEST_TEXT: usize = 256;

/// The same of a record of a call that changed nothing.
const SHORTER_TEXT: usize = 96;

/// What a record is of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = AuditKind)]
pub enum Kind {
    /// A call that changes something, or was meant to.
    Call,
    /// A call of somebody who may not: 401 or 403.
    Refusal,
    /// Something that happened, as `/v1/events` tells of it.
    Event,
    /// The server began, ended, or read its configuration anew.
    #[default]
    Server,
    /// The audit log itself: a file is full, its end was missing, records were lost.
    Log,
}

/// How a change came in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = AuditOrigin)]
pub enum Origin {
    /// By a call of the API.
    Api,
    /// By a file in a folder that is watched.
    Folder,
    /// By a signal to the process.
    Signal,
    /// Because it is done from time to time.
    Periodic,
    /// The server by itself.
    #[default]
    Server,
}

/// One record; all that does not apply is left out.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Record {
    /// What kind of record it is.
    pub kind: Kind,
    /// By which way it came.
    pub origin: Origin,
    /// What happened, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<&'static str>,
    /// The name of the token; `anonymous` where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
    /// The other end of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<SocketAddr>,
    /// What the request says of where it was forwarded from: a claim of whoever sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forwarded_for: Option<String>,
    /// The id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Arc<str>>,
    /// Method of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The pattern of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Arc<str>>,
    /// Path and query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Status of the answer; none: the caller was gone before there was one, and what was
    /// asked for may have been done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The code of the problem, if the answer was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The answer was that of an earlier request with the same key.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// Calls that changed nothing and have no records of their own.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// The cluster that the path names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Arc<str>>,
    /// The unit that the path names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Arc<str>>,
    /// The policy that the path names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Arc<str>>,
    /// Id of the VM that the path names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vm: Option<Arc<str>>,
    /// The VMs of a call whose path names none, as [`listed`] gives them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vms: Option<String>,
    /// Id of the host that the path names, or that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Arc<str>>,
    /// Number of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<u64>,
    /// Number of the plan of moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<u64>,
    /// Number of the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    /// What was there before: a revision, a digest, a count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What is there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// A sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The decision in JSON, of which the writer takes the number.
    #[serde(skip)]
    pub decided: Option<Arc<str>>,
}

// Serde hands in a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Record {
    /// Something of the server itself.
    pub fn server(what: &'static str, message: impl Into<String>) -> Self {
        // Tests of this crate have words of their own.
        debug_assert!(
            cfg!(test) || WORDS.contains(&what),
            "{what} is none of the words"
        );
        Self {
            what: Some(what),
            message: Some(message.into()),
            ..Self::default()
        }
    }

    /// Something of the audit log itself.
    pub(super) fn log(what: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Log,
            ..Self::server(what, message)
        }
    }

    /// Its JSON.
    pub(super) fn json(&mut self) -> String {
        #[derive(Deserialize)]
        struct Numbered {
            number: u64,
        }
        if let Some(body) = self.decided.take() {
            let decided: Result<Numbered, _> = serde_json::from_str(&body);
            self.decision = decided.ok().map(|it| it.number);
        }
        // Plain data with names for keys.
        let json = serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned());
        match visible_json(&json) {
            Cow::Borrowed(_) => json,
            Cow::Owned(visible) => visible,
        }
    }
}

/// A text of a caller, in bounds.
pub fn bounded(text: &str) -> String {
    cut_to(text, LONGEST_TEXT)
}

/// A text of a caller in a record of a call that changed nothing: the less such calls write,
/// the longer the records of changes last.
pub fn shortened(text: &str) -> String {
    cut_to(text, SHORTER_TEXT)
}

fn cut_to(text: &str, longest: usize) -> String {
    match text.len() <= longest {
        true => text.to_owned(),
        false => {
            let end = text.floor_char_boundary(longest);
            format!("{}… ({} bytes)", &text[..end], text.len())
        }
    }
}

/// The names at the beginning of a list, in bounds, and how many more there are; None of none.
pub fn listed<N: AsRef<str>>(names: impl ExactSizeIterator<Item = N>) -> Option<String> {
    let all = names.len();
    let mut listed = String::new();
    for (before, name) in names.enumerate() {
        if listed.len() >= LONGEST_TEXT {
            listed.push_str(&format!(" and {} more", all - before));
            break;
        }
        if before > 0 {
            listed.push_str(", ");
        }
        match name.as_ref() {
            name if name.len() <= LONGEST_TEXT => listed.push_str(name),
            name => listed.push_str(&bounded(name)),
        }
    }
    Some(listed).filter(|listed| !listed.is_empty())
}

/// The beginning of a text as it stands in a sentence.
pub(super) fn quoted(bytes: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_list_the_beginning_is_recorded_and_how_many_more_there_are() {
        assert_eq!(listed(["a", "b"].iter()).as_deref(), Some("a, b"));
        assert_eq!(listed(Vec::<String>::new().iter()), None);
        let names: Vec<String> = (0..1000).map(|number| format!("vm-{number}")).collect();
        let text = listed(names.iter()).unwrap();
        assert!(text.starts_with("vm-0, vm-1, "), "{text}");
        assert!(text.ends_with(", vm-38 and 961 more"), "{text}");
        let long = "x".repeat(1 << 20);
        assert!(listed([&long, &long].into_iter()).unwrap().len() < 600);
    }
}
