//! The store against the same in maps: random submissions, reopened now and then.

mod script;

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

use script::{Step, names, step};

/// What was put and not removed. The newest of what is bounded is compared.
#[derive(Debug, Clone, Default)]
struct Model {
    clusters: BTreeMap<String, Cluster>,
    policies: BTreeMap<String, BTreeMap<u64, PolicyRevision>>,
    artifacts: BTreeMap<String, (String, Vec<u8>)>,
    signatures: BTreeMap<String, SavedSignature>,
    units: BTreeMap<String, SavedUnit>,
    events: Vec<UnitEvent>,
    settings: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default)]
struct Cluster {
    body: String,
    counters: Counters,
    hosts: BTreeMap<String, HostRow>,
    vms: BTreeMap<(bool, String), VmRow>,
    tenants: BTreeMap<String, TenantRow>,
    groups: BTreeMap<String, GroupRow>,
    measured: BTreeMap<String, MeasuredRow>,
    chain: Option<String>,
    decisions: BTreeMap<u64, SavedDecision>,
    /// How it was when decisions were made.
    then: BTreeMap<u64, Then>,
    plans: BTreeMap<u64, SavedPlan>,
    answers: BTreeMap<String, SavedAnswer>,
    ended: BTreeMap<String, SavedEndedReservation>,
}

impl Model {
    /// All of the changes, or none.
    fn submit(&mut self, changes: &[Change]) -> bool {
        let mut next = self.clone();
        let applied = changes
            .iter()
            .try_for_each(|change| next.apply(change.clone()));
        if applied.is_some() {
            *self = next;
        }
        applied.is_some()
    }

    /// Nothing if the change is at fault.
    fn apply(&mut self, change: Change) -> Option<()> {
        match change {
            Change::PutCluster { cluster, body } => {
                self.clusters.entry(cluster).or_default().body = body;
            }
            Change::RemoveCluster { cluster } => {
                self.clusters.remove(&cluster);
            }
            Change::PutHost {
                cluster,
                id,
                position,
                body,
            } => {
                let row = HostRow {
                    id: id.clone(),
                    position,
                    body,
                };
                self.clusters.get_mut(&cluster)?.hosts.insert(id, row);
            }
            Change::RemoveHost { cluster, id } => self.of(&cluster, |c| {
                c.hosts.remove(&id);
            }),
            Change::PutVm {
                cluster,
                id,
                pending,
                body,
            } => {
                let key = (pending, id.clone());
                let row = VmRow { id, pending, body };
                self.clusters.get_mut(&cluster)?.vms.insert(key, row);
            }
            Change::RemoveVm {
                cluster,
                id,
                pending,
            } => self.of(&cluster, |c| {
                c.vms.remove(&(pending, id));
            }),
            Change::PutTenant { cluster, id, body } => {
                let row = TenantRow {
                    id: id.clone(),
                    body,
                };
                self.clusters.get_mut(&cluster)?.tenants.insert(id, row);
            }
            Change::RemoveTenant { cluster, id } => self.of(&cluster, |c| {
                c.tenants.remove(&id);
            }),
            Change::PutGroup {
                cluster,
                id,
                position,
                body,
            } => {
                let row = GroupRow {
                    id: id.clone(),
                    position,
                    body,
                };
                self.clusters.get_mut(&cluster)?.groups.insert(id, row);
            }
            Change::RemoveGroup { cluster, id } => self.of(&cluster, |c| {
                c.groups.remove(&id);
            }),
            Change::ReplaceInventory {
                cluster,
                hosts,
                vms,
                tenants,
                groups,
                measured,
            } => {
                let cluster = self.clusters.get_mut(&cluster)?;
                cluster.hosts = hosts.into_iter().map(|r| (r.id.clone(), r)).collect();
                cluster.vms = vms
                    .into_iter()
                    .map(|r| ((r.pending, r.id.clone()), r))
                    .collect();
                cluster.tenants = tenants.into_iter().map(|r| (r.id.clone(), r)).collect();
                cluster.groups = groups.into_iter().map(|r| (r.id.clone(), r)).collect();
                cluster.measured = measured.into_iter().map(|r| (r.id.clone(), r)).collect();
            }
            Change::PutMeasured { cluster, id, body } => {
                let row = MeasuredRow {
                    id: id.clone(),
                    body,
                };
                self.clusters.get_mut(&cluster)?.measured.insert(id, row);
            }
            Change::RemoveMeasured { cluster, id } => self.of(&cluster, |c| {
                c.measured.remove(&id);
            }),
            Change::PutChain { cluster, body } => {
                self.clusters.get_mut(&cluster)?.chain = Some(body);
            }
            Change::Counter { cluster, counters } => {
                let cluster = self.clusters.get_mut(&cluster)?;
                i64::try_from(counters.next_decision).ok()?;
                cluster.counters = counters;
            }
            Change::PutPlan {
                cluster,
                number,
                body,
            } => {
                let cluster = self.clusters.get_mut(&cluster)?;
                i64::try_from(number).ok()?;
                cluster.plans.insert(number, SavedPlan { number, body });
            }
            Change::RemovePlan { cluster, number } => {
                i64::try_from(number).ok()?;
                self.of(&cluster, |c| {
                    c.plans.remove(&number);
                });
            }
            Change::RecordDecision {
                cluster,
                number,
                at,
                body,
            } => {
                let cluster = self.clusters.get_mut(&cluster)?;
                i64::try_from(number.checked_add(1)?).ok()?;
                let decision = SavedDecision { number, at, body };
                let is_next = cluster.decisions.keys().all(|known| *known < number);
                cluster.decisions.insert(number, decision.clone());
                // Numbers go up; of those that do not, nothing is promised.
                cluster.then.remove(&number);
                if is_next {
                    let then = Then {
                        decision,
                        body: cluster.body.clone(),
                        chain: cluster.chain.clone(),
                        inventory: cluster.inventory(),
                    };
                    cluster.then.insert(number, then);
                }
            }
            // What is told of it is in the tests of histories.
            Change::RecordCopy { .. } => {}
            Change::PutPolicy {
                name,
                revision,
                at,
                by,
                body,
            } => {
                i64::try_from(revision).ok()?;
                let policy = PolicyRevision {
                    name: name.clone(),
                    revision,
                    at,
                    by,
                    body,
                };
                let history = self.policies.entry(name).or_default();
                history.insert(revision, policy);
            }
            Change::RemovePolicy { name } => {
                self.policies.remove(&name);
            }
            Change::PutArtifact {
                digest,
                name,
                bytes,
                signature,
            } => {
                let known = self.signatures.contains_key(&digest);
                if let Some(signature) = signature
                    && (signature.signer.is_some() || !known)
                {
                    self.signatures.insert(digest.clone(), signature);
                }
                self.artifacts.insert(digest, (name, bytes));
            }
            Change::RemoveArtifact { digest } => {
                self.artifacts.remove(&digest);
                self.signatures.remove(&digest);
            }
            Change::PutUnit {
                name,
                digest,
                enabled,
                body,
            } => {
                let unit = SavedUnit {
                    name: name.clone(),
                    digest,
                    enabled,
                    body,
                };
                self.units.insert(name, unit);
            }
            Change::RemoveUnit { name } => {
                self.units.remove(&name);
            }
            Change::UnitEvent(event) => self.events.insert(0, event),
            Change::PutEndedReservation { cluster, vm, body } => {
                let ended = SavedEndedReservation {
                    vm: vm.clone(),
                    body,
                };
                self.clusters.get_mut(&cluster)?.ended.insert(vm, ended);
            }
            Change::RemoveEndedReservation { cluster, vm } => self.of(&cluster, |c| {
                c.ended.remove(&vm);
            }),
            Change::Idempotency {
                cluster,
                key,
                at,
                body,
            } => {
                let answer = SavedAnswer {
                    key: key.clone(),
                    at,
                    body,
                };
                self.clusters.get_mut(&cluster)?.answers.insert(key, answer);
            }
            Change::ForgetAnswer { cluster, key } => self.of(&cluster, |c| {
                c.answers.remove(&key);
            }),
            Change::ForgetAnswers { cluster, before } => self.of(&cluster, |c| {
                c.answers.retain(|_, answer| answer.at >= before);
            }),
            Change::Setting { key, body } => {
                self.settings.insert(key, body);
            }
            Change::RemoveSetting { key } => {
                self.settings.remove(&key);
            }
        }
        Some(())
    }

    fn of(&mut self, cluster: &str, remove: impl FnOnce(&mut Cluster)) {
        if let Some(cluster) = self.clusters.get_mut(cluster) {
            remove(cluster);
        }
    }

    fn saved(&self) -> Saved {
        let clusters = self.clusters.iter().map(|(name, cluster)| SavedCluster {
            name: name.clone(),
            body: cluster.body.clone(),
            counters: cluster.counters,
        });
        let newest = |history: &BTreeMap<u64, PolicyRevision>| {
            history.values().next_back().cloned().unwrap()
        };
        let artifacts = self.artifacts.iter();
        Saved {
            clusters: clusters.collect(),
            policies: self.policies.values().map(newest).collect(),
            artifacts: artifacts
                .map(|(digest, (name, bytes))| SavedArtifact {
                    digest: digest.clone(),
                    name: name.clone(),
                    length: bytes.len() as u64,
                })
                .collect(),
            units: self.units.values().cloned().collect(),
            settings: self.settings.clone(),
        }
    }

    fn compare(&self, store: &Store) {
        let options = small();
        assert_eq!(store.load().unwrap(), self.saved());
        for name in names() {
            let empty = Cluster::default();
            let cluster = self.clusters.get(&name).unwrap_or(&empty);
            cluster.compare(store, &name);
            let empty = BTreeMap::new();
            let history = self.policies.get(&name).unwrap_or(&empty);
            let newest = history.values().rev().take(options.revisions).cloned();
            assert_eq!(
                store
                    .policy_history(&name, None, (1000, usize::MAX))
                    .unwrap(),
                newest.collect::<Vec<_>>()
            );
            assert_eq!(
                store.artifact(&name).unwrap(),
                self.artifacts.get(&name).map(|(_, bytes)| bytes.clone())
            );
            assert_eq!(
                store.signature(&name).unwrap(),
                self.signatures.get(&name).cloned()
            );
        }
        let newest: Vec<_> = self.events.iter().take(options.unit_events).collect();
        let kept = store.unit_history(None, usize::MAX).unwrap();
        assert!(kept.len() <= options.unit_events + options.unit_events / 16);
        let shown: Vec<_> = kept.iter().take(options.unit_events).collect();
        assert_eq!(shown, newest);
    }
}

impl Cluster {
    fn inventory(&self) -> SavedInventory {
        let mut hosts: Vec<_> = self.hosts.values().cloned().collect();
        hosts.sort_by_key(|host| host.position);
        let mut groups: Vec<_> = self.groups.values().cloned().collect();
        groups.sort_by_key(|group| group.position);
        SavedInventory {
            hosts,
            vms: self.vms.values().cloned().collect(),
            tenants: self.tenants.values().cloned().collect(),
            groups,
            measured: self.measured.values().cloned().collect(),
            vacated: Vec::new(),
        }
    }

    fn compare(&self, store: &Store, name: &str) {
        assert_eq!(store.inventory(name).unwrap(), self.inventory());
        let plans: Vec<_> = self.plans.values().cloned().collect();
        assert_eq!(store.plans(name).unwrap(), plans);
        let ended: Vec<_> = self.ended.values().cloned().collect();
        assert_eq!(store.ended_reservations(name).unwrap(), ended);
        let mut answers: Vec<_> = self.answers.values().cloned().collect();
        answers.sort_by(|a, b| (a.at, &a.key).cmp(&(b.at, &b.key)));
        let read = store.answers(name, u64::MAX).unwrap();
        assert_eq!((read.answers, read.left_out), (answers, Vec::new()));
        for key in names() {
            let answer = self.answers.get(&key).cloned();
            assert_eq!(store.answer(name, &key).unwrap(), answer);
        }
        let bound = small().decisions;
        let newest: Vec<_> = self.decisions.values().rev().take(bound).collect();
        let kept = store.decisions(name, None, usize::MAX).unwrap();
        assert!(kept.len() <= bound + bound / 16);
        assert_eq!(kept.iter().take(bound).collect::<Vec<_>>(), newest);
        for decision in newest {
            let found = store.decision(name, decision.number).unwrap();
            assert_eq!(found.as_ref(), Some(decision));
            let Some(then) = self.then.get(&decision.number) else {
                continue;
            };
            match store.past(name, decision.number).unwrap() {
                SavedPast::Known(known) => assert_eq!(*known, *then),
                SavedPast::Gone { since, why } => {
                    assert_eq!(why, Gone::Bytes);
                    assert!(decision.number < since);
                }
                none @ SavedPast::NoDecision { .. } => panic!("{none:?}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_read_is_what_was_written(steps in vec(step(), 1..60)) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path());
        let memory = Store::in_memory(small()).unwrap();
        let mut model = Model::default();
        for step in steps {
            match step {
                Step::Commit(changes) => {
                    let kept = model.submit(&changes);
                    prop_assert_eq!(memory.commit(changes.clone()).is_ok(), kept);
                    prop_assert_eq!(store.commit(changes).is_ok(), kept);
                    model.compare(&store);
                }
                Step::Submit(changes) => {
                    model.submit(&changes);
                    memory.submit(changes.clone(), |_| {});
                    store.submit(changes, |_| {});
                }
                Step::Reopen => {
                    drop(store);
                    store = open(folder.path());
                    model.compare(&store);
                }
            }
        }
        drop(store);
        model.compare(&open(folder.path()));
        memory.commit(vec![]).unwrap();
        model.compare(&memory);
    }
}
