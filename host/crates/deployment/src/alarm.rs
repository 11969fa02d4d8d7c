//! Reservations end when their time is up, also where nobody asks: a thread turns the
//! clocks of clusters when the next end is due.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::cluster::AHEAD;
use super::{Clock, Deployment};
use placewright_sync::{Condvar, Mutex};

/// The longest wait in one go: the system's clock may be set.
const LONGEST: Duration = Duration::from_secs(60);

/// When the next reservation ends, cluster by cluster.
#[derive(Debug, Default)]
pub struct Alarm {
    set: Mutex<Set>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Set {
    /// In seconds, by the names of clusters.
    due: BTreeMap<Arc<str>, i64>,
    stopped: bool,
    /// The latest that the clock has shown.
    latest: Option<i64>,
    /// The clock was set back: what is due has to be found out anew.
    back: bool,
}

impl Set {
    fn next(&self) -> Option<i64> {
        self.due.values().min().copied()
    }

    /// In how many seconds something is due, if anything is. A clock that was set back is
    /// noticed: then all clusters have to look at it, at once.
    fn left(&mut self, now: i64) -> Option<i64> {
        let due = self.next()?;
        let latest = self.latest.filter(|latest| *latest > now);
        self.back |= latest.is_some_and(|latest| latest.saturating_sub(now) > AHEAD);
        self.latest = match self.back {
            true => Some(now),
            false => latest.or(Some(now)),
        };
        Some(if self.back {
            0
        } else {
            due.saturating_sub(now)
        })
    }
}

impl Alarm {
    /// The next reservation of a cluster ends in that second; None: none does.
    pub(super) fn set(&self, cluster: &Arc<str>, due: Option<i64>) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let before = set.next();
        match due {
            Some(due) => set.due.insert(cluster.clone(), due),
            None => set.due.remove(cluster),
        };
        let sooner = set
            .next()
            .is_some_and(|next| before.is_none_or(|it| next < it));
        drop(set);
        if sooner {
            self.changed.notify_all();
        }
    }

    /// The clusters in which a reservation has ended by `now`.
    fn due(&self, now: i64) -> Vec<Arc<str>> {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let back = std::mem::take(&mut set.back);
        let due = set.due.iter().filter(|(_, due)| back || **due <= now);
        due.map(|(cluster, _)| cluster.clone()).collect()
    }

    /// Wait until a reservation ends; false if there is nothing more to wait for.
    fn wait(&self, clock: &Clock) -> bool {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if set.stopped {
                return false;
            }
            let left = set.left(clock());
            set = match left {
                None => self
                    .changed
                    .wait(set)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(..=0) => return true,
                Some(seconds) => {
                    let seconds = Duration::from_secs(seconds.unsigned_abs()).min(LONGEST);
                    let waited = self.changed.wait_timeout(set, seconds);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn stop(&self) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        set.stopped = true;
        drop(set);
        self.changed.notify_all();
    }
}

impl Deployment {
    /// Have every cluster end the reservations whose time is up by now, and let go of what was
    /// measured too long ago, in a turn of its own.
    pub fn end_reservations(&self) {
        for name in self.alarm.due(self.now()) {
            let Ok(cluster) = self.cluster(&name) else {
                self.alarm.set(&name, None);
                continue;
            };
            // Nobody waits for it: a long turn in one cluster must not hold up the others. It
            // sets the alarm anew.
            self.alarm.set(&name, None);
            drop(cluster.whenever(|state| {
                state.ring();
                Ok(())
            }));
        }
    }
}

/// Ends reservations when they are due, until it is dropped.
#[derive(Debug)]
pub(super) struct Expiring {
    alarm: Arc<Alarm>,
    thread: Option<JoinHandle<()>>,
}

impl Expiring {
    pub(super) fn start(deployment: &Arc<Deployment>) -> io::Result<Self> {
        let (alarm, clock) = (deployment.alarm.clone(), deployment.options.clock.clone());
        let (waited, deployment) = (alarm.clone(), Arc::downgrade(deployment));
        let thread = thread::Builder::new()
            .name("reservations".to_owned())
            .spawn(move || {
                while waited.wait(&clock) {
                    let Some(deployment) = deployment.upgrade() else {
                        return;
                    };
                    deployment.end_reservations();
                }
            })?;
        Ok(Self {
            alarm,
            thread: Some(thread),
        })
    }
}

impl Drop for Expiring {
    fn drop(&mut self) {
        self.alarm.stop();
        if let Some(thread) = self.thread.take() {
            // It has no news for us; if it panicked, that was logged.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_due_from_the_second_that_was_set_until_another_is() {
        let alarm = Alarm::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        alarm.set(&a, Some(10));
        alarm.set(&b, Some(20));
        assert!(alarm.due(9).is_empty());
        assert_eq!(alarm.due(20), [a.clone(), b.clone()]);
        alarm.set(&a, Some(30));
        assert_eq!(alarm.due(29), [Arc::from("b")]);
        alarm.set(&b, None);
        assert!(alarm.due(20).is_empty());
    }

    #[test]
    fn a_clock_that_is_set_back_is_looked_at_by_all_clusters() {
        let alarm = Alarm::default();
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        alarm.set(&a, Some(100_100));
        alarm.set(&b, Some(200_000));
        let left = |now| alarm.set.lock().unwrap().left(now);
        assert_eq!(left(100_000), Some(100));
        // A few seconds are nothing.
        assert_eq!(left(100_000 - AHEAD), Some(100 + AHEAD));
        assert!(alarm.due(100_000 - AHEAD).is_empty());
        assert_eq!(left(1000), Some(0));
        assert_eq!(alarm.due(1000), [a, b]);
        assert_eq!(left(1001), Some(99_099));
    }

    #[test]
    fn whoever_waits_hears_of_an_end_that_is_due_and_of_the_stop() {
        let alarm = Arc::new(Alarm::default());
        let clock: Clock = Arc::new(|| 100);
        let (other, time) = (alarm.clone(), clock.clone());
        let waits = thread::spawn(move || other.wait(&time));
        alarm.set(&"a".into(), Some(100));
        assert!(waits.join().unwrap());
        alarm.stop();
        assert!(!alarm.wait(&clock));
    }
}
