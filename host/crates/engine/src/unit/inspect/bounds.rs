//! Whether a description is within the bounds of the contract: looked at first, so that all
//! other checks work on short names, short texts and short lists.

use super::problems::Problems;
use crate::contract::bounds::{DEPTH, LIST, NAME, REASONS, TEXT};
use crate::contract::{Description, Part, Setting, TableRead, Value, Write};
use placewright_model::excerpt;
use placewright_model::schema::ATTRIBUTE;

/// Every name, text and list that is beyond its bound.
pub(super) fn check(description: &Description, problems: &mut Problems) {
    name("the name", &description.name, problems);
    name("the version", &description.version, problems);
    text("the summary", &description.summary, problems);
    list("aliases", description.aliases.len(), LIST, problems);
    for alias in &description.aliases {
        text("an alias", alias, problems);
    }
    list("settings", description.settings.len(), LIST, problems);
    for described in &description.settings {
        setting(described, problems);
    }
    for part in Part::ALL {
        let mut found = Problems::default();
        of_part(description, part, &mut found);
        problems.append(part.name(), found);
    }
}

fn of_part(description: &Description, part: Part, problems: &mut Problems) {
    if let Some(tables) = description.reads(part) {
        reads(tables, problems);
    }
    let reasons = description.reasons(part);
    list("reasons", reasons.len(), REASONS, problems);
    for reason in reasons {
        text("a reason", &reason.text, problems);
    }
    match part {
        Part::Effects => writes(description.effects.as_ref().map(|it| &*it.writes), problems),
        Part::Balance => writes(description.balance.as_ref().map(|it| &*it.writes), problems),
        _ => {}
    }
}

fn setting(setting: &Setting, problems: &mut Problems) {
    name("the name of a setting", &setting.name, problems);
    let mut found = Problems::default();
    text("the meaning", &setting.meaning, &mut found);
    if let Some(measure) = &setting.measure {
        name("the measure", measure, &mut found);
    }
    if let Some(Value::Text(default)) = &setting.default {
        text("the default", default, &mut found);
    }
    if let Some(pattern) = &setting.pattern {
        text("the pattern", pattern, &mut found);
    }
    list("choices", setting.choices.len(), LIST, &mut found);
    for choice in &setting.choices {
        text("a choice", choice, &mut found);
    }
    list("columns", setting.columns.len(), LIST, &mut found);
    for column in &setting.columns {
        name("the name of a column", &column.name, &mut found);
        text("the meaning of a column", &column.meaning, &mut found);
    }
    if !found.is_empty() {
        problems.append(&format!("the setting {}", excerpt(&setting.name)), found);
    }
}

fn reads(tables: &[TableRead], problems: &mut Problems) {
    list("tables", tables.len(), LIST, problems);
    for read in tables {
        let columns = read.columns.iter().map(|column| &*column.column);
        table(&read.table, columns, problems);
    }
}

fn writes(writes: Option<&[Write]>, problems: &mut Problems) {
    let writes = writes.unwrap_or_default();
    list("tables that are written", writes.len(), LIST, problems);
    for write in writes {
        let columns = write.columns.iter().map(|(column, _)| &**column);
        table(&write.table, columns, problems);
    }
}

fn table<'a>(
    table: &str,
    columns: impl ExactSizeIterator<Item = &'a str>,
    problems: &mut Problems,
) {
    if table.split('/').nth(DEPTH).is_some() {
        problems.add(|| {
            format!(
                "the table {} stands below more than {} others",
                excerpt(table),
                DEPTH - 1
            )
        });
    } else {
        for part in table.split('/') {
            attribute("the name of a table", part, problems);
        }
    }
    let mut found = Problems::default();
    list("columns", columns.len(), LIST, &mut found);
    for column in columns {
        attribute("the name of a column", column, &mut found);
    }
    if !found.is_empty() {
        problems.append(&format!("the table {}", excerpt(table)), found);
    }
}

/// A name that may be an operator's attribute.
fn attribute(what: &str, whole: &str, problems: &mut Problems) {
    name(
        what,
        whole.strip_prefix(ATTRIBUTE).unwrap_or(whole),
        problems,
    );
}

fn name(what: &str, name: &str, problems: &mut Problems) {
    // A character has at least a byte: most names are not counted.
    if name.len() > NAME && name.chars().nth(NAME).is_some() {
        problems.add(|| {
            format!(
                "{what} has {} characters, and at most {NAME} are allowed: \"{}\"",
                name.chars().count(),
                excerpt(name)
            )
        });
    }
}

fn text(what: &str, text: &str, problems: &mut Problems) {
    if text.len() > TEXT {
        problems.add(|| {
            format!(
                "{what} has {} bytes, and at most {TEXT} are allowed: \"{}\"",
                text.len(),
                excerpt(text)
            )
        });
    }
}

fn list(what: &str, entries: usize, most: usize, problems: &mut Problems) {
    if entries > most {
        problems.add(|| format!("it has {entries} {what}, and at most {most} are allowed"));
    }
}
