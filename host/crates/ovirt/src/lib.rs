//! oVirt: its REST API for scheduling, answered as an engine does, and its policies imported.
//!
//! What oVirt's clients read and write are the policies, clusters, hosts, VMs and groups of
//! the deployment; nothing is stored here. The table of routes is in `routes`; a request is read
//! and answered in `call`. Start with `policy`, which says what of a policy here can be said in
//! oVirt's words, and with `catalogue`, which makes oVirt's policy units of ours.
//!
//! ```text
//! XML or JSON ─► call ─► policies, clusters, … ─► deployment
//!                 ▲                │
//!                 └──── tree ◄─────┘
//! ```

#![forbid(unsafe_code)]

mod below;
mod call;
mod catalogue;
mod clusters;
mod constants;
mod element;
mod events;
mod fault;
mod groups;
mod hosts;
mod ids;
pub mod import;
mod inventory;
mod jobs;
mod labels;
mod migrate;
mod moment;
mod names;
mod policies;
mod policy;
mod root;
mod routes;
mod search;
mod site;
mod sso;
mod tree;
mod units;
mod upgrade;
mod vms;

pub use routes::{PREFIX, RULES, face};
