//! What tenants hold: the sums over their VMs, counted as these come, change and go.
//!
//! A VM holds what it was promised where it runs and what is reserved for it, whichever is more
//! of each kind: one that moves holds no more than before, one that grows holds what it will have.

use std::collections::HashSet;
use std::sync::Arc;

use super::by_id::ById;
use super::{Inventory, Shape, VmEntry};
use placewright_model::{Holding, Value, Vm};

const TENANT: &str = "tenant";

/// What a VM holds, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    tenant: Arc<str>,
    holding: Holding,
}

impl Held {
    /// What a place of a VM holds; None: the VM belongs to no tenant.
    pub(super) fn by(entry: &VmEntry) -> Option<Self> {
        Self::of(&entry.vm, &entry.shape)
    }

    fn of(vm: &Vm, shape: &Shape) -> Option<Self> {
        let Some(Value::Text(tenant)) = vm.facts.get(TENANT) else {
            return None;
        };
        let (count, share) = (shape.gpus, shape.gpu_share.max(0));
        Some(Self {
            tenant: tenant.clone(),
            holding: Holding {
                cpu: shape.cpu.into(),
                memory: shape.memory.into(),
                gpus: i128::from(count) * i128::from(share),
                vms: 1,
            },
        })
    }

    /// What it adds to what the same VM holds otherwise.
    fn beyond(&self, others: &[Option<Self>]) -> Holding {
        let others = others.iter().flatten();
        let same = others.filter(|other| other.tenant == self.tenant);
        let known = same.fold(Holding::NONE, |sum, other| sum.max(other.holding));
        self.holding.beyond(known)
    }
}

/// A VM that counts nowhere.
#[derive(Debug, Clone)]
pub(super) struct Vacated {
    /// The slot of the host where it ran.
    pub(super) slot: u32,
    /// What its tenant holds for it all the same: it may go on running.
    pub(super) held: Option<Held>,
}

/// The tenants that hold something else than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedHoldings {
    /// Every tenant may.
    All,
    /// These.
    Of(HashSet<Arc<str>>),
}

/// What tenants hold.
#[derive(Debug, Clone)]
pub(super) struct TenantHoldings {
    /// Those that hold anything.
    by_tenant: ById<Holding>,
    changed: ChangedHoldings,
}

impl Default for TenantHoldings {
    fn default() -> Self {
        Self {
            by_tenant: ById::default(),
            changed: ChangedHoldings::All,
        }
    }
}

impl TenantHoldings {
    /// A VM holds this too, besides what it holds otherwise.
    pub(super) fn add(&mut self, held: Option<&Held>, others: &[Option<Held>]) {
        self.change(held, others, Holding::plus);
    }

    /// A VM does not hold this any more, but for what it holds otherwise.
    pub(super) fn remove(&mut self, held: Option<&Held>, others: &[Option<Held>]) {
        self.change(held, others, Holding::minus);
    }

    fn change(
        &mut self,
        held: Option<&Held>,
        others: &[Option<Held>],
        by: impl Fn(Holding, Holding) -> Holding,
    ) {
        let Some(held) = held else {
            return;
        };
        let more = held.beyond(others);
        if more.is_none() {
            return;
        }
        let tenant = &held.tenant;
        let sum = by(self.of(tenant), more);
        if sum.is_none() {
            self.by_tenant.remove(tenant);
        } else if let Some(known) = self.by_tenant.get_mut(tenant) {
            *known = sum;
        } else {
            self.by_tenant.insert(tenant.clone(), sum);
        }
        if let ChangedHoldings::Of(changed) = &mut self.changed
            && !changed.contains(tenant)
        {
            changed.insert(tenant.clone());
        }
    }

    fn of(&self, tenant: &str) -> Holding {
        self.by_tenant.get(tenant).copied().unwrap_or_default()
    }
}

impl Inventory {
    /// What a tenant holds in this cluster: the VMs that run and those that have a place
    /// reserved.
    pub fn held_by_tenant(&self, tenant: &str) -> Holding {
        self.holdings.of(tenant)
    }

    /// What all tenants hold that hold anything, in no order.
    pub fn held_by_tenants(&self) -> impl Iterator<Item = (&Arc<str>, &Holding)> {
        self.holdings.by_tenant.iter()
    }

    /// The tenants that may hold something else than when this was asked last.
    pub fn take_changed_holdings(&mut self) -> ChangedHoldings {
        let known = ChangedHoldings::Of(HashSet::new());
        match &self.holdings.changed {
            // Nothing is allocated where nothing has changed.
            ChangedHoldings::Of(changed) if changed.is_empty() => known,
            _ => std::mem::replace(&mut self.holdings.changed, known),
        }
    }

    /// What a tenant would hold besides if a place were reserved for this VM; None: the VM
    /// belongs to no tenant.
    pub fn would_hold(&self, vm: &Vm) -> Option<(Arc<str>, Holding)> {
        let held = Held::of(vm, &Shape::of(&vm.facts))?;
        let [running, pending] = self.places_held(&vm.id);
        let more = held.beyond(&[running, pending, self.vacated_held(&vm.id)]);
        Some((held.tenant, more))
    }

    /// What a VM holds where it runs and where it has a place reserved, each for its tenant.
    pub fn held_by_vm(&self, id: &str) -> Vec<(Arc<str>, Holding)> {
        let held = self.places_held(id).into_iter().flatten();
        held.map(|held| (held.tenant, held.holding)).collect()
    }

    /// What a VM holds where it runs and where it has a place reserved.
    fn places_held(&self, id: &str) -> [Option<Held>; 2] {
        [self.running(id), self.pending(id)].map(|entry| entry.and_then(Held::by))
    }

    /// What a VM that was vacated holds all the same.
    pub(super) fn vacated_held(&self, id: &str) -> Option<Held> {
        // Only copies have any that were.
        match self.vacated.is_empty() {
            true => None,
            false => self.vacated.get(id)?.held.clone(),
        }
    }

    /// A VM is, or is no more, one that was vacated: put `vacated` in the place of what was
    /// known of that, which is given.
    pub(super) fn set_vacated(
        &mut self,
        id: &Arc<str>,
        vacated: Option<Vacated>,
    ) -> Option<Vacated> {
        let others = self.places_held(id);
        let held = vacated.as_ref().and_then(|it| it.held.clone());
        let old = match vacated {
            Some(vacated) => self.vacated.insert(id.clone(), vacated),
            None => self.vacated.remove(id),
        };
        let was_held = old.as_ref().and_then(|old| old.held.as_ref());
        self.holdings.remove(was_held, &others);
        self.holdings.add(held.as_ref(), &others);
        old
    }
}

#[cfg(test)]
mod tests;
