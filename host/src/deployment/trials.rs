//! What the library asks before it lets units come into force: whether the policies can
//! run with them, and how recorded decisions would have come out.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cluster::Cluster;
use super::{Deployment, Origin};
use crate::library::Generation;
use crate::library::stage::{Difference, ReplayReport, Trials};
use crate::model::schema::Schema;
use crate::policy::Policy;

/// Decisions of one cluster that are made again at most.
const DECISIONS: usize = 200;

/// Examples of decisions that come out in another way.
const EXAMPLES: usize = 10;

impl Trials for Deployment {
    fn users(&self, unit: &str) -> Vec<String> {
        let clusters = self.clusters();
        let attached = clusters.iter().filter(|cluster| cluster.uses(unit));
        let mut users: BTreeSet<String> = attached
            .map(|cluster| cluster.settings().policy.to_string())
            .collect();
        // Those that somebody has written and that decide nowhere yet.
        let generation = self.generation();
        let written = self.all_policies().into_iter();
        for record in written.filter(|record| record.origin != Origin::Program) {
            let file = record.file();
            let policy = Policy::load(&record.text, &file, &*generation, Schema::built_in());
            if policy.is_ok_and(|policy| policy.names(unit)) {
                users.insert(record.name.to_string());
            }
        }
        users.into_iter().collect()
    }

    fn policies(&self, candidate: &Generation, _: &[String]) -> Result<(), Vec<String>> {
        self.check_generation(&Arc::new(candidate.clone()))
    }

    fn replay(&self, candidate: &Generation, changed: &[String]) -> ReplayReport {
        let mut report = ReplayReport::default();
        let until = Instant::now() + self.options.trial;
        for cluster in self.clusters() {
            if changed.iter().any(|unit| cluster.uses(unit)) {
                self.replay_in(&cluster, candidate, until, &mut report);
            }
        }
        report
    }

    fn adopt(&self, generation: Arc<Generation>) -> Result<(), String> {
        self.adopt_generation(generation)
            .map_err(|problems| problems.join("\n"))
    }
}

impl Deployment {
    /// Make recorded decisions of a cluster again, the newest first, until the time is
    /// up; at least one.
    fn replay_in(
        &self,
        cluster: &Cluster,
        candidate: &Generation,
        until: Instant,
        report: &mut ReplayReport,
    ) {
        let candidate = Arc::new(candidate.clone());
        let Ok(rule) = self.rule_of(&cluster.settings(), &cluster.schema(), &candidate) else {
            // The step before has told why.
            return;
        };
        let Ok(trial) = cluster
            .turn(|state| Ok(state.scheduler().trial(DECISIONS)))
            .wait()
        else {
            return;
        };
        let left = until.saturating_duration_since(Instant::now());
        let Ok(compared) = trial.run(rule.policy, &candidate, left.max(Duration::from_nanos(1)))
        else {
            return;
        };
        for (number, before, after) in compared {
            report.tried += 1;
            if before == after {
                continue;
            }
            report.differing += 1;
            if report.examples.len() < EXAMPLES {
                report.examples.push(Difference {
                    cluster: cluster.name().to_string(),
                    decision: number,
                    before: before.map(|host| host.to_string()),
                    after: after.map(|host| host.to_string()),
                });
            }
        }
    }
}
