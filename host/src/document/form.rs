//! The keys that a table of a document may have, written down once: reading, its
//! problems and the JSON Schema are made from them.

use std::sync::Arc;

use super::value::Expected;
use super::{Content, Entry, Node, Place, Problems, Table, Word};
use crate::model::{Bounds, Kind, Measure, Value};

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
/// Any finite number.
pub const NUMBER: Shape = Shape::Value(Kind::Number, None, Bounds::NONE);
/// A point in time.
pub const TIME: Shape = Shape::Value(Kind::Integer, Some(Measure::Time), Bounds::FROM_ZERO);

/// A table of a document, read by a form. What was wrong is left out.
#[derive(Debug)]
pub struct Fields<'t> {
    /// Where the table begins.
    pub place: &'t Place,
    fields: Vec<Field<'t>>,
}

#[derive(Debug)]
struct Field<'t> {
    name: &'static str,
    /// Where its value begins.
    place: &'t Place,
    content: FieldContent<'t>,
}

#[derive(Debug)]
enum FieldContent<'t> {
    Value(Value),
    Texts(Vec<(Arc<str>, &'t Place)>),
    Table(&'t Table),
    Tables(Vec<&'t Table>),
    Node(&'t Node),
}

impl<'t> Fields<'t> {
    /// Read a table that has the keys of `form` and no others. `what` says what
    /// the table is: "a filter".
    pub fn read(table: &'t Table, form: &[Key], what: &str, problems: &mut Problems) -> Self {
        let (fields, others) = Self::split(table, form, what, problems);
        for entry in others {
            problems.add_misnamed(
                &entry.place,
                format!("{what} has no key \"{}\"", super::value::shown(&entry.key)),
                &entry.key,
                form.iter().map(|key| key.name),
            );
        }
        fields
    }

    /// Read the keys of `form`, and give what else there is.
    pub fn split(
        table: &'t Table,
        form: &[Key],
        what: &str,
        problems: &mut Problems,
    ) -> (Self, Vec<&'t Entry>) {
        let mut fields = Vec::new();
        let mut others = Vec::new();
        for entry in &table.entries {
            match form.iter().find(|key| *key.name == *entry.key) {
                Some(key) => fields.extend(key.read(&entry.node, problems).map(|content| Field {
                    name: key.name,
                    place: &entry.node.place,
                    content,
                })),
                None => others.push(entry),
            }
        }
        for key in form.iter().filter(|key| key.required) {
            if table.get(key.name).is_none() {
                problems.add(
                    &table.place,
                    format!(
                        "{what} needs \"{}\": {}",
                        key.name,
                        lower_first(key.meaning)
                    ),
                );
            }
        }
        let place = &table.place;
        (Self { place, fields }, others)
    }

    fn field(&self, name: &str) -> Option<&Field<'t>> {
        self.fields.iter().find(|field| field.name == name)
    }

    fn value(&self, name: &str) -> Option<&Value> {
        match &self.field(name)?.content {
            FieldContent::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Where the value of a key begins, if it is there and right.
    pub fn place_of(&self, name: &str) -> Option<&'t Place> {
        self.field(name).map(|field| field.place)
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<Arc<str>> {
        match self.value(name)? {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// An integer.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.value(name)? {
            Value::Integer(integer) => Some(*integer),
            _ => None,
        }
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.value(name)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A boolean.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        match self.value(name)? {
            Value::Boolean(boolean) => Some(*boolean),
            _ => None,
        }
    }

    /// A word.
    pub fn word<W: Word>(&self, name: &str) -> Option<W> {
        W::from_word(&self.text(name)?)
    }

    /// A list of words.
    pub fn words<W: Word>(&self, name: &str) -> Option<Vec<W>> {
        self.field(name)?;
        let texts = self.texts(name).iter();
        Some(texts.filter_map(|(text, _)| W::from_word(text)).collect())
    }

    /// A list of texts with their places.
    pub fn texts(&self, name: &str) -> &[(Arc<str>, &'t Place)] {
        match self.field(name).map(|field| &field.content) {
            Some(FieldContent::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// A list of texts.
    pub fn list(&self, name: &str) -> Vec<Arc<str>> {
        let texts = self.texts(name).iter();
        texts.map(|(text, _)| text.clone()).collect()
    }

    /// A value of any kind.
    pub fn node(&self, name: &str) -> Option<&'t Node> {
        match self.field(name)?.content {
            FieldContent::Node(node) => Some(node),
            _ => None,
        }
    }

    /// A table.
    pub fn table(&self, name: &str) -> Option<&'t Table> {
        match self.field(name)?.content {
            FieldContent::Table(table) => Some(table),
            _ => None,
        }
    }

    /// A list of tables.
    pub fn tables(&self, name: &str) -> &[&'t Table] {
        match self.field(name).map(|field| &field.content) {
            Some(FieldContent::Tables(tables)) => tables,
            _ => &[],
        }
    }
}

impl Key {
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
            Shape::Tables(_) | Shape::OpenTables => {
                tables(self.name, node, problems).map(FieldContent::Tables)
            }
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
        let mut known = std::collections::HashSet::new();
        for node in list {
            let Some(Value::Text(text)) = self.word(words.unwrap_or(&[]), node, problems) else {
                continue;
            };
            if known.insert(text.clone()) {
                texts.push((text, &node.place));
            } else {
                problems.add(
                    &node.place,
                    format!(
                        "\"{}\" names \"{}\" twice",
                        self.name,
                        super::value::shown(&text)
                    ),
                );
            }
        }
        Some(FieldContent::Texts(texts))
    }
}

/// The tables of a list of tables.
pub(super) fn tables<'t>(
    name: &str,
    node: &'t Node,
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
    let tables = list.iter().filter_map(|node| match &node.content {
        Content::Table(table) => Some(table),
        other => {
            problems.add(
                &node.place,
                format!(
                    "each entry of \"{name}\" must be a table, not {}",
                    other.noun()
                ),
            );
            None
        }
    });
    Some(tables.collect())
}

/// A sentence that goes on after a colon.
pub(crate) fn lower_first(sentence: &str) -> String {
    let mut characters = sentence.chars();
    match (characters.next(), characters.clone().next()) {
        // Abbreviations stay as they are: "CPU".
        (Some(_), Some(second)) if second.is_uppercase() => sentence.to_owned(),
        (Some(first), _) => first.to_lowercase().chain(characters).collect(),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;

    const FORM: &[Key] = &[
        required("id", TEXT, "What it is called"),
        key("hosts", Shape::Texts, "Hosts"),
        key("rows", Shape::OpenTables, "Rows"),
        key("on", BOOLEAN, "Whether"),
    ];

    fn problems(text: &str) -> String {
        let table = parse(text, "d.toml").unwrap();
        let mut problems = Problems::new();
        Fields::read(&table, FORM, "a thing", &mut problems);
        problems.or(()).unwrap_err().to_string()
    }

    #[test]
    fn fields_are_read_by_their_form() {
        let table = parse("id = 'a'\nhosts = ['x']\nrows = [{}]\non = true", "d.toml").unwrap();
        let mut problems = Problems::new();
        let fields = Fields::read(&table, FORM, "a thing", &mut problems);
        assert!(problems.is_empty(), "{problems}");
        assert_eq!(fields.text("id").as_deref(), Some("a"));
        assert_eq!(fields.list("hosts"), ["x".into()]);
        assert_eq!(fields.tables("rows").len(), 1);
        assert_eq!(fields.boolean("on"), Some(true));
        assert_eq!(fields.boolean("off"), None);
    }

    #[test]
    fn what_does_not_fit_the_form_is_said() {
        assert_eq!(
            problems("host = 1"),
            "d.toml:1:1: a thing has no key \"host\" (did you mean \"hosts\"?)\n\
             d.toml:1:1: a thing needs \"id\": what it is called"
        );
        assert_eq!(
            problems("id = 1\nhosts = ['a', 'b', 'a', 2]\non = 'yes'"),
            "d.toml:1:6: \"id\" must be a text, not a whole number\n\
             d.toml:2:20: \"hosts\" names \"a\" twice\n\
             d.toml:2:25: \"hosts\" must be a text, not a whole number\n\
             d.toml:3:6: \"on\" must be true or false, not a text"
        );
        assert_eq!(
            problems("id = 'a'\nrows = [3]"),
            "d.toml:2:9: each entry of \"rows\" must be a table, not a whole number"
        );
        assert_eq!(
            problems("id = 'a'\n[rows]\n"),
            "d.toml:2:1: \"rows\" must be a list of tables, not a table; in TOML, begin each one with [[rows]]"
        );
    }
}
