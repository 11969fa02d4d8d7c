//! By how much the limits of a quota would have to be raised.

use super::words::amount;
use super::{Changed, Limit, Needed};
use crate::{QuotaRefusal, QuotaResource};
use placewright_model::Value;

/// How the limits of a quota would have to be raised to allow what it refuses; None: no limit may
/// be as high.
pub(in crate::questions) fn raises(refusal: &QuotaRefusal) -> Option<Vec<Needed>> {
    let raises = refusal.raises()?.into_iter().map(|raise| {
        let resource = raise.resource;
        let counted = |amount| match resource {
            QuotaResource::Cpu | QuotaResource::Memory => written(resource, amount),
            QuotaResource::Gpus => format!("{} GPUs", written(resource, amount)),
            QuotaResource::Vms => format!("{amount} VMs"),
        };
        let sentence = format!(
            "quota \"{}\" of tenant \"{}\" allows {}, {} more than now",
            refusal.quota,
            refusal.tenant,
            counted(raise.after),
            counted(raise.after - raise.before)
        );
        Needed {
            of: Changed::Quota,
            id: Some(refusal.quota.clone()),
            column: format!("limits.{}", resource.word()).into(),
            bound: Limit::AtLeast,
            before: Some(written(resource, raise.before)),
            after: Some(written(resource, raise.after)),
            sentence,
        }
    });
    Some(raises.collect())
}

/// An amount as a quota may have it. It is exact.
fn written(resource: QuotaResource, amount: i64) -> String {
    match resource {
        QuotaResource::Cpu | QuotaResource::Memory => {
            self::amount(&Value::Integer(amount), resource.measure())
        }
        QuotaResource::Gpus => (amount as f64 / 1000.0).to_string(),
        QuotaResource::Vms => amount.to_string(),
    }
}
