//! What the routes answer about.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::catalogue::Catalogue;
use super::jobs::Jobs;
use super::policy::Said;
use placewright_deployment::{Deployment, PolicyRecord};

/// A server as an engine, with what was worked out for earlier requests.
#[derive(Debug)]
pub(crate) struct Site {
    pub deployment: Arc<Deployment>,
    catalogue: Mutex<Option<Arc<Catalogue>>>,
    /// By the names of policies.
    said: Mutex<BTreeMap<Arc<str>, Known>>,
    /// What clients say that they are doing.
    pub jobs: Mutex<Jobs>,
    /// How far the upgrades of clusters are that are under way, in percent.
    upgrades: Mutex<BTreeMap<Arc<str>, u8>>,
}

/// What is said of a policy in one revision, with the units of one generation.
#[derive(Debug)]
struct Known {
    revision: u64,
    generation: u64,
    said: Arc<Said>,
}

impl Site {
    pub(crate) fn new(deployment: Arc<Deployment>) -> Self {
        Self {
            deployment,
            catalogue: Mutex::default(),
            said: Mutex::default(),
            jobs: Mutex::default(),
            upgrades: Mutex::default(),
        }
    }

    /// The policy units that there are now.
    pub(crate) fn catalogue(&self) -> Arc<Catalogue> {
        let generation = self.deployment.generation();
        let mut last = self
            .catalogue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(last) if last.is_of(&generation) => last.clone(),
            _ => {
                let catalogue = Arc::new(Catalogue::of(generation));
                *last = Some(catalogue.clone());
                catalogue
            }
        }
    }

    /// What is said of a policy in oVirt's words.
    pub(crate) fn said(&self, record: &PolicyRecord, catalogue: &Catalogue) -> Arc<Said> {
        let generation = catalogue.generation().number();
        let lock = || self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&record.name)
            && (known.revision, known.generation) == (record.revision, generation)
        {
            return known.said.clone();
        }
        let said = Arc::new(Said::of(record, catalogue));
        let known = Known {
            revision: record.revision,
            generation,
            said: said.clone(),
        };
        lock().insert(record.name.clone(), known);
        said
    }

    /// The upgrades that are under way, by cluster.
    pub(crate) fn upgrades(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, u8>> {
        self.upgrades.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forget policies that are no more.
    pub(crate) fn forget(&self, policy: &str) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.remove(policy);
    }
}
