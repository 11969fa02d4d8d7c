//! Bounds how many refusals are recorded: whoever is refused can have it happen as often as it
//! likes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use placewright_sync::Mutex;

/// So many refusals of each are recorded in [`WINDOW`].
const RECORDED: u64 = 10;

const WINDOW: Duration = Duration::from_secs(10);

/// Of more than so many at a time the rest counts as one.
const LARGEST: usize = 1024;

/// Who was refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Who {
    /// A token that is known.
    Token(Arc<str>),
    /// Somebody without one, at this address.
    Address(IpAddr),
    /// Somebody else.
    Other,
}

#[derive(Debug)]
struct Counted {
    since: Instant,
    recorded: u64,
    left_out: u64,
}

/// Says which refusals are recorded.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<HashMap<Who, Counted>>);

impl Refusals {
    /// Whether to record one more; if so, how many were left out before it.
    pub(super) fn admit(&self, who: Who, now: Instant) -> Option<u64> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let who = match counted.len() >= LARGEST && !counted.contains_key(&who) {
            true => Who::Other,
            false => who,
        };
        let one = counted.entry(who).or_insert(Counted {
            since: now,
            recorded: 0,
            left_out: 0,
        });
        if now.saturating_duration_since(one.since) >= WINDOW {
            (one.since, one.recorded) = (now, 0);
        }
        if one.recorded >= RECORDED {
            one.left_out += 1;
            return None;
        }
        one.recorded += 1;
        Some(std::mem::take(&mut one.left_out))
    }

    /// Those whose time is over, or all of them, that were refused more often than is recorded,
    /// with how often. In no order.
    pub(super) fn over(&self, now: Instant, all: bool) -> Vec<(Who, u64)> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |it: &Counted| all || now.saturating_duration_since(it.since) >= WINDOW;
        let over = counted.extract_if(|_, it| is_over(it));
        over.filter(|(_, it)| it.left_out > 0)
            .map(|(who, it)| (who, it.left_out))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_refusals_some_are_recorded_and_the_others_counted_for_each_caller() {
        let refusals = Refusals::default();
        let now = Instant::now();
        let alice = || Who::Token("alice".into());
        let recorded = (0..1000).filter(|_| refusals.admit(alice(), now).is_some());
        assert_eq!(recorded.count() as u64, RECORDED);
        // Nobody else pays for it.
        let other = Who::Address([127, 0, 0, 1].into());
        assert_eq!(refusals.admit(other, now), Some(0));
        assert_eq!(refusals.admit(alice(), now + WINDOW), Some(1000 - RECORDED));
    }

    #[test]
    fn what_was_left_out_is_told_when_no_more_come() {
        let refusals = Refusals::default();
        let now = Instant::now();
        for _ in 0..RECORDED + 5 {
            refusals.admit(Who::Other, now);
        }
        assert_eq!(refusals.over(now, false), []);
        assert_eq!(refusals.over(now + WINDOW, false), [(Who::Other, 5)]);
        assert_eq!(refusals.over(now + WINDOW, true), []);
    }

    #[test]
    fn callers_that_are_counted_are_bounded() {
        let refusals = Refusals::default();
        let now = Instant::now();
        for address in 0..10 * LARGEST as u32 {
            refusals.admit(Who::Address(std::net::Ipv4Addr::from(address).into()), now);
        }
        assert!(refusals.0.lock().unwrap().len() <= LARGEST + 1);
    }
}
