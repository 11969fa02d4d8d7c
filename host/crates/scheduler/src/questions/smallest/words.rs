//! A change for people and programs.

use std::sync::Arc;

use super::lever::{Lever, Place, Reach};
use super::{Changed, Limit, Needed, value};
use placewright_model::{Measure, Value};

/// The change that a lever makes which is turned so far.
pub(super) fn needed(lever: &Lever, at: i64, host: &Arc<str>) -> Needed {
    let after = value(lever, at);
    let bound = match lever.reach {
        Reach::Once(_) => Limit::Exactly,
        Reach::Steps { from, .. } if at < from => Limit::AtMost,
        Reach::Steps { .. } => Limit::AtLeast,
    };
    let written = |value: &Option<Value>| value.as_ref().map(|it| amount(it, lever.measure));
    let (before, after) = (written(&lever.before), written(&after));
    let (of, id, column) = place(&lever.place, host);
    let sentence = sentence(lever, (at, bound), (&before, &after), host);
    Needed {
        of,
        id,
        column,
        bound,
        before,
        after,
        sentence,
    }
}

fn place(place: &Place, host: &Arc<str>) -> (Changed, Option<Arc<str>>, Arc<str>) {
    match place {
        Place::Member(_, id, column)
        | Place::MemberTable(_, id, column)
        | Place::Pinning(_, id, column) => (Changed::Vm, Some(id.clone()), column.clone()),
        Place::Zone => (Changed::Request, None, "zone".into()),
        Place::Allowed => (Changed::Request, None, "allowed".into()),
        Place::Host(column) => (Changed::Host, Some(host.clone()), column.clone()),
        Place::Group(id) => (Changed::Group, Some(id.clone()), "hard".into()),
        Place::Elsewhere(id) => (Changed::Vm, Some(id.clone()), "host".into()),
    }
}

fn sentence(
    lever: &Lever,
    (at, bound): (i64, Limit),
    (before, after): (&Option<String>, &Option<String>),
    host: &str,
) -> String {
    let (column, whose) = match &lever.place {
        Place::Member(_, id, column) => (column, format!("VM {id}")),
        Place::Host(column) => (column, format!("host {host}")),
        Place::MemberTable(_, id, table) => return format!("VM {id} has no {table}"),
        Place::Pinning(_, id, list) if **list == *"pinned" => {
            return format!("VM {id} is not pinned to hosts");
        }
        Place::Pinning(_, id, _) => return format!("VM {id} has no scores for hosts"),
        Place::Zone => return "the request asks for no zone".to_owned(),
        Place::Allowed => return format!("the request allows host {host}"),
        Place::Group(id) => return format!("the rules of group {id} are not hard"),
        Place::Elsewhere(id) => return format!("VM {id} is not on host {host}"),
    };
    let Some(after) = after else {
        return format!("{whose} has no {column}");
    };
    let is = match bound {
        Limit::AtMost => "is at most",
        Limit::AtLeast => "is at least",
        Limit::Exactly => {
            let now = before.as_deref().map(|it| format!(" instead of {it}"));
            return format!("{column} of {whose} is {after}{}", now.unwrap_or_default());
        }
    };
    let by = match (&lever.before, value(lever, at)) {
        (Some(before), Some(after)) => difference(before, &after, lever.measure),
        _ => String::new(),
    };
    format!("{column} of {whose} {is} {after}{by}")
}

/// How much more or less a value is.
fn difference(before: &Value, after: &Value, measure: Option<Measure>) -> String {
    let (by, more) = match (before, after) {
        (Value::Integer(before), Value::Integer(after)) => (
            Value::Integer(before.abs_diff(*after) as i64),
            after > before,
        ),
        (Value::Number(before), Value::Number(after)) => {
            let by = ((before - after).abs() * 100.0).round() / 100.0;
            (Value::Number(by), after > before)
        }
        _ => return String::new(),
    };
    let more = if more { "more" } else { "less" };
    let by = match (&by, measure, before, after) {
        // What is to be exact is the value itself.
        (Value::Integer(bytes), Some(Measure::Bytes), ..) => about(*bytes),
        (_, Some(Measure::Fraction), Value::Number(before), Value::Number(after))
            if *before > 0.0 && after / before >= 2.0 =>
        {
            let times = (after / before * 100.0).round() / 100.0;
            return format!(", {times} times as much as now");
        }
        (Value::Number(by), Some(Measure::Fraction), ..) => {
            format!("{} percentage points", (by * 10_000.0).round() / 100.0)
        }
        _ => amount(&by, measure),
    };
    format!(", {by} {more} than now")
}

/// Bytes in the greatest unit of which there is one, with three digits.
fn about(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut amount, mut unit) = (bytes as f64, 0);
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    let digits = match amount {
        it if it >= 100.0 => 0,
        it if it >= 10.0 => 1,
        _ => 2,
    };
    let written = format!("{amount:.digits$}");
    let written = match written.contains('.') {
        true => written.trim_end_matches('0').trim_end_matches('.'),
        false => &written,
    };
    format!("{written} {}", UNITS[unit])
}

/// An amount as a document may have it. It is exact: what is shown is enough.
pub(super) fn amount(value: &Value, measure: Option<Measure>) -> String {
    let bytes = |bytes: i64| {
        const UNITS: [(&str, i64); 4] = [
            ("TiB", 1 << 40),
            ("GiB", 1 << 30),
            ("MiB", 1 << 20),
            ("KiB", 1 << 10),
        ];
        let mut units = UNITS.iter();
        let unit = units.find(|(_, size)| bytes != 0 && bytes % size == 0);
        unit.map_or_else(
            || format!("{bytes} B"),
            |(name, size)| format!("{} {name}", bytes / size),
        )
    };
    match (value, measure) {
        (Value::Integer(amount), Some(Measure::Bytes)) => bytes(*amount),
        (Value::Integer(1000), Some(Measure::Millicores)) => "1 core".to_owned(),
        (Value::Integer(_), Some(measure @ (Measure::Millicores | Measure::Seconds))) => {
            measure.display(value)
        }
        (Value::Number(amount), Some(Measure::Fraction)) => {
            format!("{} %", (amount * 10_000.0).round() / 100.0)
        }
        (value, _) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_much_more_or_less_is_told_in_few_digits_and_a_share_as_a_factor_or_in_points() {
        let mib = |amount: i64| Value::Integer(amount << 20);
        let bytes = Some(Measure::Bytes);
        let share = Some(Measure::Fraction);
        let number = Value::Number;
        for (before, after, measure, expected) in [
            (
                mib(1_126_400),
                mib(154_514),
                bytes,
                ", 949 GiB less than now",
            ),
            (mib(8192), mib(6144), bytes, ", 2 GiB less than now"),
            (
                number(1.0),
                number(4.72),
                share,
                ", 4.72 times as much as now",
            ),
            (
                number(1.0),
                number(1.5),
                share,
                ", 50 percentage points more than now",
            ),
            (
                Value::Integer(2),
                Value::Integer(3),
                None,
                ", 1 more than now",
            ),
        ] {
            assert_eq!(difference(&before, &after, measure), expected);
        }
    }
}
