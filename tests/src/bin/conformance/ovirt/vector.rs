//! A file of vectors of oVirt: what its unit is, and its vectors one by one.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// A file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "what is documented may stand there, read or not")]
pub(super) struct Document {
    schema: IgnoredAny,
    origin: IgnoredAny,
    pub unit: UnitNamed,
    source: IgnoredAny,
    note: Option<IgnoredAny>,
    pub vectors: Vec<Vector>,
}

/// The unit of oVirt that a file is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnitNamed {
    pub name: String,
    /// Null for helpers, which are no units of their own.
    pub id: Option<String>,
    /// What kind of unit: filter, weight and so on.
    #[serde(rename = "type")]
    pub kind: String,
}

impl UnitNamed {
    /// Its type and name, for a sentence.
    pub(super) fn shown(&self) -> String {
        format!("{} \"{}\"", self.kind, self.name)
    }

    /// The unit's id, which is an alias of the unit here that has its rule.
    ///
    /// # Errors
    /// If it has none.
    pub(super) fn alias(&self) -> Result<&str, String> {
        let id = self.id.as_deref();
        id.ok_or_else(|| format!("field unit.id: the {} {} needs one", self.kind, self.name))
    }
}

/// One vector.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "notes are for people")]
pub(super) struct Vector {
    test: String,
    case: Option<String>,
    pub input: Value,
    pub expect: Value,
    note: Option<IgnoredAny>,
}

impl Vector {
    /// What a report calls it.
    pub(super) fn shown(&self) -> String {
        match &self.case {
            Some(case) => format!("{} ({case})", self.test),
            None => self.test.clone(),
        }
    }

    /// Read what is put in.
    ///
    /// # Errors
    /// The field that is wrong and what is wrong with it.
    pub(super) fn input<T: serde::de::DeserializeOwned>(&self) -> Result<T, String> {
        part("input", &self.input)
    }

    /// Read what is expected.
    ///
    /// # Errors
    /// The field that is wrong and what is wrong with it.
    pub(super) fn expect<T: serde::de::DeserializeOwned>(&self) -> Result<T, String> {
        part("expect", &self.expect)
    }
}

fn part<T: serde::de::DeserializeOwned>(name: &str, value: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value)
        .map_err(|error| format!("field {name}.{}: {}", error.path(), error.inner()))
}
