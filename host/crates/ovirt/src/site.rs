//! What the routes answer about.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::catalogue::Catalogue;
use super::jobs::Jobs;
use super::policy::Said;
use placewright_deployment::{Deployment, PolicyRecord};
use placewright_http::pool::Pool;

/// Requests that change something that are carried out at the same time; half of them for one
/// caller, and all but one for one cluster.
const WRITES: usize = 16;

/// A server as an engine, with what was worked out for earlier requests.
#[derive(Debug)]
pub(crate) struct Site {
    pub deployment: Arc<Deployment>,
    catalogue: Mutex<Option<Arc<Catalogue>>>,
    /// By the names of policies.
    said: Mutex<BTreeMap<Arc<str>, Known>>,
    /// Where requests that change something wait their turn: each has a thread until it is done.
    pub writes: Arc<Pool>,
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

fn writes() -> Arc<Pool> {
    // Nothing ends a change that has begun.
    Pool::new("changes", WRITES, Duration::MAX)
}

impl Site {
    pub(crate) fn new(deployment: Arc<Deployment>) -> Self {
        Self {
            deployment,
            writes: writes(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_caller_leaves_threads_for_the_changes_of_others_and_so_does_one_cluster() {
        let writes = writes();
        let (x, y): (Arc<str>, Arc<str>) = ("x".into(), "y".into());
        let at_once = async |caller: &str, cluster: &Arc<str>| {
            let caller = caller.into();
            let place = writes.place(&caller, Some(cluster));
            let place = tokio::time::timeout(Duration::ZERO, place).await;
            place.ok().map(Result::unwrap)
        };
        let mut places = Vec::new();
        for caller in ["greedy", "other"] {
            while let Some(place) = at_once(caller, &x).await {
                places.push(place);
            }
            assert!(places.len() >= WRITES / 2, "{caller}");
            assert!(places.len() < WRITES, "{caller}");
        }
        assert_eq!(places.len(), WRITES - 1);
        assert!(at_once("third", &x).await.is_none());
        assert!(at_once("third", &y).await.is_some());
    }
}
