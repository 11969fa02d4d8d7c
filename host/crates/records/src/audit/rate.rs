//! Bounds how many records there are of calls that changed nothing: whoever calls can have that
//! happen as often as it likes, and would drive the records of changes out of the log.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use placewright_sync::Mutex;

/// In so long a time there are as many records as the bounds say.
const WINDOW: Duration = Duration::from_secs(10);

/// Refusals of one token, or of one address without a token that is known.
const REFUSALS: u64 = 10;

/// Calls of one token that changed nothing for another reason.
const FAILURES: u64 = 30;

/// Calls of all tokens from one address.
const OF_ADDRESS: u64 = 100;

/// Refusals of all that have no known token.
const UNKNOWN: u64 = 100;

/// Of more callers than this in a window the rest counts as one.
const LARGEST: usize = 1024;

/// So many of those whose calls have no records are named.
const NAMED: usize = 8;

/// Who called, as far as it counts for the bounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// The name of the token, if it is known.
    pub token: Option<Arc<str>>,
    /// The address, or the part of it that stands for one customer.
    pub address: Option<IpAddr>,
}

/// Why a call changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unchanged {
    /// The caller may not: 401 or 403.
    Refused,
    /// Anything else that was wrong, an answer of before, or nothing was different for it.
    Failed,
}

/// What is counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Counted {
    Token(Arc<str>, Unchanged),
    /// Calls of tokens from an address.
    TokensAt(IpAddr),
    /// Calls from an address without a known token.
    Address(IpAddr),
    /// All without a known token.
    Unknown,
    /// Those of whom nobody knows either, and those beyond what is counted.
    Others,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(name, _) => write!(f, "the token \"{name}\""),
            Self::TokensAt(address) => write!(f, "tokens at {address}"),
            Self::Address(address) => write!(f, "{address}"),
            Self::Unknown | Self::Others => f.write_str("others"),
        }
    }
}

/// Says which calls that changed nothing have a record of their own.
#[derive(Debug, Default)]
pub(super) struct RateLimit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// When the window began.
    since: Option<Instant>,
    recorded: HashMap<Counted, u64>,
    /// Calls without records that no record tells of yet.
    left_out: HashMap<Counted, u64>,
}

/// How many calls have no record of their own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// All.
    pub count: u64,
    /// Whose they were, the most first, in a sentence.
    pub message: String,
}

impl RateLimit {
    /// Whether one more call has a record; if not, it is counted.
    pub(super) fn admit(&self, source: &Source, why: Unchanged, now: Instant) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.roll(now);
        let bounds = state.bounds(source, why);
        let is_free = |(who, most): &(Counted, u64)| {
            state
                .recorded
                .get(who)
                .is_none_or(|recorded| recorded < most)
        };
        if bounds.iter().all(is_free) {
            for (who, _) in bounds {
                *state.recorded.entry(who).or_default() += 1;
            }
            return true;
        }
        let [(who, _), _] = bounds;
        state.leave_out(who);
        false
    }

    /// A call that was to have a record has none all the same.
    pub(super) fn leave_out(&self, source: &Source, why: Unchanged) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let [(who, _), _] = state.bounds(source, why);
        state.leave_out(who);
    }

    /// What has no records and is in none yet, once the window is over or if it is the `end`.
    pub(super) fn over(&self, now: Instant, end: bool) -> Option<LeftOut> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = state.is_over(now);
        state.roll(now);
        if !is_over && !end {
            return None;
        }
        let mut left_out: Vec<_> = std::mem::take(&mut state.left_out).into_iter().collect();
        drop(state);
        let count = left_out.iter().map(|(_, count)| count).sum();
        if count == 0 {
            return None;
        }
        left_out.sort_by_key(|(who, count)| (std::cmp::Reverse(*count), who.to_string()));
        let mut parts: Vec<String> = left_out
            .iter()
            .take(NAMED)
            .map(|(who, count)| format!("{count} of {who}"))
            .collect();
        if let Some(rest) = left_out.get(NAMED..).filter(|rest| !rest.is_empty()) {
            let calls: u64 = rest.iter().map(|(_, count)| count).sum();
            parts.push(format!("{calls} of {} more", rest.len()));
        }
        let message = format!(
            "calls that changed nothing and have no records of their own: {}",
            parts.join(", ")
        );
        Some(LeftOut { count, message })
    }
}

impl State {
    fn is_over(&self, now: Instant) -> bool {
        self.since
            .is_some_and(|since| now.saturating_duration_since(since) >= WINDOW)
    }

    /// Begin a window if none is under way.
    fn roll(&mut self, now: Instant) {
        if self.since.is_none() || self.is_over(now) {
            self.since = Some(now);
            self.recorded.clear();
        }
    }

    /// What one more call counts for, and how many records there may be of each; who is to be
    /// named for it stands first.
    fn bounds(&self, source: &Source, why: Unchanged) -> [(Counted, u64); 2] {
        let at = |of: fn(IpAddr) -> Counted| source.address.map_or(Counted::Others, of);
        match &source.token {
            Some(token) => {
                let most = match why {
                    Unchanged::Refused => REFUSALS,
                    Unchanged::Failed => FAILURES,
                };
                let token = self.known(Counted::Token(token.clone(), why));
                [
                    (token, most),
                    (self.known(at(Counted::TokensAt)), OF_ADDRESS),
                ]
            }
            None => [
                (self.known(at(Counted::Address)), REFUSALS),
                (Counted::Unknown, UNKNOWN),
            ],
        }
    }

    /// It is counted by itself, or with all others if too many are.
    fn known(&self, who: Counted) -> Counted {
        let is_known =
            |counts: &HashMap<Counted, u64>| counts.len() < LARGEST || counts.contains_key(&who);
        match is_known(&self.recorded) && is_known(&self.left_out) {
            true => who,
            false => Counted::Others,
        }
    }

    fn leave_out(&mut self, who: Counted) {
        *self.left_out.entry(who).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str, address: u32) -> Source {
        Source {
            token: Some(name.into()),
            ..unknown(address)
        }
    }

    fn unknown(address: u32) -> Source {
        Source {
            token: None,
            address: Some(std::net::Ipv4Addr::from(address).into()),
        }
    }

    /// Of so many calls how many have records.
    fn recorded(rate: &RateLimit, source: &Source, why: Unchanged, calls: u64, at: Instant) -> u64 {
        let admitted = (0..calls).filter(|_| rate.admit(source, why, at));
        admitted.count() as u64
    }

    #[test]
    fn a_token_has_some_records_of_what_changed_nothing_and_nobody_else_pays_for_the_rest() {
        let rate = RateLimit::default();
        let now = Instant::now();
        let (alice, bob, nobody) = (token("alice", 1), token("bob", 2), unknown(3));
        let many = |source, why, at| recorded(&rate, source, why, 1000, at);
        assert_eq!(many(&alice, Unchanged::Failed, now), FAILURES);
        assert_eq!(many(&alice, Unchanged::Refused, now), REFUSALS);
        assert_eq!(many(&bob, Unchanged::Refused, now), REFUSALS);
        assert_eq!(many(&nobody, Unchanged::Refused, now), REFUSALS);
        assert_eq!(many(&alice, Unchanged::Failed, now + WINDOW), FAILURES);
    }

    #[test]
    fn many_tokens_of_one_address_have_few_records_and_many_addresses_without_one_too() {
        let rate = RateLimit::default();
        let now = Instant::now();
        let of_token = |number| {
            let source = token(&format!("t{number}"), 1);
            recorded(&rate, &source, Unchanged::Failed, 100, now)
        };
        assert_eq!((0..50).map(of_token).sum::<u64>(), OF_ADDRESS);
        let of_address = |number| recorded(&rate, &unknown(number), Unchanged::Refused, 100, now);
        assert_eq!((100..5000).map(of_address).sum::<u64>(), UNKNOWN);
    }

    #[test]
    fn one_record_tells_of_all_that_have_none() {
        let rate = RateLimit::default();
        let now = Instant::now();
        recorded(
            &rate,
            &token("alice", 1),
            Unchanged::Failed,
            40 + FAILURES,
            now,
        );
        for number in 2..100 {
            recorded(&rate, &unknown(number), Unchanged::Refused, 20, now);
        }
        rate.leave_out(&token("bob", 1), Unchanged::Failed);
        assert_eq!(rate.over(now, false), None);
        let left_out = rate.over(now + WINDOW, false).unwrap();
        assert_eq!(left_out.count, 40 + 98 * 20 - UNKNOWN + 1);
        let begin = "calls that changed nothing and have no records of their own: 40 of the token \"alice\", 20 of 0.0.0.";
        assert!(left_out.message.starts_with(begin), "{left_out:?}");
        assert!(left_out.message.ends_with(" more"), "{left_out:?}");
        assert_eq!(rate.over(now + WINDOW, true), None);
    }

    #[test]
    fn callers_that_are_counted_are_bounded() {
        let rate = RateLimit::default();
        let now = Instant::now();
        for number in 0..10 * LARGEST as u32 {
            let source = token(&number.to_string(), number);
            rate.admit(&source, Unchanged::Refused, now);
            rate.admit(&unknown(number), Unchanged::Refused, now);
            rate.leave_out(&source, Unchanged::Failed);
        }
        let state = rate.0.lock().unwrap();
        assert!(
            state.recorded.len() <= LARGEST + 3,
            "{}",
            state.recorded.len()
        );
        assert!(
            state.left_out.len() <= LARGEST + 1,
            "{}",
            state.left_out.len()
        );
    }
}
