//! An event as a JSON object.

use super::{EventReader, FleetChange, FleetEvent};
use crate::form::{Fields, Key, Shape, TIME, key, required};
use crate::tree::parse_line;
use crate::{Content, Entry, Node, Problems, Table};

/// What an event has: its time, and one of the others.
pub(super) const FORM: &[Key] = &[
    required(
        "time",
        TIME,
        "When it happens, in seconds or as an RFC 3339 time",
    ),
    key(
        "place",
        Shape::Open,
        "What is to be placed, as the document of a VM, of VMs or of requests; it runs at once",
    ),
    key(
        "reserve",
        Shape::Open,
        "What is to be placed, and runs once it is confirmed",
    ),
    key(
        "confirm",
        Shape::Texts,
        "Ids of VMs that run where their places are reserved",
    )
    .such_as("web-1"),
    key(
        "cancel",
        Shape::Texts,
        "Ids of VMs whose reserved places are given back",
    )
    .such_as("web-1"),
    key("remove", Shape::Texts, "Ids of VMs that are there no more").such_as("web-2"),
    key("down", Shape::Texts, "Ids of hosts that fail").such_as("h1"),
    key("up", Shape::Texts, "Ids of hosts that return").such_as("h1"),
    key(
        "statistics",
        Shape::Any,
        "What was measured of hosts, as in a document of changes",
    ),
    key(
        "changes",
        Shape::Open,
        "Whatever else is different, as a document of changes",
    ),
];

impl EventReader {
    /// The event of a line, a JSON object. None for a blank line, and if something is wrong:
    /// [`EventReader::finish`] tells.
    pub fn line(&mut self, line: u32, text: &str) -> Option<FleetEvent> {
        let text = match line {
            1 => text.strip_prefix('\u{feff}').unwrap_or(text),
            _ => text,
        };
        if text.trim().is_empty() {
            return None;
        }
        let tree = parse_line(text, &self.file, line);
        let tree = self.noted(tree)?;
        let mut problems = Problems::new();
        let fields = Fields::read(&tree, FORM, "an event", &mut problems);
        if !problems.is_empty() {
            self.problems.append(problems);
            return None;
        }
        let time = fields.integer("time")?;
        let given = tree.entries.iter().filter(|entry| *entry.key != *"time");
        let given: Vec<&Entry> = given.collect();
        let [what] = given[..] else {
            let kinds: Vec<_> = FORM[1..]
                .iter()
                .map(|key| format!("\"{}\"", key.name))
                .collect();
            let message = format!(
                "an event has its \"time\" and one of {}; this one has {} of them",
                kinds.join(", "),
                given.len()
            );
            self.problems.add(&tree.place, message);
            return None;
        };
        let ids = fields.list(&what.key);
        let change = match &*what.key {
            "place" => FleetChange::Place(self.requests(fields.table("place")?, time)?),
            "reserve" => FleetChange::Reserve(self.requests(fields.table("reserve")?, time)?),
            "confirm" => FleetChange::Confirm(ids),
            "cancel" => FleetChange::Cancel(ids),
            "remove" => FleetChange::Remove(ids),
            "down" => FleetChange::Down(self.known_hosts(ids, &what.place)?),
            "up" => FleetChange::Up(self.known_hosts(ids, &what.place)?),
            "statistics" => self.changes(&only(what.clone()))?,
            _ => self.changes(fields.table("changes")?)?,
        };
        let event = FleetEvent { time, line, change };
        self.in_order(event, &tree.place)
    }
}

/// A document with this entry alone.
pub(super) fn only(entry: Entry) -> Table {
    Table {
        place: entry.place.clone(),
        entries: vec![entry],
    }
}

/// A document of changes with this row alone in that list.
pub(super) fn one_row(list: &str, row: Table) -> Table {
    let place = row.place.clone();
    let rows = vec![Node {
        place: place.clone(),
        content: Content::Table(row),
    }];
    only(Entry {
        key: list.into(),
        place: place.clone(),
        node: Node {
            place,
            content: Content::List(rows),
        },
    })
}
