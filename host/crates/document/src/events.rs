//! What happens to a cluster over time, event by event: VMs that come and go, what is measured,
//! hosts that fail and return.
//!
//! Each event is a line of a file: a JSON object, or a row of a table with named columns. What is
//! to be placed is read as documents of requests are, everything else as documents of changes.

mod json_schema;
mod line;
mod row;
#[cfg(test)]
mod tests;

pub use json_schema::event_json_schema;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{InventoryChanges, Place, Problems, Table};
use crate::request::{Surroundings, requests_of_tree};
use placewright_model::Request;
use placewright_model::schema::Schema;

/// Something that happens to a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetEvent {
    /// Seconds since 1970-01-01 UTC, or since whatever the file counts from.
    pub time: i64,
    /// The line of the file, from 1.
    pub line: u32,
    /// What happens.
    pub change: FleetChange,
}

/// What happens to a cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum FleetChange {
    /// VMs are to be placed, request by request, and run at once.
    Place(Vec<Request>),
    /// VMs are to be placed, and run once that is confirmed.
    Reserve(Vec<Request>),
    /// VMs run where their places are reserved.
    Confirm(Vec<Arc<str>>),
    /// The places that are reserved for VMs are given back.
    Cancel(Vec<Arc<str>>),
    /// VMs are there no more.
    Remove(Vec<Arc<str>>),
    /// Hosts fail, with the VMs that run there.
    Down(Vec<Arc<str>>),
    /// Hosts return.
    Up(Vec<Arc<str>>),
    /// Anything else is different, or was measured.
    Changes(Box<InventoryChanges>),
}

/// Reads events, one line after the other.
pub struct EventReader {
    file: Arc<str>,
    schema: Schema,
    hosts: BTreeSet<Arc<str>>,
    /// Time and line of the event before.
    last: Option<(i64, u32)>,
    /// What was wrong so far.
    problems: Problems,
    /// What the columns of a table are, if the file is one.
    columns: Vec<row::Column>,
}

impl EventReader {
    /// A reader of what happens to a cluster that has those tables and columns, and those hosts.
    /// `file` is what problems call the file.
    pub fn new(file: &str, schema: &Schema, hosts: impl IntoIterator<Item = Arc<str>>) -> Self {
        Self {
            file: file.into(),
            schema: schema.clone(),
            hosts: hosts.into_iter().collect(),
            last: None,
            problems: Problems::new(),
            columns: Vec::new(),
        }
    }

    /// Everything that was wrong, if anything was.
    ///
    /// # Errors
    /// All problems, in the order of lines.
    pub fn finish(self) -> Result<(), Problems> {
        self.problems.or(())
    }

    /// Whether reading on finds nothing that would be told.
    pub fn is_lost(&self) -> bool {
        self.problems.is_full()
    }

    fn place(&self, line: u32) -> Place {
        Place {
            file: self.file.clone(),
            line,
            column: 1,
        }
    }

    /// Take over what is wrong, or give what was read.
    fn noted<T>(&mut self, read: Result<T, Problems>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(problems) => {
                self.problems.append(problems);
                None
            }
        }
    }

    /// The event, if it does not come before the one of the line before it.
    fn in_order(&mut self, event: FleetEvent, place: &Place) -> Option<FleetEvent> {
        if let Some((time, line)) = self.last
            && event.time < time
        {
            let message = format!(
                "events stand in order of time: this one is at {}, and the one of line {line} before it at {time}",
                event.time
            );
            self.problems.add(place, message);
            return None;
        }
        self.last = Some((event.time, event.line));
        Some(event)
    }

    fn requests(&mut self, tree: &Table, time: i64) -> Option<Vec<Request>> {
        let surroundings = Surroundings {
            schema: &self.schema,
            now: time,
            hosts: Some(&self.hosts),
        };
        let requests = requests_of_tree(tree, surroundings);
        let requests = self.noted(requests)?;
        if requests.iter().any(|request| request.now != time) {
            let message =
                "\"now\" of what is placed is not the \"time\" of the event: leave \"now\" out";
            self.problems.add(&tree.place, message);
            return None;
        }
        Some(requests)
    }

    fn changes(&mut self, tree: &Table) -> Option<FleetChange> {
        let changes = InventoryChanges::of_tree(tree, &self.schema);
        let changes = self.noted(changes)?;
        for attribute in &changes.attributes {
            if let Err(error) = self.schema.declare(attribute) {
                self.problems.add(&tree.place, error.to_string());
            }
        }
        let come = changes.hosts.iter().map(|host| host.id.clone());
        self.hosts.extend(come);
        for host in &changes.gone.hosts {
            self.hosts.remove(host);
        }
        Some(FleetChange::Changes(Box::new(changes)))
    }

    /// These hosts, if there are such.
    fn known_hosts(&mut self, hosts: Vec<Arc<str>>, place: &Place) -> Option<Vec<Arc<str>>> {
        let unknown: Vec<&Arc<str>> = hosts
            .iter()
            .filter(|host| !self.hosts.contains(*host))
            .collect();
        for host in &unknown {
            let message = format!("there is no host \"{}\"", super::shown(host));
            let known = self.hosts.iter().map(|known| &**known);
            self.problems.add_misnamed(place, message, host, known);
        }
        unknown.is_empty().then_some(hosts)
    }
}
