//! How a policy names a unit.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

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
    /// What follows the `@` is no part of a digest.
    #[error(
        "\"{0}\" does not begin a digest: write 4 to 64 hexadecimal digits after the \"@\", for example \"memory@9f2c41\""
    )]
    BadPin(String),
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
        let digits = |pin: &str| {
            (4..=64).contains(&pin.len()) && pin.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        if let Some(pin) = pin.filter(|pin| !digits(pin)) {
            return Err(UnitNameError::BadPin(pin.to_owned()));
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
}
