//! What a case expects of the unit's balance, and what it proposes.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::form::MOVE;
use placewright_chain::Proposed;
use placewright_document::form::Fields;
use placewright_document::{ClusterDocument, Place, Problems, Table, shown};

/// A move that a case expects. Only what is said is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedMove {
    /// The VM that is moved.
    pub vm: Arc<str>,
    /// The host that it runs on.
    pub from: Option<Arc<str>>,
    /// The hosts that the policy may choose from; empty = any.
    pub to: Option<BTreeSet<Arc<str>>>,
}

/// A move that the unit proposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MoveOutcome {
    /// Id of the VM.
    pub vm: Arc<str>,
    /// Id of the host that the VM runs on.
    pub from: Arc<str>,
    /// The hosts that the policy may choose from; empty = any.
    pub to: BTreeSet<Arc<str>>,
    /// Completes "host ...", about the one that the VM runs on.
    pub reason: String,
}

impl ExpectedMove {
    /// The moves that a case expects, if it says which.
    pub(super) fn list(
        fields: &Fields<'_>,
        cluster: &ClusterDocument,
        problems: &mut Problems,
    ) -> Option<Vec<Self>> {
        fields.place_of("moves")?;
        let moves = fields.tables("moves").iter();
        Some(
            moves
                .filter_map(|table| Self::read(table, cluster, problems))
                .collect(),
        )
    }

    fn read(table: &Table, cluster: &ClusterDocument, problems: &mut Problems) -> Option<Self> {
        let fields = Fields::read(table, MOVE, "a move", problems);
        let mut known = |what: &str, id: &str, place: &Place, ids: Vec<&str>| {
            if !ids.contains(&id) {
                let message = format!("there is no {what} \"{}\" in the cluster", shown(id));
                problems.add_misnamed(place, message, id, ids);
            }
        };
        let hosts = || cluster.hosts.iter().map(|host| &*host.id).collect();
        let vms = cluster.vms.iter().map(|placed| &*placed.vm.id).collect();
        let (vm, from) = (fields.text("vm")?, fields.text("from"));
        known("VM", &vm, fields.place_of("vm")?, vms);
        if let (Some(from), Some(place)) = (&from, fields.place_of("from")) {
            known("host", from, place, hosts());
        }
        for (to, place) in fields.texts("to") {
            known("host", to, place, hosts());
        }
        let to = fields.place_of("to").map(|_| {
            let to = fields.texts("to").iter();
            to.map(|(to, _)| to.clone()).collect()
        });
        Some(Self { vm, from, to })
    }

    /// Whether the move is the one that is expected.
    pub(super) fn is(&self, proposed: &MoveOutcome) -> bool {
        self.vm == proposed.vm
            && self.from.as_ref().is_none_or(|it| *it == proposed.from)
            && self.to.as_ref().is_none_or(|it| *it == proposed.to)
    }
}

impl MoveOutcome {
    /// The moves among what a unit proposes.
    pub(super) fn of(proposed: Vec<Proposed>) -> Vec<Self> {
        let moves = proposed.into_iter().filter_map(|proposed| match proposed {
            Proposed::Move {
                vm,
                from,
                among,
                reason,
                ..
            } => Some(Self {
                vm,
                from,
                to: among.into_iter().collect(),
                reason,
            }),
            Proposed::HostState { .. } | Proposed::Finding { .. } => None,
        });
        moves.collect()
    }
}

impl fmt::Display for ExpectedMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        route(f, &self.vm, self.from.as_deref(), self.to.as_ref())
    }
}

impl fmt::Display for MoveOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        route(f, &self.vm, Some(&self.from), Some(&self.to))
    }
}

fn route(
    f: &mut fmt::Formatter<'_>,
    vm: &str,
    from: Option<&str>,
    to: Option<&BTreeSet<Arc<str>>>,
) -> fmt::Result {
    f.write_str(vm)?;
    if let Some(from) = from {
        write!(f, " from {from}")?;
    }
    match to {
        None => Ok(()),
        Some(to) if to.is_empty() => f.write_str(" to any host"),
        Some(to) => {
            let to: Vec<&str> = to.iter().map(|to| &**to).collect();
            write!(f, " to {}", to.join(" or "))
        }
    }
}
