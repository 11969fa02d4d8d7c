//! What came of the cases, counted by system and kind.

use std::collections::BTreeMap;

use serde::Serialize;

use super::vectors::{System, VectorFile};

/// How a case differs from what was expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    pub file: String,
    pub case: String,
    /// Which part of the answer, for example "pod of step 3".
    pub what: String,
    pub expected: String,
    pub got: String,
}

/// The cases of one kind.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Kind {
    passed: usize,
    failed: usize,
    differences: Vec<Difference>,
}

/// All that came out.
#[derive(Debug, Default)]
pub(crate) struct Report {
    kinds: BTreeMap<(System, String), Kind>,
    /// Files of which no case is run, each with the reason.
    not_covered: Vec<(String, String)>,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Note a case and all its differences; none: it passed.
    pub(crate) fn case(
        &mut self,
        file: &VectorFile,
        kind: &str,
        case: &str,
        differences: Vec<(String, String, String)>,
    ) {
        let entry = self
            .kinds
            .entry((file.system, kind.to_owned()))
            .or_default();
        match differences.is_empty() {
            true => entry.passed += 1,
            false => entry.failed += 1,
        }
        let differences = differences
            .into_iter()
            .map(|(what, expected, got)| Difference {
                file: file.shown(),
                case: case.to_owned(),
                what,
                expected,
                got,
            });
        entry.differences.extend(differences);
    }

    /// Note a case that could not be run: it counts as failed.
    pub(crate) fn broken(&mut self, file: &VectorFile, kind: &str, case: &str, why: String) {
        self.case(
            file,
            kind,
            case,
            vec![("case".to_owned(), "one that can be run".to_owned(), why)],
        );
    }

    /// Note a file of which no case is run.
    pub(crate) fn not_covered(&mut self, file: &VectorFile, why: &str) {
        self.not_covered.push((file.shown(), why.to_owned()));
    }

    /// Whether no case failed, and there was one.
    pub(crate) fn all_passed(&self) -> bool {
        !self.kinds.is_empty() && self.kinds.values().all(|kind| kind.failed == 0)
    }

    /// For people: a line per system and kind, the first differences, and what is not
    /// covered.
    pub(crate) fn print(&self, differences: usize) {
        for ((system, name), kind) in &self.kinds {
            println!(
                "{system} {name}: {} passed, {} failed",
                kind.passed, kind.failed
            );
            for difference in kind.differences.iter().take(differences) {
                println!(
                    "  {}, case {}: {}\n    expected {}\n    got      {}",
                    difference.file,
                    difference.case,
                    difference.what,
                    difference.expected,
                    difference.got
                );
            }
            if kind.differences.len() > differences {
                println!("  ... and {} more", kind.differences.len() - differences);
            }
        }
        for (file, why) in &self.not_covered {
            println!("not covered: {file} ({why})");
        }
    }

    /// For programs: the same, with every difference.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn print_json(&self) -> Result<(), String> {
        #[derive(Serialize)]
        struct Line<'a> {
            system: String,
            kind: &'a str,
            #[serde(flatten)]
            cases: &'a Kind,
        }
        #[derive(Serialize)]
        struct Whole<'a> {
            kinds: Vec<Line<'a>>,
            not_covered: &'a [(String, String)],
        }
        let whole = Whole {
            kinds: (self.kinds.iter())
                .map(|((system, kind), cases)| Line {
                    system: system.to_string(),
                    kind,
                    cases,
                })
                .collect(),
            not_covered: &self.not_covered,
        };
        let text = serde_json::to_string_pretty(&whole).map_err(|error| error.to_string())?;
        println!("{text}");
        Ok(())
    }
}
