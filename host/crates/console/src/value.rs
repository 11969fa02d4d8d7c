//! Reading what the API answers: what is not there is empty.

use serde_json::Value;

use crate::parts::Measure;

/// A text.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// A number.
pub(crate) fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_default()
}

/// A count.
pub(crate) fn count(value: &Value, name: &str) -> usize {
    let count = value[name].as_u64().unwrap_or_default();
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// A list.
pub(crate) fn items<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// A list of texts.
pub(crate) fn texts<'v>(value: &'v Value, name: &str) -> Vec<&'v str> {
    let texts = items(value, name).iter();
    texts.filter_map(Value::as_str).collect()
}

/// Sums of a cluster.
pub(crate) fn measure(sums: &Value) -> Measure {
    Measure {
        committed: number(sums, "committed"),
        reserved: number(sums, "reserved"),
        used: sums["used"].as_f64(),
        promisable: number(sums, "promisable"),
        total: number(sums, "total"),
    }
}

/// A cost, which is null where it is infinite.
pub(crate) fn cost(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::INFINITY)
}
