//! An event as a row of a table with named columns.

use std::sync::Arc;

use super::line::one_row;
use super::{EventReader, FleetChange, FleetEvent};
use crate::form::TIME;
use crate::form::{Fields, Key, Shape, TEXT, required};
use crate::request::{REQUEST, VM};
use crate::{Content, Entry, Node, Place, Problems, Table, Word, words};
use placewright_model::Kind;
use placewright_model::schema::{Schema, Source};

/// What a row tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Place,
    Reserve,
    Confirm,
    Cancel,
    Remove,
    Down,
    Up,
    Statistics,
    Host,
    Vm,
}

impl Word for Event {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("place", Self::Place),
        ("reserve", Self::Reserve),
        ("confirm", Self::Confirm),
        ("cancel", Self::Cancel),
        ("remove", Self::Remove),
        ("down", Self::Down),
        ("up", Self::Up),
        ("statistics", Self::Statistics),
        ("host", Self::Host),
        ("vm", Self::Vm),
    ];
}

/// What every row has.
const FORM: &[Key] = &[
    required(
        "time",
        TIME,
        "When it happens, in seconds or as an RFC 3339 time",
    ),
    required(
        "event",
        Shape::Word(words::<Event>),
        "What happens: place, reserve, confirm, cancel, remove, down, up, statistics, host or vm",
    ),
    required("id", TEXT, "Id of the VM or host"),
];

/// Between the ids of a cell that has several.
const BETWEEN: char = ';';

/// The tables whose columns a row may have.
const TABLES: [&str; 4] = ["members", "request", "hosts/vms", "hosts"];

/// A column of the file.
#[derive(Debug, Clone)]
pub(super) struct Column {
    name: Arc<str>,
    holds: Holds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    Texts,
    Boolean,
    Amount,
}

impl Column {
    /// None if no event has it.
    fn named(name: &str, schema: &Schema) -> Option<Self> {
        let holds = match name {
            "time" => Some(Holds::Amount),
            "event" | "id" | "host" => Some(Holds::Text),
            _ => of_keys(name).or_else(|| of_tables(name, schema)),
        };
        holds.map(|holds| Self {
            name: name.into(),
            holds,
        })
    }

    fn content(&self, cell: &str, place: &Place) -> Content {
        match self.holds {
            Holds::Text => Content::Text(cell.into()),
            Holds::Texts => {
                let texts = cell.split(BETWEEN).map(str::trim);
                let texts = texts.filter(|text| !text.is_empty()).map(|text| Node {
                    place: place.clone(),
                    content: Content::Text(text.into()),
                });
                Content::List(texts.collect())
            }
            Holds::Boolean => match cell {
                "true" => Content::Boolean(true),
                "false" => Content::Boolean(false),
                _ => Content::Text(cell.into()),
            },
            Holds::Amount => match (cell.parse(), cell.parse::<f64>()) {
                (Ok(whole), _) => Content::Integer(whole),
                (_, Ok(number)) if number.is_finite() => Content::Number(number),
                _ => Content::Text(cell.into()),
            },
        }
    }
}

fn of_keys(name: &str) -> Option<Holds> {
    let mut keys = REQUEST.iter().chain(VM);
    let key = keys.find(|key| key.name == name)?;
    match key.shape {
        Shape::Texts => Some(Holds::Texts),
        Shape::Value(kind, ..) => Some(of_kind(kind)),
        // Tables do not fit a cell.
        _ => None,
    }
}

fn of_tables(name: &str, schema: &Schema) -> Option<Holds> {
    let mut tables = TABLES.iter().filter_map(|table| schema.table(table));
    let column = tables.find_map(|table| {
        let column = table.column(name)?;
        (column.source != Source::Kept).then(|| column.kind)
    });
    column.map(of_kind)
}

fn of_kind(kind: Kind) -> Holds {
    match kind {
        Kind::Text => Holds::Text,
        Kind::Boolean => Holds::Boolean,
        Kind::Integer | Kind::Number => Holds::Amount,
    }
}

/// The names of all columns that a file may have.
fn all_names(schema: &Schema) -> Vec<Arc<str>> {
    let of_form = FORM.iter().map(|key| key.name).chain(["host"]);
    let of_keys = REQUEST.iter().chain(VM).map(|key| key.name);
    let of_keys = of_keys.filter(|name| self::of_keys(name).is_some());
    let tables = TABLES.iter().filter_map(|table| schema.table(table));
    let of_tables = tables.flat_map(|table| {
        let given = table.columns.iter().filter(|it| it.source != Source::Kept);
        given.map(|column| column.name.clone())
    });
    let mut names: Vec<Arc<str>> = of_form.chain(of_keys).map(Arc::from).collect();
    for name in of_tables {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

impl EventReader {
    /// The names of the columns, which stand in that line.
    pub fn header<'n>(&mut self, line: u32, names: impl IntoIterator<Item = &'n str>) {
        let place = self.place(line);
        for name in names {
            match Column::named(name, &self.schema) {
                Some(column) => {
                    if self.columns.iter().any(|known| known.name == column.name) {
                        let message = format!("the column \"{name}\" stands here twice");
                        self.problems.add(&place, message);
                    }
                    self.columns.push(column);
                }
                None => {
                    let message = format!("events have no column \"{}\"", crate::shown(name));
                    let known = all_names(&self.schema);
                    let known = known.iter().map(|name| &**name);
                    self.problems.add_unknown(&place, message, name, known);
                }
            }
        }
        for key in FORM {
            if !self.columns.iter().any(|column| *column.name == *key.name) {
                let message = format!("events need a column \"{}\"", key.name);
                self.problems.add(&place, message);
            }
        }
    }

    /// The event of a row; a cell that is empty says nothing. None if something is wrong:
    /// [`EventReader::finish`] tells.
    pub fn row<'c>(
        &mut self,
        line: u32,
        cells: impl IntoIterator<Item = &'c str>,
    ) -> Option<FleetEvent> {
        let place = self.place(line);
        let cells = cells.into_iter().map(str::trim);
        let given = self.columns.iter().zip(cells);
        let given = given.filter(|(_, cell)| !cell.is_empty());
        let entries = given.map(|(column, cell)| Entry {
            key: column.name.clone(),
            place: place.clone(),
            node: Node {
                place: place.clone(),
                content: column.content(cell, &place),
            },
        });
        let tree = Table {
            place: place.clone(),
            entries: entries.collect(),
        };
        let mut problems = Problems::new();
        let (fields, others) = Fields::split(&tree, FORM, "an event", &mut problems);
        if !problems.is_empty() {
            self.problems.append(problems);
            return None;
        }
        let (time, event, id) = (
            fields.integer("time")?,
            fields.word::<Event>("event")?,
            fields.text("id")?,
        );
        let of_id = tree.entries.iter().filter(|entry| *entry.key == *"id");
        let body = Table {
            place: place.clone(),
            entries: of_id.chain(others.iter().copied()).cloned().collect(),
        };
        if !event.has_more()
            && let Some(entry) = others.first()
        {
            let message = format!(
                "\"{}\" of a VM or host is given with place, reserve, statistics, host or vm, not with {}",
                entry.key,
                event.word()
            );
            self.problems.add(&place, message);
            return None;
        }
        let change = match event {
            Event::Place => FleetChange::Place(self.requests(&body, time)?),
            Event::Reserve => FleetChange::Reserve(self.requests(&body, time)?),
            Event::Confirm => FleetChange::Confirm(vec![id]),
            Event::Cancel => FleetChange::Cancel(vec![id]),
            Event::Remove => FleetChange::Remove(vec![id]),
            Event::Down => FleetChange::Down(self.known_hosts(vec![id], &place)?),
            Event::Up => FleetChange::Up(self.known_hosts(vec![id], &place)?),
            Event::Statistics => self.changes(&one_row("statistics", body))?,
            Event::Host => self.changes(&one_row("hosts", body))?,
            Event::Vm => self.changes(&one_row("vms", body))?,
        };
        self.in_order(FleetEvent { time, line, change }, &place)
    }
}

impl Event {
    /// Whether other columns tell more of the VM or host.
    fn has_more(self) -> bool {
        matches!(
            self,
            Self::Place | Self::Reserve | Self::Statistics | Self::Host | Self::Vm
        )
    }
}
