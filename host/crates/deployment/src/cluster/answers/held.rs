//! The answers of a cluster in memory: bounded in bytes, with a share for each caller.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Bytes that an answer takes besides its texts.
const OVERHEAD: usize = 300;

/// The answers of a cluster, by caller and word. Where there are too many bytes of them, the
/// caller with the most loses its oldest: nobody's retries suffer from another's.
#[derive(Debug)]
pub(in crate::cluster) struct Answers {
    /// By name: caller and word.
    given: BTreeMap<String, Given>,
    /// When each was given, and its name, in the order in which they were.
    order: BTreeMap<u64, (i64, String)>,
    /// The number that the next one has in that order.
    next: u64,
    callers: BTreeMap<Arc<str>, OfCaller>,
    bytes: u64,
    bound: u64,
    /// This turn gives an answer again, which may not have been kept yet.
    pub(in crate::cluster) repeats: bool,
}

/// An answer, and what it was given to.
#[derive(Debug)]
pub(super) struct Given {
    /// Tells the request from others.
    pub(super) print: String,
    pub(super) body: Arc<str>,
    number: u64,
}

/// What one caller has.
#[derive(Debug, Default)]
struct OfCaller {
    /// The numbers of its answers, ascending; those that were put anew are there no more.
    numbers: VecDeque<u64>,
    bytes: u64,
}

fn bytes(name: &str, print: &str, body: &str) -> u64 {
    // A name stands in the table and in the order.
    (OVERHEAD + 2 * name.len() + print.len() + body.len()) as u64
}

fn caller(name: &str) -> &str {
    name.split_once('\n').map_or(name, |(caller, _)| caller)
}

impl Answers {
    pub(in crate::cluster) fn within(bound: u64) -> Self {
        Self {
            given: BTreeMap::new(),
            order: BTreeMap::new(),
            next: 0,
            callers: BTreeMap::new(),
            bytes: 0,
            bound,
            repeats: false,
        }
    }

    pub(in crate::cluster) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(in crate::cluster) fn bound(&self) -> u64 {
        self.bound
    }

    /// The clock is set back to `now`: what was given later was given just now.
    pub(in crate::cluster) fn set_clock_back(&mut self, now: i64) {
        for (at, _) in self.order.values_mut() {
            *at = now.min(*at);
        }
    }

    pub(super) fn of(&self, name: &str) -> Option<&Given> {
        self.given.get(name)
    }

    /// Whether an answer fits at all.
    pub(super) fn may_hold(&self, name: &str, print: &str, body: &str) -> bool {
        bytes(name, print, body) <= self.bound
    }

    /// Take an answer in. The names of those that go for it.
    pub(super) fn put(
        &mut self,
        name: String,
        at: i64,
        print: String,
        body: Arc<str>,
    ) -> Vec<String> {
        self.forget(&name);
        let number = self.next;
        self.next += 1;
        let bytes = bytes(&name, &print, &body);
        self.bytes += bytes;
        let of_caller = self.callers.entry(caller(&name).into()).or_default();
        of_caller.bytes += bytes;
        of_caller.numbers.push_back(number);
        self.order.insert(number, (at, name.clone()));
        let given = Given {
            print,
            body,
            number,
        };
        self.given.insert(name, given);
        let mut gone = Vec::new();
        while self.bytes > self.bound
            && let Some(name) = self.next_to_go()
        {
            self.forget(&name);
            gone.push(name);
        }
        gone
    }

    /// The oldest answer of the caller with the most bytes.
    fn next_to_go(&mut self) -> Option<String> {
        let callers = self.callers.values_mut();
        let greatest = callers.max_by_key(|of_caller| of_caller.bytes)?;
        while let Some(number) = greatest.numbers.front() {
            match self.order.get(number) {
                Some((_, name)) => return Some(name.clone()),
                None => drop(greatest.numbers.pop_front()),
            }
        }
        None
    }

    fn forget(&mut self, name: &str) {
        let Some(given) = self.given.remove(name) else {
            return;
        };
        self.order.remove(&given.number);
        let bytes = bytes(name, &given.print, &given.body);
        self.bytes -= bytes;
        let caller = caller(name);
        let Some(of_caller) = self.callers.get_mut(caller) else {
            return;
        };
        of_caller.bytes -= bytes;
        if of_caller.numbers.front() == Some(&given.number) {
            of_caller.numbers.pop_front();
        }
        if of_caller.bytes == 0 {
            self.callers.remove(caller);
        }
    }

    /// Forget those that were given before that second. Whether there were some.
    pub(super) fn forget_before(&mut self, oldest: i64) -> bool {
        let mut forgotten = false;
        while let Some((_, (at, name))) = self.order.first_key_value()
            && *at < oldest
        {
            let name = name.clone();
            self.forget(&name);
            forgotten = true;
        }
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(answers: &mut Answers, name: &str, at: i64, length: usize) -> Vec<String> {
        let body = "x".repeat(length);
        answers.put(name.to_owned(), at, "print".to_owned(), body.into())
    }

    #[test]
    fn the_caller_with_the_most_loses_its_oldest() {
        let mut answers = Answers::within(20_000);
        assert!(put(&mut answers, "quiet\nfirst", 0, 1000).is_empty());
        let mut gone = Vec::new();
        for number in 0..100 {
            gone.extend(put(&mut answers, &format!("loud\n{number}"), 1, 1000));
            assert!(answers.bytes() <= 20_000);
        }
        assert!(gone.len() > 80);
        assert_eq!(gone[..2], ["loud\n0", "loud\n1"]);
        assert!(answers.of("quiet\nfirst").is_some());
        assert!(answers.of("loud\n99").is_some());
    }

    #[test]
    fn what_is_put_anew_and_what_is_too_old_takes_no_room() {
        let mut answers = Answers::within(20_000);
        for at in 0..50 {
            put(&mut answers, "a\nk", at, 1000);
            put(&mut answers, "b\nk", at, 1000);
        }
        assert_eq!(answers.given.len(), 2);
        assert!(!answers.forget_before(49));
        assert!(answers.forget_before(50));
        assert_eq!((answers.bytes(), answers.given.len()), (0, 0));
        assert!(answers.callers.is_empty() && answers.order.is_empty());
    }

    #[test]
    fn one_that_is_larger_than_all_may_be_is_not_taken_in() {
        let answers = Answers::within(2000);
        assert!(answers.may_hold("a\nk", "print", &"x".repeat(1000)));
        assert!(!answers.may_hold("a\nk", "print", &"x".repeat(2000)));
    }
}
