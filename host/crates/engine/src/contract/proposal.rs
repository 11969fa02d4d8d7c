//! What a balance part proposes.

use wasmtime::component::{ComponentType, Lift};

use super::Change;

/// A proposal of a balance part.
#[derive(Debug, Clone, PartialEq, ComponentType, Lift)]
#[component(variant)]
pub enum Proposal {
    /// Move a VM to another host.
    #[component(name = "move")]
    Move(Move),
    /// Bring a host into another state.
    #[component(name = "host-state")]
    HostState(HostState),
    /// Something that an operator should know.
    #[component(name = "finding")]
    Finding(Finding),
}

impl Proposal {
    /// Number of the reason that it is made for, counted from 1.
    pub fn reason(&self) -> u8 {
        match self {
            Proposal::Move(proposal) => proposal.reason,
            Proposal::HostState(proposal) => proposal.reason,
            Proposal::Finding(proposal) => proposal.reason,
        }
    }
}

/// Move a VM to another host, or change with it what only a move changes.
#[derive(Debug, Clone, PartialEq, ComponentType, Lift)]
#[component(record)]
pub struct Move {
    /// Row number in `hosts/vms`.
    pub vm: u32,
    /// Rows of `hosts` that the chain may choose from. Empty = any host.
    pub among: Vec<u32>,
    /// Rows of `hosts` of which the chain's choice must be one. Empty = any.
    pub accept: Vec<u32>,
    /// What is written of the VM together with the move.
    pub changes: Vec<Change>,
    /// Number of a declared reason, counted from 1.
    pub reason: u8,
}

/// Bring a host into another state.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct HostState {
    /// Row number in `hosts`.
    pub host: u32,
    /// One of the states of `hosts.state`.
    pub state: String,
    /// Number of a declared reason, counted from 1.
    pub reason: u8,
}

/// Something that an operator should know.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct Finding {
    /// Number of a declared reason, counted from 1.
    pub reason: u8,
    /// What it is about.
    pub rows: Vec<Row>,
}

/// A row of one of the declared tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ComponentType, Lift)]
#[component(record)]
pub struct Row {
    /// Which of the declared tables, counted from 0.
    pub table: u32,
    /// Row number in it.
    pub row: u32,
}
