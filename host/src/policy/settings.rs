//! What a unit is set to.

use std::sync::Arc;

use crate::model::{Facts, Value};

/// The values of a unit's settings, in the order in which the unit describes
/// them, with its defaults filled in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// The names of the settings that are no tables.
    pub value_names: Vec<Arc<str>>,
    /// Their values; none = absent.
    pub values: Vec<Option<Value>>,
    /// The names of the settings that are tables.
    pub table_names: Vec<Arc<str>>,
    /// Their rows.
    pub tables: Vec<Vec<Facts>>,
}

impl Settings {
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
