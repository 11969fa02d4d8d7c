//! A table of a document, read by a form.

use std::sync::Arc;

use super::{Key, lower_first};
use crate::{Content, Entry, Node, Place, Problems, Table, Word, shown};
use placewright_model::Value;

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
pub(super) enum FieldContent<'t> {
    Value(Value),
    Texts(Vec<(Arc<str>, &'t Place)>),
    Table(&'t Table),
    Tables(Vec<&'t Table>),
    Node(&'t Node),
    /// Null, which takes away what was there.
    Null,
}

impl<'t> Fields<'t> {
    /// Read a table that has the keys of `form` and no others. `what` says what
    /// the table is: "a filter".
    pub fn read(table: &'t Table, form: &[Key], what: &str, problems: &mut Problems) -> Self {
        let (fields, others) = Self::split(table, form, what, problems);
        for entry in others {
            if problems.is_full() {
                problems.count();
                continue;
            }
            let names = || form.iter().map(|key| key.name);
            let message = format!("{what} has no key \"{}\"", shown(&entry.key));
            problems.add_unknown(&entry.place, message, &entry.key, names());
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
                Some(key) if !key.required && matches!(entry.node.content, Content::Null) => {
                    fields.push(Field {
                        name: key.name,
                        place: &entry.node.place,
                        content: FieldContent::Null,
                    });
                }
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

    /// Whether a null stands under the key.
    pub fn is_null(&self, name: &str) -> bool {
        let field = self.field(name);
        field.is_some_and(|field| matches!(field.content, FieldContent::Null))
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

    /// A list of texts, if it is given; an empty one, if it is null.
    pub fn list_given(&self, name: &str) -> Option<Vec<Arc<str>>> {
        self.field(name).map(|_| self.list(name))
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
