//! What a part is asked while it is measured.

use std::sync::Arc;
use std::time::Duration;

use placewright_chain::{Chain, ChainError, DecisionError, Runner};
use placewright_engine::contract::{Answers, Call, Part};
use placewright_engine::generation::Generation;
use placewright_engine::unit::{Fault, Instance, Unit};
use placewright_inventory::Inventory;
use placewright_library::probe::MadeUp;
use placewright_model::Request;
use placewright_policy::Policy;

/// The tables of one call.
pub(super) enum Question {
    /// Made up from what the part declares.
    MadeUp(Box<MadeUp>),
    /// As a chain has made them of a cluster, for a judge.
    OfCluster { call: Call, hosts: usize },
}

impl Question {
    /// How many hosts, or candidates, it is about.
    pub(super) fn hosts(&self) -> usize {
        match self {
            Self::MadeUp(made_up) => made_up.hosts(),
            Self::OfCluster { hosts, .. } => *hosts,
        }
    }

    /// Ask an instance of that unit.
    pub(super) fn ask(&self, unit: &Unit, instance: &mut Instance) -> Result<(), Fault> {
        let (call, hosts) = match self {
            Self::MadeUp(made_up) => return made_up.ask(unit, instance),
            Self::OfCluster { call, hosts } => (call, *hosts),
        };
        let judge = unit.description().judge.as_ref();
        let want = judge.map_or(Answers::BOTH, |judge| judge.answers);
        let limit = unit.engine().limits().time;
        instance.judge(want, call, hosts, limit).map(drop)
    }
}

/// Why a cluster gives a unit nothing to be asked.
#[derive(Debug, thiserror::Error)]
pub enum BenchQuestionError {
    /// The policy cannot run on it.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// It comes to no decision.
    #[error(transparent)]
    Refusal(#[from] DecisionError),
}

/// The tables that a judge is given for a request in a cluster: those of its first
/// entry in the policy. None if it judges nothing there.
pub(super) fn of_cluster(
    unit: &Unit,
    policy: Arc<Policy>,
    generation: &Generation,
    inventory: &Inventory,
    request: &Request,
) -> Result<Option<Question>, BenchQuestionError> {
    /// The cluster is asked once, so that it may take its time.
    const LIMIT: Duration = Duration::from_secs(60);
    let mut inventory = inventory.clone();
    let chain = Arc::new(Chain::resolve(policy, generation, &mut inventory)?);
    let mut runner = Runner::new(chain, LIMIT);
    // An explanation asks every unit about every host that is left.
    runner.explain(&inventory, request, 0.5)?;
    let mut calls = runner.calls();
    let call = calls.find_map(|(asked, call)| (asked.digest() == unit.digest()).then_some(call));
    let reads = unit.description().reads(Part::Judge).unwrap_or_default();
    Ok(call.map(|call| {
        let table = reads.iter().position(|read| read.table == "hosts");
        let rows = table.and_then(|table| call.rows.get(table));
        Question::OfCluster {
            hosts: rows.map_or(1, |rows| *rows as usize),
            call: call.clone(),
        }
    }))
}
