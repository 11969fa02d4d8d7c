//! What the library asks before it lets units come into force: whether the policies can
//! run with them, and how recorded decisions would have come out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::cluster::Cluster;
use super::in_force::InForce;
use super::past::Wanted;
use super::{Deployment, Origin};
use placewright_engine::generation::Generation;
use placewright_library::stage::{Difference, Failure, ReplayReport, Trials};
use placewright_model::cut;
use placewright_model::schema::Schema;
use placewright_policy::Policy;
use placewright_scheduler::Cancel;

/// Decisions of one cluster that are made again at most.
const DECISIONS: usize = 200;

/// How long the copy of a busy cluster is waited for: without it none of its decisions are
/// made again, as the report says then.
const PATIENCE: Duration = Duration::from_millis(500);

/// Examples of decisions that come out differently.
const EXAMPLES: usize = 10;

/// The units that policies name which somebody has written. Each is read once, until it or
/// the units in force are others.
#[derive(Debug, Default)]
pub(super) struct UnitsNamed {
    generation: Weak<Generation>,
    /// By the names of policies: the revision, and the units' names.
    policies: BTreeMap<Arc<str>, (u64, BTreeSet<String>)>,
}

impl UnitsNamed {
    /// The names of the policies that name this unit.
    fn users(&mut self, in_force: &InForce, unit: &str) -> Vec<String> {
        let generation = &in_force.generation;
        if !std::ptr::eq(self.generation.as_ptr(), Arc::as_ptr(generation)) {
            self.generation = Arc::downgrade(generation);
            self.policies.clear();
        }
        self.policies
            .retain(|name, _| in_force.policies.find(name).is_some());
        let mut users = Vec::new();
        let written = in_force.policies.all();
        for record in written.filter(|record| record.origin != Origin::Program) {
            let is_known = self.policies.get(&record.name);
            if is_known.is_none_or(|(revision, _)| *revision != record.revision) {
                let file = record.file();
                let policy = Policy::load(&record.text, &file, &**generation, Schema::built_in());
                let units = policy.iter().flat_map(Policy::units);
                let units = units.map(|unit| unit.name.to_string()).collect();
                let known = (record.revision, units);
                self.policies.insert(record.name.clone(), known);
            }
            let units = self.policies.get(&record.name);
            if units.is_some_and(|(_, units)| units.contains(unit)) {
                users.push(record.name.to_string());
            }
        }
        users
    }
}

impl Trials for Deployment {
    fn users(&self, unit: &str) -> Vec<String> {
        let clusters = self.clusters();
        let attached = clusters.iter().filter(|cluster| cluster.uses(unit));
        let mut users: BTreeSet<String> = attached
            .map(|cluster| cluster.settings().policy.to_string())
            .collect();
        // Those that somebody has written and that decide nowhere yet.
        let in_force = self.in_force();
        let named = self.units_named.lock();
        let mut named = named.unwrap_or_else(PoisonError::into_inner);
        users.extend(named.users(&in_force, unit));
        users.into_iter().collect()
    }

    fn policies(&self, candidate: &Generation, _: &[String]) -> Result<(), Vec<String>> {
        self.check_generation(&Arc::new(candidate.clone()))
    }

    fn replay(&self, candidate: &Generation, changed: &[String]) -> ReplayReport {
        let mut report = ReplayReport::default();
        let until = Instant::now() + self.options.trial;
        let mut clusters = self.clusters();
        clusters.retain(|cluster| changed.iter().any(|unit| cluster.uses(unit)));
        let mut left = u32::try_from(clusters.len()).unwrap_or(u32::MAX);
        for cluster in clusters {
            // What one cluster leaves of its share is for those after it.
            let now = Instant::now();
            let share = until.saturating_duration_since(now) / left.max(1);
            self.replay_in(&cluster, (candidate, changed), now + share, &mut report);
            left = left.saturating_sub(1);
        }
        report
    }

    fn adopt(&self, generation: Arc<Generation>) -> Result<(), String> {
        self.adopt_generation(generation)
            .map_err(|problems| problems.join("\n"))
    }

    fn impose(&self, generation: Arc<Generation>) {
        self.impose_generation(generation);
    }

    fn enforce(&self, generation: Arc<Generation>, distrusted: &BTreeMap<String, String>) {
        self.enforce_generation(&generation, distrusted);
    }
}

impl Deployment {
    /// Make recorded decisions of a cluster again, evenly chosen where the time is too short
    /// for all; at least one.
    fn replay_in(
        &self,
        cluster: &Cluster,
        (candidate, changed): (&Generation, &[String]),
        until: Instant,
        report: &mut ReplayReport,
    ) {
        let candidate = Arc::new(candidate.clone());
        let Ok(rule) = self.rule_of(&cluster.settings(), &cluster.schema(), &candidate) else {
            // The step before has told why.
            return;
        };
        let wanted = Wanted {
            decisions: DECISIONS,
            examples: 0,
            until,
            patience: PATIENCE,
            cancel: Cancel::default(),
            // The more a candidate is asked, the more is seen of it.
            reuse: None,
            baseline: self.baseline_of(cluster),
        };
        let again = match self.made_again(cluster, (&rule.policy, &candidate), wanted) {
            Ok(again) => again,
            Err(error) => {
                // It may be busy: nobody waits for it longer.
                let name = cluster.name().to_string();
                report.untried.insert(name, cut(error.to_string()));
                return;
            }
        };
        report.recorded += again.of;
        for made in again.made {
            report.tried += 1;
            let failed = made.faults.iter().find(|fault| {
                // Of others nothing is learned here.
                changed.contains(&fault.unit.name)
            });
            if let Some(fault) = failed {
                report.failing += 1;
                if report.failures.len() < EXAMPLES {
                    let vms = made.request.members.iter();
                    report.failures.push(Failure {
                        cluster: cluster.name().to_string(),
                        decision: made.number,
                        vms: vms.map(|vm| vm.id.to_string()).take(EXAMPLES).collect(),
                        because: cut(fault.to_string()),
                    });
                }
                continue;
            }
            if !made.differs() {
                continue;
            }
            report.differing += 1;
            if report.examples.len() < EXAMPLES {
                report.examples.push(Difference {
                    cluster: cluster.name().to_string(),
                    decision: made.number,
                    before: made.before.map(|host| host.to_string()),
                    after: made.host.ok().flatten().map(|host| host.to_string()),
                });
            }
        }
    }
}
