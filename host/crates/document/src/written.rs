//! Facts as documents have them: numbers count what they count in documents.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use placewright_model::Facts;
use placewright_model::schema::Schema;

/// The facts of a row of `table`, to be read again as the same.
pub struct WrittenFacts<'a> {
    /// The tables and columns that there are.
    pub schema: &'a Schema,
    /// With its parents, for example `hosts/vms`.
    pub table: &'a str,
    /// The facts.
    pub facts: &'a Facts,
}

impl WrittenFacts<'_> {
    /// Write values under their columns' names, then the tables below as lists of tables.
    ///
    /// # Errors
    /// If the serializer has one.
    pub fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (name, value) in self.facts.values() {
            match self.schema.column(self.table, name) {
                Some(column) => map.serialize_entry(&**name, &column.written(value))?,
                None => map.serialize_entry(&**name, value)?,
            }
        }
        for (name, rows) in self.facts.tables() {
            let table = format!("{}/{name}", self.table);
            let rows = rows.iter().map(|facts| WrittenFacts {
                schema: self.schema,
                table: &table,
                facts,
            });
            map.serialize_entry(&**name, &rows.collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

impl Serialize for WrittenFacts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}
