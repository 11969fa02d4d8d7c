//! Documents that people write: clusters, VMs and policies, in TOML or JSON.
//!
//! Reading is pure: text in; values, or every problem with its place, out.
//!
//! Read [`ClusterDocument`], [`WrittenRequest`] and [`Problems`] first; a new document is read with
//! [`RowReader`].

#![forbid(unsafe_code)]

mod changes;
mod cluster;
mod contract;
mod entries;
mod events;
pub mod form;
pub mod json_schema;
pub mod made;
mod names;
mod pinning;
mod problem;
pub mod request;
mod row;
mod tree;
mod value;
mod written;

pub use changes::{
    ChangedGroup, ChangedPinning, ChangedRow, ChangedVm, EntityKind, Extent, Gone,
    InventoryChanges, MembersChange, Missing, RuleChange, Statistics, TextChange,
    changes_json_schema,
};
pub use cluster::stem;
pub use cluster::{
    ClusterDocument, ClusterRows, PlacedVm, VmRow, cluster_json_schema, write_cluster,
};
pub use contract::contract;
pub use events::{EventReader, FleetChange, FleetEvent, event_json_schema};
pub use problem::{Place, Problem, Problems};
pub use problem::{grouped, shortened};
pub use request::{Surroundings, WrittenRequest, read_requests, requests_of_tree};
pub use row::RowReader;
pub use tree::{Bound, Content, Entry, Node, Table, parse, parse_with_nulls};
pub use value::{Expected, LONGEST_ID, LONGEST_TEXT};
pub use value::{alternatives, shown};
pub use written::WrittenFacts;

pub use placewright_model::{Word, nearest, serial, words};

#[cfg(test)]
mod examples;
