//! Decisions that were made before the process began, or before all was put anew: made
//! again from what was kept.

mod again;

pub(super) use again::Wanted;

use std::sync::Arc;

use serde_json::Value;

use super::cluster::{self, Cluster, MadeOn, Past, SavedChain};
use super::rules::rule_in;
use super::{Deployment, DeploymentError, PolicyRecord};
use placewright_document::ClusterDocument;
use placewright_engine::generation::Generation;
use placewright_engine::unit::{Digest, Unit};
use placewright_inventory::{Inventory, SavedMeasured};
use placewright_model::Request;
use placewright_model::budget::Bytes;
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_scheduler::{ExplainError, KeptDecision, PastDecision};
use placewright_store::{Gone, SavedPast, Then};

impl Deployment {
    /// A recorded decision with the cluster as it was then, from the store alone. It takes
    /// as long as a start of the cluster; no decision waits for it.
    ///
    /// # Errors
    /// If the decision is no longer recorded, or it is no longer known how the cluster was,
    /// or by which units it was made.
    pub fn kept_past(&self, cluster: &str, number: u64) -> Result<Past, DeploymentError> {
        let kept = self.kept(cluster, number)?;
        let generation = self.units_of(number, &kept.chain)?;
        let text = kept.chain.policy.to_string();
        let schema = kept.inventory.schema();
        let policy = Policy::load(&text, "policy.json", &generation, schema)?;
        self.decided_by(kept, Arc::new(policy), &generation)
    }

    /// A recorded decision with the cluster as it was then, decided by a policy as it is now, with
    /// the units that are in force.
    ///
    /// # Errors
    /// As for [`Deployment::kept_past`]; or the policy cannot run in the cluster.
    pub fn past_by(
        &self,
        cluster: &Cluster,
        number: u64,
        policy: &PolicyRecord,
    ) -> Result<Past, DeploymentError> {
        let generation = self.generation();
        let rule = rule_in(cluster, policy, &generation)?;
        self.kept_by(cluster.name(), number, (&rule.policy, &generation))
    }

    /// A recorded decision with the cluster as it was then, decided by another policy.
    ///
    /// # Errors
    /// As for [`Deployment::kept_past`].
    pub(super) fn kept_by(
        &self,
        cluster: &str,
        number: u64,
        (policy, generation): (&Arc<Policy>, &Generation),
    ) -> Result<Past, DeploymentError> {
        let kept = self.kept(cluster, number)?;
        self.decided_by(kept, policy.clone(), generation)
    }

    /// A decision as it was kept, which can be made again.
    fn kept(&self, cluster: &str, number: u64) -> Result<Kept, DeploymentError> {
        let then = match self.store.past(cluster, number)? {
            SavedPast::Known(then) => *then,
            SavedPast::NoDecision { oldest } => return Err(self.no_longer_recorded(number, oldest)),
            SavedPast::Gone { since, why } => return Err(self.no_longer_known(number, since, why)),
        };
        let kept = read(cluster, then)?;
        if kept.made_on == MadeOn::LostCopy {
            let why = ON_COPY.to_owned();
            return Err(ExplainError::NoLonger { number, why }.into());
        }
        Ok(kept)
    }

    /// A decision that was kept, decided by that policy.
    fn decided_by(
        &self,
        kept: Kept,
        policy: Arc<Policy>,
        generation: &Generation,
    ) -> Result<Past, DeploymentError> {
        let limit = self.options.scheduler.chain_limit;
        let then = (kept.inventory, kept.measured);
        let past = PastDecision::kept(kept.decision, then, (policy, generation), limit)?;
        Ok(Past::of(past))
    }

    fn no_longer_recorded(&self, number: u64, oldest: Option<u64>) -> DeploymentError {
        let kept = self.store.options().decisions;
        let oldest = match oldest {
            Some(oldest) => format!(", of which {oldest} is the oldest"),
            None => String::new(),
        };
        let why =
            format!("a cluster records its last {kept} decisions (--recorded-decisions){oldest}");
        ExplainError::NotRecorded { number, why }.into()
    }

    /// Bytes of all that is kept of a cluster so that decisions can be explained.
    pub(super) fn history_bytes(&self) -> u64 {
        let options = self.store.options();
        options.history_bytes.saturating_add(options.decision_bytes)
    }

    fn no_longer_known(&self, number: u64, since: u64, why: Gone) -> DeploymentError {
        let why = match why {
            Gone::Bytes => format!(
                "the history before decision {since} was dropped because it is bounded to {} \
                 (--history-bytes)",
                Bytes(self.history_bytes())
            ),
            Gone::Version => format!(
                "it was made by an earlier version of the program, which kept no history: it \
                 begins with decision {since}"
            ),
        };
        ExplainError::NoLonger { number, why }.into()
    }

    /// The units of a chain that was kept.
    fn units_of(&self, number: u64, chain: &SavedChain) -> Result<Generation, DeploymentError> {
        let current = self.generation();
        let mut units = Vec::new();
        for (name, digest) in &chain.units {
            let in_force = current.get(name);
            if let Some(unit) = in_force.filter(|unit| unit.digest().to_string() == *digest) {
                units.push(unit.clone());
                continue;
            }
            let Some(bytes) = self.bytes_of(digest)? else {
                let why = format!(
                    "unit \"{name}\" decided in a version that is no longer stored ({digest})"
                );
                return Err(ExplainError::NoLonger { number, why }.into());
            };
            let unit = Unit::load(self.library.engine(), &bytes, name);
            units.push(unit.map_err(|error| DeploymentError::Refused(error.to_string()))?);
        }
        let generation = Generation::new(units);
        generation.map_err(|error| DeploymentError::Refused(error.to_string()))
    }

    fn bytes_of(&self, digest: &str) -> Result<Option<Vec<u8>>, DeploymentError> {
        if let Some(bytes) = self.store.artifact(digest)? {
            return Ok(Some(bytes));
        }
        let mut embedded = plugins::UNITS.iter();
        let found = embedded.find(|unit| Digest::of(unit.bytes).to_string() == *digest);
        Ok(found.map(|unit| unit.bytes.to_vec()))
    }
}

/// A decision as it was kept, with the cluster as it was then and what decided.
struct Kept {
    decision: KeptDecision,
    made_on: MadeOn,
    inventory: Inventory,
    /// What was measured, by the ids of hosts.
    measured: Vec<(String, SavedMeasured)>,
    chain: SavedChain,
}

impl Kept {
    /// Whether it can be made again and come out otherwise: it was made on the cluster itself, not
    /// tried only, and the chain decided it.
    fn had_a_choice(&self) -> bool {
        self.made_on == MadeOn::Rows
            && self.decision.request.forced.is_none()
            && !self.decision.request.dry_run
            && self.decision.refused().is_none()
    }
}

/// Put together what the store has of a decision.
fn read(cluster: &str, then: Then) -> Result<Kept, DeploymentError> {
    let Then {
        decision,
        body,
        chain,
        mut inventory,
    } = then;
    let number = decision.number;
    let unread = |error: &dyn std::fmt::Display| {
        DeploymentError::Refused(format!(
            "cannot read from the store decision {number} of cluster \"{cluster}\": {error}"
        ))
    };
    let mut recorded: Value =
        serde_json::from_str(&decision.body).map_err(|error| unread(&error))?;
    let mut part = |name: &str| recorded.get_mut(name).map(Value::take).unwrap_or_default();
    if part("late") == Value::Bool(true) {
        let why = NOT_KEPT_THEN.to_owned();
        return Err(ExplainError::NoLonger { number, why }.into());
    }
    let made_on = MadeOn::recorded(&part("copy"));
    let shown = part("decision");
    let clock = part("clock").as_i64();
    let request: Request =
        serde_json::from_value(part("request")).map_err(|error| unread(&error))?;
    let lacking = || unread(&"something of it is missing");
    let decision = KeptDecision {
        number,
        draw: shown["draw"].as_f64().ok_or_else(lacking)?,
        inventory_version: shown["inventory-version"].as_u64().ok_or_else(lacking)?,
        request: Arc::new(request),
        shown,
    };
    let chain: SavedChain =
        serde_json::from_str(&chain.ok_or_else(lacking)?).map_err(|error| unread(&error))?;
    let body: cluster::Body = serde_json::from_str(&body).map_err(|error| unread(&error))?;
    let document = ClusterDocument::read(&body.document.to_string(), "cluster.json")?;
    let measured = cluster::measured(std::mem::take(&mut inventory.measured))?;
    let inventory = cluster::rows(document, inventory, clock.ok_or_else(lacking)?)?;
    Ok(Kept {
        decision,
        made_on,
        inventory,
        measured,
        chain,
    })
}

/// Why a decision of a batch is not made again from what was kept.
const ON_COPY: &str = "it was made on a copy of the cluster that was not recorded: its batch changed \
                       too many rows, or an earlier version of the program made it";

/// Why a decision is not made again that was kept later than it was made.
const NOT_KEPT_THEN: &str = "the store failed when it was made, so that the state of the \
                             cluster at that time was not recorded";
