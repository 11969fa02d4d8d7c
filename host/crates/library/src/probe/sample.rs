//! Tables that a part might be given, made up from what it declares.

use regex::Regex;

use super::candidates;
use super::random::Random;
use super::tables::{Cell, Row, Table, Tables};
use super::values::{self, Character};
use placewright_engine::contract::{ColumnRead, Description, Setting, TableRead, Value as Given};
use placewright_model::schema::{Rows, Schema};
use placewright_model::{Kind, Value};

/// What kind of tables are made up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variety {
    /// Rows of `hosts`.
    pub(super) hosts: usize,
    /// Rows of `members`.
    pub(super) members: usize,
    /// How probable it is that a value that may be absent is.
    pub(super) absent: f64,
    /// How many rows a nested table has at most below each row.
    pub(super) nested: usize,
    /// Whether the candidates may stand in several groups.
    pub(super) grouped: bool,
}

impl Default for Variety {
    fn default() -> Self {
        Self {
            hosts: 24,
            members: 1,
            absent: 0.2,
            nested: 3,
            grouped: true,
        }
    }
}

impl Variety {
    /// What every part is tried with.
    pub(super) fn all() -> [Self; 7] {
        let usual = Self::default();
        [
            usual,
            Self {
                members: 3,
                ..usual
            },
            Self {
                absent: 0.0,
                nested: 5,
                ..usual
            },
            Self {
                absent: 1.0,
                ..usual
            },
            Self { nested: 0, ..usual },
            Self { hosts: 1, ..usual },
            Self { hosts: 0, ..usual },
        ]
    }
}

/// How many groups there are; some have no row that names them.
const GROUPS: usize = 3;

/// Columns that hold a row number of another table.
const REFERENCES: [(&str, &str); 5] = [
    ("member", "members"),
    ("group", "groups"),
    ("vm", "hosts/vms"),
    ("host", "hosts"),
    ("row", "tenant/bindings"),
];

/// Make up the tables of a part that reads `reads`.
///
/// # Errors
/// If a setting that must be set cannot be guessed, with a sentence.
pub(super) fn make(
    description: &Description,
    reads: &[TableRead],
    variety: Variety,
    random: &mut Random,
) -> Result<Tables, String> {
    let mut made = Tables {
        members: variety.members,
        ..Tables::default()
    };
    for read in reads {
        let parent = read.parent().and_then(|parent| made.find(parent));
        let rows = match read.table.strip_prefix("settings") {
            Some("") => vec![settings(description, read, random)?],
            Some(_) => setting_rows(read, variety, random),
            None if read.table == candidates::TABLE => candidates::rows(read, variety, random),
            None => rows(read, parent, &made, variety, random),
        };
        made.tables.push(Table {
            name: read.table.clone(),
            parent,
            columns: read
                .columns
                .iter()
                .map(|column| (column.column.clone(), column.kind.into()))
                .collect(),
            rows,
        });
    }
    Ok(made)
}

/// The tables that the part `settings` gets: all settings in described order.
pub(super) fn all_settings(description: &Description) -> Vec<TableRead> {
    let column = |name: &str, kind, required| ColumnRead {
        column: name.to_owned(),
        kind,
        required,
        gate: false,
    };
    let (tables, single): (Vec<_>, Vec<_>) = description
        .settings
        .iter()
        .partition(|setting| !setting.columns.is_empty());
    let first = TableRead {
        table: "settings".to_owned(),
        columns: single
            .into_iter()
            .map(|setting| column(&setting.name, setting.kind, setting.required))
            .collect(),
    };
    let below = tables.into_iter().map(|setting| TableRead {
        table: format!("settings/{}", setting.name),
        columns: setting
            .columns
            .iter()
            .map(|of| column(&of.name, of.kind, of.required))
            .collect(),
    });
    [first].into_iter().chain(below).collect()
}

/// How many rows a table has for each row of its parent, or in all.
fn count(table: &str, parent: Option<usize>, variety: Variety, random: &mut Random) -> usize {
    let rows = Schema::built_in().table(table).map(|table| table.rows);
    match (table, rows) {
        ("hosts", _) => variety.hosts,
        ("members", _) => variety.members,
        ("groups", _) => GROUPS.min(variety.nested),
        (_, Some(Rows::One)) => 1,
        (_, Some(Rows::Optional)) => usize::from(!random.happens(variety.absent)),
        _ if parent.is_none() => variety.members.min(variety.nested),
        _ => random.below(variety.nested + 1),
    }
}

fn rows(
    read: &TableRead,
    parent: Option<usize>,
    made: &Tables,
    variety: Variety,
    random: &mut Random,
) -> Vec<Row> {
    let parents = parent.map_or(1, |parent| made.tables[parent].rows.len());
    let mut rows = Vec::new();
    for parent_row in 0..parents {
        let wanted = count(&read.table, parent, variety, random);
        // Below one row, no other row is named twice.
        let named = targets(read, made, variety);
        let first = random.below(named.unwrap_or(0));
        for number in 0..wanted.min(named.unwrap_or(wanted)) {
            let reference = named.map(|named| ((first + number) % named) as i64);
            let character = Character::of(&read.table, rows.len(), random);
            let cells = read.columns.iter();
            let cells = cells
                .map(|column| cell(&read.table, column, reference, &character, variety, random));
            rows.push(Row {
                parent: parent_row,
                cells: cells.collect(),
            });
        }
    }
    rows
}

/// How many rows the table has that this one's rows name by number, if they do.
fn targets(read: &TableRead, made: &Tables, variety: Variety) -> Option<usize> {
    let schema = Schema::built_in().table(&read.table)?;
    let target = schema
        .columns
        .iter()
        .find_map(|column| reference(&column.name))?;
    Some(match (made.find(target), target) {
        (Some(table), _) => made.tables[table].rows.len(),
        // Not declared: the numbers are then of no use to the part.
        (None, "members") => variety.members,
        (None, _) => GROUPS,
    })
}

fn reference(column: &str) -> Option<&'static str> {
    let known = REFERENCES.iter().find(|(name, _)| *name == column)?;
    Some(known.1)
}

pub(super) fn cell(
    table: &str,
    read: &ColumnRead,
    named: Option<i64>,
    row: &Character,
    variety: Variety,
    random: &mut Random,
) -> Cell {
    let kind = Kind::from(read.kind);
    if let Some(named) = named
        && reference(&read.column).is_some()
    {
        return Some(Value::Integer(named));
    }
    // A part is not called where its gate is closed.
    if read.gate && kind == Kind::Boolean {
        return Some(Value::Boolean(true));
    }
    let column = Schema::built_in().column(table, &read.column);
    let optional = column.as_ref().is_none_or(|column| column.optional);
    if optional && !read.required && !read.gate && random.happens(variety.absent) {
        return None;
    }
    Some(values::value(
        &read.column,
        kind,
        column.as_deref(),
        row,
        random,
    ))
}

fn settings(
    description: &Description,
    read: &TableRead,
    random: &mut Random,
) -> Result<Row, String> {
    let cells = read.columns.iter().map(|column| {
        let setting = description
            .settings
            .iter()
            .find(|setting| setting.name == column.column);
        match setting {
            Some(setting) => set(setting, random),
            None => Ok(None),
        }
    });
    Ok(Row {
        parent: 0,
        cells: cells.collect::<Result<_, _>>()?,
    })
}

/// The default, or a guess where a policy would have to say.
fn set(setting: &Setting, random: &mut Random) -> Result<Cell, String> {
    if let Some(default) = &setting.default {
        return Ok(Some(Value::from(default)));
    }
    if !setting.required {
        return Ok(None);
    }
    let least = setting.least.unwrap_or(0.0);
    let number = setting
        .greatest
        .map_or(least, |greatest| least.min(greatest));
    let guess = match setting.kind.into() {
        Kind::Integer => Given::Integer(number.ceil() as i64),
        Kind::Number => Given::Number(number),
        Kind::Boolean => Given::Boolean(random.happens(0.5)),
        Kind::Text => Given::Text(guess_text(setting)?),
    };
    Ok(Some(Value::from(&guess)))
}

fn guess_text(setting: &Setting) -> Result<String, String> {
    const GUESSES: [&str; 8] = ["a", "1", "name", "example", "0.5", "a=b", "a-b", ""];
    if let Some(choice) = setting.choices.first() {
        return Ok(choice.clone());
    }
    let Some(pattern) = &setting.pattern else {
        return Ok(GUESSES[0].to_owned());
    };
    let cannot = || {
        format!(
            "no value for the setting {} could be made up; give it a default",
            setting.name
        )
    };
    let pattern = Regex::new(&format!("^(?:{pattern})$")).map_err(|_| cannot())?;
    let guess = GUESSES.into_iter().find(|guess| pattern.is_match(guess));
    guess.map(str::to_owned).ok_or_else(cannot)
}

fn setting_rows(read: &TableRead, variety: Variety, random: &mut Random) -> Vec<Row> {
    let count = random.below(variety.nested + 1);
    (0..count)
        .map(|number| Row {
            parent: 0,
            cells: read
                .columns
                .iter()
                .map(|column| setting_cell(column, number, variety, random))
                .collect(),
        })
        .collect()
}

fn setting_cell(read: &ColumnRead, number: usize, variety: Variety, random: &mut Random) -> Cell {
    if !read.required && random.happens(variety.absent) {
        return None;
    }
    let row = Character::of("settings", number, random);
    Some(values::value(
        &read.column,
        read.kind.into(),
        None,
        &row,
        random,
    ))
}
