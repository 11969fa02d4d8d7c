//! `placewright unit inspect`.

use std::fmt::Write;
use std::sync::Arc;

use clap::Args;
use placewright_engine::Limits;
use placewright_engine::unit::{PartShown, SettingShown, Unit, UnitShown};

use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::units::{self, CacheArgs};

/// Tell what a unit is, reads, and can be set to.
///
/// The unit receives the columns listed under "reads" and nothing else.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit inspect memory
  placewright unit inspect units/my-unit.wasm --format json

See placewright --help for exit codes.")]
pub(crate) struct Inspect {
    /// The unit: a file, or the name of one that comes with the program
    #[arg(value_name = "FILE|NAME")]
    unit: String,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    cache: CacheArgs,
}

impl Inspect {
    /// Load it and print.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let unit = load(&self.unit, &self.cache, Limits::default())?;
        match self.format {
            Format::Json => output::print_json(&UnitShown::new(&unit))?,
            Format::Table => output::print(&text(&unit))?,
        }
        Ok(Answer::Yes)
    }
}

/// Load a file, or a unit that comes with the program.
pub(super) fn load(unit: &str, cache: &CacheArgs, limits: Limits) -> Result<Arc<Unit>, Failure> {
    let engine = cache.engine(limits)?;
    Unit::load(&engine, &units::component(unit)?, unit).map_err(Failure::input)
}

fn text(unit: &Unit) -> String {
    let shown = UnitShown::new(unit);
    let mut text = format!("{} {}: {}\n", shown.name, shown.version, shown.summary);
    if !shown.aliases.is_empty() {
        let _ = writeln!(text, "also known as: {}", shown.aliases.join(", "));
    }
    let size = output::bytes(i64::try_from(shown.size).unwrap_or(i64::MAX));
    let _ = writeln!(text, "digest: {}\nsize: {size}", shown.digest);
    let imports = match shown.imports.is_empty() {
        true => "nothing".to_owned(),
        false => shown.imports.join(", "),
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

fn part_text(part: &PartShown) -> String {
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
                (false, true) => column.column.clone(),
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

/// A value, and beside a number of bytes what a person would say.
fn with_unit(value: &str, measure: Option<&str>) -> String {
    match value.parse() {
        Ok(count) if measure == Some("bytes") && count >= 1024 => {
            format!("{value} ({})", output::bytes(count))
        }
        _ => value.to_owned(),
    }
}

fn settings_table(settings: &[SettingShown]) -> comfy_table::Table {
    let mut table = output::table(&["setting", "kind", "default", "may be", "meaning"]);
    for setting in settings {
        let default = match (&setting.default, setting.required) {
            (Some(default), _) => with_unit(default, setting.measure.as_deref()),
            (None, true) => "must be set".to_owned(),
            (None, false) => String::new(),
        };
        let kind = match &setting.measure {
            Some(measure) => format!("{} ({measure})", setting.kind),
            None => setting.kind.clone(),
        };
        table.add_row([
            setting.name.clone(),
            kind,
            default,
            setting.bounds(),
            setting.meaning.clone(),
        ]);
    }
    table
}
