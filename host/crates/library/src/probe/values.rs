//! Values that a column might have in a data centre.

use super::random::Random;
use placewright_model::schema::Column;
use placewright_model::{Kind, Measure, Value};

/// When made-up decisions are made: 2026-11-20.
pub(super) const NOW: i64 = 1_795_132_800;

const GIB: i64 = 1 << 30;

/// Few texts, so that equal ones meet.
const TEXTS: [&str; 5] = ["red", "blue", "green", "amber", "violet"];

/// Scores of ±1000000 stand for infinity.
const SCORES: [i64; 5] = [-1_000_000, -5, 0, 5, 1_000_000];

/// What the values of one row have in common, so that they fit together.
pub(super) struct Character {
    /// Number of the row.
    number: usize,
    /// How full it is: 0 is empty, more than 1 overfull.
    load: f64,
    cores: i64,
    memory: i64,
    /// Whether it is a host; otherwise amounts are what a VM needs.
    host: bool,
}

impl Character {
    pub(super) fn of(table: &str, number: usize, random: &mut Random) -> Self {
        const LOADS: [f64; 6] = [0.0, 0.2, 0.6, 0.9, 1.0, 1.3];
        let host = matches!(table, "hosts" | "sources");
        Self {
            number,
            load: random.one_of(&LOADS).copied().unwrap_or(0.0),
            cores: random.between(2, 32) * if host { 4 } else { 1 },
            memory: random.between(1, 32) * GIB * if host { 16 } else { 1 },
            host,
        }
    }
}

/// A value for a column. `column` is none for what an operator defines.
pub(super) fn value(
    name: &str,
    kind: Kind,
    column: Option<&Column>,
    row: &Character,
    random: &mut Random,
) -> Value {
    let measure = column.and_then(|column| column.measure);
    let value = match kind {
        Kind::Integer => Value::Integer(integer(name, measure, row, random)),
        Kind::Number => Value::Number(number(measure, column, row, random)),
        Kind::Boolean => Value::Boolean(random.happens(0.5)),
        Kind::Text => text(name, column, row, random),
    };
    match column {
        Some(column) => within(value, column),
        None => value,
    }
}

fn integer(name: &str, measure: Option<Measure>, row: &Character, random: &mut Random) -> i64 {
    match measure {
        Some(Measure::Bytes) => amount(name, row.memory, row, random),
        Some(Measure::Millicores) => amount(name, row.cores * 1000, row, random),
        Some(Measure::Time) if name == "now" => NOW,
        Some(Measure::Time) => NOW - random.between(0, 1_000_000),
        Some(Measure::Seconds) => random.between(0, 3600),
        Some(Measure::Percent) => random.between(0, 100),
        Some(Measure::Fraction) | None => count(name, row, random),
    }
}

fn amount(name: &str, capacity: i64, row: &Character, random: &mut Random) -> i64 {
    if !row.host || name.ends_with("total") {
        return capacity;
    }
    let used = capacity as f64 * row.load;
    if name.ends_with("free") {
        return (capacity as f64 - used).max(0.0) as i64;
    }
    // What is used has several parts: measured, promised, pending.
    (used * random.share()) as i64
}

fn count(name: &str, row: &Character, random: &mut Random) -> i64 {
    match name {
        "cpu.cores" => row.cores,
        "cpu.threads" => row.cores * 2,
        "cpu.sockets" | "sockets" | "threads" => random.between(1, 2),
        "cores" => random.between(1, 8),
        "listed" | "index" | "row" | "cpu" | "vcpu" => row.number as i64,
        "score" => random.one_of(&SCORES).copied().unwrap_or(0),
        _ => random.between(0, 20),
    }
}

fn number(
    measure: Option<Measure>,
    column: Option<&Column>,
    row: &Character,
    random: &mut Random,
) -> f64 {
    let bounded = column.is_some_and(|column| column.bounds.greatest.is_some());
    match measure {
        Some(Measure::Fraction) if bounded && row.host => row.load.min(1.0) * random.share(),
        Some(Measure::Fraction) if bounded => random.share(),
        Some(Measure::Fraction) => 0.5 + 1.5 * random.share(),
        _ if column.is_some_and(|column| &*column.name == "draw") => random.share(),
        _ => (random.share() * 1000.0).round() / 100.0,
    }
}

fn text(name: &str, column: Option<&Column>, row: &Character, random: &mut Random) -> Value {
    let choices = column.map_or(&[][..], |column| column.choices);
    if let Some(choice) = random.one_of(choices) {
        return Value::from(*choice);
    }
    match name {
        "id" => Value::from(format!("id-{}", row.number).as_str()),
        "rule" | "host-rule" => {
            Value::from(*random.one_of(&["positive", "negative"]).unwrap_or(&""))
        }
        "kind" => Value::from(*random.one_of(&["place", "migrate"]).unwrap_or(&"")),
        _ => any_text(random),
    }
}

pub(super) fn any_text(random: &mut Random) -> Value {
    Value::from(*random.one_of(&TEXTS).unwrap_or(&""))
}

/// The nearest value that the schema allows.
fn within(value: Value, column: &Column) -> Value {
    let least = column.bounds.least.unwrap_or(f64::MIN);
    let greatest = column.bounds.greatest.unwrap_or(f64::MAX);
    match value {
        Value::Integer(value) => Value::Integer((value as f64).clamp(least, greatest) as i64),
        Value::Number(value) => Value::Number(value.clamp(least, greatest)),
        other => other,
    }
}
