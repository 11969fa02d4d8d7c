//! Whether a description is sound in itself and fits the exports.

use std::collections::BTreeSet;

use semver::Version;

use super::problems::Problems;
use super::{bounds, reads, settings};
use crate::contract::{Description, JudgePart, Part, Reason};
use placewright_model::schema::Schema;

/// What is wrong with a description, in sentences; none if it is sound. Of many problems the
/// first are told of and the others counted. One that is beyond the bounds is looked at no
/// further.
pub fn problems(description: &Description, exports: &[Part], schema: &Schema) -> Vec<String> {
    let mut problems = Problems::default();
    bounds::check(description, &mut problems);
    if !problems.is_empty() {
        return problems.into_sentences();
    }
    identity(description, &mut problems);
    parts(description, exports, &mut problems);
    settings::check(&description.settings, &mut problems);
    for part in Part::ALL {
        if let Some(tables) = description.reads(part) {
            reads::check(part, tables, description, schema, &mut problems);
        }
        reasons(part, description.reasons(part), &mut problems);
    }
    if let Some(judge) = &description.judge {
        judgement(judge, &mut problems);
    }
    if let Some(effects) = &description.effects {
        reads::check_writes(Part::Effects, &effects.writes, schema, &mut problems);
    }
    if let Some(balance) = &description.balance {
        reads::check_writes(Part::Balance, &balance.writes, schema, &mut problems);
    }
    problems.into_sentences()
}

fn identity(description: &Description, problems: &mut Problems) {
    let name = &description.name;
    if !is_name(name) {
        problems.add(|| {
            format!(
                "the name \"{}\" must be lower-case words of letters and digits joined by hyphens",
                name.escape_debug()
            )
        });
    }
    if let Err(error) = Version::parse(&description.version) {
        problems.add(|| {
            format!(
                "the version \"{}\" is no semantic version such as 1.2.0: {error}",
                description.version.escape_debug()
            )
        });
    }
    text("the summary", &description.summary, problems);
    for alias in &description.aliases {
        text("an alias", alias, problems);
    }
}

/// Lower-case words joined by hyphens, the first beginning with a letter.
pub fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.split('-').all(|word| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

/// Texts of a description are shown in one line.
pub(super) fn text(what: &str, text: &str, problems: &mut Problems) {
    if text.trim().is_empty() {
        problems.add(|| format!("{what} is empty"));
    } else if text.chars().any(char::is_control) {
        problems.add(|| {
            format!(
                "{what} holds a line break or another control character: \"{}\"",
                text.escape_debug()
            )
        });
    }
}

fn parts(description: &Description, exports: &[Part], problems: &mut Problems) {
    let described = |part: Part| description.describes(part);
    for part in Part::ALL {
        let exported = exports.contains(&part);
        if described(part) && !exported {
            problems.add(|| {
                format!(
                    "the part {part} is described and the interface {} is not exported",
                    part.interface()
                )
            });
        } else if exported && !described(part) && part != Part::Settings {
            problems.add(|| {
                format!(
                    "the interface {} is exported and the part {part} is not described",
                    part.interface()
                )
            });
        }
    }
    if !Part::ALL[1..].iter().any(|part| described(*part)) && !exports.contains(&Part::Settings) {
        problems.add(|| "no part is described, so that there is nothing to call".to_owned());
    }
    if exports.contains(&Part::Settings) && description.settings.is_empty() {
        problems.add(|| {
            "the interface settings is exported and there are no settings to check".to_owned()
        });
    }
}

fn reasons(part: Part, reasons: &[Reason], problems: &mut Problems) {
    let mut known = BTreeSet::new();
    for reason in reasons {
        text(&format!("{part}: a reason"), &reason.text, problems);
        if !known.insert(&reason.text) {
            problems.add(|| {
                format!(
                    "{part}: the reason \"{}\" is declared twice",
                    reason.text.escape_debug()
                )
            });
        }
    }
}

fn judgement(judge: &JudgePart, problems: &mut Problems) {
    if !judge.answers.verdicts && !judge.answers.costs {
        problems.add(|| "judge: it answers neither with verdicts nor with costs".to_owned());
    }
    if judge.answers.verdicts && judge.reasons.is_empty() {
        problems
            .add(|| "judge: it gives verdicts and declares no reason to remove a host".to_owned());
    }
    if let Some((least, greatest)) = judge.cost_range {
        if !judge.answers.costs {
            problems
                .add(|| "judge: a range of costs is declared and no costs are given".to_owned());
        }
        if !(least.is_finite() && greatest.is_finite() && least <= greatest) {
            problems.add(|| format!("judge: {least} to {greatest} is no range of costs"));
        }
    }
}
