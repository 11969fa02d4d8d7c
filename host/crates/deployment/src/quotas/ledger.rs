//! What tenants hold in which cluster, and what they may: one ledger for all clusters, whose
//! threads ask it before they look for a host.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::{Arc, PoisonError};

use super::{Quota, QuotaRecord};
use placewright_inventory::{ChangedHoldings, Inventory};
use placewright_model::Holding;
use placewright_scheduler::{QuotaRefusal, TenantLimits};
use placewright_sync::atomic::{AtomicBool, Ordering};
use placewright_sync::{Mutex, MutexGuard};

/// The quotas, and what is held under them.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    books: Mutex<Books>,
    /// Whether there is a quota at all.
    limits: AtomicBool,
}

#[derive(Debug, Default)]
struct Books {
    /// By name.
    quotas: BTreeMap<Arc<str>, Arc<QuotaRecord>>,
    /// Which of them limit a tenant: at most one in each place.
    of_tenants: HashMap<Arc<str>, OfTenant>,
    /// What tenants hold.
    accounts: HashMap<Arc<str>, Account>,
}

/// The quotas of one tenant.
#[derive(Debug, Default)]
struct OfTenant {
    everywhere: Option<Arc<QuotaRecord>>,
    /// By cluster.
    in_clusters: BTreeMap<Arc<str>, Arc<QuotaRecord>>,
}

/// What one tenant holds.
#[derive(Debug, Default)]
struct Account {
    /// By cluster; what is set aside in a turn under way is in it.
    in_clusters: BTreeMap<Arc<str>, Holding>,
    /// Over all of them.
    sum: Holding,
}

impl Account {
    fn held_in(&self, cluster: &str) -> Holding {
        self.in_clusters.get(cluster).copied().unwrap_or_default()
    }

    fn set(&mut self, cluster: &Arc<str>, holding: Holding) {
        self.sum = self.sum.minus(self.held_in(cluster)).plus(holding);
        match holding.is_none() {
            true => self.in_clusters.remove(cluster),
            false => self.in_clusters.insert(cluster.clone(), holding),
        };
    }
}

impl Books {
    fn of(&self, quota: &Quota) -> Option<&Arc<QuotaRecord>> {
        let of_tenant = self.of_tenants.get(&quota.tenant)?;
        match &quota.cluster {
            Some(cluster) => of_tenant.in_clusters.get(cluster),
            None => of_tenant.everywhere.as_ref(),
        }
    }

    /// What is held under a quota.
    fn used(&self, quota: &Quota) -> Holding {
        let Some(account) = self.accounts.get(&quota.tenant) else {
            return Holding::NONE;
        };
        match &quota.cluster {
            Some(cluster) => account.held_in(cluster),
            None => account.sum,
        }
    }

    fn held_in(&self, tenant: &str, cluster: &str) -> Holding {
        let known = self.accounts.get(tenant);
        known.map_or(Holding::NONE, |it| it.held_in(cluster))
    }

    /// What does not allow that a tenant who holds `held` in that cluster holds `more` there
    /// besides: the quota of the cluster, and the one of all together.
    fn refusals<'b>(
        &'b self,
        (tenant, cluster): (&str, &str),
        held: Holding,
        more: Holding,
    ) -> impl Iterator<Item = QuotaRefusal> + use<'b> {
        let of_tenant = self.of_tenants.get(tenant);
        let both = of_tenant.map(|of_tenant| {
            let sum = (self.accounts.get(tenant)).map_or(Holding::NONE, |it| it.sum);
            let elsewhere = sum.minus(self.held_in(tenant, cluster));
            [
                (of_tenant.in_clusters.get(cluster), held),
                (of_tenant.everywhere.as_ref(), elsewhere.plus(held)),
            ]
        });
        both.into_iter()
            .flatten()
            .filter_map(move |(record, used)| {
                let record = record?;
                let exceeded = record.quota.limits.exceeded(used, more);
                (!exceeded.is_empty()).then(|| record.refusal((used, more), exceeded))
            })
    }

    fn index(&mut self, record: &Arc<QuotaRecord>, is_there: bool) {
        let Quota {
            tenant, cluster, ..
        } = &record.quota;
        let of_tenant = self.of_tenants.entry(tenant.clone()).or_default();
        let record = is_there.then(|| record.clone());
        match (cluster, record) {
            (None, record) => of_tenant.everywhere = record,
            (Some(cluster), Some(record)) => {
                of_tenant.in_clusters.insert(cluster.clone(), record);
            }
            (Some(cluster), None) => {
                of_tenant.in_clusters.remove(cluster);
            }
        }
        if of_tenant.everywhere.is_none() && of_tenant.in_clusters.is_empty() {
            self.of_tenants.remove(tenant);
        }
    }

    fn set(&mut self, tenant: &Arc<str>, cluster: &Arc<str>, holding: Holding) {
        match self.accounts.get_mut(tenant) {
            Some(account) => account.set(cluster, holding),
            None if holding.is_none() => return,
            None => {
                let account = self.accounts.entry(tenant.clone()).or_default();
                account.set(cluster, holding);
            }
        }
        if holding.is_none()
            && (self.accounts.get(tenant)).is_some_and(|it| it.in_clusters.is_empty())
        {
            self.accounts.remove(tenant);
        }
    }

    /// Nobody holds anything in that cluster.
    fn forget(&mut self, cluster: &Arc<str>) {
        for account in self.accounts.values_mut() {
            account.set(cluster, Holding::NONE);
        }
        self.accounts.retain(|_, it| !it.in_clusters.is_empty());
    }
}

impl Ledger {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Let a quota count from now on, in the place of the one of its name.
    pub(super) fn put(&self, record: Arc<QuotaRecord>) {
        let mut books = self.books();
        if let Some(before) = books.quotas.insert(record.name.clone(), record.clone()) {
            books.index(&before, false);
        }
        books.index(&record, true);
        self.limits.store(true, Ordering::Release);
    }

    /// Let the quota of that name count no more.
    pub(super) fn remove(&self, name: &str) {
        let mut books = self.books();
        if let Some(record) = books.quotas.remove(name) {
            books.index(&record, false);
        }
        self.limits
            .store(!books.quotas.is_empty(), Ordering::Release);
    }

    /// How many quotas there are.
    pub(super) fn count(&self) -> usize {
        self.books().quotas.len()
    }

    /// The quota of that name.
    pub(super) fn find(&self, name: &str) -> Option<Arc<QuotaRecord>> {
        self.books().quotas.get(name).cloned()
    }

    /// The quota that limits the same tenant in the same place.
    pub(super) fn in_place_of(&self, quota: &Quota) -> Option<Arc<QuotaRecord>> {
        self.books().of(quota).cloned()
    }

    /// All quotas, by name, each with what is held under it.
    pub(super) fn all(&self) -> Vec<(Arc<QuotaRecord>, Holding)> {
        let books = self.books();
        let all = books.quotas.values();
        all.map(|record| (record.clone(), books.used(&record.quota)))
            .collect()
    }

    /// What is held under a quota.
    pub(super) fn used(&self, quota: &Quota) -> Holding {
        self.books().used(quota)
    }

    /// Nobody holds anything in that cluster any more.
    pub(crate) fn forget(&self, cluster: &Arc<str>) {
        self.books().forget(cluster);
    }
}

/// The ledger as one cluster writes it.
#[derive(Debug)]
pub(crate) struct ClusterLedger {
    ledger: Arc<Ledger>,
    cluster: Arc<str>,
    /// The tenants for whom something is set aside until the turn ends.
    set_aside: Mutex<Vec<Arc<str>>>,
}

impl ClusterLedger {
    pub(crate) fn new(ledger: Arc<Ledger>, cluster: Arc<str>) -> Self {
        Self {
            ledger,
            cluster,
            set_aside: Mutex::default(),
        }
    }

    fn set_aside(&self) -> MutexGuard<'_, Vec<Arc<str>>> {
        self.set_aside
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn ends: its tenants hold what the inventory says, and nothing is set aside.
    pub(crate) fn settle(&self, inventory: &mut Inventory) {
        let changed = inventory.take_changed_holdings();
        let set_aside = mem::take(&mut *self.set_aside());
        let changed = match changed {
            ChangedHoldings::Of(changed) if changed.is_empty() && set_aside.is_empty() => return,
            ChangedHoldings::Of(changed) => changed,
            ChangedHoldings::All => return self.settle_all(inventory),
        };
        let mut books = self.ledger.books();
        for tenant in changed.iter().chain(&set_aside) {
            books.set(tenant, &self.cluster, inventory.held_by_tenant(tenant));
        }
    }

    fn settle_all(&self, inventory: &Inventory) {
        let mut books = self.ledger.books();
        books.forget(&self.cluster);
        for (tenant, holding) in inventory.held_by_tenants() {
            books.set(tenant, &self.cluster, *holding);
        }
    }
}

impl TenantLimits for ClusterLedger {
    fn is_limiting(&self) -> bool {
        self.ledger.limits.load(Ordering::Acquire)
    }

    fn refusals(&self, tenant: &Arc<str>, held: Holding, more: Holding) -> Vec<QuotaRefusal> {
        let books = self.ledger.books();
        let refusals = books.refusals((tenant, &self.cluster), held, more);
        refusals.collect()
    }

    fn admit(
        &self,
        tenant: &Arc<str>,
        held: Holding,
        more: Holding,
        only_tried: bool,
    ) -> Result<(), Box<QuotaRefusal>> {
        let mut books = self.ledger.books();
        if let Some(refusal) = books.refusals((tenant, &self.cluster), held, more).next() {
            return Err(Box::new(refusal));
        }
        let of_tenant = books.of_tenants.get(tenant);
        if of_tenant.is_some_and(|it| it.everywhere.is_some()) && !only_tried {
            // What one turn sets aside counts for the others from now on.
            let here = books.held_in(tenant, &self.cluster);
            books.set(tenant, &self.cluster, here.max(held.plus(more)));
            drop(books);
            let mut set_aside = self.set_aside();
            if set_aside.last() != Some(tenant) {
                set_aside.push(tenant.clone());
            }
        }
        Ok(())
    }
}
