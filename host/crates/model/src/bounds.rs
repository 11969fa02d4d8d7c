//! The least and the greatest value that a column or setting may have.

use super::{Measure, Value};

/// Bounds of integers and numbers, both included.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bounds {
    /// No value is less.
    pub least: Option<f64>,
    /// No value is greater.
    pub greatest: Option<f64>,
}

impl Bounds {
    /// Any value.
    pub const NONE: Self = Self {
        least: None,
        greatest: None,
    };
    /// 0 or more: amounts and counts.
    pub const FROM_ZERO: Self = Self {
        least: Some(0.0),
        greatest: None,
    };
    /// 0 to 1: shares of something.
    pub const SHARE: Self = Self {
        least: Some(0.0),
        greatest: Some(1.0),
    };
    /// 0 to 1000: thousandths of one thing.
    pub const THOUSANDTHS: Self = Self {
        least: Some(0.0),
        greatest: Some(1000.0),
    };

    /// What `value` should be instead, if it is out of bounds: completes the
    /// sentence "it must be ...". Texts and booleans have no bounds.
    pub fn broken_by(&self, value: &Value, measure: Option<Measure>) -> Option<String> {
        let number = match value {
            Value::Integer(integer) => *integer as f64,
            Value::Number(number) => *number,
            Value::Boolean(_) | Value::Text(_) => return None,
        };
        let shown = |bound: f64| match (measure, value) {
            // A bound of 0 is the same in every measure.
            (Some(measure), Value::Integer(_)) if bound != 0.0 && bound.fract() == 0.0 => {
                measure.display(&Value::Integer(bound as i64))
            }
            _ => bound.to_string(),
        };
        let within = |bound: Option<f64>, holds: fn(&f64, &f64) -> bool| {
            bound.is_none_or(|bound| holds(&number, &bound))
        };
        if within(self.least, f64::ge) && within(self.greatest, f64::le) {
            return None;
        }
        Some(match (self.least, self.greatest) {
            (Some(least), Some(greatest)) => {
                format!("from {} to {}", shown(least), shown(greatest))
            }
            (Some(least), None) => format!("{} or more", shown(least)),
            (None, Some(greatest)) => format!("{} or less", shown(greatest)),
            (None, None) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_included_and_said_as_people_write_them() {
        let bounds = Bounds {
            least: Some(1024.0),
            greatest: Some(2048.0),
        };
        assert_eq!(bounds.broken_by(&Value::Integer(1024), None), None);
        assert_eq!(bounds.broken_by(&Value::Integer(2048), None), None);
        assert_eq!(
            bounds.broken_by(&Value::Integer(2049), Some(Measure::Bytes)),
            Some("from 1.0 KiB to 2.0 KiB".to_owned())
        );
        assert_eq!(
            Bounds::FROM_ZERO.broken_by(&Value::Number(-0.5), None),
            Some("0 or more".to_owned())
        );
        assert_eq!(Bounds::SHARE.broken_by(&"x".into(), None), None);
        assert!(Bounds::SHARE.broken_by(&f64::NAN.into(), None).is_some());
    }
}
