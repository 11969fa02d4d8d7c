//! Policies are edited and attached, units are swapped, and clusters decide by what is
//! new. Everything is checked for every cluster that it concerns before anything is
//! changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use super::cluster::{Attached, AutomaticRestart, Rule};
use super::in_force::Attaching;
use super::overrides::effective;
use super::policies::{LARGEST_POLICY, Policies, PolicyUse};
use super::revisions::GoneRevisions;
use super::{
    Cluster, ClusterSettings, Deployment, DeploymentError, EventKind, News, Origin, Override,
    PAGE_BYTES, PeriodicBalance, PolicyRecord,
};
use placewright_chain::{Chain, ChainError};
use placewright_document::Problems;
use placewright_engine::generation::Generation;
use placewright_inventory::Inventory;
use placewright_model::budget::{Collection, Full};
use placewright_model::schema::Schema;
use placewright_model::{Rfc3339, turns};
use placewright_policy::Policy;
use placewright_scheduler::Baseline;
use placewright_store::Change;
use placewright_sync::Mutex;

/// A policy that is to decide in a cluster, and what is different there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attach {
    /// Name of the policy that is to decide.
    pub policy: String,
    /// What is different in the cluster, by entry of the policy.
    pub overrides: BTreeMap<String, Override>,
    /// Whether plans of moves are made from time to time.
    pub balance: Option<PeriodicBalance>,
    /// Whether the server restarts VMs of hosts that are down or in error.
    pub restart: Option<AutomaticRestart>,
    /// Seconds after which what was measured of hosts counts as absent.
    pub statistics_max_age: Option<i64>,
    /// Seconds after which what has come to run counts as measured.
    pub unmeasured_max_age: Option<i64>,
    /// The settings are only changed if they have this revision.
    pub revision: Option<u64>,
    /// Who wants it.
    pub by: Option<Arc<str>>,
}

/// A new document for a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// Its name.
    pub name: String,
    /// The document.
    pub text: String,
    /// Where it came from.
    pub origin: Origin,
    /// The policy is only changed if it has this revision; 0: if there is none yet.
    pub revision: Option<u64>,
}

/// What came of putting a policy there.
enum Put {
    /// It is in force, with a sentence on the filters that it has no more.
    Changed(Arc<PolicyRecord>, Option<String>),
    /// It was there already.
    Same(Arc<PolicyRecord>),
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

    /// The revisions of a policy that are kept, below `before`, the newest first: at most so
    /// many, and fewer where they are large.
    ///
    /// # Errors
    /// If there is none of that name, or they cannot be read.
    pub fn policy_history(
        &self,
        name: &str,
        before: Option<u64>,
        most: usize,
    ) -> Result<Vec<PolicyRecord>, DeploymentError> {
        let record = self.policy(name)?;
        if record.origin == Origin::Program {
            let is_wanted = before.is_none_or(|before| record.revision < before);
            return Ok(is_wanted.then(|| (*record).clone()).into_iter().collect());
        }
        let most = (most, PAGE_BYTES);
        let kept = self.store.policy_history(name, before, most)?;
        kept.iter().map(PolicyRecord::restored).collect()
    }

    /// The clusters in which a policy decides.
    pub fn clusters_of(&self, policy: &str) -> Vec<Arc<Cluster>> {
        let mut clusters = self.clusters();
        clusters.retain(|cluster| *cluster.settings().policy == *policy);
        clusters
    }

    /// The names of the clusters in which a policy decides, and of those that are being given
    /// it.
    fn users_of(&self, policy: &str) -> BTreeSet<Arc<str>> {
        let clusters = self.clusters_of(policy).into_iter();
        let attaching = self.attaching().into_iter();
        let attaching = attaching.filter(|it| *it.settings.policy == *policy);
        clusters
            .chain(attaching.map(|it| it.cluster))
            .map(|cluster| cluster.name().clone())
            .collect()
    }

    /// Check a policy document as if it were put there: against the units in force, and
    /// every cluster in which the policy of that name decides. Gives what is allowed and
    /// seldom meant, a sentence each.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn check_policy(&self, edit: &Edit) -> Result<Vec<String>, DeploymentError> {
        check_size(edit)?;
        check_characters(edit)?;
        let record = self.draft(edit, "", 0);
        let generation = self.generation();
        check_filters(&record)?;
        self.check_record(&record, &generation)?;
        let mut remarks = self.remarks_on(&record, &generation)?;
        remarks.extend(self.lost_filters_of(&record, &generation));
        Ok(remarks)
    }

    /// What in a policy's document is allowed and seldom meant, a sentence each.
    ///
    /// # Errors
    /// If it cannot run with these units.
    fn remarks_on(
        &self,
        record: &PolicyRecord,
        generation: &Arc<Generation>,
    ) -> Result<Vec<String>, DeploymentError> {
        let clusters = self.clusters_of(&record.name);
        let of_cluster = clusters.first().map(|cluster| cluster.schema());
        let schema = of_cluster.as_deref().unwrap_or(Schema::built_in());
        let policy = load(record, schema, generation)?;
        let mut remarks = policy.remarks();
        if policy.name != record.name {
            remarks.push(format!(
                "the document calls itself \"{}\"; the policy is \"{}\", as its file or path says: change the key \"name\" or leave it out",
                policy.name, record.name
            ));
        }
        Ok(remarks)
    }

    /// A sentence on the filters that the revision in force has and this one has not, if there
    /// are any.
    fn lost_filters_of(
        &self,
        record: &PolicyRecord,
        generation: &Arc<Generation>,
    ) -> Option<String> {
        let known = self.policies().find(&record.name).cloned()?;
        let clusters = self.clusters_of(&record.name);
        let of_cluster = clusters.first().map(|cluster| cluster.schema());
        let schema = of_cluster.as_deref().unwrap_or(Schema::built_in());
        // One that cannot be read has no filters to lose.
        let before = load(&known, schema, generation).ok()?.filtering_units();
        let after = load(record, schema, generation).ok()?.filtering_units();
        let lost: Vec<&str> = before.difference(&after).map(|unit| &**unit).collect();
        if lost.is_empty() {
            return None;
        }
        let named: Vec<String> = lost.iter().map(|unit| format!("\"{unit}\"")).collect();
        Some(format!(
            "revision {} checks by {}, and this document does not: VMs are allowed on hosts that {} removed",
            known.revision,
            named.join(", "),
            if lost.len() == 1 { "it" } else { "they" }
        ))
    }

    /// A policy as it would be kept.
    pub(super) fn draft(&self, edit: &Edit, who: Who<'_>, revision: u64) -> PolicyRecord {
        let at = self.now();
        PolicyRecord {
            name: edit.name.as_str().into(),
            revision,
            origin: edit.origin.clone(),
            at,
            time: Rfc3339(at),
            by: who.to_owned(),
            owner: who.to_owned(),
            text: edit.text.as_str().into(),
        }
    }

    /// Put a policy there, or a new document in its place. Clusters in which it decides
    /// decide by it from their next turn on.
    ///
    /// # Errors
    /// If the document cannot run with the units in force, here or in one of the
    /// clusters; if the policy comes with the program; if its revision is another; or if whoever
    /// made it has no room for it.
    pub fn put_policy(
        &self,
        edit: &Edit,
        who: Who<'_>,
    ) -> Result<Arc<PolicyRecord>, DeploymentError> {
        let (record, _) = self.put_policy_if(edit, who, |_| Ok::<_, DeploymentError>(()))?;
        Ok(record)
    }

    /// The same, if `may` says so of what uses the policy: nobody else uses it, or uses it no
    /// more, before it is put there. With the policy, whether it is another one now: a document
    /// that is there already, letter by letter, makes no revision.
    ///
    /// # Errors
    /// As for [`Deployment::put_policy`], and those of `may`.
    pub fn put_policy_if<E: From<DeploymentError>>(
        &self,
        edit: &Edit,
        who: Who<'_>,
        may: impl FnOnce(&PolicyUse) -> Result<(), E>,
    ) -> Result<(Arc<PolicyRecord>, bool), E> {
        let (record, lost) = {
            let _control = self.control();
            may(&self.use_of(&edit.name))?;
            match self.put_checked(edit, who)? {
                Put::Changed(record, lost) => (record, lost),
                Put::Same(record) => return Ok((record, false)),
            }
        };
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
        if let Some(lost) = lost {
            self.tell(News {
                kind: EventKind::PolicyLostFilters,
                by: Some(record.by.as_str().into()),
                policy: Some(record.name.clone()),
                message: format!(
                    "policy \"{}\", revision {}: {lost}",
                    record.name, record.revision
                ),
                ..News::default()
            });
        }
        Ok((record, true))
    }

    /// Put a policy there; whoever calls it has `control`.
    fn put_checked(&self, edit: &Edit, who: Who<'_>) -> Result<Put, DeploymentError> {
        check_size(edit)?;
        // Files are their admin's own, and were taken before.
        if !matches!(edit.origin, Origin::File(_)) {
            check_characters(edit)?;
        }
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
        if let Some(known) = &known {
            record.owner.clone_from(&known.owner);
        }
        check_filters(&record)?;
        self.check_owner(&record, &policies)?;
        self.check_record(&record, &generation)?;
        match known {
            None => record.revision = self.gone().policy + 1,
            Some(known) if known.origin == edit.origin && *known.text == edit.text => {
                return Ok(Put::Same(known));
            }
            Some(_) => {}
        }
        let lost = self.lost_filters_of(&record, &generation);
        self.store.commit(vec![record.kept()])?;
        let record = policies.put(record);
        self.put_in_force(self.in_force().with_policies(policies));
        Ok(Put::Changed(record, lost))
    }

    /// That whoever made a policy has room for it. What lies in the folder of policies is the
    /// operator's own.
    fn check_owner(
        &self,
        record: &PolicyRecord,
        policies: &Policies,
    ) -> Result<(), DeploymentError> {
        let known = policies.find(&record.name).map_or(0, |known| known.bytes());
        if record.origin != Origin::Api || record.bytes() <= known {
            return Ok(());
        }
        let (collection, bound) = (Collection::Policies, self.options.policy_bytes);
        let others = policies.bytes_of(&record.owner, &record.name);
        let owner = record.owner.as_str().into();
        Ok(Full::check(
            collection,
            &owner,
            others + record.bytes(),
            bound,
        )?)
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
        self.remove_policy_if(name, origin, revision, (by, |_: &PolicyUse| Ok(())))
    }

    /// The same, if `may` says so of what uses the policy.
    ///
    /// # Errors
    /// As for [`Deployment::remove_policy`], and those of `may`.
    pub fn remove_policy_if<E: From<DeploymentError>>(
        &self,
        name: &str,
        origin: &Origin,
        revision: Option<u64>,
        (by, may): (Who<'_>, impl FnOnce(&PolicyUse) -> Result<(), E>),
    ) -> Result<(), E> {
        {
            let _control = self.control();
            may(&self.use_of(name))?;
            self.remove_checked(name, origin, revision)?;
        }
        self.library.sweep();
        self.tell(News {
            kind: EventKind::PolicyRemoved,
            by: Some(by.into()),
            policy: Some(name.into()),
            message: "the policy was removed".to_owned(),
            ..News::default()
        });
        Ok(())
    }

    /// Take a policy out; whoever calls it has `control`.
    fn remove_checked(
        &self,
        name: &str,
        origin: &Origin,
        revision: Option<u64>,
    ) -> Result<(), DeploymentError> {
        let mut policies = (*self.policies()).clone();
        let record = policies.get(name)?.clone();
        may_change(&record, origin)?;
        check_revision(&format!("policy \"{name}\""), revision, record.revision)?;
        let clusters = self.users_of(name);
        if !clusters.is_empty() {
            return Err(DeploymentError::InUse {
                name: name.to_owned(),
                clusters: clusters.iter().map(ToString::to_string).collect(),
            });
        }
        let name = name.to_owned();
        let gone = GoneRevisions {
            policy: record.revision,
            ..GoneRevisions::default()
        };
        self.remove(Change::RemovePolicy { name }, gone)?;
        policies.remove(&record.name);
        self.put_in_force(self.in_force().with_policies(policies));
        Ok(())
    }

    /// Who made a policy, and which clusters use it.
    fn use_of(&self, policy: &str) -> PolicyUse {
        let policies = self.policies();
        PolicyUse {
            owner: policies.find(policy).map(|record| record.owner.clone()),
            clusters: self.users_of(policy).into_iter().collect(),
        }
    }

    /// Let a policy decide in a cluster, with what is different there. Settings that change
    /// nothing keep their revision, unless the cluster has no policy that can run.
    ///
    /// # Errors
    /// If it cannot run there, or the cluster's settings have another revision.
    pub fn attach(
        &self,
        cluster: &str,
        attach: Attach,
    ) -> Result<Arc<ClusterSettings>, DeploymentError> {
        let cluster = self.cluster(cluster)?;
        let (settings, ends) = {
            let _control = self.control();
            let old = cluster.settings();
            let what = format!("the settings of cluster \"{}\"", cluster.name());
            check_revision(&what, attach.revision, old.revision)?;
            let mut settings = ClusterSettings {
                policy: attach.policy.as_str().into(),
                overrides: attach.overrides,
                balance: attach.balance,
                restart: attach.restart,
                statistics_max_age: attach.statistics_max_age,
                unmeasured_max_age: attach.unmeasured_max_age,
                revision: old.revision,
                seed: old.seed,
            };
            if settings == *old && cluster.policy().is_some() {
                return Ok(old);
            }
            settings.revision += 1;
            self.rule_of(&settings, &cluster.schema(), &self.generation())?;
            let attaching = Attaching {
                cluster: cluster.clone(),
                settings: settings.clone(),
            };
            (settings, AttachingEnds::begin(&self.attaching, attaching))
        };
        // The cluster may be busy: nobody else waits for it.
        let settings = cluster.attach(settings, attach.revision, ends).wait()?;
        self.library.sweep();
        self.tell(News {
            kind: EventKind::PolicyAttached,
            by: attach.by,
            cluster: Some(cluster.name().clone()),
            policy: Some(settings.policy.clone()),
            message: format!(
                "cluster \"{}\" now uses policy \"{}\"",
                cluster.name(),
                settings.policy
            ),
            ..News::default()
        });
        Ok(settings)
    }

    /// Whether the policies of all clusters can run with these units. One whose policy cannot
    /// run as things are keeps no unit out.
    ///
    /// # Errors
    /// What keeps them from it, a sentence for each cluster.
    pub(super) fn check_generation(&self, generation: &Arc<Generation>) -> Result<(), Vec<String>> {
        let in_force = self.in_force();
        let mut problems = Vec::new();
        for cluster in self.clusters() {
            let policy = cluster.policy();
            let is_known = cluster.in_force_number() == in_force.number;
            let same = |policy: &Arc<Policy>| {
                !unit_digests_differ(policy, &in_force.generation, generation)
            };
            if is_known && policy.as_ref().is_some_and(same) {
                continue;
            }
            let checked = self.rule_of(&cluster.settings(), &cluster.schema(), generation);
            match checked {
                Err(error) if policy.is_some() => {
                    problems.push(format!("cluster \"{}\": {error}", cluster.name()));
                }
                _ => {}
            }
        }
        for Attaching { cluster, settings } in self.attaching() {
            if let Err(error) = self.rule_of(&settings, &cluster.schema(), generation) {
                problems.push(format!("cluster \"{}\": {error}", cluster.name()));
            }
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems),
        }
    }

    /// Put these units in force: every cluster decides by them from its next turn on. Where no
    /// unit of the policy has changed, what decides goes on, with all that it keeps. No turn is
    /// waited for.
    ///
    /// # Errors
    /// What keeps policies from running with them; then nothing is changed.
    pub(super) fn adopt_generation(&self, generation: Arc<Generation>) -> Result<(), Vec<String>> {
        let _control = self.control();
        self.check_generation(&generation)?;
        self.put_in_force(self.in_force().with_units(generation));
        self.count_units();
        Ok(())
    }

    /// That a policy can run in all clusters that it decides in, if it is this; without
    /// clusters it is checked against the built-in tables.
    fn check_record(
        &self,
        record: &PolicyRecord,
        generation: &Arc<Generation>,
    ) -> Result<(), DeploymentError> {
        let clusters = self.clusters_of(&record.name).into_iter();
        let mut users: Vec<_> = clusters.map(|it| (it.settings(), it.schema())).collect();
        let attaching = self.attaching().into_iter();
        let attaching = attaching.filter(|it| it.settings.policy == record.name);
        users.extend(attaching.map(|it| (Arc::new(it.settings), it.cluster.schema())));
        if users.is_empty() {
            let schema = Schema::built_in();
            let checked = checked(record, &BTreeMap::new(), schema, generation);
            checked.map_err(|error| at_place(error, record, schema, generation))?;
        }
        for (settings, schema) in users {
            let checked = checked(record, &settings.overrides, &schema, generation);
            checked.map_err(|error| at_place(error, record, &schema, generation))?;
        }
        Ok(())
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
        checked(record, &settings.overrides, schema, generation)
    }

    /// The policy of a cluster with the units in force, with which units that are tried are
    /// compared; None where it cannot run with these.
    pub(super) fn baseline_of(&self, cluster: &Cluster) -> Option<Baseline> {
        let generation = self.generation();
        let rule = self.rule_of(&cluster.settings(), &cluster.schema(), &generation);
        rule.ok().map(|rule| (rule.policy, generation))
    }

    #[cfg(test)]
    pub(super) fn attaching_policies(&self) -> Vec<Arc<str>> {
        let attaching = self.attaching().into_iter();
        attaching.map(|it| it.settings.policy).collect()
    }

    /// The settings that clusters are being given.
    fn attaching(&self) -> Vec<Attaching> {
        let attaching = self.attaching.lock();
        let attaching = attaching.unwrap_or_else(PoisonError::into_inner);
        attaching.values().cloned().collect()
    }
}

/// Takes settings off the list of those that clusters are being given, when it is dropped.
pub(super) struct AttachingEnds {
    list: Arc<Mutex<BTreeMap<u64, Attaching>>>,
    number: u64,
}

impl AttachingEnds {
    fn begin(list: &Arc<Mutex<BTreeMap<u64, Attaching>>>, attaching: Attaching) -> Self {
        let mut all = list.lock().unwrap_or_else(PoisonError::into_inner);
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, attaching);
        drop(all);
        Self {
            list: list.clone(),
            number,
        }
    }
}

impl Drop for AttachingEnds {
    fn drop(&mut self) {
        let mut all = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.number);
    }
}

/// Whether a unit that the policy names is another one in these generations.
pub(super) fn unit_digests_differ(policy: &Policy, one: &Generation, other: &Generation) -> bool {
    let digest = |of: &Generation, name: &str| of.get(name).map(|unit| unit.digest());
    let mut units = policy.units();
    units.any(|it| digest(one, &it.name) != digest(other, &it.name))
}

/// What a policy comes to with these units.
pub(super) fn rule(
    record: &PolicyRecord,
    overrides: &BTreeMap<String, Override>,
    schema: &Schema,
    generation: &Arc<Generation>,
) -> Result<Rule, DeploymentError> {
    let file = record.file();
    let mut policy = effective(&record.text, &file, overrides, generation, schema)?;
    // Whatever its document calls it: this is what it is attached by.
    policy.name = record.name.clone();
    Ok(Rule {
        policy: Arc::new(policy),
        attached: Attached {
            policy: record.name.clone(),
            revision: record.revision,
        },
        generation: generation.clone(),
    })
}

/// The rule of a policy in a cluster with these units. The overrides of the cluster are for the policy
/// that is attached there, and change no other.
pub(super) fn rule_in(
    cluster: &Cluster,
    record: &PolicyRecord,
    generation: &Arc<Generation>,
) -> Result<Rule, DeploymentError> {
    let settings = cluster.settings();
    let none = BTreeMap::new();
    let overrides = match settings.policy == record.name {
        true => &settings.overrides,
        false => &none,
    };
    rule(record, overrides, &cluster.schema(), generation)
}

/// The policy of a document as it is written.
fn load(
    record: &PolicyRecord,
    schema: &Schema,
    generation: &Arc<Generation>,
) -> Result<Policy, DeploymentError> {
    Ok(Policy::load(
        &record.text,
        &record.file(),
        &**generation,
        schema,
    )?)
}

/// That a document says which filters there are.
fn check_filters(record: &PolicyRecord) -> Result<(), DeploymentError> {
    let document = Policy::read(&record.text, &record.file())?;
    Ok(document.check_filters()?)
}

/// The same, and that it can run.
fn checked(
    record: &PolicyRecord,
    overrides: &BTreeMap<String, Override>,
    schema: &Schema,
    generation: &Arc<Generation>,
) -> Result<Rule, DeploymentError> {
    let rule = rule(record, overrides, schema, generation)?;
    try_out(rule.policy.clone(), generation, schema)?;
    Ok(rule)
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

/// Where a unit refuses its settings, the place of these in the document.
fn at_place(
    error: DeploymentError,
    record: &PolicyRecord,
    schema: &Schema,
    generation: &Generation,
) -> DeploymentError {
    let DeploymentError::Chain(ChainError::Settings { fault, refused, .. }) = &error else {
        return error;
    };
    let document = Policy::read(&record.text, &record.file()).ok();
    let place = document.and_then(|document| document.place_of(refused, generation, schema));
    let Some(place) = place else {
        return error;
    };
    let mut problems = Problems::new();
    problems.add(&place, fault.clone());
    DeploymentError::Problems(problems)
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

/// That the text of a policy has nothing in it that a terminal would act on, or that shows it in
/// another order: its comments are read by others than its author.
fn check_characters(edit: &Edit) -> Result<(), DeploymentError> {
    let acts = |it: &char| (it.is_control() && !matches!(it, '\r' | '\t')) || turns(*it);
    for (line, text) in (1..).zip(edit.text.split('\n')) {
        if let Some(hidden) = text.chars().find(acts) {
            let code = u32::from(hidden);
            return Err(DeploymentError::Refused(format!(
                "line {line} of the policy has the control character U+{code:04X}: take it out, or write it as an escape in a text"
            )));
        }
    }
    Ok(())
}

fn check_size(edit: &Edit) -> Result<(), DeploymentError> {
    match edit.text.len() {
        0..=LARGEST_POLICY => Ok(()),
        bytes => Err(DeploymentError::PolicyTooLarge {
            bytes,
            most: LARGEST_POLICY,
        }),
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

/// What names look like, as a regular expression.
pub const NAME_PATTERN: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$";

/// That something may have this name: names stand in addresses and file names.
///
/// # Errors
/// If it is too short or too long, or has other characters than it may.
pub fn check_name(name: &str) -> Result<(), DeploymentError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let good = (1..=64).contains(&name.len()) && name.chars().all(fits) && !name.starts_with('.');
    match good {
        true => Ok(()),
        false => Err(DeploymentError::Refused(format!(
            "\"{}\" cannot be a name: take 1 to 64 letters of a-z, A-Z, 0-9, \"-\", \"_\" and \".\", and none that begins with \".\"",
            placewright_document::shown(name)
        ))),
    }
}
