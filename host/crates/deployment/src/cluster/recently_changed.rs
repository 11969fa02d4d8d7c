//! What has changed in the last turns, by name: for those who follow the inventory. Its own
//! journal leads back only as far as decisions are recorded.

use std::collections::VecDeque;
use std::sync::Arc;

use placewright_inventory::Touched;

/// So many names are remembered at most.
const MOST: usize = 1 << 14;

/// What the last turns changed.
#[derive(Debug, Clone, Default)]
pub(super) struct RecentlyChanged {
    /// Everything is known that has changed after this version.
    since: u64,
    /// What each turn has changed, with the version at its end, oldest first.
    turns: VecDeque<(u64, Arc<Touched>)>,
    names: usize,
}

fn names(touched: &Touched) -> usize {
    let Touched {
        hosts,
        vms,
        tenants,
        groups,
        noted,
        facts: _,
    } = touched;
    1 + hosts.len() + vms.len() + tenants.len() + groups.len() + noted.len()
}

impl RecentlyChanged {
    /// What changes from that version on is remembered.
    pub(super) fn since(version: u64) -> Self {
        Self {
            since: version,
            ..Self::default()
        }
    }

    /// Remember what has changed until that version.
    pub(super) fn record(&mut self, version: u64, touched: &Arc<Touched>) {
        if **touched == Touched::default() {
            return;
        }
        self.names += names(touched);
        self.turns.push_back((version, touched.clone()));
        while self.names > MOST {
            let Some((until, first)) = self.turns.pop_front() else {
                return;
            };
            self.since = until;
            self.names -= names(&first);
        }
    }

    /// At that version anything may have changed.
    pub(super) fn forget(&mut self, version: u64) {
        *self = Self::since(version);
    }

    /// What has changed after that version; None: it is not remembered.
    pub(super) fn after(&self, version: u64) -> Option<Touched> {
        if version < self.since {
            return None;
        }
        let mut all = Touched::default();
        let later = self.turns.iter().filter(|(until, _)| *until > version);
        for (_, touched) in later {
            all.hosts.extend(touched.hosts.iter().cloned());
            all.vms.extend(touched.vms.iter().cloned());
            all.tenants.extend(touched.tenants.iter().cloned());
            all.groups.extend(touched.groups.iter().cloned());
            all.noted.extend(touched.noted.iter().cloned());
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
        let mut recent = RecentlyChanged::since(10);
        recent.record(12, &hosts(["a".to_owned()]));
        recent.record(13, &hosts([]));
        recent.record(15, &hosts(["b".to_owned()]));
        let after = |recent: &RecentlyChanged, version| {
            let touched = recent.after(version)?;
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

        recent.record(20, &hosts((0..MOST).map(|it| format!("h{it}"))));
        assert_eq!(after(&recent, 15), None);
        assert_eq!(after(&recent, 20).unwrap(), [""; 0]);
        assert!(recent.names <= MOST);
        recent.forget(30);
        assert_eq!(after(&recent, 20), None);
    }
}
