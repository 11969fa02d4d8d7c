//! `placewright audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use placewright_records::audit::{self, Verified};

use super::failure::{Answer, Failure};
use super::output::{self, Format};

/// Check the audit log of a server.
#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    Verify(Verify),
}

impl AuditCommand {
    /// Run the command.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        match self {
            Self::Verify(verify) => verify.run(),
        }
    }
}

/// Check that the records of an audit log are as they were written.
///
/// Each record has the hash of the one before, so a record that was changed, removed, put in or
/// moved is found, and the first place is named. That the end was cut off is found by the note
/// beside the file (audit.head), or with --contains. Whoever may write the files can make up a
/// whole log with hashes that fit: keep the hash of a record elsewhere now and then (the log of the
/// server has some), and look for it with --contains. A server may be writing meanwhile.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright audit verify ~/placewright-data
  placewright audit verify /var/log/placewright/audit.jsonl --format json
  placewright audit verify ~/placewright-data --strict

See placewright --help for exit codes.")]
pub(super) struct Verify {
    /// The file that is written to, with the full ones beside it; or the folder of data
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The hash of a record that must be among them, 64 hexadecimal digits
    #[arg(long, value_name = "HASH", value_parser = hash)]
    contains: Option<[u8; 32]>,
    /// Exit with 1, too, if records of changes were lost since the queue was full
    #[arg(long)]
    strict: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

fn hash(text: &str) -> Result<[u8; 32], String> {
    let mut hash = [0; 32];
    match hex::decode_to_slice(text, &mut hash) {
        Ok(()) => Ok(hash),
        Err(_) => Err("a hash is 64 hexadecimal digits".to_owned()),
    }
}

impl Verify {
    fn run(self) -> Result<Answer, Failure> {
        let verified = audit::verify(&self.paths, self.contains).map_err(Failure::input)?;
        match self.format {
            Format::Json => output::print_json(&verified)?,
            Format::Table => output::print(&sentences(&verified))?,
        }
        let is_whole = verified.lost == 0 || !self.strict;
        Ok(Answer::yes_if(verified.intact && is_whole))
    }
}

fn sentences(verified: &Verified) -> String {
    let mut lines = Vec::new();
    if let Some(broken) = &verified.broken {
        let place = match broken.line {
            0 => broken.file.display().to_string(),
            line => format!("{}:{line}", broken.file.display()),
        };
        lines.push(format!("BROKEN at {place}: {}", broken.why));
    }
    let files = match verified.files.len() {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    lines.push(match (&verified.first, &verified.last) {
        (Some(first), Some(last)) => format!(
            "{} records, {first} to {}, of {files} are as they were written; the last is of {} and has the hash {}",
            verified.records,
            last.sequence,
            last.at,
            hex::encode(last.hash)
        ),
        _ => format!("no good record in {files}"),
    });
    if verified.first.is_some_and(|first| first > 1) {
        lines.push("The records before are in none of these files.".to_owned());
    }
    if verified.lost > 0 {
        lines.push(format!(
            "{} records were lost when they were to be written: the queue was full.",
            verified.lost
        ));
    }
    if verified.torn > 0 {
        lines.push(format!(
            "At the end are {} bytes of a record that is not whole: the server was killed while it wrote, or is writing.",
            verified.torn
        ));
    }
    if verified.intact && !verified.end_compared {
        lines.push("Whether the end was cut off cannot be said: there is no note of the last record beside the file.".to_owned());
    }
    lines.join("\n")
}
