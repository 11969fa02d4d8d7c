//! Reads a call back as a unit sees it, for explanations.

use super::explain::ValueShown;
use super::plan::{ColumnPlan, ReadPlan, Source};
use placewright_engine::contract::{Call, Setting};
use placewright_model::schema::Schema;
use placewright_model::{Kind, Measure, Value};

/// The values of a call by table and column, the unit's settings in force among them. A
/// column without any value is left out; several rows are joined, `-` where one has none.
pub(super) fn seen(
    plan: &ReadPlan,
    call: &Call,
    schema: &Schema,
    settings: &[Setting],
) -> Vec<ValueShown> {
    let mut reader = Reader::new(call);
    let mut shown = Vec::new();
    for (number, table) in plan.tables.iter().enumerate() {
        let rows = call.rows[number] as usize;
        if let Some(parent) = table.parent {
            reader.offsets(call.rows[parent] as usize);
        }
        for column in &table.columns {
            let values = reader.column(column, rows);
            if values.iter().all(Option::is_none) {
                continue;
            }
            let measure = match table.source {
                Source::Settings => {
                    let setting = settings.iter().find(|it| *it.name == *column.name);
                    setting.and_then(|it| Measure::from_name(it.measure.as_deref()?))
                }
                _ => schema
                    .column(&table.name, &column.name)
                    .and_then(|column| column.measure),
            };
            let text = |value: &Option<Value>| match (value, measure) {
                (None, _) => "-".to_owned(),
                (Some(value), Some(measure)) => measure.display(value),
                (Some(value), None) => value.to_string(),
            };
            shown.push(ValueShown {
                table: table.name.clone(),
                column: column.name.clone(),
                value: values.iter().map(text).collect::<Vec<_>>().join(", "),
            });
        }
    }
    shown
}

/// Goes through the lists of a call in declared order.
pub(super) struct Reader<'a> {
    call: &'a Call,
    integers: usize,
    numbers: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(call: &'a Call) -> Self {
        Self {
            call,
            integers: 0,
            numbers: 0,
        }
    }

    /// Where the rows below each of so many rows begin, and where the last ones end.
    pub(super) fn offsets(&mut self, parents: usize) -> &'a [i64] {
        let first = self.integers;
        self.integers += parents + 1;
        self.call.integers.get(first..self.integers).unwrap_or(&[])
    }

    pub(super) fn column(&mut self, column: &ColumnPlan, rows: usize) -> Vec<Option<Value>> {
        let next = match column.kind {
            Kind::Number => &mut self.numbers,
            _ => &mut self.integers,
        };
        let first = *next;
        *next += rows;
        (first..first + rows)
            .map(|at| self.value(column.kind, at))
            .collect()
    }

    fn value(&self, kind: Kind, at: usize) -> Option<Value> {
        let call = self.call;
        let absent = match kind {
            Kind::Number => &call.absent_numbers,
            _ => &call.absent_integers,
        };
        if u32::try_from(at).is_ok_and(|at| absent.binary_search(&at).is_ok()) {
            return None;
        }
        Some(match kind {
            Kind::Number => Value::Number(*call.numbers.get(at)?),
            Kind::Integer => Value::Integer(*call.integers.get(at)?),
            Kind::Boolean => Value::Boolean(*call.integers.get(at)? != 0),
            Kind::Text => {
                let code = usize::try_from(*call.integers.get(at)?).ok()?;
                Value::Text(call.texts.get(code)?.clone())
            }
        })
    }
}
