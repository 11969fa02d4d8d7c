//! A policy document, entry by entry.

use serde::Serialize;
use toml::Table;

/// A policy of one stage.
#[derive(Debug, Default, Serialize)]
pub(super) struct Document {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Entry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance: Option<Entry>,
    #[serde(skip_serializing_if = "Table::is_empty")]
    pub settings: Table,
}

/// A unit in a policy. What is not given is left out.
#[derive(Debug, Default, Serialize)]
pub(super) struct Entry {
    /// Name or alias.
    pub unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Table::is_empty")]
    pub settings: Table,
}

impl Entry {
    /// A unit with these settings.
    pub(super) fn new(unit: impl Into<String>, settings: Table) -> Self {
        Self {
            unit: unit.into(),
            settings,
            ..Self::default()
        }
    }
}

impl Document {
    /// With one filter.
    pub(super) fn of_filter(filter: Entry) -> Self {
        Self {
            filters: vec![filter],
            ..Self::default()
        }
    }

    /// The document in TOML.
    ///
    /// # Errors
    /// If a setting cannot be written.
    pub(super) fn text(&self) -> Result<String, String> {
        toml::to_string(self).map_err(|error| format!("the policy cannot be written: {error}"))
    }
}
