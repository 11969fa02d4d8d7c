//! A decision with the inventory that it was made on.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::questions::{
    Asked, QuestionError, Standing, Why, all_removals, known_host, ways, why_of,
};
use super::trial::failed_calls;
use super::{
    Cancel, Decision, DecisionShown, ExplainError, MadeOn, PlaceError, QuotaRefusal, Recorded,
    Scheduler, place,
};
use placewright_chain::{Chain, Decided, DecisionError, Explanation, Runner};
use placewright_engine::generation::Generation;
use placewright_engine::unit::Fault;
use placewright_inventory::{Inventory, SavedMeasured};
use placewright_model::Request;
use placewright_policy::Policy;

/// The id of the host that a chain chooses, if there is one, or why there is no decision.
pub type HostOrError = Result<Option<Arc<str>>, DecisionError>;

/// A decision, and a copy of the inventory that it was made on: it can be made again,
/// and explained, beside the scheduler's work.
pub struct PastDecision {
    request: Arc<Request>,
    draw: f64,
    chain: Arc<Chain>,
    made: Made,
    inventory: Inventory,
    limit: Duration,
}

/// A decision that is remembered, and a copy of the inventory that can be taken back to that
/// of then.
pub struct Remembered {
    decision: Arc<Decision>,
    inventory: Inventory,
    limit: Duration,
}

/// What was decided.
enum Made {
    /// By this scheduler.
    Here(Arc<Decision>),
    /// As it was kept.
    Kept(Box<KeptDecision>),
}

/// A decision as it was kept.
#[derive(Debug, Clone)]
pub struct KeptDecision {
    /// Counts up from 1 in each scheduler.
    pub number: u64,
    /// The request, with what the inventory knew filled in.
    pub request: Arc<Request>,
    /// The number that decided what was left to chance.
    pub draw: f64,
    /// The version of the inventory that it was made on.
    pub inventory_version: u64,
    /// The decision as programs read it.
    pub shown: Value,
}

/// A host that came after the chosen one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunnerUp {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub host: Arc<str>,
    /// The sums of its weighted costs, tier by tier; null = infinite.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Option<f64>>, example = json!([0.25])))]
    pub costs: Vec<f64>,
}

impl KeptDecision {
    /// Why no host was looked for, if none was: units had no part in it.
    pub fn refused(&self) -> Option<&str> {
        self.shown["refused-by-quota"]["because"].as_str()
    }
}

impl Scheduler {
    /// A decision that is remembered, with the inventory of then.
    ///
    /// # Errors
    /// If the decision, or the inventory's version of then, is no longer remembered.
    pub fn past(&self, number: u64) -> Result<PastDecision, ExplainError> {
        self.remembered(number)?.past()
    }

    /// A decision that is remembered, with a copy of the inventory from which that of then
    /// can be had, at leisure.
    ///
    /// # Errors
    /// If the decision, or the inventory's version of then, is no longer remembered.
    pub fn remembered(&self, number: u64) -> Result<Remembered, ExplainError> {
        let Recorded { decision, made_on } = self
            .recorded
            .iter()
            .find(|recorded| recorded.decision.number == number)
            .ok_or(ExplainError::Forgotten(number))?;
        let inventory = match made_on {
            MadeOn::Inventory => Some(&self.inventory),
            MadeOn::Copy(copy) => Some(&**copy),
            MadeOn::Gone => None,
        };
        let version = decision.inventory_version;
        let inventory = inventory
            .filter(|inventory| inventory.oldest_version() <= version)
            .ok_or(ExplainError::TooLongAgo(number))?;
        Ok(Remembered {
            decision: decision.clone(),
            inventory: inventory.clone(),
            limit: self.options.chain_limit,
        })
    }
}

impl Remembered {
    /// With the inventory of then.
    ///
    /// # Errors
    /// If the inventory's version of then is no longer remembered.
    pub fn past(mut self) -> Result<PastDecision, ExplainError> {
        let decision = self.decision;
        if !self.inventory.take_back(decision.inventory_version) {
            return Err(ExplainError::TooLongAgo(decision.number));
        }
        Ok(PastDecision {
            request: decision.request.clone(),
            draw: decision.draw,
            chain: decision.chain.clone(),
            made: Made::Here(decision),
            inventory: self.inventory,
            limit: self.limit,
        })
    }
}

impl PastDecision {
    /// A decision that was kept, with the inventory of then, what was measured and noted
    /// there, by the ids of hosts, and what decided or is to decide it again.
    ///
    /// # Errors
    /// If the units are not those of the policy.
    pub fn kept(
        decision: KeptDecision,
        (mut inventory, measured): (Inventory, Vec<(String, SavedMeasured)>),
        (policy, generation): (Arc<Policy>, &Generation),
        limit: Duration,
    ) -> Result<Self, ExplainError> {
        let unlike = |error: &dyn std::error::Error| ExplainError::NoLonger {
            number: decision.number,
            why: error.to_string(),
        };
        let chain =
            super::chain(policy, generation, &mut inventory).map_err(|error| unlike(&error))?;
        for (host, saved) in measured {
            inventory
                .restore_measured(&host, saved)
                .map_err(|error| unlike(&error))?;
        }
        inventory.set_version(decision.inventory_version);
        Ok(Self {
            request: decision.request.clone(),
            draw: decision.draw,
            chain,
            made: Made::Kept(Box::new(decision)),
            inventory,
            limit,
        })
    }

    /// The chain that decided.
    pub fn chain(&self) -> &Arc<Chain> {
        &self.chain
    }

    /// Explain it by running its chain again.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn explain(&self) -> Result<Explanation, DecisionError> {
        let mut runner = self.runner();
        let (_, explanation) = runner.explain(&self.inventory, &self.request, self.draw)?;
        Ok(self.with_refusal(explanation))
    }

    fn with_refusal(&self, explanation: Explanation) -> Explanation {
        match self.refused() {
            None => explanation,
            Some(because) => explanation.refused(because.into()),
        }
    }

    /// The quota that refused it, if one did.
    fn refusal(&self) -> Option<QuotaRefusal> {
        match &self.made {
            Made::Here(decision) => decision.refused.as_deref().cloned(),
            Made::Kept(kept) => QuotaRefusal::deserialize(&kept.shown["refused-by-quota"]).ok(),
        }
    }

    /// Why no host was looked for, if none was.
    fn refused(&self) -> Option<&str> {
        match &self.made {
            Made::Here(decision) => decision.refused.as_ref().map(|it| &*it.because),
            Made::Kept(kept) => kept.refused(),
        }
    }

    /// Why the request's VMs did not go to that host, or why they did; and if filters kept them
    /// off it, all of these, and the smallest changes that would have let it through.
    ///
    /// # Errors
    /// If there was no such host, a unit fails, or the question's time is up.
    pub fn why(&self, host: &str, cancel: &Cancel) -> Result<Why, QuestionError> {
        let host = known_host(&self.inventory, host)?;
        let (_, explanation) = self
            .runner()
            .explain(&self.inventory, &self.request, self.draw)
            .map_err(PlaceError::from)?;
        // The host that would have been chosen, but for a quota.
        let allowed = explanation.chosen.clone();
        let explanation = self.with_refusal(explanation);
        let policy = self.chain.policy();
        let mut why = why_of(&explanation, policy, &self.request, &host);
        if why.is_kept_out() {
            let asked = Asked {
                chain: &self.chain,
                inventory: self.inventory.clone(),
                request: &self.request,
                draw: self.draw,
                host: &host,
                cancel,
            };
            why.ways = ways(asked, self.limit)?;
        }
        why.refuse(self.refusal().into_iter().collect(), allowed.as_ref());
        if let Standing::Removed { by } = &mut why.standing {
            let again = |policy: Policy| {
                cancel.check().map_err(PlaceError::from)?;
                Ok(self.standing_under(policy, &host))
            };
            *by = all_removals(policy, std::mem::take(by), again)?;
        }
        Ok(why)
    }

    /// How the host would stand under another policy of the same units; None: it cannot be told.
    fn standing_under(&self, policy: Policy, host: &Arc<str>) -> Option<Standing> {
        let policy = Arc::new(policy);
        let units = self.chain.units().into_iter().cloned();
        let generation = Generation::new(units).ok()?;
        let mut inventory = self.inventory.clone();
        let chain = super::chain(policy.clone(), &generation, &mut inventory).ok()?;
        let mut runner = Runner::new(chain, self.limit);
        let explained = runner.explain(&inventory, &self.request, self.draw);
        let (_, explanation) = explained.ok()?;
        Some(why_of(&explanation, &policy, &self.request, host).standing)
    }

    /// Explain how another chain, resolved for the scheduler's inventory, would have
    /// decided.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn explain_by(&self, chain: Arc<Chain>) -> Result<Explanation, DecisionError> {
        let mut runner = Runner::new(chain, self.limit);
        let (_, explanation) = runner.explain(&self.inventory, &self.request, self.draw)?;
        Ok(explanation)
    }

    /// The hosts that would have been chosen next, best first, at most so many: its
    /// chain is run again. None where selections decide, whose shares the decision
    /// tells, where the request forced a host, or where none was looked for.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn runners_up(&self, most: usize) -> Result<Vec<RunnerUp>, DecisionError> {
        if self.refused().is_some() {
            return Ok(Vec::new());
        }
        let mut runner = self.runner();
        let most = most.saturating_add(1);
        let ranked = runner.rank(&self.inventory, &self.request, self.draw, most)?;
        let shown = ranked.into_iter().skip(1).filter_map(|(slot, costs)| {
            let host = self.inventory.host(slot)?.id.clone();
            Some(RunnerUp { host, costs })
        });
        Ok(shown.collect())
    }

    /// The host that its chain chooses, if there is one, or how a unit failed; and the calls of
    /// units that gave no answer now and did when the decision was made.
    pub fn host_and_faults(&self) -> (HostOrError, Vec<Arc<Fault>>) {
        let mut runner = self.runner();
        let decided = runner.decide(&self.inventory, &self.request, self.draw);
        let faults = failed_calls(&decided, |now| match &self.made {
            Made::Here(decision) => {
                let mut then = decision.decided.left_out.iter();
                then.any(|it| it.fault.unit.name == now.fault.unit.name)
            }
            Made::Kept(kept) => {
                let then = kept.shown["left-out"].as_array();
                then.is_some_and(|then| then.iter().any(|it| it["entry"] == *now.entry))
            }
        });
        let host = decided.map(|decided| place::told(&self.inventory, &decided).0);
        (host, faults)
    }

    /// Run its chain again, and say whether the same comes out.
    ///
    /// # Errors
    /// If a unit fails.
    pub fn comes_out_the_same(&self) -> Result<bool, DecisionError> {
        if self.refused().is_some() {
            // What was held then is known, and the chain had no part in it.
            return Ok(true);
        }
        let mut runner = self.runner();
        let decided = runner.decide(&self.inventory, &self.request, self.draw)?;
        Ok(match &self.made {
            Made::Here(decision) => decided == decision.decided,
            Made::Kept(kept) => {
                let again = self.shown(kept, decided);
                DECIDED
                    .iter()
                    .all(|key| again.get(key) == kept.shown.get(key))
            }
        })
    }

    /// The decision as programs read it, if this is decided.
    fn shown(&self, kept: &KeptDecision, decided: Decided) -> Value {
        let (host, shares) = place::told(&self.inventory, &decided);
        let decision = Decision {
            number: kept.number,
            request: self.request.clone(),
            inventory_version: kept.inventory_version,
            draw: self.draw,
            chain: self.chain.clone(),
            refused: None,
            decided,
            host,
            reserved: None,
            unreserved: None,
            unchanged: false,
            shares,
            followed: Vec::new(),
            moves: Vec::new(),
            unheeded: Vec::new(),
            unknown: Vec::new(),
        };
        serde_json::to_value(DecisionShown::new(&decision, None)).unwrap_or_default()
    }

    fn runner(&self) -> Runner {
        Runner::new(self.chain.clone(), self.limit)
    }
}

/// What of a decision as programs read it was decided.
const DECIDED: [&str; 6] = ["host", "considered", "tied", "costs", "shares", "removed"];
