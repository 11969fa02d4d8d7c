//! What of the library must last, and who keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use serde::{Deserialize, Serialize};

use super::Origin;
use crate::history::Entry;
use placewright_engine::unit::Digest;
use placewright_sync::{Mutex, MutexGuard};

/// Keeps what must last: the bytes of units, which of them are in force, and the
/// history. Errors are sentences that say what cannot be done and why.
///
/// Called with the library locked: it must not call the library.
pub trait Artifacts: Send + Sync {
    /// Keep the bytes, of which this is the digest, with their signature if there is one.
    /// They may be kept already: a signature that a trusted key has made takes the place of
    /// the one that is kept, and any other does only where none is kept.
    ///
    /// # Errors
    /// If they cannot be kept.
    fn store(
        &self,
        digest: Digest,
        bytes: &[u8],
        signature: Option<&KeptSignature>,
    ) -> Result<(), String>;

    /// The bytes with that digest and their signature, if they are kept.
    ///
    /// # Errors
    /// If they cannot be read.
    fn load(&self, digest: Digest) -> Result<Option<KeptArtifact>, String>;

    /// Remove the bytes of all units but these and those by which recorded decisions were
    /// made, some at a time; gives the digests of what was removed.
    ///
    /// # Errors
    /// If they cannot be removed.
    fn keep_only(&self, needed: &BTreeSet<Digest>) -> Result<Vec<Digest>, String>;

    /// Keep which units are in force, in place of what was kept of that before.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn remember(&self, remembered: &Remembered) -> Result<(), String>;

    /// What was last remembered, if anything was.
    ///
    /// # Errors
    /// If it cannot be read.
    fn recall(&self) -> Result<Option<Remembered>, String>;

    /// Add an entry to the history.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn record(&self, entry: &Entry) -> Result<(), String>;

    /// The last entries of the history, at most so many, the oldest first.
    ///
    /// # Errors
    /// If they cannot be read.
    fn recorded(&self, most: usize) -> Result<Vec<Entry>, String>;
}

/// The bytes of a unit, with what speaks for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptArtifact {
    /// The component.
    pub bytes: Vec<u8>,
    /// Its signature, if it came with one.
    pub signature: Option<KeptSignature>,
}

/// The signature that a unit came with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSignature {
    /// As it came.
    pub bytes: Vec<u8>,
    /// The trusted key that had made it, by its name then. None: it was not checked.
    pub signer: Option<String>,
}

/// Which units were in force and why, so that a restart begins where it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The number of the last generation.
    pub generation: u64,
    /// The last sound unit of each file, by path.
    pub files: Vec<RememberedUnit>,
    /// Units of files that are gone, which policies use.
    pub kept: Vec<RememberedUnit>,
    /// What was uploaded, gone back to or pinned, by name.
    pub choices: Vec<RememberedChoice>,
    /// Names that are disabled.
    pub disabled: Vec<String>,
}

/// A unit of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedUnit {
    /// Where it is or was.
    pub path: PathBuf,
    /// Its digest.
    pub digest: Digest,
    /// Its name.
    #[serde(default)]
    pub name: String,
}

/// A unit that someone has chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedChoice {
    /// Its digest.
    pub digest: Digest,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// How it was chosen.
    pub origin: Origin,
    /// Whether nothing but taking the pin off ends the choice; otherwise the next
    /// change of its file does.
    pub pinned: bool,
    /// Whether its file has changed since it was pinned.
    pub outdated: bool,
}

/// Keeps everything in memory: for tests, and programs that need not remember.
#[derive(Debug, Clone, Default)]
pub struct InMemory {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    artifacts: BTreeMap<Digest, KeptArtifact>,
    remembered: Option<Remembered>,
    recorded: Vec<Entry>,
}

impl InMemory {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Artifacts for InMemory {
    fn store(
        &self,
        digest: Digest,
        bytes: &[u8],
        signature: Option<&KeptSignature>,
    ) -> Result<(), String> {
        let mut kept = self.lock();
        let artifact = kept
            .artifacts
            .entry(digest)
            .or_insert_with(|| KeptArtifact {
                bytes: bytes.to_owned(),
                signature: None,
            });
        if let Some(signature) = signature
            && (signature.signer.is_some() || artifact.signature.is_none())
        {
            artifact.signature = Some(signature.clone());
        }
        Ok(())
    }

    fn load(&self, digest: Digest) -> Result<Option<KeptArtifact>, String> {
        Ok(self.lock().artifacts.get(&digest).cloned())
    }

    fn keep_only(&self, needed: &BTreeSet<Digest>) -> Result<Vec<Digest>, String> {
        let mut kept = self.lock();
        let others = kept.artifacts.keys().filter(|it| !needed.contains(it));
        let others: Vec<Digest> = others.copied().collect();
        kept.artifacts.retain(|digest, _| needed.contains(digest));
        Ok(others)
    }

    fn remember(&self, remembered: &Remembered) -> Result<(), String> {
        self.lock().remembered = Some(remembered.clone());
        Ok(())
    }

    fn recall(&self) -> Result<Option<Remembered>, String> {
        Ok(self.lock().remembered.clone())
    }

    fn record(&self, entry: &Entry) -> Result<(), String> {
        self.lock().recorded.push(entry.clone());
        Ok(())
    }

    fn recorded(&self, most: usize) -> Result<Vec<Entry>, String> {
        let kept = self.lock();
        let begin = kept.recorded.len().saturating_sub(most);
        Ok(kept.recorded[begin..].to_vec())
    }
}
