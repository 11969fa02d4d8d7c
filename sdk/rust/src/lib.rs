//! Write Placewright policy units in Rust.
//!
//! A unit declares what it reads as plain structs, implements one or two traits
//! and names its parts:
//!
//! ```
//! use placewright_sdk::prelude::*;
//!
//! /// What this unit reads of the VM to be placed.
//! #[derive(Row)]
//! struct Vm {
//!     memory: Bytes,
//! }
//!
//! /// What it reads of a host.
//! #[derive(Row)]
//! struct Host {
//!     #[column("memory.free")]
//!     free: Bytes,
//! }
//!
//! #[derive(Settings)]
//! struct Settings {
//!     /// Memory kept free on every host.
//!     #[setting(default = "1 GiB")]
//!     headroom: Bytes,
//! }
//!
//! #[derive(Reason)]
//! enum Reason {
//!     /// has too little free memory
//!     TooLittleMemory,
//! }
//!
//! struct Memory;
//!
//! impl RowWise for Memory {
//!     type Request = Vm;
//!     type Host = Host;
//!     type Settings = Settings;
//!     type Reason = Reason;
//!     type Need = Bytes;
//!
//!     fn prepare(vm: &Vm, settings: &Settings) -> Result<Bytes, Problem> {
//!         Ok(vm.memory + settings.headroom)
//!     }
//! }
//!
//! impl RowFilter for Memory {
//!     fn keep(need: &Bytes, host: &Host) -> Verdict<Reason> {
//!         Verdict::keep_if(host.free >= *need, Reason::TooLittleMemory)
//!     }
//! }
//!
//! placewright_sdk::export!(Memory: filter);
//! # fn main() {}
//! ```
//!
//! The crate's `Cargo.toml` gives the unit its name and version, its summary
//! (`description`), and the crate type of a module:
//!
//! ```toml
//! [package]
//! name = "memory"
//! version = "0.1.0"
//! edition = "2024"
//! description = "Keeps hosts with enough free memory."
//!
//! [lib]
//! crate-type = ["cdylib", "rlib"]
//!
//! [dependencies]
//! placewright-sdk = { path = "PATH/TO/placewright/sdk/rust" }
//! ```
//!
//! With once-per-VM reads as here, each VM of a request is judged by itself: a
//! filter for something that adds up reads `Rows<Vm>` instead, see [`Request`].
//!
//! The columns of a host contain what the VM to be placed holds there, if it runs there
//! already and is placed again or grows. A filter for something that adds up reads
//! `hosts/current` besides and asks [`Takes`](takes::Takes) what the VM takes in addition.
//!
//! A unit may have other parts, alone or together, each a trait:
//!
//! | in `export!` | trait | what it does |
//! |---|---|---|
//! | `filter`, `cost_function` | [`RowFilter`], [`RowCost`] | judges each host by itself |
//! | `table_filter`, `table_cost_function` | [`TableFilter`], [`TableCost`] | judges hosts that it sees all at once |
//! | `selection` | [`Selection`] | puts the candidates that are left in groups with shares |
//! | `effects` | [`Effects`] | says what is to be written when a request is placed |
//! | `order` | [`Order`] | puts the VMs of a batch in order |
//! | `explain` | [`Explain`] | tells the values behind its answers, when a person asks |
//! | `balance` | [`Balance`] | proposes moves in a cluster that runs |
//! | `settings` | [`CheckSettings`] | refuses settings that do not go together |
//!
//! [`RowFilter`]: row_wise::RowFilter
//! [`RowCost`]: row_wise::RowCost
//! [`TableFilter`]: whole_table::TableFilter
//! [`TableCost`]: whole_table::TableCost
//! [`Selection`]: selection::Selection
//! [`Effects`]: effects::Effects
//! [`Order`]: order::Order
//! [`Explain`]: explain::Explain
//! [`Balance`]: balance::Balance
//! [`CheckSettings`]: check::CheckSettings
//!
//! `placewright unit build` makes a component of it.
//! Compiled for `wasm32-unknown-unknown` this is the core module of a unit;
//! compiled natively, the same code is called through [`native`], by the
//! author's tests and by benchmarks.
//!
//! How values travel is hidden: columns arrive as flat lists ([`call`]), a
//! [`Row`] reads them in place, and nothing is allocated per row unless the row
//! holds texts or nested tables.

#![deny(unsafe_code, missing_docs)]

extern crate self as placewright_sdk;

#[cfg(all(target_family = "wasm", feature = "allocator"))]
mod allocator;
pub mod amounts;
pub mod balance;
pub mod bindings;
pub mod call;
pub mod cell;
pub mod check;
pub mod contract;
pub mod effects;
pub mod entry;
pub mod explain;
mod hosts;
pub mod judge;
pub mod log;
pub mod native;
pub mod order;
pub mod reads;
pub mod reason;
pub mod request;
pub mod row;
pub mod row_wise;
pub mod rows;
pub mod selection;
pub mod settings;
pub mod takes;
pub mod text;
pub mod whole_table;
pub mod written;

pub use placewright_sdk_derive::export;
pub use reason::Reason;
pub use request::Request;
pub use row::Row;
pub use settings::Settings;
pub use written::Written;

/// Everything that a unit's source usually names.
pub mod prelude {
    pub use crate::amounts::{Bytes, Millicores, Seconds};
    pub use crate::balance::{Balance, Proposal};
    pub use crate::check::CheckSettings;
    pub use crate::contract::{Position, Problem};
    pub use crate::effects::{Changes, Effects};
    pub use crate::explain::{Explain, Fact};
    pub use crate::log;
    pub use crate::order::Order;
    pub use crate::reason::{Reason, Verdict};
    pub use crate::request::Request;
    pub use crate::row::Row;
    pub use crate::row_wise::{FOR_GOOD, RowCost, RowFilter, RowWise, THIS_SECOND};
    pub use crate::rows::Rows;
    pub use crate::selection::{Groups, Selection, Share};
    pub use crate::settings::Settings;
    pub use crate::takes::{Resources, Takes};
    pub use crate::text::Text;
    pub use crate::whole_table::{TableCost, TableFilter, WholeTable};
    pub use crate::written::Written;
    pub use placewright_sdk_derive::{Reason, Request, Row, Settings, Written};

    // Once more without their names, since a unit's own `Settings` hides the trait.
    pub use crate::reason::Reason as _;
    pub use crate::settings::Settings as _;
}
