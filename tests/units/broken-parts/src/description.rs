//! What the unit says of itself.

use placewright_sdk::contract::{
    ColumnRead, Description, EffectsPart, ExplainPart, Kind, Moment, OrderPart, Position, Scope,
    SelectionPart, Setting, TableRead, Value, Write,
};

use super::{BrokenParts, HOWS};

impl BrokenParts {
    /// What it says of itself. Each part reads one table of which only the number of
    /// rows is of interest, and the setting.
    pub fn description() -> Description {
        Description {
            name: "broken-parts".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            summary: env!("CARGO_PKG_DESCRIPTION").into(),
            aliases: Vec::new(),
            settings: vec![how()],
            judge: None,
            // The rows of `hosts` are the candidates.
            selection: Some(SelectionPart {
                reads: reads("hosts"),
                position: Position::Any,
            }),
            effects: Some(EffectsPart {
                reads: reads("members"),
                writes: vec![Write {
                    table: "fixed-keys".into(),
                    columns: vec![("name".into(), Kind::Text), ("value".into(), Kind::Number)],
                    scope: Scope::Placement,
                    moment: Moment::Decided,
                }],
            }),
            balance: None,
            order: Some(OrderPart {
                reads: reads("members"),
            }),
            explain: Some(ExplainPart {
                reads: reads("hosts"),
            }),
        }
    }
}

fn how() -> Setting {
    Setting {
        name: "how".into(),
        kind: Kind::Text,
        measure: None,
        default: Some(Value::Text(HOWS[0].into())),
        required: false,
        least: None,
        greatest: None,
        pattern: None,
        choices: HOWS.map(String::from).to_vec(),
        meaning: "What goes wrong".into(),
        columns: Vec::new(),
    }
}

fn reads(table: &str) -> Vec<TableRead> {
    let how = ColumnRead {
        column: "how".into(),
        kind: Kind::Text,
        required: true,
        gate: false,
    };
    let read = |table: &str, columns| TableRead {
        table: table.into(),
        columns,
    };
    vec![read(table, Vec::new()), read("settings", vec![how])]
}
