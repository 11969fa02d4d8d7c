//! Documents that people write: clusters, VMs and policies, in TOML or JSON.
//!
//! Reading is pure: text in; values, or every problem with its place, out.

mod changes;
mod cluster;
pub mod form;
mod ganeti;
pub(crate) mod json_schema;
pub(crate) mod made;
mod names;
mod nearest;
mod pinning;
mod problem;
pub(crate) mod request;
mod row;
pub mod serial;
mod tree;
mod value;
mod word;
mod written;

pub use changes::{
    ChangedGroup, ChangedPinning, ChangedRow, ChangedVm, EntityKind, Extent, Gone,
    InventoryChanges, MembersChange, Missing, RuleChange, Statistics, changes_json_schema,
};
pub(crate) use cluster::stem;
pub use cluster::{ClusterDocument, PlacedVm, cluster_json_schema};
pub use nearest::nearest;
pub use problem::{Place, Problem, Problems};
pub(crate) use problem::{grouped, shortened};
pub use request::{Surroundings, WrittenRequest, read_requests, requests_of_tree};
pub use row::RowReader;
pub use tree::{Content, Entry, Node, Table, parse, parse_with_nulls};
pub use value::{Expected, LONGEST_ID, LONGEST_TEXT};
pub(crate) use value::{alternatives, shown};
pub use word::{Word, words};
pub use written::WrittenFacts;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod junk;
