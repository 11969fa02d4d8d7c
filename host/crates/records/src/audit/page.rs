//! A page of the log, as it is read.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::entry::Entry;

/// Why records are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = AuditGapKind)]
pub enum GapKind {
    /// They were never written: the queue was full.
    Lost,
    /// They were written, and their numbers are not there any more.
    Missing,
    /// What stands there is not as it was written, or of another version of the program.
    Unreadable,
    /// They are in none of the files: the oldest ones are removed.
    Removed,
}

/// A place in the log where records are not as they should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = AuditGap)]
pub struct Gap {
    /// Why they are not there.
    pub kind: GapKind,
    /// Number of the record after that place; not there where the log ends with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 4714)]
    pub before: Option<u64>,
    /// When that record was written, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "2026-11-26T08:00:00.123456Z")]
    pub at: Option<String>,
    /// How many there would be, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 2)]
    pub records: Option<u64>,
    /// A sentence for people.
    #[schema(example = "2 records are missing")]
    pub message: String,
}

/// A page of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = AuditPage)]
pub struct AuditPage {
    /// The records that were wanted, the newest first. A page may have fewer than were asked
    /// for, and none, although there are more: it ends where enough of the log was looked at.
    pub items: Vec<Entry>,
    /// Where the next page begins: give it as `after`. Not there on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "4650")]
    pub next: Option<String>,
    /// Where records are missing among those that were looked at, whether or not they were
    /// wanted; the newest first.
    pub gaps: Vec<Gap>,
    /// How many records were looked at.
    #[schema(example = 350)]
    pub searched: u64,
    /// When the oldest of them was written, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "2026-11-26T07:00:00.123456Z")]
    pub searched_to: Option<String>,
}
