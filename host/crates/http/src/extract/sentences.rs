//! What is wrong with a request, in words that need no knowledge of how it is read.

use std::fmt::Write;

use crate::pages::MOST as LONGEST_PAGE;
use placewright_document::alternatives;

/// What is wrong with the parameters after the question mark, which are `query`.
pub(super) fn of_query(said: &str, query: &str) -> String {
    let prefix = "Failed to deserialize query string: ";
    let said = said.strip_prefix(prefix).unwrap_or(said);
    if let Some((name, _)) = quoted(said, "missing field ") {
        return format!("the query parameter \"{name}\" is missing; add ?{name}=VALUE");
    }
    if let Some((name, rest)) = quoted(said, "unknown field ") {
        return unknown(name, &names(rest));
    }
    if let Some((name, _)) = quoted(said, "duplicate field ") {
        return format!("the query parameter \"{name}\" is given twice");
    }
    match said.split_once(": ") {
        Some((name, what)) if !name.contains(' ') => of_value(name, what, query),
        _ => plain(said),
    }
}

/// What is wrong with the value of a parameter: what belongs there, and what was sent.
fn of_value(name: &str, what: &str, query: &str) -> String {
    let wanted = match what {
        _ if is_of_integer(what) && name == "limit" => {
            format!("a whole number from 1 to {LONGEST_PAGE}")
        }
        _ if is_of_integer(what) => "a whole number, 0 or more".to_owned(),
        _ if what.contains("float") => "a number".to_owned(),
        _ if what.contains("`true` or `false`") => "true or false".to_owned(),
        _ => match what.strip_prefix("unknown variant ") {
            Some(variants) => {
                let words: Vec<&str> = names(variants).into_iter().skip(1).collect();
                alternatives(&words)
            }
            None => return format!("the query parameter \"{name}\": {}", plain(what)),
        },
    };
    let given = format!("/?{query}").parse().ok();
    let given = given.and_then(|uri| super::repeated(&uri, name).next());
    let given = placewright_document::shown(&given.unwrap_or_default());
    format!("the query parameter \"{name}\" must be {wanted}, not \"{given}\"")
}

/// Whether a number that is whole was wanted.
fn is_of_integer(said: &str) -> bool {
    let begins = [
        "invalid digit found",
        "cannot parse integer",
        "number too large",
        "number too small",
    ];
    begins.into_iter().any(|begin| said.starts_with(begin))
}

/// What is wrong with a pair of a name and its value that is not UTF-8.
pub(super) fn no_utf8(pair: &str) -> String {
    let how = "each byte of a letter that is not ASCII is written as %XX";
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let (shown_name, value) = (
        placewright_document::shown(name),
        placewright_document::shown(value),
    );
    match super::is_utf8(name) {
        true => format!(
            "the query parameter \"{shown_name}\" is not UTF-8: it was sent as \"{value}\"; {how}"
        ),
        false => format!("the name of the query parameter \"{shown_name}\" is not UTF-8; {how}"),
    }
}

/// The problem for a query parameter that the route does not take.
pub(super) fn unknown(name: &str, known: &[&str]) -> String {
    let takes = match known {
        [] => "this route takes none".to_owned(),
        known => format!("this route takes {}", listed(known)),
    };
    let name = placewright_document::shown(name);
    format!("unknown query parameter \"{name}\"; {takes}")
}

/// What belongs into a body that is no object. `missing` is what is said of an empty one.
pub(super) fn no_object(missing: Option<&serde_json::Error>) -> String {
    let said = missing.map(ToString::to_string).unwrap_or_default();
    match quoted(&said, "missing field ") {
        Some((name, _)) => format!("the body must be an object such as {{\"{name}\": ...}}"),
        None => "the body must be an object: {...}".to_owned(),
    }
}

/// Words of the reader that name its own types, in words for people.
pub(super) fn plain(said: &str) -> String {
    if let Some((name, rest)) = quoted(said, "unknown field ") {
        let known = names(rest);
        return match known.as_slice() {
            [] => format!("unknown key \"{name}\"; nothing belongs here"),
            known => format!("unknown key \"{name}\"; there may be {}", listed(known)),
        };
    }
    if let Some((name, _)) = quoted(said, "missing field ") {
        return format!("the key \"{name}\" is missing");
    }
    let wrong = said
        .strip_prefix("invalid type: ")
        .or_else(|| said.strip_prefix("invalid value: "));
    if let Some((given, wanted)) = wrong.and_then(|wrong| wrong.split_once(", expected ")) {
        return format!("it is {} and must be {}", of(given), kind(wanted));
    }
    if said.starts_with("invalid digit found") || said.starts_with("invalid float literal") {
        return "it is no such number".to_owned();
    }
    said.replace('`', "\"")
}

/// What was given, with its kind.
fn of(given: &str) -> String {
    let kinds = [
        ("string ", "the text "),
        ("integer ", "the number "),
        ("floating point ", "the number "),
        ("boolean ", ""),
        ("sequence", "a list"),
        ("map", "an object"),
        ("unit", "null"),
        ("null", "null"),
    ];
    for (theirs, ours) in kinds {
        if let Some(rest) = given.strip_prefix(theirs) {
            return format!("{ours}{rest}").replace('`', "");
        }
    }
    given.replace('`', "\"")
}

/// What was wanted.
fn kind(wanted: &str) -> String {
    match wanted {
        "a sequence" => "a list",
        "a map" => "an object",
        "a string" | "a borrowed string" => "a text",
        "a boolean" => "true or false",
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        wanted if wanted.starts_with("struct ") => "an object",
        wanted => return wanted.replace('`', "\""),
    }
    .to_owned()
}

/// The name in backticks that follows the first `before`, and what comes after it.
fn quoted<'a>(said: &'a str, before: &str) -> Option<(&'a str, &'a str)> {
    let (_, rest) = said.split_once(before)?;
    rest.strip_prefix('`')?.split_once('`')
}

/// All names in backticks.
fn names(said: &str) -> Vec<&str> {
    said.split('`').skip(1).step_by(2).collect()
}

pub(crate) fn listed(names: &[&str]) -> String {
    let mut text = String::new();
    for (number, name) in names.iter().enumerate() {
        let before = match number {
            0 => "",
            number if number + 1 == names.len() => " and ",
            _ => ", ",
        };
        let _ = write!(text, "{before}\"{name}\"");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_query_is_told_by_its_parameters() {
        let read = "Failed to deserialize query string: ";
        for (said, told) in [
            (
                "missing field `policy`",
                "the query parameter \"policy\" is missing; add ?policy=VALUE",
            ),
            (
                "state: unknown field `state`, expected `limit` or `after`",
                "unknown query parameter \"state\"; this route takes \"limit\" and \"after\"",
            ),
            (
                "x: unknown field `x`, expected one of `a`, `b`, `c`",
                "unknown query parameter \"x\"; this route takes \"a\", \"b\" and \"c\"",
            ),
            (
                "unknown field `x`, there are no fields",
                "unknown query parameter \"x\"; this route takes none",
            ),
            (
                "after: invalid digit found in string",
                "the query parameter \"after\" must be a whole number, 0 or more, not \"x\"",
            ),
            (
                "order: unknown variant `up`, expected `first` or `last`",
                "the query parameter \"order\" must be \"first\" or \"last\", not \"up\"",
            ),
        ] {
            assert_eq!(of_query(&format!("{read}{said}"), "after=x&order=up"), told);
        }
    }

    #[test]
    fn what_is_wrong_with_a_body_names_no_types_of_ours() {
        for (said, told) in [
            (
                "invalid type: string \"web-c\", expected a sequence",
                "it is the text \"web-c\" and must be a list",
            ),
            (
                "invalid type: map, expected struct Vms",
                "it is an object and must be an object",
            ),
            (
                "unknown field `host`, expected `vms`",
                "unknown key \"host\"; there may be \"vms\"",
            ),
            ("missing field `vms`", "the key \"vms\" is missing"),
        ] {
            assert_eq!(plain(said), told);
        }
    }
}
