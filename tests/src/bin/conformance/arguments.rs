//! What the runner is told.

use std::path::PathBuf;

use clap::Parser;

use super::vectors::System;

/// Run test vectors of published placement systems through the real components, chain and
/// scheduler. Exits with 1 if any case fails, with 2 if there is nothing to run
#[derive(Debug, Parser)]
#[command(name = "conformance")]
pub(crate) struct Arguments {
    /// Folders with vectors (*.jsonl, *.json), searched with all folders in them
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// Only the vectors of this system
    #[arg(long, value_enum, value_name = "NAME")]
    pub system: Option<System>,
    /// How many differences of each kind are shown
    #[arg(long, default_value_t = 5, value_name = "NUMBER")]
    pub differences: usize,
    /// Print JSON, with every difference
    #[arg(long)]
    pub json: bool,
}

impl Arguments {
    /// The folders, for a sentence.
    pub(crate) fn shown_folders(&self) -> String {
        let folders: Vec<String> = (self.folders.iter())
            .map(|folder| folder.display().to_string())
            .collect();
        folders.join(", ")
    }
}
