//! What must last of the library, in the store.

use std::collections::BTreeSet;

use super::DeploymentError;
use super::cluster::SavedChain;
use placewright_engine::unit::Digest;
use placewright_library::history::Entry;
use placewright_library::live::{Artifacts, KeptArtifact, KeptSignature, Remembered};
use placewright_plugins as plugins;
use placewright_store::{Change, SavedSignature, Store, StoreError, UnitEvent};

/// The setting under which it is kept which units are in force.
const IN_FORCE: &str = "library";

/// So many artifacts are removed with one change of what is in force: more than it can add.
const REMOVED_AT_ONCE: usize = 64;

/// The history tells of candidates that have no name yet under this one.
const NAMELESS: &str = "";

/// Keeps what must last of the library in a store.
#[derive(Debug, Clone)]
pub struct KeptArtifacts(Store);

impl KeptArtifacts {
    /// In that store.
    pub fn new(store: Store) -> Self {
        Self(store)
    }
}

fn told(error: StoreError) -> String {
    error.to_string()
}

/// The digests of all units by which recorded decisions were made or are made now, and of
/// those that come with the program. Whoever removes artifacts must ask for these and let
/// them be: decisions are explained and made again by their bytes, also when no cluster
/// and no file names those units any more.
///
/// It waits for the store, and reads the history of all clusters.
///
/// # Errors
/// If the store, or a chain in it, cannot be read: then nothing may be removed.
pub fn digests_of_decisions(store: &Store) -> Result<BTreeSet<String>, DeploymentError> {
    // Of what was submitted so far.
    store.commit(Vec::new())?;
    let embedded = plugins::UNITS.iter();
    let mut digests: BTreeSet<String> = embedded
        .map(|unit| Digest::of(unit.bytes).to_string())
        .collect();
    for chain in store.chains()? {
        let chain: SavedChain = serde_json::from_str(&chain).map_err(|error| {
            DeploymentError::Refused(format!("cannot read a chain from the store: {error}"))
        })?;
        digests.extend(chain.units.into_values());
    }
    Ok(digests)
}

impl Artifacts for KeptArtifacts {
    fn store(
        &self,
        digest: Digest,
        bytes: &[u8],
        signature: Option<&KeptSignature>,
    ) -> Result<(), String> {
        let put = Change::PutArtifact {
            digest: digest.to_string(),
            name: NAMELESS.to_owned(),
            bytes: bytes.to_vec(),
            signature: signature.map(|signature| SavedSignature {
                bytes: signature.bytes.clone(),
                signer: signature.signer.clone(),
            }),
        };
        self.0.commit(vec![put]).map_err(told)
    }

    fn load(&self, digest: Digest) -> Result<Option<KeptArtifact>, String> {
        let digest = digest.to_string();
        let Some(bytes) = self.0.artifact(&digest).map_err(told)? else {
            return Ok(None);
        };
        let signature = self.0.signature(&digest).map_err(told)?;
        Ok(Some(KeptArtifact {
            bytes,
            signature: signature.map(|signature| KeptSignature {
                bytes: signature.bytes,
                signer: signature.signer,
            }),
        }))
    }

    fn keep_only(&self, needed: &BTreeSet<Digest>) -> Result<Vec<Digest>, String> {
        let kept = self.0.artifacts().map_err(told)?;
        let digests = kept.iter().filter_map(|digest| Digest::from_hex(digest));
        let mut others: Vec<Digest> = digests.filter(|it| !needed.contains(it)).collect();
        if others.is_empty() {
            return Ok(others);
        }
        let decided = digests_of_decisions(&self.0).map_err(|error| error.to_string())?;
        others.retain(|digest| !decided.contains(&digest.to_string()));
        others.truncate(REMOVED_AT_ONCE);
        let changes = others.iter().map(|digest| Change::RemoveArtifact {
            digest: digest.to_string(),
        });
        if !others.is_empty() {
            self.0.commit(changes.collect()).map_err(told)?;
        }
        Ok(others)
    }

    fn remember(&self, remembered: &Remembered) -> Result<(), String> {
        let body = serde_json::to_string(remembered).map_err(|error| error.to_string())?;
        let key = IN_FORCE.to_owned();
        let put = Change::Setting { key, body };
        self.0.commit(vec![put]).map_err(told)
    }

    fn recall(&self) -> Result<Option<Remembered>, String> {
        let saved = self.0.load().map_err(told)?;
        let body = saved.settings.get(IN_FORCE);
        body.map(|body| serde_json::from_str(body).map_err(|error| error.to_string()))
            .transpose()
    }

    fn record(&self, entry: &Entry) -> Result<(), String> {
        let body = serde_json::to_string(entry).map_err(|error| error.to_string())?;
        let since = entry.at.duration_since(std::time::UNIX_EPOCH);
        let at = since.map_or(0, |since| since.as_secs());
        let event = UnitEvent {
            name: entry.name.clone().unwrap_or_else(|| NAMELESS.to_owned()),
            digest: Some(entry.digest.to_string()),
            at: i64::try_from(at).unwrap_or(i64::MAX),
            what: "staged".to_owned(),
            body,
        };
        self.0.commit(vec![Change::UnitEvent(event)]).map_err(told)
    }

    fn recorded(&self, most: usize) -> Result<Vec<Entry>, String> {
        let events = self.0.unit_history(None, most).map_err(told)?;
        // One that cannot be read keeps the others from nobody.
        let entries = events.iter().rev().filter_map(|event| {
            serde_json::from_str(&event.body)
                .inspect_err(|error| {
                    tracing::warn!(unit = event.name, %error, "an entry of the history of units cannot be read");
                })
                .ok()
        });
        Ok(entries.collect())
    }
}
