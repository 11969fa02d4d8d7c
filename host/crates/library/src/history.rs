//! What was loaded when, from where, and what became of it.

use std::collections::VecDeque;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::stage::{Outcome, ReplayReport, Source, Staging};
use placewright_engine::unit::Digest;

/// One candidate, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When.
    #[serde(with = "at")]
    pub at: SystemTime,
    /// The name that it gives itself, if it came so far.
    pub name: Option<String>,
    /// Its version, as it says.
    pub version: Option<String>,
    /// The digest of its bytes.
    pub digest: Digest,
    /// Where it came from.
    pub source: Source,
    /// What became of it.
    pub outcome: Outcome,
    /// What recorded decisions would have been, if it was tried on any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayReport>,
}

impl Entry {
    /// What became of the candidate of that staging.
    pub fn new(at: SystemTime, staging: &Staging) -> Self {
        Self {
            at,
            name: staging.name.clone(),
            version: staging.version.clone(),
            digest: staging.digest,
            source: staging.source.clone(),
            outcome: staging.outcome.clone().cut(),
            replay: staging.replay.clone(),
        }
    }
}

/// The last entries, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    entries: VecDeque<Entry>,
    most: usize,
}

impl History {
    /// Keep at most so many of these entries, and of those to come.
    pub fn new(most: usize, entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut history = Self {
            entries: VecDeque::new(),
            most,
        };
        entries.into_iter().for_each(|entry| history.push(entry));
        history
    }

    /// Add an entry, and forget the oldest one if there are too many. Long sentences of it
    /// are cut.
    pub fn push(&mut self, mut entry: Entry) {
        entry.outcome = entry.outcome.cut();
        self.entries.push_back(entry);
        while self.entries.len() > self.most {
            self.entries.pop_front();
        }
    }

    /// All that are kept, the oldest first.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Those of the unit of that name.
    pub fn of<'a>(&'a self, name: &'a str) -> impl DoubleEndedIterator<Item = &'a Entry> {
        self.entries()
            .filter(move |entry| entry.name.as_deref() == Some(name))
    }

    /// The digests that were in force under that name, the last one first, each once.
    pub fn in_force(&self, name: &str) -> Vec<Digest> {
        let mut digests = Vec::new();
        for entry in self.of(name).rev() {
            if matches!(entry.outcome, Outcome::InForce { .. }) && !digests.contains(&entry.digest)
            {
                digests.push(entry.digest);
            }
        }
        digests
    }

    /// The same, with those that decided before the first of them is told of: what each of
    /// them took the place of follows it.
    pub fn decided(&self, name: &str) -> Vec<Digest> {
        let mut digests = Vec::new();
        for entry in self.of(name).rev() {
            if let Outcome::InForce { replaced, .. } = entry.outcome {
                for digest in std::iter::once(entry.digest).chain(replaced) {
                    if !digests.contains(&digest) {
                        digests.push(digest);
                    }
                }
            }
        }
        digests
    }
}

/// Times as RFC 3339 writes them, to the millisecond.
mod at {
    use std::time::SystemTime;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(at: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&humantime::format_rfc3339_millis(*at))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
        let text = String::deserialize(from)?;
        humantime::parse_rfc3339(&text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::stage::Step;
    use placewright_model::LONGEST_SENTENCE;

    fn entry(second: u64, name: &str, bytes: &[u8], generation: u64) -> Entry {
        let mut staging = Staging::new(Source::Kept, Digest::of(bytes));
        staging.name = Some(name.to_owned());
        staging.outcome = Outcome::InForce {
            replaced: None,
            generation,
        };
        Entry::new(
            SystemTime::UNIX_EPOCH + Duration::from_secs(second),
            &staging,
        )
    }

    #[test]
    fn the_oldest_entries_are_forgotten() {
        let entries = (0..5).map(|at| entry(at, "a", b"a", at));
        let history = History::new(3, entries);
        let kept: Vec<u64> = history
            .entries()
            .map(|entry| match entry.outcome {
                Outcome::InForce { generation, .. } => generation,
                _ => 0,
            })
            .collect();
        assert_eq!(kept, [2, 3, 4]);
    }

    #[test]
    fn long_sentences_are_cut_also_of_entries_that_were_kept_before() {
        let mut long = entry(0, "a", b"a", 1);
        long.outcome = Outcome::Refused {
            step: Step::Describe,
            why: "x".repeat(1 << 20),
        };
        let history = History::new(10, [long]);
        let outcome = &history.entries().next().unwrap().outcome;
        let Outcome::Refused { why, .. } = outcome else {
            panic!("{outcome}");
        };
        assert!(why.len() <= LONGEST_SENTENCE, "{}", why.len());
    }

    #[test]
    fn what_was_in_force_is_told_once_and_the_last_first() {
        let names = [("a", b"1"), ("b", b"2"), ("a", b"3"), ("a", b"1")];
        let entries = names.iter().map(|(name, bytes)| entry(0, name, *bytes, 1));
        let history = History::new(10, entries);
        let digests = [Digest::of(b"1"), Digest::of(b"3")];
        assert_eq!(history.in_force("a"), digests);
    }

    #[test]
    fn a_history_is_written_and_read_again() {
        let history = History::new(10, [entry(1_700_000_000, "a", b"1", 4)]);
        let json = serde_json::to_value(&history).unwrap();
        assert_eq!(json["entries"][0]["at"], "2023-11-14T22:13:20.000Z");
        assert_eq!(json["entries"][0]["outcome"]["result"], "in-force");
        assert_eq!(serde_json::from_value::<History>(json).unwrap(), history);
    }
}
