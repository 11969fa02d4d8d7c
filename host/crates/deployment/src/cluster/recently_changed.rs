//! What has changed in the last turns, by name: for those who follow the inventory. Its own
//! journal leads back only as far as decisions are recorded.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use placewright_inventory::Touched;
use placewright_model::budget::Collection;
use placewright_sync::Mutex;

/// What the last turns changed. The cluster's thread writes it; those who follow read it beside
/// their copy of the inventory, so that no copy of it is made for those who only read.
#[derive(Debug)]
pub(super) struct RecentlyChanged(Mutex<Turns>);

#[derive(Debug, Default)]
struct Turns {
    /// Everything is known that has changed after this version.
    since: u64,
    /// What each turn has changed, with the version at its end, oldest first.
    last: VecDeque<(u64, Arc<Touched>)>,
    names: usize,
}

fn names(touched: &Touched) -> usize {
    let Touched {
        hosts,
        vms,
        tenants,
        groups,
        noted,
        measured_vms,
        facts: _,
    } = touched;
    let noted = noted.len() + measured_vms.len();
    1 + hosts.len() + vms.len() + tenants.len() + groups.len() + noted
}

impl RecentlyChanged {
    /// What changes from that version on is remembered.
    pub(super) fn since(version: u64) -> Self {
        Self(Mutex::new(Turns {
            since: version,
            ..Turns::default()
        }))
    }

    /// Remember what has changed until that version.
    pub(super) fn record(&self, version: u64, touched: &Arc<Touched>) {
        if **touched == Touched::default() {
            return;
        }
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.names += names(touched);
        turns.last.push_back((version, touched.clone()));
        while turns.names > Collection::Changes.most() {
            let Some((until, first)) = turns.last.pop_front() else {
                return;
            };
            turns.since = until;
            turns.names -= names(&first);
        }
    }

    /// At that version anything may have changed.
    pub(super) fn forget(&self, version: u64) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *turns = Turns {
            since: version,
            ..Turns::default()
        };
    }

    /// What has changed after a version and up to another one; None: that is not remembered.
    pub(super) fn between(&self, version: u64, upto: u64) -> Option<Touched> {
        let turns: Vec<Arc<Touched>> = {
            let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if version < turns.since {
                return None;
            }
            // The newest are asked for: those that are known already are not looked at.
            let newest = turns.last.iter().rev();
            let later = newest.take_while(|(until, _)| *until > version);
            let wanted = later.filter(|(until, _)| *until <= upto);
            wanted.map(|(_, touched)| touched.clone()).collect()
        };
        let mut all = Touched::default();
        for touched in turns {
            all.hosts.extend(touched.hosts.iter().cloned());
            all.vms.extend(touched.vms.iter().cloned());
            all.tenants.extend(touched.tenants.iter().cloned());
            all.groups.extend(touched.groups.iter().cloned());
            all.noted.extend(touched.noted.iter().cloned());
            let measured = touched.measured_vms.iter();
            all.measured_vms.extend(measured.cloned());
            all.facts |= touched.facts;
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(ids: impl IntoIterator<Item = String>) -> Arc<Touched> {
        let hosts = ids.into_iter().map(Arc::from).collect();
        Arc::new(Touched {
            hosts,
            ..Touched::default()
        })
    }

    #[test]
    fn what_changed_after_a_version_is_known_as_far_back_as_names_are_remembered() {
        let recent = RecentlyChanged::since(10);
        recent.record(12, &hosts(["a".to_owned()]));
        recent.record(13, &hosts([]));
        recent.record(15, &hosts(["b".to_owned()]));
        let after = |recent: &RecentlyChanged, version| {
            let touched = recent.between(version, u64::MAX)?;
            Some(
                touched
                    .hosts
                    .iter()
                    .map(|it| it.to_string())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(after(&recent, 9), None);
        assert_eq!(after(&recent, 10).unwrap(), ["a", "b"]);
        assert_eq!(after(&recent, 12).unwrap(), ["b"]);
        assert_eq!(after(&recent, 15).unwrap(), [""; 0]);
        // A copy of version 13 has nothing of what came later.
        let upto = recent.between(10, 13).unwrap().hosts;
        assert_eq!(upto.iter().map(|it| &**it).collect::<Vec<_>>(), ["a"]);

        recent.record(
            20,
            &hosts((0..Collection::Changes.most()).map(|it| format!("h{it}"))),
        );
        assert_eq!(after(&recent, 15), None);
        assert_eq!(after(&recent, 20).unwrap(), [""; 0]);
        assert!(recent.0.lock().unwrap().names <= Collection::Changes.most());
        recent.forget(30);
        assert_eq!(after(&recent, 20), None);
    }
}
