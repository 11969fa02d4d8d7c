//! The answers that are kept.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};

use crate::api::problem::Problem;

/// So many answers are kept.
const ANSWERS: usize = 10_000;
/// Their bodies have so many bytes together.
const BYTES: usize = 64 << 20;

/// Two requests are the same if the same caller gives the same key on the same path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) caller: Option<Arc<str>>,
    pub(super) path: String,
    pub(super) key: String,
}

/// An answer that is kept.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) problem: Option<Problem>,
}

/// What is known of a key.
pub(super) enum Found {
    /// This is its answer.
    Answer(Arc<Answer>),
    /// Its request is being carried out.
    InFlight,
    /// It belongs to a request with another body.
    Other,
    /// Nothing; it is yours.
    Nothing(Slot),
}

#[derive(Debug)]
struct Entry {
    /// SHA-256 of the request's body.
    digest: [u8; 32],
    /// None while it is being carried out.
    answer: Option<Arc<Answer>>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: HashMap<Key, Entry>,
    /// Those with answers, oldest first.
    order: VecDeque<Key>,
    bytes: usize,
}

/// The answers that are kept.
#[derive(Debug, Default)]
pub struct Answers {
    kept: Mutex<Kept>,
}

impl Answers {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Look up a key; one that is not known is in flight from now on.
    pub(super) fn begin(self: &Arc<Self>, key: &Key, digest: [u8; 32]) -> Found {
        let mut kept = self.lock();
        match kept.entries.get(key) {
            Some(entry) if entry.digest != digest => Found::Other,
            Some(Entry { answer: None, .. }) => Found::InFlight,
            Some(Entry {
                answer: Some(answer),
                ..
            }) => Found::Answer(answer.clone()),
            None => {
                let answer = None;
                kept.entries.insert(key.clone(), Entry { digest, answer });
                Found::Nothing(Slot {
                    answers: self.clone(),
                    key: key.clone(),
                })
            }
        }
    }
}

/// A request in flight. Without an answer its key is free again.
pub(super) struct Slot {
    answers: Arc<Answers>,
    key: Key,
}

impl Slot {
    /// The request was answered.
    pub(super) fn keep(self, answer: Answer) {
        let mut guard = self.answers.lock();
        let kept = &mut *guard;
        kept.bytes += answer.body.len();
        kept.order.push_back(self.key.clone());
        if let Some(entry) = kept.entries.get_mut(&self.key) {
            entry.answer = Some(Arc::new(answer));
        }
        while kept.order.len() > ANSWERS || kept.bytes > BYTES {
            let Some(oldest) = kept.order.pop_front() else {
                break;
            };
            let answer = kept.entries.remove(&oldest).and_then(|entry| entry.answer);
            kept.bytes -= answer.map_or(0, |answer| answer.body.len());
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut kept = self.answers.lock();
        let open = kept.entries.get(&self.key);
        if open.is_some_and(|entry| entry.answer.is_none()) {
            kept.entries.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        Key {
            caller: None,
            path: "/".to_owned(),
            key: number.to_string(),
        }
    }

    fn answer(body: Bytes) -> Answer {
        Answer {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body,
            problem: None,
        }
    }

    fn begun(answers: &Arc<Answers>, number: usize) -> Slot {
        match answers.begin(&key(number), [0; 32]) {
            Found::Nothing(slot) => slot,
            _ => panic!("the key {number} is known"),
        }
    }

    #[test]
    fn a_key_is_in_flight_then_answered() {
        let answers = Arc::new(Answers::default());
        let slot = begun(&answers, 1);
        assert!(matches!(answers.begin(&key(1), [0; 32]), Found::InFlight));
        slot.keep(answer(Bytes::from_static(b"x")));
        assert!(matches!(answers.begin(&key(1), [0; 32]), Found::Answer(_)));
        assert!(matches!(answers.begin(&key(1), [1; 32]), Found::Other));
    }

    #[test]
    fn a_key_without_an_answer_is_free_again() {
        let answers = Arc::new(Answers::default());
        drop(begun(&answers, 1));
        begun(&answers, 1).keep(answer(Bytes::new()));
    }

    #[test]
    fn the_oldest_answers_go_first() {
        let answers = Arc::new(Answers::default());
        for number in 0..ANSWERS + 10 {
            begun(&answers, number).keep(answer(Bytes::new()));
        }
        assert_eq!(answers.lock().entries.len(), ANSWERS);
        let large = Bytes::from(vec![0; BYTES / 2]);
        for number in 1..=3 {
            begun(&answers, ANSWERS * 2 + number).keep(answer(large.clone()));
        }
        let kept = answers.lock();
        assert!(kept.bytes <= BYTES);
        assert!(kept.entries.contains_key(&key(ANSWERS * 2 + 3)));
        assert_eq!(kept.entries.len(), kept.order.len());
    }
}
