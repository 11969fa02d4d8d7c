//! Hosts, VMs, groups and tenants come, change and go.

use std::sync::Arc;

use serde::Serialize;

use super::ClusterState;
use crate::deployment::DeploymentError;
use crate::document::{ClusterDocument, InventoryChanges, Missing, PlacedVm};
use crate::inventory::{EntryResult, Inventory, VmEntry};
use crate::model::schema::Schema;
use crate::model::{Facts, Host};
use crate::scheduler::Scheduler;

/// How many of each there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Counted {
    pub hosts: usize,
    /// VMs that run.
    pub vms: usize,
    /// VMs that have a place reserved.
    pub pending: usize,
    pub groups: usize,
    /// Counts up with every change of the inventory.
    pub version: u64,
}

/// What became of a document of changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Changed {
    #[serde(flatten)]
    pub counted: Counted,
    /// What became of each entry, where `missing` is `ignore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<EntryResult>>,
    /// What is allowed and surely a mistake, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl ClusterState {
    /// How many of each there are.
    pub fn counted(&self) -> Counted {
        let inventory = self.inventory();
        Counted {
            hosts: inventory.host_count(),
            vms: inventory.running_count(),
            pending: inventory.pending_count(),
            groups: inventory.groups().count(),
            version: inventory.version(),
        }
    }

    /// Carry out changes, all of them or none. Statistics are taken in after
    /// everything else.
    ///
    /// # Errors
    /// If something in them does not go together with the cluster as it is.
    pub fn change(&mut self, mut changes: InventoryChanges) -> Result<Changed, DeploymentError> {
        self.advance();
        let statistics = InventoryChanges {
            missing: changes.missing,
            statistics: std::mem::take(&mut changes.statistics),
            ..InventoryChanges::default()
        };
        // When something was measured is kept even where the value is the same again.
        let reported = statistics.statistics.iter();
        let reported: Vec<Arc<str>> = reported.map(|it| it.host.clone()).collect();
        let warnings = std::mem::take(&mut changes.warnings);
        let tells_results = changes.missing == Missing::Ignore;
        let (before, schema) = (
            self.inventory().version(),
            self.inventory().schema().clone(),
        );
        let mut results = self.scheduler.inventory_mut().change(changes)?;
        if let Err(error) = self.heed_new_needs(&schema) {
            self.scheduler.inventory_mut().take_back(before);
            return Err(error);
        }
        self.note();
        let inventory = self.scheduler.inventory_mut();
        match inventory.change(statistics) {
            Ok(of_statistics) => results.extend(of_statistics),
            Err(error) => {
                inventory.take_back(before);
                return Err(error.into());
            }
        }
        self.touched.noted.extend(reported);
        self.note_measured();
        self.know_schema();
        Ok(Changed {
            counted: self.counted(),
            results: tells_results.then_some(results),
            warnings,
        })
    }

    /// If attributes were declared as needs that were none in `old`: see again which needs
    /// the policy checks.
    fn heed_new_needs(&mut self, old: &Schema) -> Result<(), DeploymentError> {
        let is_new = self.inventory().schema().needs().count() != old.needs().count();
        if is_new && self.broken.is_none() {
            let policy = self.scheduler.chain().policy().clone();
            self.scheduler.set_policy(policy, &self.generation)?;
        }
        Ok(())
    }

    /// From now on documents are read with the tables and columns that there are now.
    fn know_schema(&self) {
        let schema = self.inventory().schema();
        if !Arc::ptr_eq(schema, &self.schema.load_full()) {
            self.schema.store(schema.clone());
        }
    }

    /// How often the rows of the inventory have changed, this turn included.
    pub fn revision(&mut self) -> u64 {
        self.keep_rows();
        self.kept_revision()
    }

    /// That the inventory is at a revision, if one is given.
    ///
    /// # Errors
    /// If it is at another one.
    pub fn check_revision(&mut self, given: Option<u64>) -> Result<(), DeploymentError> {
        self.advance();
        let current = self.revision();
        match given.filter(|given| *given != current) {
            Some(given) => Err(DeploymentError::Revision {
                what: format!("the inventory of cluster \"{}\"", self.name),
                given,
                current,
            }),
            None => Ok(()),
        }
    }

    /// Put a whole document in the place of the inventory. VMs that have a place
    /// reserved by a decision keep it if the document does not speak of them and their
    /// hosts are still there; and those that have the same place as before keep what the
    /// document does not tell of it, such as its end.
    ///
    /// # Errors
    /// If something in the document does not go together, or the policy cannot run
    /// with it.
    pub fn replace(&mut self, document: ClusterDocument) -> Result<Counted, DeploymentError> {
        if document.name != self.name {
            return Err(DeploymentError::OtherName {
                what: "cluster",
                given: document.name.to_string(),
                name: self.name.to_string(),
            });
        }
        let now = self.advance();
        let mut inventory = Inventory::of_document(
            ClusterDocument {
                name: self.name.clone(),
                ..document
            },
            now,
        )?;
        let old = self.inventory();
        let pending = old.hosts().flat_map(|(_, host)| old.vms_of(host));
        let decided = |entry: &VmEntry| entry.expires.is_some() || entry.decision.is_some();
        let pending = pending.filter(|entry| entry.pending && decided(entry));
        for saved in pending.filter_map(|entry| old.saved_vm(&entry.vm.id, true)) {
            let known = inventory.running(&saved.vm.id).is_some()
                || inventory.pending(&saved.vm.id).is_some();
            if !known && inventory.slot(&saved.host).is_some() {
                inventory.restore_vm(saved)?;
            }
        }
        let is_lost = |id: &str| inventory.pending(id).is_none() && inventory.running(id).is_none();
        let lost = old.pending_ids().filter(|id| is_lost(id));
        let lost: Vec<_> = lost.filter_map(|id| self.released(id, now)).collect();
        inventory.stays_as_in(old);
        inventory.measured_as_in(old);
        inventory.set_statistics_max_age(self.settings.statistics_max_age);
        inventory.begin_at(old.version() + 1);
        let policy = self.policy.clone();
        let mut scheduler = Scheduler::new(
            inventory,
            policy,
            &self.generation,
            self.scheduler.options().clone(),
        )?;
        scheduler.inventory_mut().watches_as_in(self.inventory());
        scheduler.resume(self.scheduler.next_number());
        self.scheduler = scheduler;
        for (vm, ended) in lost {
            self.note_end(vm, ended);
        }
        self.forget_faults();
        self.know_schema();
        self.noted = self.inventory().version();
        self.everything
            .store(true, crate::sync::atomic::Ordering::Release);
        Ok(self.counted())
    }

    /// The document of the cluster as it is now.
    pub fn document(&self) -> ClusterDocument {
        let inventory = self.inventory();
        let mut hosts: Vec<_> = inventory.hosts().map(|(_, host)| host).collect();
        // Read again, they are listed as they were.
        hosts.sort_by_key(|host| host.listed);
        let hosts = hosts.into_iter().map(|host| Host {
            id: host.id.clone(),
            facts: host.facts.clone(),
        });
        let entries = inventory
            .hosts()
            .flat_map(|(_, host)| inventory.vms_of(host).map(move |entry| (host, entry)));
        let vms = entries.map(|(host, entry)| PlacedVm {
            vm: (*entry.vm).clone(),
            placed: entry.placed().cloned().unwrap_or_else(Facts::new),
            host: host.id.clone(),
            pending: entry.pending,
        });
        let tenants = inventory.tenants();
        ClusterDocument {
            name: self.name.clone(),
            now: None,
            seed: self.settings.seed,
            schema: (**inventory.schema()).clone(),
            facts: inventory.facts().clone(),
            tenants: tenants
                .map(|(id, facts)| (id.clone(), facts.clone()))
                .collect(),
            hosts: hosts.collect(),
            vms: vms.collect(),
            groups: inventory
                .groups()
                .map(|entry| entry.group.clone())
                .collect(),
        }
    }
}
