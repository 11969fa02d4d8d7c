//! An independent check of what the server decides.
//!
//! The referee knows the book alone: it shares no code with units and none with the sums of an
//! inventory. It is told a cluster's hosts, sends a [`History`] of requests to a server, reads the
//! answers, and keeps its own [`Ledger`] of what each VM was promised where. After each request
//! [`Match::play`] says which resource of which host a decision promised twice, which hard rule
//! it broke, which VM it refused though a host could take it, and which sums of a host are not
//! those of the ledger.
//!
//! Histories are drawn by [`histories`], and shrunk by proptest where one is at fault. Read
//! [`History`], [`Ledger`] and [`Match`] first.
//!
//! ```text
//! history ─► play ─► served (the API, without a socket)
//!              │  ▲
//!              ▼  └── answers
//!           ledger ─► judge
//! ```

#![forbid(unsafe_code)]

mod drawn;
mod history;
mod judge;
mod ledger;
mod needs;
mod nodes;
#[cfg(target_os = "linux")]
mod one_core;
mod play;
mod policies;
mod served;
mod stray;

pub use drawn::histories;
pub use history::{GroupSpec, History, Request, Rule, Stray};
pub use ledger::{Ledger, Place};
pub use needs::{HostSpec, Needs, VirtualNode};
pub use play::Match;
pub use policies::{GENERAL, POLICIES, Policy};
pub use served::{Answer, Served};
