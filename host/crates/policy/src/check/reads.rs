//! Whether a cluster has what a unit needs to read.

use super::Checker;
use placewright_document::Place;
use placewright_engine::contract::{ColumnRead, Description, Part};
use placewright_model::Kind;
use placewright_model::schema::{ATTRIBUTE, attribute_entity};

impl Checker<'_, '_> {
    /// Check what the part reads, and the part that explains. That built-in columns
    /// are right was checked when the unit was loaded; attributes differ from
    /// cluster to cluster.
    pub(super) fn check_reads(&mut self, description: &Description, part: Part, place: &Place) {
        for part in [part, Part::Explain] {
            for table in description.reads(part).unwrap_or_default() {
                // The unit's own settings.
                if table.table == "settings" || table.table.starts_with("settings/") {
                    continue;
                }
                for column in &table.columns {
                    self.check_column(&description.name, &table.table, column, place);
                }
            }
        }
    }

    fn check_column(&mut self, unit: &str, table: &str, read: &ColumnRead, place: &Place) {
        let (column, wanted) = (&read.column, Kind::from(read.kind));
        let message = match self.schema.column(table, column) {
            Some(known) if known.kind != wanted => format!(
                "unit \"{unit}\" reads \"{column}\" of {table} as {wanted}, and in this cluster it is {}",
                known.kind
            ),
            Some(_) => return,
            None if !read.required => return,
            None => format!(
                "unit \"{unit}\" needs \"{column}\" of {table}, which this cluster does not have{}",
                remedy(table, column)
            ),
        };
        self.problems.add(place, message);
    }
}

/// Where a missing attribute can be defined.
fn remedy(table: &str, column: &str) -> String {
    let (owner, below) = match table.split_once(&format!("/{ATTRIBUTE}")) {
        Some((owner, _)) => (owner, true),
        None => (table, false),
    };
    match attribute_entity(owner) {
        Some(entity) if below || column.starts_with(ATTRIBUTE) => {
            format!("; define it in the cluster's document under [attributes.{entity}]")
        }
        _ => String::new(),
    }
}
