//! Quotas as clients write them.

use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use placewright_deployment::{DeploymentError, Quota};
use placewright_scheduler::{HoldingShown, QuotaLimits, quota_amount as amount};

/// How much a tenant may hold.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuotaDocument {
    /// What it is called; as in the path, if it is given.
    #[serde(default)]
    #[schema(value_type = String, required = false, example = "shop-north")]
    name: Option<String>,
    /// The tenant, as VMs name it.
    #[schema(min_length = 1, max_length = 253, example = "acme")]
    tenant: String,
    /// The cluster in which it is limited; in all together if not given.
    #[serde(default)]
    #[schema(example = "alpha")]
    cluster: Option<String>,
    /// What it may hold there at most: one limit or more.
    limits: QuotaLimits,
    /// What the tenant holds, as it was read: it changes nothing.
    #[serde(default, rename = "used")]
    #[schema(value_type = HoldingShown, required = false)]
    _used: Option<HoldingShown>,
    /// The revision, as it was read: it changes nothing, `If-Match` says which one is changed.
    #[serde(default, rename = "revision")]
    #[schema(value_type = u64, required = false, example = 3)]
    _revision: Option<u64>,
    /// When the quota was changed last, as it was read: it changes nothing.
    #[serde(default, rename = "at")]
    #[schema(value_type = String, required = false, format = DateTime)]
    _at: Option<String>,
    /// Who changed it last, as it was read: it changes nothing.
    #[serde(default, rename = "by")]
    #[schema(value_type = String, required = false, example = "ci")]
    _by: Option<String>,
}

impl QuotaDocument {
    /// The quota that is to have this name.
    ///
    /// # Errors
    /// If the document has another one.
    pub(super) fn quota(self, name: &str) -> Result<Quota, DeploymentError> {
        if let Some(given) = self.name.filter(|given| given != name) {
            return Err(DeploymentError::OtherName {
                what: "quota",
                given,
                name: name.to_owned(),
            });
        }
        Ok(Quota {
            tenant: self.tenant.into(),
            cluster: self.cluster.map(Into::into),
            limits: self.limits,
        })
    }
}

/// What is to be different of a quota.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuotaPatch {
    /// Another tenant.
    #[serde(default)]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 253, example = "shop")]
    tenant: Option<String>,
    /// Another cluster; null: all together.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, required = false, example = "north")]
    cluster: Option<Option<String>>,
    /// Other limits; those that are not named stay.
    #[serde(default)]
    #[schema(required = false)]
    limits: LimitsPatch,
}

/// What is to be different of the limits of a quota.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = QuotaLimitsPatch)]
struct LimitsPatch {
    /// Promised CPU in cores; null: it is not limited.
    #[serde(default, deserialize_with = "cpu")]
    #[schema(value_type = Option<f64>, required = false, minimum = 0, maximum = 9_007_199_254_740.99, example = 64)]
    cpu: Option<Option<i64>>,
    /// Promised memory in bytes; null: it is not limited.
    #[serde(default, deserialize_with = "memory")]
    #[schema(value_type = Option<i64>, required = false, minimum = 0, maximum = 9007199254740991_i64, example = 274877906944_i64)]
    memory: Option<Option<i64>>,
    /// GPUs; null: they are not limited.
    #[serde(default, deserialize_with = "gpus")]
    #[schema(value_type = Option<f64>, required = false, minimum = 0, maximum = 9_007_199_254_740.99, example = 2.5)]
    gpus: Option<Option<i64>>,
    /// VMs; null: they are not limited.
    #[serde(default, deserialize_with = "vms")]
    #[schema(value_type = Option<i64>, required = false, minimum = 0, maximum = 9007199254740991_i64, example = 20)]
    vms: Option<Option<i64>>,
}

/// What is given, null included.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

fn cpu<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<i64>>, D::Error> {
    amount::cpu(from).map(Some)
}

fn memory<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<i64>>, D::Error> {
    amount::memory(from).map(Some)
}

fn gpus<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<i64>>, D::Error> {
    amount::gpus(from).map(Some)
}

fn vms<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<i64>>, D::Error> {
    amount::vms(from).map(Some)
}

impl QuotaPatch {
    /// Let a quota be different.
    pub(super) fn apply(self, quota: &mut Quota) {
        let limits = &mut quota.limits;
        let changed = self.limits;
        replace(&mut limits.cpu, changed.cpu);
        replace(&mut limits.memory, changed.memory);
        replace(&mut limits.gpus, changed.gpus);
        replace(&mut limits.vms, changed.vms);
        if let Some(tenant) = self.tenant {
            quota.tenant = tenant.into();
        }
        if let Some(cluster) = self.cluster {
            quota.cluster = cluster.map(Into::into);
        }
    }
}

fn replace<T>(known: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *known = given;
    }
}
