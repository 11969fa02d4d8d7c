//! What a unit is, reads, and can be set to, as programs read it.

use serde::Serialize;

use super::Unit;
use crate::contract::{Description, Evaluation, Part, Reason, Setting, TableRead, Value};
use placewright_model::Kind;

/// What a unit is and does. What is shown as read is all that it is ever shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Unit))]
pub struct UnitShown {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(example = "memory"))]
    pub name: String,
    /// Its version.
    #[cfg_attr(feature = "openapi", schema(example = "1.2.0"))]
    pub version: String,
    /// What it is for, in a sentence.
    #[cfg_attr(
        feature = "openapi",
        schema(example = "Removes hosts without enough memory")
    )]
    pub summary: String,
    /// Other names that policies may call it by.
    #[cfg_attr(feature = "openapi", schema(example = json!(["ram"])))]
    pub aliases: Vec<String>,
    /// SHA-256 of its component, in hexadecimal.
    #[cfg_attr(
        feature = "openapi",
        schema(example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c")
    )]
    pub digest: String,
    /// Bytes of its component.
    #[cfg_attr(feature = "openapi", schema(example = 84112))]
    pub size: usize,
    /// The interfaces that it imports.
    #[cfg_attr(feature = "openapi", schema(example = json!(["placewright:policy/log"])))]
    pub imports: Vec<String>,
    /// The parts that it exports.
    pub parts: Vec<PartShown>,
    /// The settings that it takes.
    pub settings: Vec<SettingShown>,
}

/// A part of a unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "openapi", schema(as = UnitPart))]
pub struct PartShown {
    /// Which part.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "judge"))]
    pub part: Part,
    /// What a judge answers: `filter`, `cost function`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["filter"])))]
    pub answers: Vec<&'static str>,
    /// What a judge's answers depend on: `row-wise` or `whole-table`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "row-wise"))]
    pub evaluation: Option<&'static str>,
    /// The least and the greatest cost, if they are fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<f64>, min_items = 2, max_items = 2, example = json!([0.0, 1.0])))]
    pub cost_range: Option<(f64, f64)>,
    /// The columns that it reads.
    pub reads: Vec<ReadShown>,
    /// In the order of their numbers, from 1.
    pub reasons: Vec<ReasonShown>,
}

/// A table that a part reads.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = UnitTable))]
pub struct ReadShown {
    /// Name of the table.
    #[cfg_attr(feature = "openapi", schema(example = "hosts"))]
    pub table: String,
    /// If empty, it reads how many rows there are.
    pub columns: Vec<ColumnShown>,
}

/// A column that a part reads.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = UnitColumn))]
pub struct ColumnShown {
    /// Name of the column.
    #[cfg_attr(feature = "openapi", schema(example = "memory.free"))]
    pub column: String,
    /// Of its values: integer, number, boolean or text.
    #[cfg_attr(feature = "openapi", schema(example = "integer"))]
    pub kind: String,
    /// Whether the part is never shown a row without it.
    pub required: bool,
    /// Whether the part is asked only where it is true.
    pub gate: bool,
}

/// A reason that a part gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = UnitReason))]
pub struct ReasonShown {
    /// Completes "host ...".
    #[cfg_attr(feature = "openapi", schema(example = "has too little memory"))]
    pub text: String,
    /// Whether waiting for pending placements may help.
    pub passing: bool,
}

/// A setting of a unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = UnitSetting))]
pub struct SettingShown {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(example = "reserve"))]
    pub name: String,
    /// Of its value: integer, number, boolean or text.
    #[cfg_attr(feature = "openapi", schema(example = "integer"))]
    pub kind: String,
    /// In what it is measured.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "bytes"))]
    pub measure: Option<String>,
    /// Its value where a policy gives none.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "8 GiB"))]
    pub default: Option<String>,
    /// Whether a policy must say it.
    pub required: bool,
    /// The least value that is taken; none: any.
    #[cfg_attr(feature = "openapi", schema(required = true, example = 0.0))]
    pub least: Option<f64>,
    /// The greatest value that is taken; none: any.
    #[cfg_attr(feature = "openapi", schema(required = true, example = 1.0))]
    pub greatest: Option<f64>,
    /// What a text must match.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "[a-z]+"))]
    pub pattern: Option<String>,
    /// If there are any, the only texts.
    #[cfg_attr(feature = "openapi", schema(example = json!(["fast", "small"])))]
    pub choices: Vec<String>,
    /// What it means.
    #[cfg_attr(
        feature = "openapi",
        schema(example = "Memory that stays free on each host")
    )]
    pub meaning: String,
    /// Of a setting that is a table: its columns.
    #[cfg_attr(feature = "openapi", schema(example = json!(["name", "value"])))]
    pub columns: Vec<String>,
    /// Of a setting that is a table: what each of its columns takes, in the same order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<SettingColumnShown>,
}

/// A column of a setting that is a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = UnitSettingColumn))]
pub struct SettingColumnShown {
    /// Name of the column.
    #[cfg_attr(feature = "openapi", schema(example = "weight"))]
    pub column: String,
    /// Of its values: integer, number, boolean or text.
    #[cfg_attr(feature = "openapi", schema(example = "number"))]
    pub kind: String,
    /// Whether every row must have it.
    pub required: bool,
    /// What it means.
    #[cfg_attr(feature = "openapi", schema(example = "Its weight; 0 to drain it"))]
    pub meaning: String,
}

impl UnitShown {
    /// A unit that is loaded.
    pub fn new(unit: &Unit) -> Self {
        let description = unit.description();
        let parts = unit.exports().into_iter();
        let parts = parts.filter(|part| *part != Part::Unit);
        Self {
            name: description.name.clone(),
            version: description.version.clone(),
            summary: description.summary.clone(),
            aliases: description.aliases.clone(),
            digest: unit.digest().to_string(),
            size: unit.size(),
            imports: unit.imports().to_vec(),
            parts: parts
                .map(|part| PartShown::new(part, description))
                .collect(),
            settings: description.settings.iter().map(SettingShown::new).collect(),
        }
    }
}

/// What a unit can be in a policy, in the order of its parts: `filter`, `cost function`,
/// `selection`, `placement effects`, `balance`, `order`.
pub fn kinds(unit: &Unit) -> Vec<&'static str> {
    let parts = unit.exports().into_iter();
    let kinds = parts.flat_map(|part| match part {
        Part::Judge => answers(part, unit.description()),
        Part::Selection => vec!["selection"],
        Part::Effects => vec!["placement effects"],
        Part::Balance => vec!["balance"],
        Part::Order => vec!["order"],
        Part::Unit | Part::Explain | Part::Settings => Vec::new(),
    });
    kinds.collect()
}

/// What a part answers, if it is a judge.
fn answers(part: Part, description: &Description) -> Vec<&'static str> {
    let judge = description.judge.as_ref().filter(|_| part == Part::Judge);
    judge.map_or(Vec::new(), |judge| {
        let verdicts = judge.answers.verdicts.then_some("filter");
        let costs = judge.answers.costs.then_some("cost function");
        verdicts.into_iter().chain(costs).collect()
    })
}

impl PartShown {
    fn new(part: Part, description: &Description) -> Self {
        let judge = description.judge.as_ref().filter(|_| part == Part::Judge);
        let answers = answers(part, description);
        let reads = description.reads(part).unwrap_or_default();
        let reasons = description.reasons(part).iter();
        Self {
            part,
            answers,
            evaluation: judge.map(|judge| match judge.evaluation {
                Evaluation::RowWise => "row-wise",
                Evaluation::WholeTable => "whole-table",
            }),
            cost_range: judge.and_then(|judge| judge.cost_range),
            reads: reads.iter().map(ReadShown::new).collect(),
            reasons: reasons.map(ReasonShown::new).collect(),
        }
    }

    /// What it does, for people.
    pub fn kind(&self) -> String {
        match self.answers.is_empty() {
            true => self.part.to_string(),
            false => self.answers.join(" and "),
        }
    }
}

impl ReadShown {
    fn new(read: &TableRead) -> Self {
        let columns = read.columns.iter().map(|column| ColumnShown {
            column: column.column.clone(),
            kind: Kind::from(column.kind).to_string(),
            required: column.required,
            gate: column.gate,
        });
        Self {
            table: read.table.clone(),
            columns: columns.collect(),
        }
    }
}

impl ReasonShown {
    fn new(reason: &Reason) -> Self {
        Self {
            text: reason.text.clone(),
            passing: reason.passing,
        }
    }
}

impl SettingShown {
    fn new(setting: &Setting) -> Self {
        let columns = setting.columns.iter();
        let table = columns.clone().map(|column| SettingColumnShown {
            column: column.name.clone(),
            kind: Kind::from(column.kind).to_string(),
            required: column.required,
            meaning: column.meaning.clone(),
        });
        Self {
            name: setting.name.clone(),
            kind: Kind::from(setting.kind).to_string(),
            measure: setting.measure.clone(),
            default: setting.default.as_ref().map(plain),
            required: setting.required,
            least: setting.least,
            greatest: setting.greatest,
            pattern: setting.pattern.clone(),
            choices: setting.choices.clone(),
            meaning: setting.meaning.clone(),
            columns: columns.map(|column| column.name.clone()).collect(),
            table: table.collect(),
        }
    }

    /// What may be set, for people.
    pub fn bounds(&self) -> String {
        let mut bounds = Vec::new();
        match (self.least, self.greatest) {
            (Some(least), Some(greatest)) => bounds.push(format!("{least} to {greatest}")),
            (Some(least), None) => bounds.push(format!("at least {least}")),
            (None, Some(greatest)) => bounds.push(format!("at most {greatest}")),
            (None, None) => {}
        }
        let pattern = self.pattern.iter();
        bounds.extend(pattern.map(|pattern| format!("matches {pattern}")));
        if !self.choices.is_empty() {
            bounds.push(self.choices.join(", "));
        }
        if !self.columns.is_empty() {
            bounds.push(format!("rows of {}", self.columns.join(", ")));
        }
        bounds.join("; ")
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Text(value) => value.clone(),
    }
}
