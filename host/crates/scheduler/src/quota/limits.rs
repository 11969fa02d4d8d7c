//! What a tenant may hold, and what somebody holds, as programs read it.

use serde::{Deserialize, Serialize};

use super::amount;
use placewright_model::{GREATEST_INTEGER, Holding};

/// Something that a quota limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum QuotaResource {
    /// Promised CPU.
    Cpu,
    /// Promised memory.
    Memory,
    /// GPUs.
    Gpus,
    /// VMs.
    Vms,
}

impl QuotaResource {
    /// The word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Gpus => "gpus",
            Self::Vms => "vms",
        }
    }
}

/// What somebody holds, as programs read it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Holding))]
pub struct HoldingShown {
    /// Promised CPU in cores.
    #[serde(
        serialize_with = "amount::units",
        deserialize_with = "amount::thousandths"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = f64, example = 12.5))]
    pub cpu: i64,
    /// Promised memory in bytes.
    #[cfg_attr(feature = "openapi", schema(example = 274877906944_i64))]
    pub memory: i64,
    /// GPUs; a share of one counts as its part.
    #[serde(
        serialize_with = "amount::units",
        deserialize_with = "amount::thousandths"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = f64, example = 1.5))]
    pub gpus: i64,
    /// How many VMs.
    #[cfg_attr(feature = "openapi", schema(example = 20))]
    pub vms: i64,
}

impl From<Holding> for HoldingShown {
    fn from(holding: Holding) -> Self {
        let most = i128::from(GREATEST_INTEGER);
        let shown = |amount: i128| i64::try_from(amount.min(most)).unwrap_or(i64::MIN);
        Self {
            cpu: shown(holding.cpu),
            memory: shown(holding.memory),
            gpus: shown(holding.gpus),
            vms: shown(holding.vms),
        }
    }
}

impl HoldingShown {
    pub(super) fn of(&self, resource: QuotaResource) -> i64 {
        match resource {
            QuotaResource::Cpu => self.cpu,
            QuotaResource::Memory => self.memory,
            QuotaResource::Gpus => self.gpus,
            QuotaResource::Vms => self.vms,
        }
    }
}

/// What a tenant may hold at most; what is not given is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct QuotaLimits {
    /// Promised CPU in cores, in thousandths at the finest.
    #[serde(
        default,
        deserialize_with = "amount::cpu",
        serialize_with = "amount::units_if_any",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = f64, minimum = 0, maximum = 9_007_199_254_740.99, example = 64))]
    pub cpu: Option<i64>,
    /// Promised memory in bytes.
    #[serde(
        default,
        deserialize_with = "amount::memory",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, minimum = 0, maximum = 9007199254740991_i64, example = 274877906944_i64))]
    pub memory: Option<i64>,
    /// GPUs, in thousandths at the finest; a share of one counts as its part.
    #[serde(
        default,
        deserialize_with = "amount::gpus",
        serialize_with = "amount::units_if_any",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = f64, minimum = 0, maximum = 9_007_199_254_740.99, example = 2.5))]
    pub gpus: Option<i64>,
    /// VMs.
    #[serde(
        default,
        deserialize_with = "amount::vms",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = i64, minimum = 0, maximum = 9007199254740991_i64, example = 20))]
    pub vms: Option<i64>,
}

impl QuotaLimits {
    /// Whether nothing is limited.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn of(&self, resource: QuotaResource) -> Option<i64> {
        match resource {
            QuotaResource::Cpu => self.cpu,
            QuotaResource::Memory => self.memory,
            QuotaResource::Gpus => self.gpus,
            QuotaResource::Vms => self.vms,
        }
    }

    /// The resources of which there would be too much if somebody who holds `held` came to hold
    /// `more` besides. What is asked for no more of is not looked at.
    pub fn exceeded(&self, held: Holding, more: Holding) -> Vec<QuotaResource> {
        let sum = held.plus(more);
        let each = [
            (QuotaResource::Cpu, more.cpu, sum.cpu),
            (QuotaResource::Memory, more.memory, sum.memory),
            (QuotaResource::Gpus, more.gpus, sum.gpus),
            (QuotaResource::Vms, more.vms, sum.vms),
        ];
        let over = each.into_iter().filter(|(resource, more, sum)| {
            let limit = self.of(*resource).map(i128::from);
            *more > 0 && limit.is_some_and(|limit| *sum > limit)
        });
        over.map(|(resource, ..)| resource).collect()
    }
}
