//! What a unit is set to.

use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use placewright_model::{Facts, Measure, Value};

/// The values of a unit's settings, in the order in which the unit describes
/// them, with its defaults filled in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// The names of the settings that are no tables.
    pub value_names: Vec<Arc<str>>,
    /// Their values; none = absent.
    pub values: Vec<Option<Value>>,
    /// Their units of measure.
    pub measures: Vec<Option<Measure>>,
    /// The names of the settings that are tables.
    pub table_names: Vec<Arc<str>>,
    /// Their rows.
    pub tables: Vec<Vec<Facts>>,
}

impl Settings {
    /// Whether no setting has a value or a row.
    pub fn is_empty(&self) -> bool {
        self.values.iter().all(Option::is_none) && self.tables.iter().all(Vec::is_empty)
    }

    /// The value of a setting that is no table.
    pub fn value(&self, name: &str) -> Option<&Value> {
        let index = self.value_names.iter().position(|known| **known == *name)?;
        self.values.get(index)?.as_ref()
    }

    /// The rows of a setting that is a table.
    pub fn rows(&self, name: &str) -> &[Facts] {
        self.table_names
            .iter()
            .position(|known| **known == *name)
            .and_then(|index| self.tables.get(index))
            .map_or(&[], Vec::as_slice)
    }
}

/// What is set, by name.
impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let measures = self.measures.iter().copied().chain(std::iter::repeat(None));
        let values = self.value_names.iter().zip(&self.values).zip(measures);
        for ((name, value), measure) in values {
            match (value, measure) {
                (Some(value), Some(measure)) => {
                    map.serialize_entry(&**name, &measure.written(value))?;
                }
                (Some(value), None) => map.serialize_entry(&**name, value)?,
                (None, _) => {}
            }
        }
        for (name, rows) in self.table_names.iter().zip(&self.tables) {
            if !rows.is_empty() {
                map.serialize_entry(&**name, rows)?;
            }
        }
        map.end()
    }
}
