//! Amounts of quotas as documents write them: a number means what the same digits in a text mean.

use std::fmt;

use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::QuotaResource;
use placewright_model::{GREATEST_INTEGER, Kind, Measure, Value};

/// An amount of this resource, as the program counts it.
struct AmountOf(QuotaResource);

impl AmountOf {
    fn of_number(&self, number: f64) -> Option<i64> {
        let value = match self.0.measure() {
            Some(measure) => measure.of_number(number, Kind::Integer).ok()?,
            None => Value::Integer((number.fract() == 0.0).then_some(number as i64)?),
        };
        Self::within(&value)
    }

    /// GPUs have no unit of measure that a text could have.
    fn of_text(&self, text: &str) -> Option<i64> {
        let measure = match self.0 {
            QuotaResource::Gpus => None,
            resource => resource.measure(),
        };
        let value = measure?.parse(text, Kind::Integer).ok()?;
        Self::within(&value)
    }

    fn within(value: &Value) -> Option<i64> {
        match value {
            Value::Integer(amount) if (0..=GREATEST_INTEGER).contains(amount) => Some(*amount),
            _ => None,
        }
    }
}

impl<'de> Visitor<'de> for AmountOf {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            QuotaResource::Cpu => "cores from 0 on, such as 64, 0.5 or \"500m\"",
            QuotaResource::Memory => "bytes from 0 on, such as 8589934592 or \"8 GiB\"",
            QuotaResource::Gpus => "GPUs from 0 on, in thousandths at the finest, such as 2.5",
            QuotaResource::Vms => "a whole number of VMs from 0 on",
        })
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        let amount = self.of_number(number as f64);
        let wrong = || E::invalid_value(Unexpected::Signed(number), &self);
        amount.ok_or_else(wrong).map(Some)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        let amount = self.of_number(number as f64);
        let wrong = || E::invalid_value(Unexpected::Unsigned(number), &self);
        amount.ok_or_else(wrong).map(Some)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        let amount = self.of_number(number);
        let wrong = || E::invalid_value(Unexpected::Float(number), &self);
        amount.ok_or_else(wrong).map(Some)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let amount = self.of_text(text);
        let wrong = || E::invalid_value(Unexpected::Str(text), &self);
        amount.ok_or_else(wrong).map(Some)
    }
}

/// Read an amount of CPU; null: none.
///
/// # Errors
/// If it is none.
pub fn cpu<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_any(AmountOf(QuotaResource::Cpu))
}

/// Read an amount of memory; null: none.
///
/// # Errors
/// If it is none.
pub fn memory<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_any(AmountOf(QuotaResource::Memory))
}

/// Read a number of GPUs; null: none.
///
/// # Errors
/// If it is none.
pub fn gpus<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_any(AmountOf(QuotaResource::Gpus))
}

/// Read a number of VMs; null: none.
///
/// # Errors
/// If it is none.
pub fn vms<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_any(AmountOf(QuotaResource::Vms))
}

/// Write thousandths in the unit of which they are some.
///
/// # Errors
/// Of the serializer.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(super) fn units<S: Serializer>(thousandths: &i64, to: S) -> Result<S::Ok, S::Error> {
    match thousandths % 1000 {
        0 => (thousandths / 1000).serialize(to),
        _ => (*thousandths as f64 / 1000.0).serialize(to),
    }
}

/// Read what [`units`] has written.
///
/// # Errors
/// If it is no number.
pub(super) fn thousandths<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    let units = f64::deserialize(from)?;
    Ok((units * 1000.0).round() as i64)
}

/// The same where there may be none.
///
/// # Errors
/// Of the serializer.
pub(super) fn units_if_any<S: Serializer>(
    thousandths: &Option<i64>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match thousandths {
        Some(thousandths) => units(thousandths, to),
        None => to.serialize_none(),
    }
}

impl QuotaResource {
    /// The unit in which it is written and counted; thousandths of GPUs are as those of cores.
    pub(crate) fn measure(self) -> Option<Measure> {
        match self {
            Self::Cpu | Self::Gpus => Some(Measure::Millicores),
            Self::Memory => Some(Measure::Bytes),
            Self::Vms => None,
        }
    }

    /// An amount of it as people write it.
    pub(super) fn told(self, amount: i64) -> String {
        match self {
            Self::Cpu => Measure::Millicores.display(&Value::Integer(amount)),
            Self::Memory => Measure::Bytes.display(&Value::Integer(amount)),
            Self::Gpus => format!("{} GPUs", amount as f64 / 1000.0),
            Self::Vms => format!("{amount} VMs"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn gpus_are_a_number_and_no_text() {
        assert_eq!(gpus(&json!(2.5)).unwrap(), Some(2500));
        assert_eq!(gpus(&json!(null)).unwrap(), None);
        for wrong in [
            json!("7"),
            json!("1.5 cores"),
            json!("500m"),
            json!(-1),
            json!([1]),
        ] {
            let told = gpus(&wrong).unwrap_err().to_string();
            assert!(told.contains("such as 2.5"), "{told}");
        }
        assert_eq!(cpu(&json!("500m")).unwrap(), Some(500));
        assert_eq!(vms(&json!(2.0)).unwrap(), Some(2));
        assert!(vms(&json!("2")).is_err());
    }
}
