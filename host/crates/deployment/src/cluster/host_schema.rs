//! The columns that hosts of a cluster may have.

use serde::Serialize;
use utoipa::ToSchema;

use placewright_model::schema::{Column, Schema};

/// The columns that hosts of a cluster may have.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HostSchema {
    /// The built-in ones, then the attributes that are defined in the cluster.
    pub columns: Vec<HostColumn>,
}

/// A column of hosts.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct HostColumn {
    /// Its name: `cpu.total`, `attribute.rack`.
    #[schema(example = "cpu.total")]
    pub name: String,
    /// Of its values: integer, number, boolean or text.
    #[schema(example = "integer")]
    pub kind: String,
    /// In what its values are measured: bytes, millicores, seconds, time, fraction or percent. An
    /// answer has amounts of CPU in cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "millicores")]
    pub measure: Option<&'static str>,
    /// What it means, in a sentence.
    #[schema(example = "CPU of the host")]
    pub meaning: String,
}

impl HostSchema {
    /// Those of a schema.
    pub fn of(schema: &Schema) -> Self {
        let hosts = schema.table("hosts");
        let columns = hosts.into_iter().flat_map(|hosts| &hosts.columns);
        Self {
            columns: columns.map(HostColumn::of).collect(),
        }
    }
}

impl HostColumn {
    fn of(column: &Column) -> Self {
        Self {
            name: column.name.to_string(),
            kind: column.kind.to_string(),
            measure: column.measure.map(|measure| measure.name()),
            meaning: column.meaning.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_model::Kind;

    #[test]
    fn the_columns_of_hosts_are_told_with_the_attributes_of_the_cluster() {
        let mut schema = Schema::default();
        let defined = schema.define_attribute("hosts", "power", Kind::Number, None, "In watts");
        defined.unwrap();
        let told = HostSchema::of(&schema).columns;
        let column = |name: &str| told.iter().find(|it| it.name == name).unwrap();
        assert_eq!(column("memory.total").measure, Some("bytes"));
        assert_eq!(column("cpu.total").measure, Some("millicores"));
        let power = column("attribute.power");
        assert_eq!((&*power.kind, &*power.meaning), ("number", "In watts"));
    }
}
