//! A deployment starts from what was kept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::cluster::{self, Attached, Rule};
use super::enforce::because;
use super::in_force::InForce;
use super::policies::Policies;
use super::quotas::{ClusterLedger, Ledger};
use super::returns::Returns;
use super::revisions::GoneRevisions;
use super::{
    ClusterSettings, ClusterState, Deployment, DeploymentError, DeploymentOptions, Events,
    PolicyRecord,
};
use placewright_document::ClusterDocument;
use placewright_engine::generation::Generation;
use placewright_inventory::Inventory;
use placewright_library::live::Library;
use placewright_library::stage::Trials;
use placewright_model::schema::Schema;
use placewright_policy::Policy;
use placewright_records::telemetry::Telemetry;
use placewright_scheduler::{Quotas, Scheduler, SchedulerOptions};
use placewright_store::{SavedCluster, Store};
use placewright_sync::{ArcSwap, Mutex, RwLock};

/// A deployment that has started, and what could not be had again.
pub struct Started {
    /// The deployment.
    pub deployment: Arc<Deployment>,
    /// A sentence for each cluster that cannot decide, and each policy that cannot be read.
    pub problems: Vec<String>,
}

impl Deployment {
    /// Start with what is in the store, and the units of the library, which from then on
    /// asks the deployment before it lets others come into force.
    ///
    /// A cluster or a policy that cannot be read holds up no other.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn start(
        store: Store,
        library: Arc<Library>,
        events: Arc<Events>,
        telemetry: Arc<Telemetry>,
        options: DeploymentOptions,
    ) -> Result<Started, DeploymentError> {
        let saved = store.load()?;
        let mut problems = Vec::new();
        let mut kept = Vec::with_capacity(saved.policies.len());
        for policy in &saved.policies {
            match PolicyRecord::restored(policy) {
                Ok(record) => kept.push(record),
                // Its clusters decide nothing, and nobody else is held up.
                Err(error) => problems.push(error.to_string()),
            }
        }
        let policies = Policies::new(kept);
        let (ledger, unread) = Ledger::restored(&saved);
        problems.extend(unread);
        let returns = Arc::new(Returns::new(options.return_after));
        let deployment = Self {
            options,
            returns,
            store,
            events,
            telemetry,
            clusters: RwLock::new(BTreeMap::new()),
            unread: Mutex::default(),
            restarts: Mutex::default(),
            leaving: Mutex::default(),
            in_force: Arc::new(ArcSwap::from_pointee(InForce::new(
                library.current(),
                policies,
            ))),
            attaching: Arc::default(),
            units_named: Mutex::default(),
            library,
            alarm: Arc::default(),
            ledger: Arc::new(ledger),
            due: Mutex::default(),
            shadows: Mutex::default(),
            control: Mutex::default(),
            gone: Mutex::new(GoneRevisions::restored(&saved)?),
            folders_awaited: AtomicBool::new(false),
        };
        deployment.count_units();
        for cluster in saved.clusters {
            problems.extend(deployment.restore_or_note(&cluster));
        }
        let deployment = Arc::new(deployment);
        let trials: Arc<dyn Trials> = deployment.clone();
        deployment.library.attach(Arc::downgrade(&trials));
        Ok(Started {
            deployment,
            problems,
        })
    }

    /// Start a cluster as it was kept. One whose policy cannot run starts all the same,
    /// and decides nothing; why, is given.
    pub(super) fn restore(&self, saved: &SavedCluster) -> Result<Option<String>, DeploymentError> {
        let unread = |error: &dyn std::fmt::Display| {
            DeploymentError::Refused(format!(
                "cannot read from the store cluster \"{}\": {error}",
                saved.name
            ))
        };
        let body: cluster::Body = serde_json::from_str(&saved.body).map_err(|it| unread(&it))?;
        let document = ClusterDocument::read(&body.document.to_string(), "cluster.json")
            .map_err(|it| unread(&it))?;
        let mut rows = self.store.inventory(&saved.name)?;
        let measured = std::mem::take(&mut rows.measured);
        let schema = document.schema.clone();
        let inventory = cluster::rows(document, rows, saved.counters.clock)?;
        let in_force = self.in_force();
        let rule = self.rule_of(&body.settings, &schema, &in_force.generation);
        let (rule, problem) = match rule {
            Ok(rule) => (Some(rule), None),
            Err(error) => {
                let distrusted = self.library.distrusted();
                (None, Some(because(&error, &distrusted)))
            }
        };
        let mut state = self.state(inventory, body.settings, (rule, &in_force))?;
        state.restore_measured(measured)?;
        state.resume(saved.counters);
        state.restore_lost(body.lost);
        for plan in self.store.plans(&saved.name)? {
            let read = state.restore_plan(plan.number, &plan.body);
            read.map_err(|it| unread(&it))?;
        }
        for ended in self.store.ended_reservations(&saved.name)? {
            let read = state.restore_end(&ended.vm, &ended.body);
            read.map_err(|it| unread(&it))?;
        }
        let kept = self.store.answers(&saved.name, state.answer_bytes())?;
        // What there is no room for any more goes with the next change.
        state.forget_in_store(kept.left_out);
        for answer in kept.answers {
            let (request, body): (String, String) =
                serde_json::from_str(&answer.body).map_err(|it| unread(&it))?;
            state.restore_answer(answer.key, answer.at, request, body.into());
        }
        if let Some(why) = &problem {
            state.break_off(why.clone());
        }
        self.run(state)?;
        Ok(problem.map(|why| format!("cluster \"{}\" decides nothing: {why}", saved.name)))
    }

    /// The state of a cluster that a document describes.
    pub(super) fn new_state(
        &self,
        document: ClusterDocument,
        settings: ClusterSettings,
        (rule, in_force): (Rule, &Arc<InForce>),
    ) -> Result<ClusterState, DeploymentError> {
        let bounds = self.options.bounds;
        let inventory = Inventory::of_document_within(document, self.now(), bounds)?;
        self.state(inventory, settings, (Some(rule), in_force))
    }

    /// The state of a cluster; without a rule it has the policy that asks no unit, until
    /// it gets another.
    fn state(
        &self,
        mut inventory: Inventory,
        settings: ClusterSettings,
        (rule, in_force): (Option<Rule>, &Arc<InForce>),
    ) -> Result<ClusterState, DeploymentError> {
        let rule = match rule {
            Some(rule) => rule,
            None => no_rule(&settings, inventory.schema(), &in_force.generation)?,
        };
        let name = inventory.name().clone();
        let ledger = Arc::new(ClusterLedger::new(self.ledger.clone(), name.clone()));
        let options = SchedulerOptions {
            seed: settings.seed,
            quotas: Quotas::of(ledger.clone()),
            ..self.options.scheduler.clone()
        };
        // What was kept before there was such a bound goes on, and only grows no more.
        inventory.set_bounds(self.options.bounds);
        settings.time_measurements(&mut inventory);
        let scheduler = Scheduler::new(inventory, rule.policy, &rule.generation, options)?;
        Ok(ClusterState::new(cluster::Parts {
            scheduler,
            broken: None,
            attached: rule.attached,
            settings,
            generation: rule.generation,
            store: self.store.clone(),
            events: self.events.clone(),
            meter: Arc::new(self.telemetry.clusters.of(&name)),
            units: self.telemetry.units.clone(),
            quota_refusals: self.telemetry.quota_refusals.clone(),
            kept: self.telemetry.store.clone(),
            clock: self.options.clock.clone(),
            alarm: self.alarm.clone(),
            returns: self.returns.clone(),
            ledger,
            longest_reservation: self.options.longest_reservation,
            answers: self.options.answers,
            authority: self.options.authority.clone(),
            turn: self.options.turn,
            in_force: self.in_force.clone(),
            adopted: in_force.clone(),
        }))
    }
}

/// The policy that asks no unit: it can run whatever is missing.
const NOTHING: &str = "name = \"nothing\"\n";

/// What a cluster has that can decide nothing.
///
/// # Errors
/// None that could be named: nothing can be missing.
pub(super) fn no_rule(
    settings: &ClusterSettings,
    schema: &Schema,
    generation: &Arc<Generation>,
) -> Result<Rule, DeploymentError> {
    let policy = Policy::load(NOTHING, "nothing.toml", &**generation, schema)?;
    Ok(Rule {
        policy: Arc::new(policy),
        attached: Attached {
            policy: settings.policy.clone(),
            revision: 0,
        },
        generation: generation.clone(),
    })
}
