//! The steps and claims of one file, for people.

use std::fmt::Write;

use placewright_library::probe::{Outcome, Report};

use super::steps::{Checked, Step, Verdict};
use crate::cli::output;

/// A line for each step, then the claims that were tried and what calls cost.
pub(super) fn text(checked: &Checked) -> String {
    let mut text = format!("{}: ", checked.file);
    if let (Some(name), Some(version)) = (&checked.name, &checked.version) {
        let _ = write!(text, "{name} {version} ({}): ", checked.digest.short());
    }
    let verdict = if checked.passed { "ok" } else { "FAILED" };
    let _ = writeln!(text, "{verdict}\n");
    for step in &checked.steps {
        text.push_str(&line(step));
    }
    if let Some(report) = &checked.report {
        let _ = write!(text, "\n{}", claims(report));
    }
    text
}

/// A line for each step that failed and each advice.
pub(super) fn remarks(checked: &Checked) -> String {
    let steps = checked.steps.iter();
    let remarkable = steps.filter(|step| matches!(step.result, Verdict::Failed | Verdict::Advice));
    remarkable.map(line).collect()
}

fn line(step: &Step) -> String {
    let mark = match step.result {
        Verdict::Passed => '✓',
        Verdict::Skipped => '-',
        Verdict::Failed => '✗',
        Verdict::Advice => '!',
    };
    // What follows a line break stands below the sentence.
    let sentence = step.sentence.replace('\n', "\n               ");
    let line = format!("  {mark} {:<10} {sentence}", step.step);
    format!("{}\n", line.trim_end())
}

fn claims(report: &Report) -> String {
    let mut table = output::table(&["part", "claim", "outcome"]);
    for step in &report.steps {
        let outcome = match &step.outcome {
            Outcome::Ok => "ok".to_owned(),
            Outcome::Failed { why } => format!("FAILED: {why}"),
            Outcome::NotApplicable { why } => format!("not tried: {why}"),
            Outcome::OutOfTime => "not tried: the time was up".to_owned(),
        };
        table.add_row([step.part.to_string(), step.claim.to_owned(), outcome]);
    }
    let mut text = format!("{}\n", output::shown(&table));
    for fuel in &report.fuel {
        let _ = writeln!(
            text,
            "{}: {} instructions a call, {} for each host",
            fuel.part,
            output::number(fuel.call as f64),
            output::number(fuel.host)
        );
    }
    text
}
