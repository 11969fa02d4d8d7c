//! How a policy names a unit.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use placewright_document::shown;

/// A unit's name or alias, and the digest that is wanted, if not any: `memory`,
/// `memory@9f2c41`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitName {
    /// Name or alias.
    pub name: Arc<str>,
    /// How the digest of the unit must begin, in lower-case hexadecimal.
    pub pin: Option<Arc<str>>,
}

/// A text that names no unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitNameError {
    /// There is nothing, or nothing before the `@`.
    #[error("the name of a unit is missing; write for example \"memory\" or \"memory@9f2c41\"")]
    Empty,
    /// What follows the `@` is no beginning of a digest.
    #[error(
        "\"{}\" after \"{}@\" is not the beginning of a digest{}; {}",
        shown(pin),
        shown(name),
        because(pin),
        instead(name, pin)
    )]
    BadPin {
        /// What stands before the `@`.
        name: String,
        /// What follows it.
        pin: String,
    },
}

/// Fewest digits of a pin.
const FEWEST: usize = 4;
/// Digits of a whole digest.
const DIGITS: usize = 64;
/// Digits of a digest in a sentence.
pub(crate) const SHORT: usize = 12;

/// Whether a digest can begin with it.
fn begins_digest(pin: &str) -> bool {
    let are_hexadecimal = pin.bytes().all(|byte| byte.is_ascii_hexdigit());
    are_hexadecimal && (FEWEST..=DIGITS).contains(&pin.len())
}

/// What follows the name of the hash function, as other programs write digests.
fn without_function(pin: &str) -> Option<&str> {
    let (function, digits) = pin.split_once(':')?;
    let function = function.trim();
    ["sha256", "sha-256"]
        .iter()
        .any(|it| function.eq_ignore_ascii_case(it))
        .then_some(digits.trim())
}

/// Why it is none, where that is plain.
fn because(pin: &str) -> String {
    let digits = without_function(pin).unwrap_or(pin);
    let is_version = pin.contains('.')
        && pin
            .bytes()
            .all(|it| it.is_ascii_digit() || b".v".contains(&it));
    let odd = digits.chars().find(|letter| !letter.is_ascii_hexdigit());
    match odd {
        _ if is_version => ": a unit is pinned by its digest, not by its version".to_owned(),
        Some(odd) => format!(
            ": \"{}\" is not a hexadecimal digit",
            shown(odd.encode_utf8(&mut [0; 4]))
        ),
        None if digits.len() > DIGITS => {
            format!(
                ": it has {} digits, and a digest has {DIGITS}",
                digits.len()
            )
        }
        None if digits.len() < FEWEST => match digits.len() {
            0 => ": there are no digits".to_owned(),
            1 => format!(": it has 1 digit, and at least {FEWEST} are needed"),
            few => format!(": it has {few} digits, and at least {FEWEST} are needed"),
        },
        None => String::new(),
    }
}

/// What to write in its place.
fn instead(name: &str, pin: &str) -> String {
    let digits = without_function(pin);
    match digits.filter(|digits| begins_digest(digits)) {
        Some(digits) => format!(
            "write the digits without \"sha256:\", as \"{}@{}\"",
            shown(name),
            digits.get(..SHORT).unwrap_or(digits)
        ),
        None => format!(
            "write {FEWEST} to {DIGITS} hexadecimal digits of the unit's SHA-256 digest after the \"@\", for example \"memory@9f2c41\""
        ),
    }
}

impl UnitName {
    /// The unit of that name, whatever its digest.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            pin: None,
        }
    }
}

impl FromStr for UnitName {
    type Err = UnitNameError;

    fn from_str(text: &str) -> Result<Self, UnitNameError> {
        let (name, pin) = match text.split_once('@') {
            Some((name, pin)) => (name, Some(pin)),
            None => (text, None),
        };
        if name.trim().is_empty() {
            return Err(UnitNameError::Empty);
        }
        if let Some(pin) = pin.filter(|pin| !begins_digest(pin)) {
            return Err(UnitNameError::BadPin {
                name: name.to_owned(),
                pin: pin.to_owned(),
            });
        }
        Ok(Self {
            name: name.into(),
            pin: pin.map(|pin| pin.to_ascii_lowercase().into()),
        })
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.pin {
            Some(pin) => write!(f, "@{pin}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_named_by_name_or_by_name_and_digest() {
        assert_eq!("memory".parse(), Ok(UnitName::new("memory")));
        let pinned: UnitName = "memory@9F2C".parse().unwrap();
        assert_eq!(pinned.pin.as_deref(), Some("9f2c"));
        assert_eq!(pinned.to_string(), "memory@9f2c");
    }

    #[test]
    fn what_names_no_unit_is_refused() {
        for text in ["", " ", "@9f2c"] {
            assert_eq!(
                text.parse::<UnitName>(),
                Err(UnitNameError::Empty),
                "{text}"
            );
        }
        for text in ["memory@", "memory@9f", "memory@latest"] {
            assert!(text.parse::<UnitName>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_pin_that_begins_no_digest_is_told_with_why_and_what_to_write() {
        let form = "write 4 to 64 hexadecimal digits of the unit's SHA-256 digest after the \"@\", for example \"memory@9f2c41\"";
        let (long, cut) = ("0".repeat(65), format!("{}…", "0".repeat(60)));
        for (pin, expected) in [
            (
                "1.2.0",
                format!(": a unit is pinned by its digest, not by its version; {form}"),
            ),
            (
                "latest",
                format!(": \"l\" is not a hexadecimal digit; {form}"),
            ),
            (
                "9f",
                format!(": it has 2 digits, and at least 4 are needed; {form}"),
            ),
            ("", format!(": there are no digits; {form}")),
            (
                &long,
                format!(": it has 65 digits, and a digest has 64; {form}"),
            ),
            ("sha256:", format!(": there are no digits; {form}")),
            (
                "sha256:9f2cxy",
                format!(": \"x\" is not a hexadecimal digit; {form}"),
            ),
            (
                "SHA256:9f2c41",
                "; write the digits without \"sha256:\", as \"memory@9f2c41\"".to_owned(),
            ),
        ] {
            let error = format!("memory@{pin}").parse::<UnitName>().unwrap_err();
            let pin = if pin.len() > 60 { &cut } else { pin };
            let begins = format!("\"{pin}\" after \"memory@\" is not the beginning of a digest");
            assert_eq!(error.to_string(), format!("{begins}{expected}"));
        }
    }
}
