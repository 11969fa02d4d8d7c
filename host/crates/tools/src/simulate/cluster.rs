//! Replays what happens to a cluster of any kind through a policy.
//!
//! A [`ClusterReplay`] begins with the cluster of a document and takes events in order: VMs come
//! and go, hosts fail and return, measurements and all other changes come in. What it decides
//! depends on cluster, events, policy, units and seed alone; only the times in the report do not.

mod balance;
mod failures;
mod file;
mod plot;
mod report;
mod run;
mod side_by_side;
mod statistics;
mod tally;

pub use file::{EventsError, EventsForm, read_events};
pub use plot::svg;
pub use report::{ClusterReport, Failures, Moved, Refused, Series};
pub use run::Decided;
pub use side_by_side::{SideBySide, side_by_side};

use std::sync::Arc;

use super::{Balancing, ReplayError};
use placewright_chain::Reuse;
use placewright_document::{FleetChange, FleetEvent};
use placewright_engine::generation::Generation;
use placewright_inventory::Inventory;
use placewright_policy::Policy;
use placewright_scheduler::questions::Restart;
use run::Run;

/// What is to be replayed.
#[derive(Debug, Clone, Copy)]
pub struct ClusterReplay<'a> {
    /// The cluster as it is at the start.
    pub cluster: &'a Inventory,
    /// What happens to it, in order of time.
    pub events: &'a [FleetEvent],
    /// What draws are derived from where a request brings none of its own.
    pub seed: u64,
    /// How units' answers are kept from decision to decision; None: they are not.
    pub reuse: Option<Reuse>,
    /// How the cluster is balanced while time goes on, if at all, under policies that name a unit
    /// for it.
    pub balance: Option<Balancing>,
    /// Which VMs of hosts that fail are started elsewhere; None: they wait until their hosts
    /// return.
    pub restart: Option<Restart>,
    /// Whether hosts report measured load and free memory as if every VM used what it was
    /// promised. None: if a unit of the policy reads them, and neither the cluster nor any event
    /// tells of them.
    pub statistics: Option<bool>,
    /// Seconds for which what was measured counts; None: for good.
    pub statistics_max_age: Option<i64>,
    /// Whether each decision is given, besides what is counted.
    pub decisions: bool,
}

/// What came out of a replay.
#[derive(Debug)]
pub struct ClusterOutcome {
    /// The figures.
    pub report: ClusterReport,
    /// Each decision in order, if that was wanted.
    pub decisions: Vec<Decided>,
}

impl ClusterReplay<'_> {
    /// Replay under a policy that was checked against `generation`. `progressed` is called after
    /// each event.
    ///
    /// # Errors
    /// If an event does not go together with the cluster as it is then, the policy cannot be
    /// run, or a unit fails that it does not do without.
    pub fn run(
        &self,
        policy: Arc<Policy>,
        generation: &Generation,
        progressed: impl Fn(),
    ) -> Result<ClusterOutcome, ReplayError> {
        let mut run = Run::new(self, policy, generation)?;
        for event in self.events {
            run.balance_until(event.time)?;
            run.take(event)?;
            progressed();
        }
        Ok(run.finish())
    }

    /// The time of the first and of the last event.
    fn span(&self) -> (i64, i64) {
        let time = |event: Option<&FleetEvent>| event.map(|event| event.time);
        let from = time(self.events.first()).unwrap_or_else(|| self.cluster.clock());
        (from, time(self.events.last()).unwrap_or(from))
    }

    /// Whether the cluster or an event tells what was measured of hosts.
    fn tells_statistics(&self) -> bool {
        let in_events = self.events.iter().any(|event| match &event.change {
            FleetChange::Changes(changes) => !changes.statistics.is_empty(),
            _ => false,
        });
        in_events
            || self.cluster.hosts().any(|(slot, _)| {
                let measured = |column| self.cluster.host_value(slot, column).is_some();
                statistics::COLUMNS.into_iter().any(measured)
            })
    }
}
