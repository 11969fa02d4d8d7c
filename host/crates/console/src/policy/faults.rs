//! What is wrong with a draft, at the fields that it is wrong with.

use std::collections::BTreeMap;
use std::ops::Range;

use toml_edit::{Document, DocumentMut, Item, TableLike, Value};

use super::document::{LISTS, Place, entry};
use crate::format::cut;
use crate::page::sentence;
use placewright_http::Problem;

/// Sentences, by the names of fields.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Faults(BTreeMap<String, Vec<String>>);

impl Faults {
    /// What a problem says of the fields that a document is made of. What is about none of them is
    /// told beside them alone.
    pub(super) fn of(problem: &Problem, text: &str) -> Self {
        let mut faults = Self::default();
        let spans = spans(text);
        for error in problem.clone().body(None).errors {
            let at = error.place.line.zip(error.place.column);
            let Some(field) = at.and_then(|at| field_at(text, &spans, at)) else {
                continue;
            };
            let mut told = not_a_number(text, field).unwrap_or_else(|| sentence(&error.message));
            if let Some(meant) = &error.suggestion {
                told.push_str(&format!(" Did you mean \"{meant}\"?"));
            }
            faults.0.entry(field.to_owned()).or_default().push(told);
        }
        faults
    }

    /// Note what is wrong with a field that is no part of the document.
    pub(super) fn add(&mut self, field: &str, told: &str) {
        let of_field = self.0.entry(field.to_owned()).or_default();
        of_field.push(told.to_owned());
    }

    /// What is wrong with a field.
    pub(super) fn at(&self, field: &str) -> Option<String> {
        self.0.get(field).map(|told| told.join(" "))
    }

    /// Whether anything is wrong with a field of that entry's settings.
    pub(super) fn are_below(&self, prefix: &str) -> bool {
        self.0.keys().any(|field| field.starts_with(prefix))
    }

    /// Whether this is the first field, as they stand in the form, that anything is wrong with.
    pub(super) fn first<'f>(&self, mut fields: impl Iterator<Item = &'f str>) -> Option<&'f str> {
        fields.find(|field| self.0.contains_key(*field))
    }

    /// All of it, by the names of fields.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, String)> {
        self.0
            .iter()
            .map(|(field, told)| (field.as_str(), told.join(" ")))
    }
}

/// What is wrong with the field of a number in which something else was written.
fn not_a_number(text: &str, field: &str) -> Option<String> {
    let (place, key) = Place::of(field)?;
    let number = match key {
        "factor" => "a factor must be a number, such as 2.5",
        "tier" => "a tier must be a whole number from 1, such as 2",
        _ => return None,
    };
    let mut document: DocumentMut = text.parse().ok()?;
    let written = entry(&mut document, &place)?.get(key)?.as_str()?;
    Some(sentence(&format!("{number}, not \"{}\"", cut(written, 40))))
}

/// The field whose part of the text has that place: the smallest, where one is in another.
fn field_at<'s>(
    text: &str,
    spans: &'s [(String, Range<usize>)],
    (line, column): (u32, u32),
) -> Option<&'s str> {
    let before = text
        .split_inclusive('\n')
        .take((line as usize).checked_sub(1)?);
    let start: usize = before.map(str::len).sum();
    let rest = text.get(start..)?;
    let column = (column as usize).saturating_sub(1);
    let at = start
        + rest
            .char_indices()
            .nth(column)
            .map_or(rest.len(), |it| it.0);
    let around = spans.iter().filter(|(_, span)| span.contains(&at));
    let smallest = around.min_by_key(|(_, span)| span.len());
    smallest.map(|(field, _)| field.as_str())
}

/// Where in a document the values of its fields stand, keys included.
fn spans(text: &str) -> Vec<(String, Range<usize>)> {
    let mut spans = Vec::new();
    let Ok(document) = Document::parse(text) else {
        return spans;
    };
    of_policy(document.as_table(), &mut spans);
    of_lists(document.as_table(), None, &mut spans);
    if let Some(stages) = document.get("stages") {
        for (number, stage) in tables(stages).into_iter().enumerate() {
            of_lists(stage, Some(number), &mut spans);
        }
    }
    spans
}

/// What is said for the policy as a whole.
fn of_policy(table: &dyn TableLike, spans: &mut Vec<(String, Range<usize>)>) {
    for (key, item) in table.iter() {
        match (key, item.as_table_like()) {
            ("order" | "balance", Some(alone)) => {
                for (below, value) in alone.iter() {
                    let settings = value.as_table_like().filter(|_| below == "settings");
                    for (name, value) in settings.into_iter().flat_map(|it| it.iter()) {
                        let field = format!("policy/{key}/settings/{name}");
                        let settings = settings.and_then(|it| span(it, name, value));
                        spans.extend(settings.map(|it| (field, it)));
                    }
                    let field = format!("policy/{key}/unit");
                    spans.extend(span(alone, below, value).map(|it| (field, it)));
                }
            }
            ("settings" | "unheeded-needs", Some(values)) => {
                for (name, value) in values.iter() {
                    let field = format!("policy/{key}/{name}");
                    spans.extend(span(values, name, value).map(|it| (field, it)));
                }
            }
            ("watches", _) => {
                for (number, watch) in tables(item).into_iter().enumerate() {
                    for (name, value) in watch.iter() {
                        let field = format!("watch/{number}/{name}");
                        spans.extend(span(watch, name, value).map(|it| (field, it)));
                    }
                }
            }
            (key, None) => {
                let field = format!("policy/{key}");
                spans.extend(span(table, key, item).map(|it| (field, it)));
            }
            _ => {}
        }
    }
}

fn of_lists(table: &dyn TableLike, stage: Option<usize>, spans: &mut Vec<(String, Range<usize>)>) {
    for list in LISTS {
        let Some(item) = table.get(list) else {
            continue;
        };
        for (number, entry) in tables(item).into_iter().enumerate() {
            let place = Place {
                stage,
                list: list.to_owned(),
                number,
            };
            of_entry(&place, entry, spans);
        }
    }
}

fn of_entry(place: &Place, entry: &dyn TableLike, spans: &mut Vec<(String, Range<usize>)>) {
    for (key, item) in entry.iter() {
        if key == "settings"
            && let Some(settings) = item.as_table_like()
        {
            for (name, value) in settings.iter() {
                let field = place.field(&format!("settings/{name}"));
                spans.extend(span(settings, name, value).map(|it| (field, it)));
            }
        }
        // What has no field of its own is told at the entry.
        let field = match key {
            "factor" | "on-failure" | "scaling" | "tier" | "position" => place.field(key),
            _ => place.field("entry"),
        };
        spans.extend(span(entry, key, item).map(|it| (field, it)));
    }
}

/// A key and its value.
fn span(table: &dyn TableLike, key: &str, value: &Item) -> Option<Range<usize>> {
    let value = value.span();
    let key = table.key(key).and_then(toml_edit::Key::span);
    match (key, value) {
        (Some(key), Some(value)) => Some(key.start.min(value.start)..value.end.max(key.end) + 1),
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) => None,
    }
}

/// The tables of a list, however it is written.
fn tables(item: &Item) -> Vec<&dyn TableLike> {
    match item {
        Item::ArrayOfTables(tables) => tables.iter().map(|it| it as &dyn TableLike).collect(),
        Item::Value(Value::Array(values)) => {
            let values = values.iter().filter_map(Value::as_inline_table);
            values.map(|it| it as &dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"ä\"\n[[filters]]\nunit = \"cpu\"\nsettings = { headroom = 1, \"overcommit\" = 300 }\n[[costs]]\nunit = \"memory\"\nfactor = \"much\" # ?\n[costs.settings]\nmargin = -1\n[[stages]]\nfilters = [{ unit = \"x\", settings = { y = 2 } }]\n";

    #[test]
    fn the_field_of_a_number_says_how_one_is_written() {
        let text = "[[costs]]\nunit = \"memory\"\nfactor = \"2,5\"\ntier = \"two\"\n[[costs]]\nfactor = inf\n";
        let told = |field| not_a_number(text, field);
        assert_eq!(
            told("entry/-/costs/0/factor").as_deref(),
            Some("A factor must be a number, such as 2.5, not \"2,5\".")
        );
        assert_eq!(
            told("entry/-/costs/0/tier").as_deref(),
            Some("A tier must be a whole number from 1, such as 2, not \"two\".")
        );
        // A number that cannot be used is told of in the words of the server.
        for other in [
            "entry/-/costs/1/factor",
            "entry/-/costs/0/unit",
            "entry/-/costs/7/factor",
            "policy/name",
        ] {
            assert_eq!(told(other), None, "{other}");
        }
    }

    #[test]
    fn a_place_in_the_document_is_a_field_of_the_form() {
        let spans = spans(TEXT);
        let at = |part: &str| {
            let offset = TEXT.find(part).unwrap();
            let before = &TEXT[..offset];
            let line = before.matches('\n').count() as u32 + 1;
            let column = before.rsplit('\n').next().unwrap().chars().count() as u32 + 1;
            field_at(TEXT, &spans, (line, column))
        };
        assert_eq!(at("300"), Some("entry/-/filters/0/settings/overcommit"));
        assert_eq!(at("headroom"), Some("entry/-/filters/0/settings/headroom"));
        assert_eq!(at("\"much\""), Some("entry/-/costs/0/factor"));
        assert_eq!(at("margin"), Some("entry/-/costs/0/settings/margin"));
        assert_eq!(at("\"memory\""), Some("entry/-/costs/0/entry"));
        assert_eq!(at("2 } }"), Some("entry/0/filters/0/settings/y"));
        assert_eq!(at("name"), Some("policy/name"));
        assert_eq!(field_at(TEXT, &spans, (99, 1)), None);
    }
}
