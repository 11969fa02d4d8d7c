//! The tables of a call, read back row by row.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::Prepared;
use crate::decode::Reader;
use crate::plan::{Source, TablePlan};
use placewright_engine::contract::Part;
use placewright_model::{Measure, Value};

/// A table as a unit sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableSeen {
    /// Name of the table.
    pub table: Arc<str>,
    /// The columns that the unit reads.
    #[serde(skip)]
    pub columns: Vec<ColumnSeen>,
    /// Its rows, in the order in which the unit sees them.
    pub rows: Vec<RowSeen>,
}

/// A column that a unit reads.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSeen {
    /// Its name.
    pub name: Arc<str>,
    /// Unit of measure of its values, if they have one.
    pub measure: Option<Measure>,
}

/// A row as a unit sees it, with whose it is, which units do not see.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowSeen {
    /// The id of the host, VM or group that it tells of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Arc<str>>,
    /// What it stands below: the id of that row, or its number from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Arc<str>>,
    /// By column; none where there is no value.
    #[serde(serialize_with = "by_column")]
    pub values: Vec<(Arc<str>, Option<Value>)>,
}

fn by_column<S: Serializer>(
    values: &[(Arc<str>, Option<Value>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().map(|(column, value)| (column, value)))
}

/// The tables of a call, in declared order.
pub(super) fn tables(prepared: &Prepared<'_>) -> Vec<TableSeen> {
    let plan = &prepared.step.plan;
    let mut reader = Reader::new(&prepared.call);
    let mut ids: Vec<Vec<Arc<str>>> = Vec::with_capacity(plan.tables.len());
    let mut seen = Vec::with_capacity(plan.tables.len());
    for (table, rows) in plan.tables.iter().zip(&prepared.call.rows) {
        let rows = *rows as usize;
        let offsets = table.parent.map(|parent| {
            let offsets = reader.offsets(prepared.call.rows[parent] as usize);
            (offsets, &ids[parent])
        });
        let below = |row: usize| {
            let (offsets, ids) = offsets.as_ref()?;
            let row = i64::try_from(row).ok()?;
            let above = offsets.partition_point(|offset| *offset <= row);
            let above = above.checked_sub(1)?;
            let id = ids.get(above).cloned();
            Some(id.unwrap_or_else(|| above.to_string().into()))
        };
        let below: Vec<Option<Arc<str>>> = (0..rows).map(below).collect();
        let mut columns = Vec::with_capacity(table.columns.len());
        for column in &table.columns {
            columns.push((column.name.clone(), reader.column(column, rows)));
        }
        let of_table = prepared.ids(table);
        let row = |(row, below): (usize, Option<Arc<str>>)| RowSeen {
            id: of_table.get(row).cloned(),
            below,
            values: columns
                .iter()
                .map(|(column, values)| (column.clone(), values[row].clone()))
                .collect(),
        };
        seen.push(TableSeen {
            table: table.name.clone(),
            columns: table
                .columns
                .iter()
                .map(|column| ColumnSeen {
                    measure: prepared.measure(table, &column.name),
                    name: column.name.clone(),
                })
                .collect(),
            rows: below.into_iter().enumerate().map(row).collect(),
        });
        ids.push(of_table);
    }
    seen
}

impl Prepared<'_> {
    /// Whom the rows of a table tell of, one after the other; empty where they have no ids.
    fn ids(&self, table: &TablePlan) -> Vec<Arc<str>> {
        let inventory = self.query.inventory;
        let hosts = || self.slots.iter().filter_map(|slot| inventory.host(*slot));
        match table.source {
            Source::Hosts | Source::Candidates => hosts().map(|host| host.id.clone()).collect(),
            Source::HostVms => hosts()
                .flat_map(|host| inventory.residents_of(host))
                .map(|entry| entry.vm.id.clone())
                .collect(),
            Source::Members => {
                let members = self.subject.members.iter();
                members.map(|member| member.vm.id.clone()).collect()
            }
            Source::Groups if self.query.part == Part::Balance => inventory
                .groups()
                .map(|entry| entry.group.id.clone())
                .collect(),
            Source::Groups => {
                let groups = self.subject.groups.iter();
                groups.map(|row| row.entry.group.id.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// In what a column is measured: the schema says it, or of a setting the unit.
    fn measure(&self, table: &TablePlan, column: &str) -> Option<Measure> {
        if table.source == Source::Settings {
            let settings = &self.step.unit.description().settings;
            let setting = settings.iter().find(|setting| setting.name == *column)?;
            return Measure::from_name(setting.measure.as_deref()?);
        }
        let schema = self.query.inventory.schema();
        schema.column(&table.name, column)?.measure
    }
}
