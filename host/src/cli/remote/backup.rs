//! `placewright backup`.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use placewright_client::{Call, ClientError};
use serde_json::json;

use super::{Session, fault};
use crate::cli::failure::{Answer, Failure};

/// Save a copy of what a server has stored; it goes on meanwhile.
///
/// The copy is of one moment: all that was acknowledged before is in it. It holds clusters with
/// their VMs, reservations, plans and recorded decisions, policies with their revisions, and the
/// components of units. Save the rest by other means: the configuration, certificates and keys,
/// the audit log, and the files in the folders of units and policies.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright --context prod backup placewright-monday.db
  placewright store check placewright-monday.db
  placewright restore placewright-monday.db --data /var/lib/placewright")]
pub(super) struct Backup {
    /// Where the copy goes; there must be no such file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Backup {
    pub(super) fn run(self, session: &Session) -> Result<Answer, Failure> {
        if self.file.exists() {
            return Err(Failure::input_because(format!(
                "{} is there already: name another file",
                self.file.display()
            )));
        }
        let folder = self.file.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        // Complete, or not there. It is for this user alone, as the store itself.
        let unusable = || format!("cannot write to {}", folder.display());
        let mut part = tempfile::Builder::new()
            .prefix(".placewright-backup-")
            .tempfile_in(folder)
            .with_context(unusable)
            .map_err(Failure::input)?;
        let call = Call::post(["backup"]);
        let copied = session.client.download(call, &mut part);
        let bytes = copied.map_err(|error| match error {
            ClientError::Unwritten(error) => {
                Failure::input(anyhow::Error::from(error).context(unusable()))
            }
            error => fault(error),
        })?;
        part.flush()
            .and_then(|()| part.as_file().sync_all())
            .with_context(unusable)
            .map_err(Failure::input)?;
        let checked = placewright_store::check(part.path()).map_err(Failure::internal)?;
        if let Some(problem) = checked.problems.first() {
            return Err(Failure::internal(anyhow::anyhow!(
                "the copy that came is damaged: {problem}"
            )));
        }
        let saved = part.persist_noclobber(&self.file);
        saved
            .map_err(|error| error.error)
            .and_then(|_| File::open(folder).and_then(|folder| folder.sync_all()))
            .with_context(|| format!("cannot write {}", self.file.display()))
            .map_err(Failure::input)?;
        let path = fs::canonicalize(&self.file).unwrap_or(self.file);
        let about = json!({"file": path.display().to_string(), "bytes": bytes});
        session.print(&about, |_| {
            format!("Saved: {} ({bytes} bytes)", path.display())
        })?;
        Ok(Answer::Yes)
    }
}
