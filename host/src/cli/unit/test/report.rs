//! What came out of scenarios, for people and for programs.

use std::fmt::Write;

use placewright_chain::Explanation;
use placewright_engine::unit::Unit;
use placewright_tools::scenario::{Difference, Outcome, Tested};
use serde::Serialize;

use super::TestedFile;
use crate::cli::explained::{self, Extent};
use crate::cli::output::{self, Tone};

/// How far what is told of a case stands to the right.
const INDENT: &str = "    ";

/// What a case says that expects nothing.
const EMPTY: &str =
    "it expects nothing: say under [cases.expect] what is to come out, or let --update write it";

/// Everything, as programs read it.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    unit: UnitTested<'a>,
    passed: usize,
    failed: usize,
    files: Vec<FileShown<'a>>,
}

/// The unit that was tested.
#[derive(Serialize)]
struct UnitTested<'a> {
    name: &'a str,
    digest: String,
    /// The file, or what it was built from.
    from: &'a str,
}

#[derive(Serialize)]
struct FileShown<'a> {
    file: String,
    description: &'a str,
    cases: Vec<CaseShown<'a>>,
}

#[derive(Serialize)]
struct CaseShown<'a> {
    name: &'a str,
    line: u32,
    passed: bool,
    differences: &'a [Difference],
    outcome: &'a Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a Explanation>,
}

/// How many cases passed, and how many did not.
fn counts(files: &[TestedFile<'_>]) -> (usize, usize) {
    let cases = || files.iter().flat_map(|file| &file.cases);
    let passed = cases().filter(|case| case.passed()).count();
    (passed, cases().count() - passed)
}

/// The report for programs. Cases that failed have their explanation.
pub(super) fn json<'a>(unit: &'a Unit, from: &'a str, files: &'a [TestedFile<'a>]) -> Report<'a> {
    let (passed, failed) = counts(files);
    let shown = |case: &'a Tested<'a>| CaseShown {
        name: &case.case.name,
        line: case.case.place.line,
        passed: case.passed(),
        differences: &case.differences,
        outcome: &case.outcome,
        explanation: case.outcome.explanation.as_ref().filter(|_| !case.passed()),
    };
    let files = files.iter().map(|file| FileShown {
        file: file.scenarios.path.display().to_string(),
        description: &file.scenarios.description,
        cases: file.cases.iter().map(shown).collect(),
    });
    Report {
        unit: UnitTested {
            name: unit.name(),
            digest: unit.digest().to_string(),
            from,
        },
        passed,
        failed,
        files: files.collect(),
    }
}

/// The report for people: a line for each case, and below it what was not as expected.
pub(super) fn text(unit: &Unit, from: &str, files: &[TestedFile<'_>]) -> String {
    let description = unit.description();
    let mut text = format!(
        "{} {} ({}), {from}\n",
        description.name,
        description.version,
        unit.digest().short()
    );
    for file in files {
        let about = match file.scenarios.description.is_empty() {
            true => String::new(),
            false => format!(": {}", file.scenarios.description),
        };
        let _ = writeln!(text, "\n{}{about}", file.scenarios.path.display());
        for case in &file.cases {
            text.push_str(&case_text(case));
        }
    }
    let _ = write!(text, "\n{}", sum(files));
    text
}

/// What did not pass, and how many did: for people who see it again and again.
pub(super) fn brief(files: &[TestedFile<'_>]) -> String {
    let mut text = String::new();
    for file in files {
        let failed = file.cases.iter().filter(|case| !case.passed());
        let failed: String = failed.map(case_text).collect();
        if !failed.is_empty() {
            let _ = write!(text, "{}\n{failed}", file.scenarios.path.display());
        }
    }
    text + &sum(files)
}

fn sum(files: &[TestedFile<'_>]) -> String {
    let (passed, failed) = counts(files);
    let all = passed + failed;
    let cases = if all == 1 { "case" } else { "cases" };
    let tone = if failed == 0 { Tone::Good } else { Tone::Bad };
    let sum = format!("{all} {cases}: {passed} passed, {failed} failed");
    output::toned(&sum, tone)
}

fn case_text(tested: &Tested<'_>) -> String {
    if tested.passed() {
        let mark = output::toned("✓", Tone::Good);
        return format!("  {mark} {}\n", tested.case.name);
    }
    let mark = output::toned("✗", Tone::Bad);
    let mut text = format!(
        "  {mark} {} (line {})\n",
        tested.case.name, tested.case.place.line
    );
    let mut parts = Vec::new();
    if tested.case.expected.is_empty() {
        parts.push(EMPTY.to_owned());
    }
    if !tested.differences.is_empty() {
        parts.push(differences(&tested.differences));
    }
    if let Some(explanation) = &tested.outcome.explanation {
        parts.push(explained::text(explanation, Extent::Whole));
    }
    for line in parts.join("\n\n").lines() {
        let _ = writeln!(text, "{}", format!("{INDENT}{line}").trim_end());
    }
    text.push('\n');
    text
}

fn differences(differences: &[Difference]) -> String {
    let mut table = output::table(&["about", "what", "expected", "got"]);
    for difference in differences {
        let host = difference.host.as_ref();
        let about = match (host, &*difference.what) {
            (Some(host), _) => format!("host {host}"),
            (None, "moves") => "the balance".to_owned(),
            (None, _) => "the decision".to_owned(),
        };
        table.add_row([
            about.into(),
            difference.what.as_str().into(),
            output::toned_cell(&difference.expected, Tone::Good),
            output::toned_cell(&difference.got, Tone::Bad),
        ]);
    }
    output::shown(&table)
}
