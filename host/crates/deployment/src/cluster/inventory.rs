//! Hosts, VMs, groups and tenants come, change and go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::ClusterState;
use crate::DeploymentError;
use placewright_document::{ClusterDocument, InventoryChanges, Missing};
use placewright_inventory::{EntryResult, Inventory, VmEntry};
use placewright_model::budget::ClusterBounds;
use placewright_model::schema::Schema;
use placewright_model::{FactsChange, Holding, doubt_of_gpus, doubt_of_room, doubts};
use placewright_records::telemetry::ReservationEnd;
use placewright_scheduler::{Scheduler, TenantLimits};

/// So many VMs whose GPUs are doubtful are named.
const MOST_DOUBTS: usize = 20;

/// How many of each there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Counted {
    /// Hosts, whatever their state.
    #[schema(example = 12)]
    pub hosts: usize,
    /// VMs that run.
    #[schema(example = 180)]
    pub vms: usize,
    /// VMs that have a place reserved.
    #[schema(example = 2)]
    pub pending: usize,
    /// Groups of VMs.
    #[schema(example = 6)]
    pub groups: usize,
    /// Counts up with every change of the inventory.
    #[schema(example = 4711)]
    pub version: u64,
}

/// What became of a document of changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = InventoryChanged)]
pub struct Changed {
    /// How many of each there are now.
    #[serde(flatten)]
    pub counted: Counted,
    /// What became of each entry, where `missing` is `ignore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<EntryResult>)]
    pub results: Option<Vec<EntryResult>>,
    /// What is allowed and surely a mistake, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["VM \"web-3\" has no \"memory\": it counts as 0"]))]
    pub warnings: Vec<String>,
}

/// An inventory to be put in the place of a cluster's.
#[derive(Debug)]
pub struct Replacement(Inventory);

impl Replacement {
    /// That of a document, at `now` (seconds), which may take so much. It takes as long as the
    /// document is large; no turn is needed for it.
    ///
    /// # Errors
    /// If something in the document does not go together, or it takes more.
    pub fn of_document(
        document: ClusterDocument,
        now: i64,
        bounds: ClusterBounds,
    ) -> Result<Self, DeploymentError> {
        Ok(Self(Inventory::of_document_within(document, now, bounds)?))
    }
}

/// How many hosts and VMs of an inventory its replacement lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vanishing {
    /// Hosts that would vanish.
    pub hosts: usize,
    /// All hosts before the replacement.
    pub of_hosts: usize,
    /// Running VMs that would vanish.
    pub vms: usize,
    /// All running VMs before the replacement.
    pub of_vms: usize,
}

/// How much may vanish when an inventory is replaced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MayVanish {
    /// The share of hosts, and that of VMs, that needs no confirmation: a fraction 0..1.
    pub share: f64,
    /// How many hosts the request says will vanish.
    pub hosts: Option<usize>,
    /// How many running VMs the request says will vanish.
    pub vms: Option<usize>,
}

impl MayVanish {
    /// Whether `count` of `of` may vanish. If the request expects a number, it must be that one;
    /// otherwise one may, or a share of at most `share`.
    fn allows(&self, expected: Option<usize>, count: usize, of: usize) -> bool {
        match expected {
            Some(expected) => expected == count,
            None => count <= 1 || count as f64 <= self.share * of as f64,
        }
    }
}

/// What VMs hold, by id: each place for its tenant.
type HeldByVm = BTreeMap<Arc<str>, Vec<(Arc<str>, Holding)>>;

impl ClusterState {
    /// Check that a replacement does not remove more than it may: a list that was cut off on
    /// its way must not empty a cluster.
    ///
    /// # Errors
    /// If more would, or another number than the request says.
    pub fn check_vanishing(
        &self,
        Replacement(new): &Replacement,
        may: MayVanish,
    ) -> Result<(), DeploymentError> {
        let old = self.inventory();
        let is_gone = |id: &str| new.running(id).is_none() && new.pending(id).is_none();
        let running = old.hosts().flat_map(|(_, host)| old.vms_of(host));
        let running = running.filter(|entry| !entry.pending);
        let vanishing = Vanishing {
            hosts: old
                .hosts()
                .filter(|(_, host)| new.slot(&host.id).is_none())
                .count(),
            of_hosts: old.host_count(),
            vms: running.filter(|entry| is_gone(&entry.vm.id)).count(),
            of_vms: old.running_count(),
        };
        let allowed = may.allows(may.hosts, vanishing.hosts, vanishing.of_hosts)
            && may.allows(may.vms, vanishing.vms, vanishing.of_vms);
        match allowed {
            true => Ok(()),
            false => Err(DeploymentError::Vanishing {
                vanishing,
                share: may.share,
            }),
        }
    }

    /// How many of each there are.
    pub fn counted(&self) -> Counted {
        let inventory = self.inventory();
        Counted {
            hosts: inventory.host_count(),
            vms: inventory.running_count(),
            pending: inventory.pending_count(),
            groups: inventory.group_count(),
            version: inventory.version(),
        }
    }

    /// Carry out changes, all of them or none. Statistics are taken in after
    /// everything else.
    ///
    /// # Errors
    /// If something in them does not go together with the cluster as it is, or the inventory is
    /// full.
    pub fn change(&mut self, changes: InventoryChanges) -> Result<Changed, DeploymentError> {
        self.advance();
        let (touched, noted) = (self.touched.clone(), self.noted);
        let schema = self.inventory().schema().clone();
        let before = self.inventory().bytes();
        let reserved = self.reserved_for(&changes);
        let held = self.held_by(reserved.iter().map(|(vm, _)| vm));
        let transaction = self.scheduler.inventory_mut().begin();
        let changed = self.change_all(changes, before, &schema, held);
        match changed {
            Ok(_) => {
                self.scheduler.inventory_mut().commit(transaction);
                self.count_ended(&reserved);
            }
            Err(_) => {
                self.scheduler.inventory_mut().roll_back(transaction);
                (self.touched, self.noted) = (touched, noted);
            }
        }
        changed
    }

    /// The VMs among those that are changed which have a place reserved, and on which host.
    fn reserved_for(&self, changes: &InventoryChanges) -> Vec<(Arc<str>, Arc<str>)> {
        let inventory = self.inventory();
        let changed = changes.vms.iter().map(|vm| &vm.id);
        let changed = changed.chain(&changes.gone.vms);
        let reserved = changed.filter_map(|id| {
            let host = inventory.host(inventory.pending(id)?.slot)?;
            Some((id.clone(), host.id.clone()))
        });
        reserved.collect()
    }

    /// What these VMs hold; nothing where no quota limits anybody.
    fn held_by<'v>(&self, vms: impl Iterator<Item = &'v Arc<str>>) -> HeldByVm {
        if !self.ledger.is_limiting() {
            return HeldByVm::new();
        }
        let held = vms.map(|vm| (vm.clone(), self.inventory().held_by_vm(vm)));
        held.collect()
    }

    /// That what those of these VMs that have a place reserved in that inventory hold beyond what
    /// they held before is allowed to their tenants, as if places were reserved for it now: otherwise a VM could be placed for
    /// nobody, and be given to a tenant that may hold no more. What is told of VMs that run is
    /// what is so, and not asked about.
    fn check_quotas(&self, inventory: &Inventory, before: HeldByVm) -> Result<(), DeploymentError> {
        let mut more: BTreeMap<Arc<str>, Holding> = BTreeMap::new();
        let reserved = before.into_iter();
        for (vm, before) in reserved.filter(|(vm, _)| inventory.pending(vm).is_some()) {
            let mut of_vm: BTreeMap<Arc<str>, Holding> = BTreeMap::new();
            for (tenant, holding) in inventory.held_by_vm(&vm) {
                let sum = of_vm.entry(tenant).or_default();
                *sum = sum.max(holding);
            }
            for (tenant, holding) in of_vm {
                let same = before.iter().filter(|(known, _)| *known == tenant);
                let known = same.fold(Holding::NONE, |sum, (_, held)| sum.max(*held));
                let sum = more.entry(tenant).or_default();
                *sum = sum.plus(holding.beyond(known));
            }
        }
        for (tenant, more) in more.into_iter().filter(|(_, more)| !more.is_none()) {
            let held = inventory.held_by_tenant(&tenant).minus(more);
            let admitted = self.ledger.admit(&tenant, held, more, false);
            admitted.map_err(|refusal| DeploymentError::Refused(refusal.because))?;
        }
        Ok(())
    }

    /// Count which of these reservations have ended because something else is said of their VMs
    /// now: confirmed where a VM runs in its place.
    fn count_ended(&self, reserved: &[(Arc<str>, Arc<str>)]) {
        let inventory = self.inventory();
        for (vm, host) in reserved {
            if inventory.pending(vm).is_some() {
                continue;
            }
            let runs_there = self.running_on(vm).is_some_and(|there| there == host);
            self.meter.reservation_ended(match runs_there {
                true => ReservationEnd::Confirmed,
                false => ReservationEnd::Released,
            });
        }
    }

    fn change_all(
        &mut self,
        mut changes: InventoryChanges,
        before: u64,
        schema: &Schema,
        held: HeldByVm,
    ) -> Result<Changed, DeploymentError> {
        let statistics = InventoryChanges {
            missing: changes.missing,
            statistics: std::mem::take(&mut changes.statistics),
            ..InventoryChanges::default()
        };
        // When something was measured is kept even where the value is the same again.
        let reported = statistics.statistics.iter();
        let reported: Vec<Arc<str>> = reported.map(|it| it.host.clone()).collect();
        let mut warnings = std::mem::take(&mut changes.warnings);
        let new = changes.vms.iter().map(|vm| vm.id.clone());
        let new = new.filter(|id| self.inventory().running(id).is_none());
        let new: Vec<Arc<str>> = new.collect();
        let gpus = |facts: &FactsChange| !facts.set.rows("gpus").is_empty();
        let with_gpus = changes
            .vms
            .iter()
            .filter(|vm| gpus(&vm.facts) || vm.host.is_some());
        let with_gpus: Vec<Arc<str>> = with_gpus.map(|vm| vm.id.clone()).collect();
        let of_hosts = changes.hosts.iter().filter(|host| {
            let mut unset = host.facts.unset.iter();
            gpus(&host.facts) || unset.any(|table| **table == *"gpus")
        });
        let of_hosts: Vec<Arc<str>> = of_hosts.map(|host| host.id.clone()).collect();
        // Of a host of which nothing of the kind is said here, nothing has changed.
        let rooms = changes.hosts.iter().filter(|host| {
            self.inventory().slot(&host.id).is_none() || !host.facts.unset.is_empty()
        });
        let rooms: Vec<Arc<str>> = rooms.map(|host| host.id.clone()).collect();
        let tells_results = changes.missing == Missing::Ignore;
        let mut results = self.scheduler.inventory_mut().change(changes)?;
        self.note();
        results.extend(self.scheduler.inventory_mut().change(statistics)?);
        self.inventory().check_growth(before)?;
        self.check_quotas(self.inventory(), held)?;
        // Last, as the chain is no part of what is taken back.
        self.heed_new_needs(schema)?;
        self.touched.noted.extend(reported);
        self.note_measured();
        self.know_schema();
        let whole = new.iter().filter_map(|id| self.inventory().running(id));
        let whole = whole.map(|entry| &*entry.vm);
        warnings.extend(doubts(
            whole.filter(|vm| vm.facts.get("memory").is_none()),
            [],
        ));
        let inventory = self.inventory();
        let rooms = rooms.iter().filter_map(|id| {
            let host = inventory.host(inventory.slot(id)?)?;
            doubt_of_room(id, &host.facts)
        });
        warnings.extend(rooms.take(MOST_DOUBTS));
        warnings.extend(self.doubts_of_gpus(&with_gpus, &of_hosts));
        Ok(Changed {
            counted: self.counted(),
            results: tells_results.then_some(results),
            warnings,
        })
    }

    /// A sentence for each of these VMs, and of those on these hosts, that is said to have GPUs
    /// which its host has not; of many, for the first ones.
    fn doubts_of_gpus(&self, vms: &[Arc<str>], hosts: &[Arc<str>]) -> Vec<String> {
        let inventory = self.inventory();
        let named = vms.iter().filter_map(|id| inventory.running(id));
        let on_hosts = hosts
            .iter()
            .filter_map(|id| inventory.host(inventory.slot(id)?));
        let on_hosts = on_hosts.flat_map(|host| inventory.vms_of(host));
        let mut seen = BTreeSet::new();
        let entries = named.chain(on_hosts).filter(|entry| {
            !entry.placed_rows("gpus").is_empty() && seen.insert(entry.vm.id.clone())
        });
        let doubts = entries.filter_map(|entry| {
            let host = inventory.host(entry.slot)?;
            let given = entry.placed_rows("gpus");
            doubt_of_gpus(&entry.vm.id, given, &host.id, &host.facts)
        });
        doubts.take(MOST_DOUBTS).collect()
    }

    /// Change something and lose the way back before it is refused.
    #[cfg(test)]
    pub(crate) fn tear(&mut self) {
        let inventory = self.scheduler.inventory_mut();
        let _: Result<(), DeploymentError> = inventory.all_or_nothing(|inventory| {
            inventory.remove_vm("old")?;
            inventory.set_facts(placewright_model::Facts::new())?;
            Err(DeploymentError::Refused("for a test".to_owned()))
        });
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

    /// Put another inventory in the place of the one there is. VMs that have a place
    /// reserved by a decision keep it if the other does not have them and their
    /// hosts are still there; and those that have the same place as before keep what a
    /// document does not tell of it, such as its end.
    ///
    /// # Errors
    /// If it is that of another cluster, or the policy cannot run with it.
    pub fn replace(&mut self, replacement: Replacement) -> Result<Counted, DeploymentError> {
        let Replacement(mut inventory) = replacement;
        if *inventory.name() != self.name {
            return Err(DeploymentError::OtherName {
                what: "cluster",
                given: inventory.name().to_string(),
                name: self.name.to_string(),
            });
        }
        let now = self.advance();
        // The clock went on since it was made, or was set back.
        inventory.advance(now);
        inventory.set_clock_back(now);
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
        let run = old
            .pending_ids()
            .filter(|id| inventory.running(id).is_some());
        let run = run.filter_map(|id| {
            let host = old.host(old.pending(id)?.slot)?;
            Some((id.clone(), host.id.clone()))
        });
        let run: Vec<_> = run.collect();
        let held = self.held_by(inventory.pending_ids());
        self.check_quotas(&inventory, held)?;
        inventory.stays_as_in(old);
        inventory.measured_as_in(old);
        inventory.unmeasured_as_in(old);
        self.settings.time_measurements(&mut inventory);
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
        // The last snapshot holds all rows of the inventory that was replaced.
        self.snapshot.store(None);
        self.count_ended(&run);
        for (vm, ended) in lost {
            self.note_end(vm, ended);
        }
        self.forget_faults();
        self.know_schema();
        self.noted = self.inventory().version();
        self.everything
            .store(true, placewright_sync::atomic::Ordering::Release);
        Ok(self.counted())
    }
}
