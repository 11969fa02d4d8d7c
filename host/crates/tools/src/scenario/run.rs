//! Runs a case through the scheduler of its cluster.

use std::sync::Arc;
use std::time::Duration;

use super::compare::{Difference, compare};
use super::moves::MoveOutcome;
use super::outcome::Outcome;
use super::policy::policy;
use super::{Case, Scenarios};
use placewright_document::Problems;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_inventory::{Inventory, InventoryError};
use placewright_model::Request;
use placewright_policy::{Policy, Unheeded};
use placewright_scheduler::{Scheduler, SchedulerOptions};

/// Wall time of a case: so long that no slow machine changes an outcome. The limits of the
/// engine end a unit that hangs.
const PATIENT: Duration = Duration::from_secs(3600);

/// A case, ready to run.
#[derive(Debug)]
pub struct Test<'a> {
    /// The case.
    pub case: &'a Case,
    policy: Arc<Policy>,
    inventory: Inventory,
    unit: &'a Unit,
    generation: &'a Generation,
}

impl<'a> Test<'a> {
    /// The tests that a file makes of a unit, in order. `generation` has the unit, and the
    /// others that the file's policies name.
    ///
    /// # Errors
    /// Everything in the file that does not fit the unit: settings that it does not have,
    /// columns that it needs and the cluster does not define.
    pub fn new(
        scenarios: &'a Scenarios,
        unit: &'a Unit,
        generation: &'a Generation,
    ) -> Result<Vec<Self>, Problems> {
        let mut problems = Problems::new();
        let mut tests = Vec::new();
        for case in &scenarios.cases {
            let mut wrong = Problems::new();
            let inventory = inventory(case).map_err(|error| {
                wrong.add(&case.place, error.to_string());
            });
            let policy = policy(case, unit.description(), generation);
            let balances = |policy: &Policy| policy.balance.is_some();
            if case.expected.moves.is_some() && !policy.as_ref().map_or(true, balances) {
                let message = "no unit balances, so that no moves can be expected";
                wrong.add(&case.place, message);
            }
            match (policy, inventory) {
                (Ok(policy), Ok(inventory)) => tests.push(Self {
                    case,
                    policy: policy.into(),
                    inventory,
                    unit,
                    generation,
                }),
                (Ok(_), Err(())) => {}
                (Err(more), _) => wrong.append(more),
            }
            problems.append(wrong.within(&format!("case \"{}\"", case.name)));
        }
        problems.or(tests)
    }

    /// Decide, and tell what came out.
    pub fn run(self) -> Tested<'a> {
        let case = self.case;
        let digest = self.unit.digest().short().clone();
        let outcome = self.outcome();
        Tested {
            case,
            differences: compare(&case.expected, &outcome),
            outcome,
            digest,
        }
    }

    fn outcome(self) -> Outcome {
        let (case, policy) = (self.case, self.policy);
        let options = SchedulerOptions {
            chain_limit: PATIENT,
            seed: case.cluster.seed,
            reuse: None,
            // A unit is tried alone: others would check the rest.
            unheeded: Unheeded::Ignore,
            ..SchedulerOptions::default()
        };
        let scheduler = Scheduler::new(self.inventory, policy.clone(), self.generation, options);
        let mut scheduler = match scheduler {
            Ok(scheduler) => scheduler,
            Err(error) => return Outcome::error(error),
        };
        // Asked before anything is placed: the cluster is as the case says.
        let moves = match case.expected.moves {
            Some(_) => match scheduler.balance(case.cluster.now.unwrap_or(0)) {
                Ok(proposed) => Some(MoveOutcome::of(proposed)),
                Err(error) => return Outcome::error(error),
            },
            None => None,
        };
        let decided = match &case.request {
            Some(request) => decided(&mut scheduler, request, &policy, self.unit),
            None => Outcome::default(),
        };
        Outcome { moves, ..decided }
    }
}

/// What comes out of a request.
fn decided(scheduler: &mut Scheduler, request: &Request, policy: &Policy, unit: &Unit) -> Outcome {
    let decision = match scheduler.place(request.clone()) {
        Ok(decision) => decision,
        Err(error) => return Outcome::error(error),
    };
    match scheduler.explain(decision.number) {
        Ok(explanation) => Outcome::of(explanation, policy, unit.name()),
        Err(error) => Outcome::error(error),
    }
}

/// The cluster of a case. A place that the VM to be placed has reserved is given back.
fn inventory(case: &Case) -> Result<Inventory, InventoryError> {
    let cluster = case.cluster.clone();
    let now = cluster.now.unwrap_or(0);
    let mut inventory = Inventory::of_document(cluster, now)?;
    let members = case.request.iter().flat_map(|request| &request.members);
    for member in members {
        if inventory.pending(&member.id).is_some() {
            inventory.cancel_vm(&member.id)?;
        }
    }
    Ok(inventory)
}

/// A case that was run.
#[derive(Debug)]
pub struct Tested<'a> {
    /// The case.
    pub case: &'a Case,
    /// What came out.
    pub outcome: Outcome,
    /// Where that is not what is expected.
    pub differences: Vec<Difference>,
    /// The beginning of the unit's digest, as errors show it.
    pub(super) digest: String,
}

impl Tested<'_> {
    /// Whether something was expected, and it came out.
    pub fn passed(&self) -> bool {
        self.differences.is_empty() && !self.case.expected.is_empty()
    }
}
