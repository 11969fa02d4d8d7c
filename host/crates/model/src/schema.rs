//! Every table and column that a unit can read, in one place.
//!
//! The command `placewright columns`, the documents' checks, the checks of units'
//! descriptions and the encoding of calls are all made from this. What an
//! operator adds for one deployment (`attribute.*`) is held beside the built-in
//! tables in a [`Schema`].

mod attributes;
mod need;
mod tables;

pub use attributes::{Attribute, AttributeShape};
pub use need::{Given, Need, Read};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::{Bounds, Kind, Measure, Value, rfc3339_key};

/// Prefix of columns and tables that operators define.
pub const ATTRIBUTE: &str = "attribute.";

/// Where the values of a column come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Given by the operator: in documents, requests and updates.
    Given,
    /// Given, and what the VMs of the inventory add up to is added to it.
    Added,
    /// Worked out by the runtime.
    Kept,
}

/// How many rows a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Exactly one.
    One,
    /// One or none.
    Optional,
    /// Any number.
    Many,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// For example `memory.free`.
    pub name: Arc<str>,
    /// The type of its values.
    pub kind: Kind,
    /// Unit of measure of its values, if they have one.
    pub measure: Option<Measure>,
    /// Whether a row may lack the value.
    pub optional: bool,
    /// Where its values come from.
    pub source: Source,
    /// What integers and numbers may be.
    pub bounds: Bounds,
    /// If not empty, the only texts allowed.
    pub choices: &'static [&'static str],
    /// A value, as a text, for those who read of the column; empty: its unit of measure or what it
    /// may be says enough.
    pub example: &'static str,
    /// One sentence.
    pub meaning: Arc<str>,
}

impl Column {
    /// A value of this column as documents have it.
    pub fn written(&self, value: &Value) -> Value {
        match self.measure {
            Some(measure) => measure.written(value),
            None => value.clone(),
        }
    }

    /// Of a column of times: the key under which its value stands after RFC 3339, beside the one
    /// in seconds. Attributes have none: a deployment may define another one of that name.
    pub fn rfc3339_key(&self) -> Option<Cow<'static, str>> {
        let is_time = self.measure == Some(Measure::Time) && !self.name.starts_with(ATTRIBUTE);
        is_time.then(|| rfc3339_key(&self.name))
    }
}

/// One table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// With its parents, for example `hosts/vms`.
    pub name: Arc<str>,
    /// What a row of it is.
    pub rows: Rows,
    /// The table exists for the request at hand: its rows stand below `hosts` and
    /// name rows of `members` or `groups` by their number in the call.
    pub relation: bool,
    /// Whether documents may give rows of it below the rows of its parent.
    pub source: Source,
    /// One sentence.
    pub meaning: Arc<str>,
    /// Its columns.
    pub columns: Vec<Column>,
}

impl Table {
    /// The table that this one stands below.
    pub fn parent(&self) -> Option<&str> {
        self.name.rsplit_once('/').map(|(parent, _)| parent)
    }

    /// The last part of the name: what documents call it.
    pub fn short_name(&self) -> &str {
        short_name(&self.name)
    }

    /// The column of that name, `watch.*` and `cost.*` families included.
    pub fn column(&self, name: &str) -> Option<Cow<'_, Column>> {
        if let Some(column) = self.columns.iter().find(|column| *column.name == *name) {
            return Some(Cow::Borrowed(column));
        }
        self.family(name).map(Cow::Owned)
    }

    /// Columns that exist under any name: when a watch's condition began to hold,
    /// and what cost functions gave.
    fn family(&self, name: &str) -> Option<Column> {
        let (kind, measure, meaning) = match &*self.name {
            "hosts" if in_family(name, "watch.", ".since") => (
                Kind::Integer,
                Some(Measure::Time),
                "Since when the condition that the policy watches under this name holds without a break",
            ),
            "candidates" if in_family(name, "cost.", "") => (
                Kind::Number,
                None,
                "The cost that the policy's entry of this name gave in this or an earlier stage, unweighted",
            ),
            _ => return None,
        };
        Some(Column {
            name: name.into(),
            kind,
            measure,
            optional: true,
            source: Source::Given,
            bounds: Bounds::NONE,
            choices: &[],
            example: "",
            meaning: meaning.into(),
        })
    }
}

/// The last part of a table's name.
pub fn short_name(table: &str) -> &str {
    table.rsplit_once('/').map_or(table, |(_, name)| name)
}

fn in_family(name: &str, prefix: &str, suffix: &str) -> bool {
    name.strip_prefix(prefix)
        .and_then(|rest| rest.strip_suffix(suffix))
        .is_some_and(|rest| !rest.is_empty())
}

/// What an operator may add attributes to, and where a unit sees them.
const ATTRIBUTE_TABLES: [(&str, &[&str]); 4] = [
    ("hosts", &["hosts", "sources"]),
    ("vms", &["members", "hosts/vms"]),
    ("tenants", &["tenant"]),
    ("clusters", &["cluster"]),
];

/// What an operator defines the attributes in rows of this table for: `hosts`,
/// `vms`, `tenants` or `clusters`.
pub fn attribute_entity(table: &str) -> Option<&'static str> {
    ATTRIBUTE_TABLES
        .iter()
        .find(|(_, tables)| tables.contains(&table))
        .map(|(entity, _)| *entity)
}

/// A mistake in the definition of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum AttributeError {
    #[error("attributes can be defined for hosts, vms, tenants and clusters, not for \"{0}\"")]
    UnknownEntity(String),
    #[error("attribute \"{0}\" is defined twice for {1}")]
    Twice(String, String),
    #[error(
        "attribute \"{0}\" is defined for {1} already, with another kind, measure or columns; give this one another name"
    )]
    Differs(String, String),
    #[error(
        "\"{0}\" is no name for an attribute: use lower-case letters, digits, hyphens and dots"
    )]
    BadName(String),
    #[error("the name of an attribute has at most {LONGEST_NAME} characters")]
    LongName,
    #[error("at most {MOST_ATTRIBUTES} attributes can be defined for {0}")]
    TooMany(String),
}

/// The names of attributes have so many characters at most, as those of a unit's columns.
pub const LONGEST_NAME: usize = 64;

/// So many attributes can be defined for one kind of thing: what is written of each row is
/// compared with all of them.
pub const MOST_ATTRIBUTES: usize = 1000;

/// The built-in tables, and the attributes that an operator added.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    tables: BTreeMap<Arc<str>, Arc<Table>>,
    /// Attributes of VMs that an admin declares as needs, in the order of declaration.
    declared_needs: Vec<Arc<Need>>,
}

impl Default for Schema {
    fn default() -> Self {
        Self::built_in().clone()
    }
}

impl Schema {
    /// The schema without attributes.
    pub fn built_in() -> &'static Self {
        static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema {
            tables: tables::built_in()
                .into_iter()
                .map(|table| (table.name.clone(), Arc::new(table)))
                .collect(),
            declared_needs: Vec::new(),
        });
        &SCHEMA
    }

    /// All tables by name: a parent comes before its children.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }

    /// The table of that name, with its parents.
    pub fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(name)
    }

    /// The tables below `parent`.
    pub fn children<'a>(&'a self, parent: &'a str) -> impl Iterator<Item = &'a Arc<Table>> {
        self.tables()
            .filter(move |table| table.parent() == Some(parent))
    }

    /// The column of that name in that table.
    pub fn column(&self, table: &str, column: &str) -> Option<Cow<'_, Column>> {
        self.table(table)?.column(column)
    }

    /// Add the column `attribute.NAME` to what is known of `entity` (`hosts`,
    /// `vms`, `tenants` or `clusters`).
    ///
    /// # Errors
    /// If there is no such entity, or the attribute exists already.
    pub fn define_attribute(
        &mut self,
        entity: &str,
        name: &str,
        kind: Kind,
        measure: Option<Measure>,
        meaning: &str,
    ) -> Result<(), AttributeError> {
        for table in attribute_tables(entity, name)? {
            let Some(table) = self.tables.get_mut(*table) else {
                continue;
            };
            let column = format!("{ATTRIBUTE}{name}");
            let attributes = table.columns.iter();
            let attributes = attributes.filter(|it| it.name.starts_with(ATTRIBUTE));
            if attributes.count() >= MOST_ATTRIBUTES {
                return Err(AttributeError::TooMany(entity.to_owned()));
            }
            if table.column(&column).is_some() {
                return Err(AttributeError::Twice(name.to_owned(), entity.to_owned()));
            }
            Arc::make_mut(table)
                .columns
                .push(attribute_column(&column, kind, measure, meaning));
        }
        Ok(())
    }

    /// Add the table `attribute.NAME` below what is known of `entity`, with
    /// `columns` of name, kind and measure.
    ///
    /// # Errors
    /// As for [`Schema::define_attribute`].
    pub fn define_attribute_table(
        &mut self,
        entity: &str,
        name: &str,
        columns: &[(String, Kind, Option<Measure>)],
        meaning: &str,
    ) -> Result<(), AttributeError> {
        for parent in attribute_tables(entity, name)? {
            let table_name: Arc<str> = format!("{parent}/{ATTRIBUTE}{name}").into();
            if self.children(parent).count() >= MOST_ATTRIBUTES {
                return Err(AttributeError::TooMany(entity.to_owned()));
            }
            let table = Table {
                name: table_name.clone(),
                rows: Rows::Many,
                relation: false,
                source: Source::Given,
                meaning: meaning.into(),
                columns: columns
                    .iter()
                    .map(|(column, kind, measure)| attribute_column(column, *kind, *measure, ""))
                    .collect(),
            };
            if self.tables.insert(table_name, Arc::new(table)).is_some() {
                return Err(AttributeError::Twice(name.to_owned(), entity.to_owned()));
            }
        }
        Ok(())
    }
}

fn attribute_tables(entity: &str, name: &str) -> Result<&'static [&'static str], AttributeError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        return Err(AttributeError::BadName(name.to_owned()));
    }
    if name.len() > LONGEST_NAME {
        return Err(AttributeError::LongName);
    }
    ATTRIBUTE_TABLES
        .iter()
        .find(|(known, _)| *known == entity)
        .map(|(_, tables)| *tables)
        .ok_or_else(|| AttributeError::UnknownEntity(entity.to_owned()))
}

fn attribute_column(name: &str, kind: Kind, measure: Option<Measure>, meaning: &str) -> Column {
    Column {
        name: name.into(),
        kind,
        measure,
        optional: true,
        source: Source::Given,
        bounds: match measure {
            Some(Measure::Bytes | Measure::Millicores | Measure::Seconds) => Bounds::FROM_ZERO,
            _ => Bounds::NONE,
        },
        choices: &[],
        example: "",
        meaning: meaning.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_its_parent_and_every_name_is_unique() {
        for table in Schema::built_in().tables() {
            if let Some(parent) = table.parent() {
                assert!(
                    Schema::built_in().table(parent).is_some(),
                    "{} has no parent",
                    table.name
                );
            }
            let mut names: Vec<_> = table.columns.iter().map(|c| &c.name).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), table.columns.len(), "{}", table.name);
        }
    }

    #[test]
    fn amounts_that_add_up_are_integers() {
        for table in Schema::built_in().tables() {
            for column in &table.columns {
                if matches!(
                    column.measure,
                    Some(Measure::Bytes | Measure::Millicores | Measure::Seconds | Measure::Time)
                ) {
                    assert_eq!(column.kind, Kind::Integer, "{} {}", table.name, column.name);
                }
            }
        }
    }

    #[test]
    fn attributes_reach_every_table_of_their_entity() {
        let mut schema = Schema::default();
        schema
            .define_attribute("vms", "team", Kind::Text, None, "who owns it")
            .unwrap();
        assert!(schema.column("members", "attribute.team").is_some());
        assert!(schema.column("hosts/vms", "attribute.team").is_some());
        assert!(schema.column("hosts", "attribute.team").is_none());
        assert_eq!(
            schema.define_attribute("vms", "team", Kind::Text, None, ""),
            Err(AttributeError::Twice("team".into(), "vms".into()))
        );
        assert!(
            schema
                .define_attribute("vm", "team", Kind::Text, None, "")
                .is_err()
        );
        assert!(
            schema
                .define_attribute("vms", "Team!", Kind::Text, None, "")
                .is_err()
        );
    }

    #[test]
    fn families_exist_under_any_name() {
        let schema = Schema::built_in();
        assert!(schema.column("hosts", "watch.cpu-over.since").is_some());
        assert!(schema.column("hosts", "watch..since").is_none());
        assert!(schema.column("candidates", "cost.load").is_some());
    }
}
