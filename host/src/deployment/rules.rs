//! Policies are edited and attached, units are swapped, and clusters decide by what is
//! new. Everything is checked for every cluster that it concerns before anything is
//! changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cluster::{Attached, Rule};
use super::overrides::effective;
use super::{
    Cluster, ClusterSettings, Deployment, DeploymentError, EventKind, News, Origin, Override,
    PeriodicBalance, PolicyRecord,
};
use crate::chain::Chain;
use crate::inventory::Inventory;
use crate::library::Generation;
use crate::model::schema::Schema;
use crate::policy::Policy;
use crate::store::Change;

/// A policy that is to decide in a cluster, and what is different there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attach {
    pub policy: String,
    pub overrides: BTreeMap<String, Override>,
    /// Whether plans of moves are made from time to time.
    pub balance: Option<PeriodicBalance>,
    /// Seconds after which what was measured of hosts counts as absent.
    pub statistics_max_age: Option<i64>,
    /// The settings are only changed if they have this revision.
    pub revision: Option<u64>,
    /// Who wants it.
    pub by: Option<Arc<str>>,
}

/// A new document for a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    pub name: String,
    pub text: String,
    pub origin: Origin,
    /// The policy is only changed if it has this revision; 0: if there is none yet.
    pub revision: Option<u64>,
}

/// Who asks for a change.
pub type Who<'a> = &'a str;

impl Deployment {
    /// All policies, by name.
    pub fn all_policies(&self) -> Vec<Arc<PolicyRecord>> {
        self.policies().all().cloned().collect()
    }

    /// The policy of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn policy(&self, name: &str) -> Result<Arc<PolicyRecord>, DeploymentError> {
        self.policies().get(name).cloned()
    }

    /// The revisions of a policy that are kept, the newest first.
    ///
    /// # Errors
    /// If there is none of that name, or they cannot be read.
    pub fn policy_history(&self, name: &str) -> Result<Vec<PolicyRecord>, DeploymentError> {
        let record = self.policy(name)?;
        if record.origin == Origin::Program {
            return Ok(vec![(*record).clone()]);
        }
        let kept = self.store.policy_history(name)?;
        kept.iter().map(PolicyRecord::restored).collect()
    }

    /// The clusters in which a policy decides.
    pub fn clusters_of(&self, policy: &str) -> Vec<Arc<Cluster>> {
        let mut clusters = self.clusters();
        clusters.retain(|cluster| *cluster.settings().policy == *policy);
        clusters
    }

    /// Check a policy document as if it were put there: against the units in force, and
    /// every cluster in which the policy of that name decides.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn check_policy(&self, edit: &Edit) -> Result<(), DeploymentError> {
        let record = self.draft(edit, "", 0);
        self.rules_for(&record, &self.generation()).map(|_| ())
    }

    fn draft(&self, edit: &Edit, who: Who<'_>, revision: u64) -> PolicyRecord {
        PolicyRecord {
            name: edit.name.as_str().into(),
            revision,
            origin: edit.origin.clone(),
            at: self.now(),
            by: who.to_owned(),
            text: edit.text.as_str().into(),
        }
    }

    /// Put a policy there, or a new document in its place. Clusters in which it decides
    /// decide by it from their next turn on.
    ///
    /// # Errors
    /// If the document cannot run with the units in force, here or in one of the
    /// clusters; if the policy comes with the program; or if its revision is another.
    pub fn put_policy(
        &self,
        edit: &Edit,
        who: Who<'_>,
    ) -> Result<Arc<PolicyRecord>, DeploymentError> {
        let control = self.control();
        let mut policies = (*self.policies()).clone();
        let known = policies.find(&edit.name).cloned();
        if let Some(known) = &known {
            may_change(known, &edit.origin)?;
        }
        check_name(&edit.name)?;
        let current = known.as_ref().map_or(0, |known| known.revision);
        check_revision(&format!("policy \"{}\"", edit.name), edit.revision, current)?;
        let generation = self.generation();
        let mut record = self.draft(edit, who, current + 1);
        let rules = self.rules_for(&record, &generation)?;
        if known.is_none() {
            // One that was removed may have left a history.
            let kept = self.store.policy_history(&edit.name)?;
            let last = kept.iter().map(|kept| kept.revision).max();
            record.revision = last.unwrap_or(0) + 1;
        }
        self.store.commit(vec![record.kept()])?;
        let record = policies.put(record);
        self.policies.store(Arc::new(policies));
        self.take_over(rules)?;
        drop(control);
        self.library.sweep();
        self.tell(News {
            kind: EventKind::PolicyChanged,
            by: Some(record.by.as_str().into()),
            policy: Some(record.name.clone()),
            message: format!(
                "policy \"{}\": revision {} is now in force (changed by {})",
                record.name, record.revision, record.by
            ),
            ..News::default()
        });
        Ok(record)
    }

    /// Take a policy out that decides nowhere.
    ///
    /// # Errors
    /// If it comes with the program, decides somewhere, or has another revision.
    pub fn remove_policy(
        &self,
        name: &str,
        origin: &Origin,
        revision: Option<u64>,
        by: Who<'_>,
    ) -> Result<(), DeploymentError> {
        let control = self.control();
        let mut policies = (*self.policies()).clone();
        let record = policies.get(name)?.clone();
        may_change(&record, origin)?;
        check_revision(&format!("policy \"{name}\""), revision, record.revision)?;
        let clusters = self.clusters_of(name);
        if !clusters.is_empty() {
            return Err(DeploymentError::InUse {
                name: name.to_owned(),
                clusters: clusters.iter().map(|it| it.name().to_string()).collect(),
            });
        }
        let name = name.to_owned();
        self.store.commit(vec![Change::RemovePolicy { name }])?;
        policies.remove(&record.name);
        self.policies.store(Arc::new(policies));
        drop(control);
        self.library.sweep();
        self.tell(News {
            kind: EventKind::PolicyRemoved,
            by: Some(by.into()),
            policy: Some(record.name.clone()),
            message: "the policy was removed".to_owned(),
            ..News::default()
        });
        Ok(())
    }

    /// Let a policy decide in a cluster, with what is different there.
    ///
    /// # Errors
    /// If it cannot run there, or the cluster's settings have another revision.
    pub fn attach(
        &self,
        cluster: &str,
        attach: Attach,
    ) -> Result<Arc<ClusterSettings>, DeploymentError> {
        let control = self.control();
        let cluster = self.cluster(cluster)?;
        let old = cluster.settings();
        let what = format!("the settings of cluster \"{}\"", cluster.name());
        check_revision(&what, attach.revision, old.revision)?;
        let settings = ClusterSettings {
            policy: attach.policy.as_str().into(),
            overrides: attach.overrides,
            balance: attach.balance,
            statistics_max_age: attach.statistics_max_age,
            revision: old.revision + 1,
            seed: old.seed,
        };
        let rule = self.rule_of(&settings, &cluster.schema(), &self.generation())?;
        cluster.rule_by(rule, Some(settings)).wait()?;
        drop(control);
        self.library.sweep();
        self.tell(News {
            kind: EventKind::PolicyAttached,
            by: attach.by,
            cluster: Some(cluster.name().clone()),
            policy: Some(cluster.settings().policy.clone()),
            message: format!(
                "cluster \"{}\" now uses policy \"{}\"",
                cluster.name(),
                cluster.settings().policy
            ),
            ..News::default()
        });
        Ok(cluster.settings())
    }

    /// Whether the policies of all clusters can run with these units.
    ///
    /// # Errors
    /// What keeps them from it, a sentence for each cluster.
    pub(super) fn check_generation(&self, generation: &Arc<Generation>) -> Result<(), Vec<String>> {
        self.rules_with(generation).map(|_| ())
    }

    /// Let every cluster decide by these units from its next turn on. Where no unit of
    /// the policy has changed, what decides goes on, with all that it keeps.
    ///
    /// A cluster that has stopped, or whose rows cannot be kept, keeps no unit out.
    ///
    /// # Errors
    /// What keeps policies from running with them; then nothing is changed.
    pub(super) fn adopt_generation(&self, generation: Arc<Generation>) -> Result<(), Vec<String>> {
        let _control = self.control();
        let rules = self.rules_with(&generation)?;
        let before = self.generation();
        self.generation.store(generation.clone());
        self.count_units();
        let concerned = |name: &Arc<str>| rules.iter().any(|(cluster, _)| cluster.name() == name);
        let others = self.clusters().into_iter();
        let others: Vec<_> = others.filter(|it| !concerned(it.name())).collect();
        let replies = others.into_iter().map(|cluster| {
            let generation = generation.clone();
            cluster.whenever(move |state| {
                state.know(generation);
                Ok(())
            })
        });
        let known: Vec<_> = replies.collect();
        let taken = rules.into_iter().map(|(cluster, rule)| {
            let reply = cluster.rule_by(rule, None);
            (cluster, reply)
        });
        let taken: Vec<_> = taken.collect();
        let mut problems = Vec::new();
        for (cluster, reply) in taken {
            match reply.wait() {
                Err(error) if is_about_the_cluster(&error) => {
                    tracing::warn!(cluster = &**cluster.name(), %error, "units may not be in force");
                }
                Err(error) => problems.push(format!("cluster \"{}\": {error}", cluster.name())),
                Ok(()) => {}
            }
        }
        // One that has stopped knows nothing, and needs not.
        known.into_iter().for_each(|reply| drop(reply.wait()));
        if problems.is_empty() {
            return Ok(());
        }
        // Those that have taken them over go back to what was.
        let back = self.rules_with(&before).unwrap_or_default();
        self.generation.store(before);
        self.count_units();
        if let Err(error) = self.take_over(back) {
            tracing::error!(%error, "units are in force in some clusters only");
        }
        Err(problems)
    }

    /// What the clusters that other units concern would decide by with these. One whose
    /// policy cannot run as things are keeps no unit out.
    fn rules_with(
        &self,
        generation: &Arc<Generation>,
    ) -> Result<Vec<(Arc<Cluster>, Rule)>, Vec<String>> {
        let in_force = self.generation();
        let (mut rules, mut problems) = (Vec::new(), Vec::new());
        for cluster in self.clusters() {
            let policy = cluster.policy();
            let same = |policy: &Arc<Policy>| {
                let digest = |of: &Generation, name: &str| of.get(name).map(|unit| unit.digest());
                let mut units = policy.units();
                units.all(|it| digest(&in_force, &it.name) == digest(generation, &it.name))
            };
            if policy.as_ref().is_some_and(same) {
                continue;
            }
            match self.rule_of(&cluster.settings(), &cluster.schema(), generation) {
                Ok(rule) => rules.push((cluster, rule)),
                Err(_) if policy.is_none() => {}
                Err(error) => problems.push(format!("cluster \"{}\": {error}", cluster.name())),
            }
        }
        match problems.is_empty() {
            true => Ok(rules),
            false => Err(problems),
        }
    }

    /// What clusters would decide by if a policy were this; without clusters it is
    /// checked against the built-in tables.
    fn rules_for(
        &self,
        record: &PolicyRecord,
        generation: &Arc<Generation>,
    ) -> Result<Vec<(Arc<Cluster>, Rule)>, DeploymentError> {
        let clusters = self.clusters_of(&record.name);
        if clusters.is_empty() {
            let overrides = BTreeMap::new();
            rule(record, &overrides, Schema::built_in(), generation)?;
        }
        let rules = clusters.into_iter().map(|cluster| {
            let overrides = &cluster.settings().overrides;
            let rule = rule(record, overrides, &cluster.schema(), generation)?;
            Ok((cluster, rule))
        });
        rules.collect()
    }

    /// What a cluster of these settings decides by.
    pub(super) fn rule_of(
        &self,
        settings: &ClusterSettings,
        schema: &Schema,
        generation: &Arc<Generation>,
    ) -> Result<Rule, DeploymentError> {
        let policies = self.policies();
        let record = policies.get(&settings.policy)?;
        rule(record, &settings.overrides, schema, generation)
    }

    fn take_over(&self, rules: Vec<(Arc<Cluster>, Rule)>) -> Result<(), DeploymentError> {
        let replies: Vec<_> = rules
            .into_iter()
            .map(|(cluster, rule)| cluster.rule_by(rule, None))
            .collect();
        for reply in replies {
            reply.wait()?;
        }
        Ok(())
    }
}

/// Whether a rule was not taken over, or not kept, for something that is wrong with the
/// cluster and not with the rule.
fn is_about_the_cluster(error: &DeploymentError) -> bool {
    matches!(
        error,
        DeploymentError::NoTurn(_) | DeploymentError::NotKept(_)
    )
}

/// What a policy comes to with these units, and that it can run.
fn rule(
    record: &PolicyRecord,
    overrides: &BTreeMap<String, Override>,
    schema: &Schema,
    generation: &Arc<Generation>,
) -> Result<Rule, DeploymentError> {
    let file = record.file();
    let policy = Arc::new(effective(
        &record.text,
        &file,
        overrides,
        generation,
        schema,
    )?);
    try_out(policy.clone(), generation, schema)?;
    Ok(Rule {
        policy,
        attached: Attached {
            policy: record.name.clone(),
            revision: record.revision,
        },
        generation: generation.clone(),
    })
}

/// Rules between settings are known to the units alone.
fn try_out(
    policy: Arc<Policy>,
    generation: &Generation,
    schema: &Schema,
) -> Result<(), DeploymentError> {
    let mut nobody = Inventory::new("empty", Arc::new(schema.clone()));
    Chain::resolve(policy, generation, &mut nobody)?;
    Ok(())
}

fn may_change(record: &PolicyRecord, origin: &Origin) -> Result<(), DeploymentError> {
    match &record.origin {
        Origin::Program => Err(DeploymentError::Locked(record.name.to_string())),
        Origin::File(file) if !matches!(origin, Origin::File(_)) => Err(DeploymentError::InFile {
            name: record.name.to_string(),
            file: file.clone(),
        }),
        _ => Ok(()),
    }
}

fn check_revision(what: &str, given: Option<u64>, current: u64) -> Result<(), DeploymentError> {
    match given {
        Some(given) if given != current => Err(DeploymentError::Revision {
            what: what.to_owned(),
            given,
            current,
        }),
        _ => Ok(()),
    }
}

/// Names stand in addresses and file names.
pub(super) fn check_name(name: &str) -> Result<(), DeploymentError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let good = (1..=64).contains(&name.len()) && name.chars().all(fits) && !name.starts_with('.');
    match good {
        true => Ok(()),
        false => Err(DeploymentError::Refused(format!(
            "\"{}\" cannot be a name: take 1 to 64 letters of a-z, A-Z, 0-9, \"-\", \"_\" and \".\", and none that begins with \".\"",
            crate::document::shown(name)
        ))),
    }
}
