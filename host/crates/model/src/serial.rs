//! How values of documents are written by serde, and how what is kept of them is read
//! again.
//!
//! Reading is for what the program has written itself: documents that people write are
//! read by the other modules, which know the place of every problem.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::{Facts, Value, Word};

/// A shared text.
///
/// # Errors
/// Those of the serializer.
pub fn text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// What is written as it is displayed.
///
/// # Errors
/// Those of the serializer.
pub fn displayed<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// A word.
///
/// # Errors
/// Those of the serializer.
pub fn word<W: Word, S: Serializer>(value: &W, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.word())
}

/// Words by names.
///
/// # Errors
/// Those of the serializer.
pub fn word_map<W: Word, S: Serializer>(
    map: &BTreeMap<Arc<str>, W>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(map.iter().map(|(name, value)| (&**name, value.word())))
}

/// A list of words.
///
/// # Errors
/// Those of the serializer.
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

/// What stands under a name in facts: a value, or the rows of a table.
enum Entry {
    Value(Value),
    Rows(Vec<Facts>),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Entry::deserialize(deserializer)? {
            Entry::Value(value) => Ok(value),
            Entry::Rows(_) => Err(de::Error::custom("a list, where a value should be")),
        }
    }
}

impl<'de> Deserialize<'de> for Facts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Facts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("values and tables by their names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Facts, A::Error> {
                let mut facts = Facts::new();
                while let Some((name, entry)) = map.next_entry::<Arc<str>, Entry>()? {
                    match entry {
                        Entry::Value(value) => facts.set(name, value),
                        Entry::Rows(rows) => facts.set_rows(name, rows),
                    }
                }
                Ok(facts)
            }
        }
        deserializer.deserialize_map(Map)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a boolean, a text or a list of rows")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Entry, E> {
                Ok(Entry::Value(Value::Boolean(value)))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Entry, E> {
                Ok(Entry::Value(Value::Integer(value)))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Entry, E> {
                i64::try_from(value)
                    .map(|value| Entry::Value(Value::Integer(value)))
                    .map_err(|_| E::custom("an integer beyond 64 bits"))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Entry, E> {
                Ok(Entry::Value(Value::Number(value)))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Entry, E> {
                Ok(Entry::Value(Value::Text(value.into())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entry, A::Error> {
                let mut rows = Vec::new();
                while let Some(row) = list.next_element()? {
                    rows.push(row);
                }
                Ok(Entry::Rows(rows))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_again_as_they_were_written() {
        let below = Facts::new().with("name", "gold").with("total", 3);
        let facts = Facts::new()
            .with("one", 1)
            .with("whole", 2.0)
            .with("least", i64::MIN)
            .with("yes", true)
            .with("text", "\"quoted\"")
            .with_row("amounts", below.clone())
            .with_row("amounts", below);
        let text = serde_json::to_string(&facts).unwrap();
        assert_eq!(serde_json::from_str::<Facts>(&text).unwrap(), facts);
        assert!(serde_json::from_str::<Facts>(r#"{"a":null}"#).is_err());
        assert!(serde_json::from_str::<Facts>(r#"{"a":18446744073709551615}"#).is_err());
    }
}
