//! Whether the described settings make sense.

use std::collections::BTreeSet;

use regex::{Regex, RegexBuilder};

use super::description::{is_name, text};
use super::problems::Problems;
use super::reads::kind_of;
use crate::contract::{Setting, Value, bounds};
use placewright_model::{GREATEST_INTEGER, Kind, Measure};

pub(super) fn check(settings: &[Setting], problems: &mut Problems) {
    let mut known = BTreeSet::new();
    for setting in settings {
        if !known.insert(&setting.name) {
            problems.add(|| {
                format!(
                    "the setting {} is described twice",
                    setting.name.escape_debug()
                )
            });
        }
        let mut found = Problems::default();
        if !is_name(&setting.name) {
            found.add(|| {
                "the name must be lower-case words of letters and digits joined by hyphens"
                    .to_owned()
            });
        }
        text("the meaning", &setting.meaning, &mut found);
        if setting.columns.is_empty() {
            check_single(setting, &mut found);
        } else {
            check_columns(setting, &mut found);
        }
        let name = setting.name.escape_debug();
        if !found.is_empty() {
            problems.append(&format!("the setting {name}"), found);
        }
    }
}

fn check_columns(setting: &Setting, problems: &mut Problems) {
    let mut known = BTreeSet::new();
    for column in &setting.columns {
        let name = column.name.escape_debug();
        if !known.insert(&column.name) {
            problems.add(|| format!("the column {name} is described twice"));
        }
        if !is_name(&column.name) {
            problems.add(|| {
                format!("the name of the column {name} must be lower-case words joined by hyphens")
            });
        }
        text(
            &format!("the meaning of the column {name}"),
            &column.meaning,
            problems,
        );
    }
}

fn check_single(setting: &Setting, problems: &mut Problems) {
    let kind = Kind::from(setting.kind);
    check_measure(setting, kind, problems);
    check_bounds(setting, kind, problems);
    let pattern = check_pattern(setting, kind, problems);
    if !setting.choices.is_empty() && kind != Kind::Text {
        problems.add(|| format!("choices are for texts and the kind is {kind}"));
    }
    if setting.required && setting.default.is_some() {
        problems.add(|| "it is required and has a default; one of them is of no use".to_owned());
    }
    if let Some(default) = &setting.default {
        check_default(setting, default, kind, pattern.as_ref(), problems);
    }
}

fn check_measure(setting: &Setting, kind: Kind, problems: &mut Problems) {
    let Some(name) = &setting.measure else {
        return;
    };
    let fits = match Measure::from_name(name) {
        None => {
            problems.add(|| format!(
                "there is no measure \"{}\"; there are bytes, millicores, seconds, time, fraction and percent",
                name.escape_debug()
            ));
            return;
        }
        Some(Measure::Fraction) => kind == Kind::Number,
        Some(Measure::Percent) => matches!(kind, Kind::Number | Kind::Integer),
        Some(_) => kind == Kind::Integer,
    };
    if !fits {
        problems.add(|| format!("the measure {name} does not fit the kind {kind}"));
    }
}

fn check_bounds(setting: &Setting, kind: Kind, problems: &mut Problems) {
    let bounds = [setting.least, setting.greatest];
    if bounds.iter().flatten().any(|bound| !bound.is_finite()) {
        problems.add(|| "a bound is not a finite number".to_owned());
    }
    if bounds.iter().any(Option::is_some) && !matches!(kind, Kind::Integer | Kind::Number) {
        problems.add(|| format!("bounds are for integers and numbers and the kind is {kind}"));
    }
    if let [Some(least), Some(greatest)] = bounds
        && least > greatest
    {
        problems.add(|| format!("nothing is at least {least} and at most {greatest}"));
    }
}

/// A pattern has to match the whole of a text.
fn check_pattern(setting: &Setting, kind: Kind, problems: &mut Problems) -> Option<Regex> {
    let pattern = setting.pattern.as_ref()?;
    if kind != Kind::Text {
        problems.add(|| format!("a pattern is for texts and the kind is {kind}"));
    }
    RegexBuilder::new(&format!("^(?:{pattern})$"))
        .size_limit(bounds::PATTERN)
        .dfa_size_limit(bounds::PATTERN)
        .build()
        .inspect_err(|error| {
            problems.add(|| format!("the pattern is no regular expression: {error}"));
        })
        .ok()
}

fn check_default(
    setting: &Setting,
    default: &Value,
    kind: Kind,
    pattern: Option<&Regex>,
    problems: &mut Problems,
) {
    if kind_of(default) != kind {
        problems.add(|| {
            format!(
                "the default is of kind {} and the setting of kind {kind}",
                kind_of(default)
            )
        });
        return;
    }
    let number = match default {
        Value::Integer(value) => {
            if value.unsigned_abs() > GREATEST_INTEGER.unsigned_abs() {
                problems.add(|| format!("the default {value} is beyond ±(2^53 - 1)"));
            }
            *value as f64
        }
        Value::Number(value) => {
            if !value.is_finite() {
                problems.add(|| format!("the default {value} is not a finite number"));
            }
            *value
        }
        Value::Boolean(_) => return,
        Value::Text(value) => return check_default_text(setting, value, pattern, problems),
    };
    if setting.least.is_some_and(|least| number < least)
        || setting.greatest.is_some_and(|greatest| number > greatest)
    {
        problems.add(|| format!("the default {number} is outside the bounds"));
    }
}

fn check_default_text(
    setting: &Setting,
    value: &str,
    pattern: Option<&Regex>,
    problems: &mut Problems,
) {
    if !setting.choices.is_empty() && !setting.choices.iter().any(|choice| choice == value) {
        problems.add(|| {
            format!(
                "the default \"{}\" is not one of the choices",
                value.escape_debug()
            )
        });
    }
    if pattern.is_some_and(|pattern| !pattern.is_match(value)) {
        problems.add(|| {
            format!(
                "the default \"{}\" does not match the pattern",
                value.escape_debug()
            )
        });
    }
}
