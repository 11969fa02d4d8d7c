//! The hosts of a cluster that are down or in error, and since when.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::AutomaticRestart;
use placewright_sync::atomic::{AtomicU64, Ordering};

/// Seconds after which it is looked again at hosts whose VMs were to be restarted.
const AGAIN: i64 = 60;

/// A host that is down or in error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct LostHost {
    /// Seconds since 1970-01-01 UTC from which on it is.
    since: i64,
    /// Whether somebody has cancelled the restarts of its VMs: none are planned until it has
    /// been up.
    #[serde(default)]
    left_alone: bool,
    /// When restarts were last looked for. Not kept: after a start that is done at once.
    #[serde(skip)]
    looked: Option<i64>,
}

impl LostHost {
    pub(super) fn since(since: i64) -> Self {
        Self {
            since,
            left_alone: false,
            looked: None,
        }
    }

    /// When restarts are to be looked for next; None: not.
    fn due(&self, set: &AutomaticRestart) -> Option<i64> {
        let settled = self.since.saturating_add(set.settle);
        let due = self.looked.map_or(settled, |it| it.saturating_add(AGAIN));
        (!self.left_alone).then(|| due.max(settled))
    }

    /// Seconds until it has been down for long enough; None: it has.
    pub(super) fn settles_in(&self, now: i64, set: &AutomaticRestart) -> Option<i64> {
        let left = self.since.saturating_add(set.settle).saturating_sub(now);
        (left > 0).then_some(left)
    }
}

/// When something is due that another thread looks after, in seconds.
#[derive(Debug)]
pub(in crate::cluster) struct DueAt(AtomicU64);

impl Default for DueAt {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl DueAt {
    fn set(&self, due: Option<i64>) {
        // What was due before 1970 is due.
        let due = due.map_or(u64::MAX, |due| u64::try_from(due).unwrap_or(0));
        self.0.store(due, Ordering::Release);
    }

    /// Whether it is due by `now`.
    pub(in crate::cluster) fn is_by(&self, now: i64) -> bool {
        let due = self.0.load(Ordering::Acquire);
        due != u64::MAX && due <= u64::try_from(now).unwrap_or(0)
    }
}

/// What a cluster knows of hosts that are down or in error, if it restarts their VMs by itself.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Restarts {
    lost: BTreeMap<Arc<str>, LostHost>,
    /// Whether what is due may be another time than was published.
    is_stale: bool,
    /// VMs that were to be restarted and found no host, as was told last.
    pub(super) stuck: BTreeSet<Arc<str>>,
    /// When restarts were last planned.
    pub(super) planned: Option<i64>,
    due: Arc<DueAt>,
}

impl Restarts {
    /// The hosts that are down or in error, by id.
    pub(in crate::cluster) fn lost(&self) -> &BTreeMap<Arc<str>, LostHost> {
        &self.lost
    }

    /// These hosts are down or in error.
    pub(super) fn set_lost(&mut self, lost: BTreeMap<Arc<str>, LostHost>) {
        self.lost = lost;
        self.is_stale = true;
    }

    /// Whether a host is down or in error `now`. Gives whether that is new.
    pub(super) fn follow(&mut self, host: &Arc<str>, is_lost: bool, now: i64) -> bool {
        let changed = match is_lost {
            true if self.lost.contains_key(host) => false,
            true => {
                self.lost.insert(host.clone(), LostHost::since(now));
                true
            }
            false => self.lost.remove(host).is_some(),
        };
        self.is_stale |= changed;
        changed
    }

    /// When restarts are to be looked for, for whoever looks on.
    pub(in crate::cluster) fn due_at(&self) -> Arc<DueAt> {
        self.due.clone()
    }

    /// Let whoever looks on know when restarts are to be looked for.
    pub(in crate::cluster) fn publish(&mut self, set: Option<AutomaticRestart>) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let due = set.and_then(|set| self.lost.values().filter_map(|it| it.due(&set)).min());
        self.due.set(due);
    }

    /// The clock was ahead, and stands at `now`.
    pub(in crate::cluster) fn set_clock_back(&mut self, now: i64) {
        self.is_stale = true;
        for lost in self.lost.values_mut() {
            lost.since = lost.since.min(now);
            lost.looked = lost.looked.map(|it| it.min(now));
        }
        self.planned = self.planned.map(|it| it.min(now));
    }

    /// The hosts whose VMs are to be restarted by now. It is not looked for these again at once.
    pub(super) fn take_due(&mut self, now: i64, set: &AutomaticRestart) -> Vec<Arc<str>> {
        self.is_stale = true;
        let lost = self.lost.iter_mut();
        let due = lost.filter(|(_, lost)| !lost.left_alone && lost.settles_in(now, set).is_none());
        due.map(|(id, lost)| {
            lost.looked = Some(now);
            id.clone()
        })
        .collect()
    }

    /// Leave these hosts alone until they have been up.
    pub(super) fn leave_alone(&mut self, hosts: &[Arc<str>]) {
        self.is_stale = true;
        for host in hosts {
            if let Some(lost) = self.lost.get_mut(host) {
                lost.left_alone = true;
            }
        }
    }

    /// Look after all hosts again, whoever was left alone.
    pub(super) fn begin_anew(&mut self) {
        self.is_stale = true;
        for lost in self.lost.values_mut() {
            lost.left_alone = false;
            lost.looked = None;
        }
        self.planned = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_due_once_it_has_settled_and_then_from_time_to_time() {
        let set = AutomaticRestart::default();
        let mut restarts = Restarts::default();
        assert!(restarts.follow(&"h".into(), true, 1000));
        restarts.publish(Some(set));
        let due = restarts.due_at();
        assert!(!due.is_by(1059));
        assert!(due.is_by(1060));
        assert_eq!(restarts.take_due(1059, &set), []);
        assert_eq!(restarts.take_due(1070, &set), [Arc::from("h")]);
        restarts.publish(Some(set));
        assert!(!due.is_by(1129));
        assert!(due.is_by(1130));
        assert!(!restarts.follow(&"h".into(), true, 1100));
        assert!(restarts.follow(&"h".into(), false, 1100));
        restarts.publish(Some(set));
        assert!(!due.is_by(i64::MAX));
    }

    #[test]
    fn a_host_that_is_left_alone_is_not_due() {
        let set = AutomaticRestart::default();
        let mut restarts = Restarts::default();
        assert!(restarts.follow(&"h".into(), true, 1000));
        restarts.leave_alone(&["h".into(), "other".into()]);
        restarts.publish(Some(set));
        assert!(!restarts.due_at().is_by(9999));
        assert_eq!(restarts.take_due(9999, &set), []);
        restarts.begin_anew();
        assert_eq!(restarts.take_due(9999, &set), [Arc::from("h")]);
    }
}
