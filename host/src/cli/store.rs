//! `placewright store` and `placewright restore`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use placewright_store::Checked;
use serde_json::json;

use super::failure::{Answer, Failure};
use super::output::{self, Format};

/// Check what a server has stored.
#[derive(Debug, Subcommand)]
pub(super) enum StoreCommand {
    Check(Check),
}

impl StoreCommand {
    /// Run the command.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        match self {
            Self::Check(check) => check.run(),
        }
    }
}

/// Check that a store, or a copy of one, is whole.
///
/// Reads all of it: pages, indexes, what refers to what, and what a server starts from. Changes
/// nothing; a server may be using it meanwhile.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright store check /var/lib/placewright
  placewright store check backup.db --format json

Exit code 1: something is wrong with it. See placewright --help for the others.")]
pub(super) struct Check {
    /// A copy, or the folder of data
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

impl Check {
    fn run(self) -> Result<Answer, Failure> {
        let checked = placewright_store::check(&self.path).map_err(Failure::input)?;
        match self.format {
            Format::Json => output::print_json(&document(&checked))?,
            Format::Table => output::print(&text(&self.path, &checked))?,
        }
        Ok(Answer::yes_if(checked.problems.is_empty()))
    }
}

fn document(checked: &Checked) -> serde_json::Value {
    let rows = checked.rows.iter().cloned();
    let rows: serde_json::Map<_, _> = rows.map(|(table, rows)| (table, rows.into())).collect();
    json!({
        "version": checked.version,
        "known-version": checked.known,
        "problems": checked.problems,
        "rows": rows,
    })
}

fn text(path: &Path, checked: &Checked) -> String {
    let Checked {
        version,
        known,
        problems,
        rows,
    } = checked;
    let path = path.display();
    let mut lines = match problems.len() {
        0 => vec![format!("{path} is whole.")],
        _ => vec![format!("{path} is damaged:")],
    };
    lines.extend(problems.iter().map(|problem| format!("  {problem}")));
    if version < known && problems.is_empty() {
        lines.push(format!(
            "Its schema has version {version}; this program brings it to version {known} when a server starts on it."
        ));
    }
    let rows = rows.iter().filter(|(_, rows)| *rows > 0);
    lines.extend(rows.map(|(table, rows)| format!("  {rows:>10}  {table}")));
    lines.join("\n")
}

/// Put a copy of a store, made by `placewright backup`, into a folder of data.
///
/// The copy is checked first. No server may use the folder; the next one that starts on it goes on
/// with what the copy holds. A store that is there already is refused, or with --replace renamed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright restore backup.db --data /var/lib/placewright
  placewright restore backup.db --data /var/lib/placewright --replace

See placewright --help for exit codes.")]
pub(super) struct Restore {
    /// The copy
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder of data, which is made if it is missing
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Replace the store that is there; it is kept beside the new one
    #[arg(long)]
    replace: bool,
}

impl Restore {
    /// Restore it.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let Self {
            file,
            data,
            replace,
        } = self;
        let kept = placewright_store::restore(&file, &data, replace).map_err(Failure::input)?;
        let mut said = format!(
            "{} has what {} holds; start a server on it.",
            data.display(),
            file.display()
        );
        if let Some(kept) = kept {
            said.push_str(&format!("\nWhat was there before is {}.", kept.display()));
        }
        output::print(&said)?;
        Ok(Answer::Yes)
    }
}
