//! What must last of the library, in the store.

use crate::library::history::Entry;
use crate::library::live::{Artifacts, Remembered};
use crate::store::{Change, Store, StoreError, UnitEvent};
use crate::unit::Digest;

/// The setting under which it is kept which units are in force.
const IN_FORCE: &str = "library";

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

impl Artifacts for KeptArtifacts {
    fn store(&self, digest: Digest, bytes: &[u8]) -> Result<(), String> {
        let put = Change::PutArtifact {
            digest: digest.to_string(),
            name: NAMELESS.to_owned(),
            bytes: bytes.to_vec(),
        };
        self.0.commit(vec![put]).map_err(told)
    }

    fn load(&self, digest: Digest) -> Result<Option<Vec<u8>>, String> {
        self.0.artifact(&digest.to_string()).map_err(told)
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
        let entries = events
            .iter()
            .rev()
            .map(|event| serde_json::from_str(&event.body).map_err(|error| error.to_string()));
        entries.collect()
    }
}
