//! `placewright unit inspect`.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use placewright::contract::{Description, Evaluation, Part, Reason, Setting, TableRead, Value};
use placewright::engine::Limits;
use placewright::model::Kind;
use placewright::plugins;
use placewright::unit::Unit;
use serde::Serialize;

use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::units::CacheArgs;

/// Tell what a unit is, reads, and can be set to.
///
/// What is shown as read is all that the unit is ever shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit inspect memory
  placewright unit inspect units/my-unit.wasm --format json

See placewright --help for exit codes.")]
pub struct Inspect {
    /// The unit: a file, or the name of one that comes with the program
    #[arg(value_name = "FILE|NAME")]
    unit: String,
    /// What the output looks like
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    cache: CacheArgs,
}

impl Inspect {
    /// Load it and print.
    pub fn run(self) -> Result<Answer, Failure> {
        let unit = load(&self.unit, &self.cache, Limits::default())?;
        match self.format {
            Format::Json => output::print_json(&UnitShown::new(&unit))?,
            Format::Table => output::print(&text(&unit))?,
        }
        Ok(Answer::Yes)
    }
}

/// Load a file, or a unit that comes with the program.
pub fn load(unit: &str, cache: &CacheArgs, limits: Limits) -> Result<Arc<Unit>, Failure> {
    let engine = cache.engine(limits)?;
    let embedded = plugins::UNITS.iter().find(|embedded| embedded.name == unit);
    if let Some(embedded) = embedded.filter(|_| !Path::new(unit).is_file()) {
        return Unit::load(&engine, embedded.bytes, embedded.name).map_err(Failure::internal);
    }
    let bytes = fs::read(unit).map_err(|error| {
        let error = anyhow::Error::new(error);
        Failure::input(error.context(format!("cannot read {unit}")))
    })?;
    Unit::load(&engine, &bytes, unit).map_err(Failure::input)
}

/// A unit as programs read it.
#[derive(Serialize)]
struct UnitShown<'a> {
    name: &'a str,
    version: &'a str,
    summary: &'a str,
    aliases: &'a [String],
    digest: String,
    size: usize,
    imports: &'a [String],
    parts: Vec<PartShown<'a>>,
    settings: Vec<SettingShown<'a>>,
}

#[derive(Serialize)]
struct PartShown<'a> {
    part: Part,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_range: Option<(f64, f64)>,
    reads: Vec<ReadShown<'a>>,
    reasons: Vec<ReasonShown<'a>>,
}

#[derive(Serialize)]
struct ReadShown<'a> {
    table: &'a str,
    columns: Vec<ColumnShown<'a>>,
}

#[derive(Serialize)]
struct ColumnShown<'a> {
    column: &'a str,
    kind: String,
    required: bool,
    gate: bool,
}

#[derive(Serialize)]
struct ReasonShown<'a> {
    text: &'a str,
    passing: bool,
}

#[derive(Serialize)]
struct SettingShown<'a> {
    name: &'a str,
    kind: String,
    measure: Option<&'a str>,
    default: Option<String>,
    required: bool,
    least: Option<f64>,
    greatest: Option<f64>,
    pattern: Option<&'a str>,
    choices: &'a [String],
    meaning: &'a str,
    columns: Vec<String>,
}

impl<'a> UnitShown<'a> {
    fn new(unit: &'a Unit) -> Self {
        let description = unit.description();
        Self {
            name: &description.name,
            version: &description.version,
            summary: &description.summary,
            aliases: &description.aliases,
            digest: unit.digest().to_string(),
            size: unit.size(),
            imports: unit.imports(),
            parts: unit
                .exports()
                .into_iter()
                .filter(|part| *part != Part::Unit)
                .map(|part| PartShown::new(part, description))
                .collect(),
            settings: description.settings.iter().map(SettingShown::new).collect(),
        }
    }
}

impl<'a> PartShown<'a> {
    fn new(part: Part, description: &'a Description) -> Self {
        let judge = description.judge.as_ref().filter(|_| part == Part::Judge);
        let answers = judge.map_or(Vec::new(), |judge| {
            let verdicts = judge.answers.verdicts.then_some("filter");
            let costs = judge.answers.costs.then_some("cost function");
            verdicts.into_iter().chain(costs).collect()
        });
        let reads = description.reads(part).unwrap_or_default();
        Self {
            part,
            answers,
            evaluation: judge.map(|judge| match judge.evaluation {
                Evaluation::RowWise => "row-wise",
                Evaluation::WholeTable => "whole-table",
            }),
            cost_range: judge.and_then(|judge| judge.cost_range),
            reads: reads.iter().map(ReadShown::new).collect(),
            reasons: description
                .reasons(part)
                .iter()
                .map(ReasonShown::new)
                .collect(),
        }
    }

    /// What it does, for people.
    fn kind(&self) -> String {
        match self.answers.is_empty() {
            true => self.part.to_string(),
            false => self.answers.join(" and "),
        }
    }
}

impl<'a> ReadShown<'a> {
    fn new(read: &'a TableRead) -> Self {
        Self {
            table: &read.table,
            columns: read
                .columns
                .iter()
                .map(|column| ColumnShown {
                    column: &column.column,
                    kind: Kind::from(column.kind).to_string(),
                    required: column.required,
                    gate: column.gate,
                })
                .collect(),
        }
    }
}

impl<'a> ReasonShown<'a> {
    fn new(reason: &'a Reason) -> Self {
        Self {
            text: &reason.text,
            passing: reason.passing,
        }
    }
}

impl<'a> SettingShown<'a> {
    fn new(setting: &'a Setting) -> Self {
        Self {
            name: &setting.name,
            kind: Kind::from(setting.kind).to_string(),
            measure: setting.measure.as_deref(),
            default: setting.default.as_ref().map(plain),
            required: setting.required,
            least: setting.least,
            greatest: setting.greatest,
            pattern: setting.pattern.as_deref(),
            choices: &setting.choices,
            meaning: &setting.meaning,
            columns: setting
                .columns
                .iter()
                .map(|column| column.name.clone())
                .collect(),
        }
    }

    /// What may be set, for people.
    fn bounds(&self) -> String {
        let mut bounds = Vec::new();
        match (self.least, self.greatest) {
            (Some(least), Some(greatest)) => bounds.push(format!("{least} to {greatest}")),
            (Some(least), None) => bounds.push(format!("at least {least}")),
            (None, Some(greatest)) => bounds.push(format!("at most {greatest}")),
            (None, None) => {}
        }
        bounds.extend(self.pattern.map(|pattern| format!("matches {pattern}")));
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

fn text(unit: &Unit) -> String {
    let shown = UnitShown::new(unit);
    let mut text = format!("{} {}: {}\n", shown.name, shown.version, shown.summary);
    if !shown.aliases.is_empty() {
        let _ = writeln!(text, "also known as: {}", shown.aliases.join(", "));
    }
    let size = output::bytes(i64::try_from(shown.size).unwrap_or(i64::MAX));
    let _ = writeln!(text, "digest: {}\nsize: {size}", shown.digest);
    let imports = match shown.imports {
        [] => "nothing".to_owned(),
        imports => imports.join(", "),
    };
    let _ = writeln!(text, "imports: {imports}");
    for part in &shown.parts {
        let _ = write!(text, "\n{}\n", part_text(part));
    }
    if !shown.settings.is_empty() {
        let _ = write!(
            text,
            "\n{}",
            output::shown(&settings_table(&shown.settings))
        );
    }
    text
}

fn part_text(part: &PartShown<'_>) -> String {
    let mut lines = vec![match part.evaluation {
        Some(evaluation) => format!("{}, {evaluation}", part.kind()),
        None => part.kind(),
    }];
    if let Some((least, greatest)) = part.cost_range {
        lines.push(format!("  costs from {least} to {greatest}"));
    }
    for read in &part.reads {
        let columns: Vec<String> = read
            .columns
            .iter()
            .map(|column| match (column.gate, column.required) {
                (true, _) => format!("{} (gate)", column.column),
                (false, true) => column.column.to_owned(),
                (false, false) => format!("{}?", column.column),
            })
            .collect();
        let columns = match columns.is_empty() {
            true => "how many rows".to_owned(),
            false => columns.join(", "),
        };
        lines.push(format!("  reads {}: {columns}", read.table));
    }
    for (number, reason) in part.reasons.iter().enumerate() {
        let passing = if reason.passing { " (passing)" } else { "" };
        lines.push(format!("  reason {}: {}{passing}", number + 1, reason.text));
    }
    lines.join("\n")
}

fn settings_table(settings: &[SettingShown<'_>]) -> comfy_table::Table {
    let mut table = output::table(&["setting", "kind", "default", "may be", "meaning"]);
    for setting in settings {
        let default = match (&setting.default, setting.required) {
            (Some(default), _) => default.clone(),
            (None, true) => "must be set".to_owned(),
            (None, false) => String::new(),
        };
        let kind = match setting.measure {
            Some(measure) => format!("{} ({measure})", setting.kind),
            None => setting.kind.clone(),
        };
        table.add_row([
            setting.name.to_owned(),
            kind,
            default,
            setting.bounds(),
            setting.meaning.to_owned(),
        ]);
    }
    table
}
