//! Reservations that have ended without a VM that runs: what came of them can be told to
//! whoever confirms or cancels late, or once more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use placewright_model::budget::Collection;
use placewright_records::telemetry::ReservationEnd;
use serde::{Deserialize, Serialize};

/// Seconds for which an ended reservation is remembered.
const REMEMBERED: i64 = 24 * 3600;

/// How a reservation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum How {
    /// Its time was up.
    Expired,
    /// Somebody gave the place back.
    Released,
    /// The host went down.
    HostLost,
}

impl From<How> for ReservationEnd {
    fn from(how: How) -> Self {
        match how {
            How::Expired => Self::Expired,
            How::Released => Self::Released,
            How::HostLost => Self::HostLost,
        }
    }
}

/// A reservation that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Ended {
    /// When, in seconds.
    pub(super) at: i64,
    pub(super) how: How,
    /// Id of the host on which the place was.
    pub(super) host: Arc<str>,
    /// Whether the VM ran there already, and was to run there with other amounts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) growth: bool,
    /// The decision that had made it, if one had.
    pub(super) decision: Option<u64>,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, .. } = self;
        match self.growth {
            true => write!(f, "what was reserved for it to grow on {host}")?,
            false => write!(f, "the place reserved for it on {host}")?,
        }
        f.write_str(match self.how {
            How::Expired => " has expired",
            How::Released => " was given back",
            How::HostLost => " ended with that host",
        })
    }
}

/// The last reservation of each VM that has ended so.
#[derive(Debug, Default)]
pub(super) struct EndedReservations {
    by_vm: BTreeMap<Arc<str>, Ended>,
    /// The oldest first.
    order: BTreeSet<(i64, Arc<str>)>,
}

impl EndedReservations {
    /// The last reservation of a VM, if it has ended without the VM running.
    pub(super) fn of(&self, vm: &str) -> Option<&Ended> {
        self.by_vm.get(vm)
    }

    pub(super) fn note(&mut self, vm: Arc<str>, ended: Ended) {
        self.forget(&vm);
        self.order.insert((ended.at, vm.clone()));
        self.by_vm.insert(vm, ended);
    }

    /// The clock is set back to `now`: what ended later has ended just now.
    pub(super) fn set_clock_back(&mut self, now: i64) {
        let later = self.order.split_off(&(now.saturating_add(1), "".into()));
        for (_, vm) in later {
            if let Some(ended) = self.by_vm.get_mut(&vm) {
                ended.at = now;
            }
            self.order.insert((now, vm));
        }
    }

    /// Whether there was something to be forgotten.
    pub(super) fn forget(&mut self, vm: &str) -> bool {
        let Some((vm, ended)) = self.by_vm.remove_entry(vm) else {
            return false;
        };
        self.order.remove(&(ended.at, vm));
        true
    }

    /// The VM whose end is to be forgotten next, as it is too old or one too many.
    pub(super) fn oldest(&self, now: i64) -> Option<Arc<str>> {
        let (at, vm) = self.order.first()?;
        let is_kept = *at >= now.saturating_sub(REMEMBERED)
            && self.order.len() <= Collection::EndedReservations.most();
        (!is_kept).then(|| vm.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(at: i64) -> Ended {
        Ended {
            at,
            how: How::Expired,
            host: "h1".into(),
            growth: false,
            decision: Some(7),
        }
    }

    #[test]
    fn what_ended_by_a_clock_that_was_ahead_is_forgotten_in_its_time() {
        let mut all = EndedReservations::default();
        all.note("a".into(), ended(5));
        all.note("b".into(), ended(1_000_000));
        all.set_clock_back(10);
        assert_eq!(all.of("b").map(|it| it.at), Some(10));
        assert!(all.forget("a"));
        assert_eq!(all.oldest(11 + REMEMBERED), Some("b".into()));
    }

    #[test]
    fn of_more_than_are_remembered_the_oldest_is_forgotten() {
        let mut all = EndedReservations::default();
        for vm in (0..).take(Collection::EndedReservations.most()) {
            all.note(format!("v{vm}").into(), ended(vm));
        }
        assert_eq!(all.oldest(0), None);
        all.note("one more".into(), ended(REMEMBERED));
        assert_eq!(all.oldest(0), Some("v0".into()));
    }

    #[test]
    fn what_is_a_day_old_is_forgotten_and_no_vm_is_remembered_twice() {
        let mut all = EndedReservations::default();
        all.note("a".into(), ended(5));
        all.note("b".into(), ended(10));
        all.note("a".into(), ended(20));
        assert_eq!(all.oldest(10 + REMEMBERED), None);
        assert_eq!(all.oldest(11 + REMEMBERED), Some("b".into()));
        assert!(all.forget("b"));
        assert_eq!(all.oldest(11 + REMEMBERED), None);
        assert_eq!(all.of("a").map(|it| it.at), Some(20));
        assert!(all.forget("a") && !all.forget("a"));
    }
}
