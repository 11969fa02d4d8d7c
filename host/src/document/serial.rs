//! How values of documents are written by serde.

use std::fmt::Display;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::Word;
use crate::model::{Facts, Value};

/// A shared text.
pub fn text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// What is written as it is displayed.
pub fn displayed<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// A word.
pub fn word<W: Word, S: Serializer>(value: &W, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.word())
}

/// A list of words.
pub fn word_list<W: Word, S: Serializer>(list: &[W], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(list.iter().map(|value| value.word()))
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Integer(value) => serializer.serialize_i64(*value),
            Value::Number(value) => serializer.serialize_f64(*value),
            Value::Boolean(value) => serializer.serialize_bool(*value),
            Value::Text(value) => serializer.serialize_str(value),
        }
    }
}

/// Values under their columns' names, then the tables below as lists of tables.
impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        for (column, value) in self.values() {
            map.serialize_entry(&**column, value)?;
        }
        for (table, rows) in self.tables() {
            map.serialize_entry(&**table, rows)?;
        }
        map.end()
    }
}
