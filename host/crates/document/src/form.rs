//! The keys that a table of a document may have, written down once: reading, its
//! problems and the JSON Schema are made from them.

mod fields;

pub use fields::Fields;

use std::collections::HashSet;
use std::sync::Arc;

use super::value::{Expected, LONGEST_ID, one_line, shown};
use super::{Content, Node, Place, Problems, Table};
use fields::FieldContent;
use placewright_model::{Bounds, Kind, Measure, Value};

/// One key of a table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// As written.
    pub name: &'static str,
    /// What stands under it.
    pub shape: Shape,
    /// Whether it must be there.
    pub required: bool,
    /// One sentence.
    pub meaning: &'static str,
    /// A value, as a text, for those who read of the key; of a list one of its texts. Empty: its
    /// unit of measure or what it may be says enough.
    pub example: &'static str,
}

/// What stands under a key.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A value.
    Value(Kind, Option<Measure>, Bounds),
    /// One of a few words.
    Word(fn() -> Vec<&'static str>),
    /// A value of which more is known elsewhere.
    Any,
    /// A list of some of a few words.
    Words(fn() -> Vec<&'static str>),
    /// A list of texts, each once.
    Texts,
    /// A table with these keys.
    Table(&'static [Key]),
    /// A list of tables with these keys.
    Tables(&'static [Key]),
    /// A table of which more is known elsewhere.
    Open,
    /// A list of tables of which more is known elsewhere.
    OpenTables,
}

/// A key that may be left out.
pub const fn key(name: &'static str, shape: Shape, meaning: &'static str) -> Key {
    Key {
        name,
        shape,
        required: false,
        meaning,
        example: "",
    }
}

/// A key that must be there.
pub const fn required(name: &'static str, shape: Shape, meaning: &'static str) -> Key {
    Key {
        required: true,
        ..key(name, shape, meaning)
    }
}

/// Any text.
pub const TEXT: Shape = Shape::Value(Kind::Text, None, Bounds::NONE);
/// True or false.
pub const BOOLEAN: Shape = Shape::Value(Kind::Boolean, None, Bounds::NONE);
/// Any integer.
pub const INTEGER: Shape = Shape::Value(Kind::Integer, None, Bounds::NONE);
/// Any finite number.
pub const NUMBER: Shape = Shape::Value(Kind::Number, None, Bounds::NONE);
/// A point in time.
pub const TIME: Shape = Shape::Value(Kind::Integer, Some(Measure::Time), Bounds::FROM_ZERO);

impl Key {
    /// The same with an example of its value, as a text.
    pub const fn such_as(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    fn read<'t>(&self, node: &'t Node, problems: &mut Problems) -> Option<FieldContent<'t>> {
        match self.shape {
            Shape::Value(kind, measure, bounds) => {
                let expected = Expected {
                    measure,
                    bounds,
                    ..Expected::of_kind(self.name, kind)
                };
                expected.read(node, problems).map(FieldContent::Value)
            }
            Shape::Word(words) => self.word(&words(), node, problems).map(FieldContent::Value),
            Shape::Any => Some(FieldContent::Node(node)),
            Shape::Words(words) => self.texts(Some(&words()), node, problems),
            Shape::Texts => self.texts(None, node, problems),
            Shape::Table(_) | Shape::Open => match &node.content {
                Content::Table(table) => Some(FieldContent::Table(table)),
                other => {
                    problems.add(
                        &node.place,
                        format!("\"{}\" must be a table, not {}", self.name, other.noun()),
                    );
                    None
                }
            },
            Shape::Tables(keys) => {
                let keys = keys.iter().map(|key| key.name);
                tables(self.name, node, keys, problems).map(FieldContent::Tables)
            }
            Shape::OpenTables => tables(self.name, node, [], problems).map(FieldContent::Tables),
        }
    }

    fn word(&self, words: &[&str], node: &Node, problems: &mut Problems) -> Option<Value> {
        let expected = Expected {
            choices: words,
            ..Expected::of_kind(self.name, Kind::Text)
        };
        expected.read(node, problems)
    }

    fn texts<'t>(
        &self,
        words: Option<&[&str]>,
        node: &'t Node,
        problems: &mut Problems,
    ) -> Option<FieldContent<'t>> {
        let Content::List(list) = &node.content else {
            problems.add(
                &node.place,
                format!(
                    "\"{}\" must be a list of texts, not {}",
                    self.name,
                    node.content.noun()
                ),
            );
            return None;
        };
        let mut texts: Vec<(Arc<str>, &Place)> = Vec::new();
        let mut known = HashSet::new();
        for node in list {
            let Some(Value::Text(text)) = self.word(words.unwrap_or(&[]), node, problems) else {
                continue;
            };
            if text.len() > LONGEST_ID {
                let sentence = format!(
                    "\"{}\" has names of at most {LONGEST_ID} bytes; this one has {}",
                    self.name,
                    text.len()
                );
                problems.add(&node.place, sentence);
            } else if text.is_empty() {
                let sentence = format!("\"{}\" has names that are not empty", self.name);
                problems.add(&node.place, sentence);
            } else if text.contains(char::is_control) {
                let sentence = format!("\"{}\" has names of {}", self.name, one_line(&text));
                problems.add(&node.place, sentence);
            } else if known.insert(text.clone()) {
                texts.push((text, &node.place));
            } else {
                problems.add(
                    &node.place,
                    format!("\"{}\" names \"{}\" twice", self.name, shown(&text)),
                );
            }
        }
        Some(FieldContent::Texts(texts))
    }
}

/// The most keys that a problem lists.
const LISTED_KEYS: usize = 8;

/// What an entry must be where tables with these keys are expected, for a sentence.
pub fn table_of<'k>(keys: impl IntoIterator<Item = &'k str>) -> String {
    let mut keys = keys.into_iter();
    let listed: Vec<String> = keys
        .by_ref()
        .take(LISTED_KEYS)
        .map(|key| format!("\"{key}\""))
        .collect();
    let more = if keys.next().is_some() { ", ..." } else { "" };
    match listed.is_empty() {
        true => "a table".to_owned(),
        false => format!("a table (its keys: {}{more})", listed.join(", ")),
    }
}

/// The tables of a list of tables with these keys, as far as they are known.
pub(super) fn tables<'t, 'k>(
    name: &str,
    node: &'t Node,
    keys: impl IntoIterator<Item = &'k str>,
    problems: &mut Problems,
) -> Option<Vec<&'t Table>> {
    let Content::List(list) = &node.content else {
        problems.add(
            &node.place,
            format!(
                "\"{name}\" must be a list of tables, not {}; in TOML, begin each one with [[{name}]]",
                node.content.noun()
            ),
        );
        return None;
    };
    let expected = table_of(keys);
    let tables = list.iter().filter_map(|node| match &node.content {
        Content::Table(table) => Some(table),
        other => {
            problems.add(
                &node.place,
                format!(
                    "each entry of \"{name}\" must be {expected}, not {}",
                    other.noun()
                ),
            );
            None
        }
    });
    Some(tables.collect())
}

/// A sentence that goes on after a colon.
pub fn lower_first(sentence: &str) -> String {
    let mut characters = sentence.chars();
    match (characters.next(), characters.clone().next()) {
        // Abbreviations stay as they are: "CPU".
        (Some(_), Some(second)) if second.is_uppercase() => sentence.to_owned(),
        (Some(first), _) => first.to_lowercase().chain(characters).collect(),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests;
