//! `placewright unit list`.

use std::sync::Arc;

use clap::Args;
use placewright_engine::unit::{Unit, UnitShown};
use serde::Serialize;

use crate::cli::failure::{Answer, Failure};
use crate::cli::output::{self, Format};
use crate::cli::units::UnitArgs;

/// List the units that come with the program, and those that are given besides.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright unit list
  placewright unit list --units my-units --format json")]
pub(crate) struct List {
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    units: UnitArgs,
}

/// A unit of the list.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Listed {
    name: String,
    version: String,
    digest: String,
    summary: String,
    parts: Vec<String>,
}

impl Listed {
    fn new(unit: &Arc<Unit>) -> Self {
        let shown = UnitShown::new(unit);
        let parts = shown.parts.iter().map(|part| part.kind());
        Self {
            parts: parts.collect(),
            name: shown.name,
            version: shown.version,
            digest: shown.digest,
            summary: shown.summary,
        }
    }
}

impl List {
    /// Load the units and print what they say of themselves.
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let units = self.units.load()?;
        let units: Vec<Listed> = units.units().map(Listed::new).collect();
        if self.format == Format::Json {
            output::print_json(&units)?;
            return Ok(Answer::Yes);
        }
        let mut table = output::table(&["unit", "parts", "what it does"]);
        for unit in units {
            table.add_row([
                output::strong(unit.name),
                unit.parts.join(", ").into(),
                unit.summary.into(),
            ]);
        }
        output::print(&output::shown(&table))?;
        Ok(Answer::Yes)
    }
}
