//! How much tenants may hold, asked before a host is looked for.

pub mod amount;
mod limits;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use limits::{HoldingShown, QuotaLimits, QuotaResource};

use placewright_inventory::Inventory;
use placewright_model::{GREATEST_INTEGER, Holding, Request};

/// A quota does not allow what is asked for: no host was looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuotaRefusal {
    /// Name of the quota.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "shop-north"))]
    pub quota: Arc<str>,
    /// The tenant.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "shop"))]
    pub tenant: Arc<str>,
    /// The cluster in which it limits the tenant; not there: in all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "north"))]
    pub cluster: Option<Arc<str>>,
    /// Of which resources there would be too much.
    pub exceeded: Vec<QuotaResource>,
    /// What the tenant held there then.
    pub used: HoldingShown,
    /// What it would hold besides.
    pub asked: HoldingShown,
    /// What it may hold.
    pub limits: QuotaLimits,
    /// The same as a sentence.
    #[cfg_attr(
        feature = "openapi",
        schema(example = "quota shop-north allows 20 VMs, and 20 are held")
    )]
    pub because: String,
}

/// What of a quota would allow what it does not: the least of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Raise {
    /// Which limit.
    pub(super) resource: QuotaResource,
    /// What it is now.
    pub(super) before: i64,
    /// What it would have to be at least.
    pub(super) after: i64,
}

impl QuotaRefusal {
    /// That a quota does not allow a tenant who holds `used` to hold `asked` besides.
    pub fn new(
        (quota, tenant, cluster): (Arc<str>, Arc<str>, Option<Arc<str>>),
        limits: QuotaLimits,
        (used, asked): (Holding, Holding),
        exceeded: Vec<QuotaResource>,
    ) -> Self {
        let (used, asked): (HoldingShown, HoldingShown) = (used.into(), asked.into());
        let place = match &cluster {
            Some(cluster) => format!("in cluster \"{cluster}\""),
            None => "in all clusters together".to_owned(),
        };
        let each = exceeded.iter().map(|resource| {
            let told = |amount| resource.told(amount);
            format!(
                "{} allowed, {} held, {} more asked for",
                told(limits.of(*resource).unwrap_or_default()),
                told(used.of(*resource)),
                told(asked.of(*resource))
            )
        });
        let each: Vec<String> = each.collect();
        let because = format!(
            "quota \"{quota}\" of tenant \"{tenant}\" {place}: {}",
            each.join("; ")
        );
        Self {
            quota,
            tenant,
            cluster,
            exceeded,
            used,
            asked,
            limits,
            because,
        }
    }
}

impl QuotaRefusal {
    /// The limits that are too low, and how high they would have to be; None: no limit is as high.
    pub(super) fn raises(&self) -> Option<Vec<Raise>> {
        let exceeded = self.exceeded.iter();
        let raises = exceeded.map(|&resource| {
            let after = self
                .used
                .of(resource)
                .checked_add(self.asked.of(resource))?;
            Some(Raise {
                resource,
                before: self.limits.of(resource)?,
                after: (after <= GREATEST_INTEGER).then_some(after)?,
            })
        });
        raises.collect()
    }
}

/// Whoever knows how much tenants may hold.
pub trait TenantLimits: Send + Sync + fmt::Debug {
    /// Whether anybody is limited at all: if not, nothing else is asked.
    fn is_limiting(&self) -> bool;

    /// What does not allow that a tenant who holds `held` in this cluster holds `more` there
    /// besides; that of the cluster first.
    fn refusals(&self, tenant: &Arc<str>, held: Holding, more: Holding) -> Vec<QuotaRefusal>;

    /// Whether a tenant who holds `held` in this cluster may hold `more` there besides; if it is
    /// not only tried, that is set aside for it until the turn ends.
    ///
    /// # Errors
    /// If a quota does not allow it.
    fn admit(
        &self,
        tenant: &Arc<str>,
        held: Holding,
        more: Holding,
        only_tried: bool,
    ) -> Result<(), Box<QuotaRefusal>>;
}

/// Who is asked how much tenants may hold; by default nobody.
#[derive(Debug, Clone, Default)]
pub struct Quotas {
    limits: Option<Arc<dyn TenantLimits>>,
    only_tried: bool,
}

impl Quotas {
    /// Ask these limits.
    pub fn of(limits: Arc<dyn TenantLimits>) -> Self {
        Self {
            limits: Some(limits),
            only_tried: false,
        }
    }

    /// Whether anybody is limited at all.
    pub(super) fn is_limiting(&self) -> bool {
        self.limits.as_ref().is_some_and(|it| it.is_limiting())
    }

    /// The same limits, for questions: what is asked for is only tried, and nothing is set aside.
    pub(super) fn tried(&self) -> Self {
        Self {
            limits: self.limits.clone(),
            only_tried: true,
        }
    }

    /// Every quota that does not allow the tenants of a request to hold what it asks for.
    pub(super) fn refusals(&self, inventory: &Inventory, request: &Request) -> Vec<QuotaRefusal> {
        let Some(limits) = self.limits.as_ref().filter(|it| it.is_limiting()) else {
            return Vec::new();
        };
        let asked = asked(inventory, request).into_iter();
        let refusals = asked.flat_map(|(tenant, more)| {
            let held = inventory.held_by_tenant(&tenant);
            limits.refusals(&tenant, held, more)
        });
        refusals.collect()
    }

    /// Whether what is asked for from now on is only tried.
    pub(super) fn set_only_tried(&mut self, only_tried: bool) {
        self.only_tried = only_tried;
    }

    /// Why the tenants of a request may not hold what it asks for, if they may not.
    pub(super) fn refusal(
        &self,
        inventory: &Inventory,
        request: &Request,
    ) -> Option<Box<QuotaRefusal>> {
        let limits = self.limits.as_ref().filter(|it| it.is_limiting())?;
        let only_tried = self.only_tried || request.dry_run;
        let mut asked = asked(inventory, request).into_iter();
        asked.find_map(|(tenant, more)| {
            let held = inventory.held_by_tenant(&tenant);
            limits.admit(&tenant, held, more, only_tried).err()
        })
    }
}

/// What the tenants of a request would hold besides, of those who would hold more of anything.
fn asked(inventory: &Inventory, request: &Request) -> BTreeMap<Arc<str>, Holding> {
    let mut asked: BTreeMap<Arc<str>, Holding> = BTreeMap::new();
    for member in &request.members {
        let Some((tenant, more)) = inventory.would_hold(member) else {
            continue;
        };
        let sum = asked.entry(tenant).or_default();
        *sum = sum.plus(more);
    }
    asked.retain(|_, more| !more.is_none());
    asked
}

/// Two are equal if they ask the same limits for the same.
impl PartialEq for Quotas {
    fn eq(&self, other: &Self) -> bool {
        let is_same = match (&self.limits, &other.limits) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        is_same && self.only_tried == other.only_tried
    }
}

#[cfg(test)]
mod tests;
