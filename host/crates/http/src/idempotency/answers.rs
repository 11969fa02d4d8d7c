//! The answers that are kept.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};

use crate::problem::Problem;
use placewright_model::budget::Collection;

/// So many answers are kept.
const ANSWERS: usize = 10_000;
/// About what an answer takes besides its texts.
const OVERHEAD: usize = 512;

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
    pub(super) content: Content,
}

/// What an answer says.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Body(Bytes),
    Problem(Problem),
    /// Somebody else keeps it, and is asked again.
    Elsewhere,
    /// It was larger than what is kept of one answer.
    TooLarge,
}

impl Answer {
    /// About how many bytes it takes.
    fn bytes(&self) -> usize {
        let headers = self.headers.iter();
        let headers: usize = headers
            .map(|(name, value)| name.as_str().len() + value.len())
            .sum();
        headers
            + match &self.content {
                Content::Body(body) => body.len(),
                Content::Problem(problem) => problem.detail().len(),
                Content::Elsewhere | Content::TooLarge => 0,
            }
    }
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
    callers: BTreeMap<Option<Arc<str>>, Share>,
    /// How many answers there are, and the bytes that they take.
    answers: usize,
    bytes: usize,
}

/// What a caller's answers take.
#[derive(Debug, Default)]
struct Share {
    /// Each with its bytes, the oldest first.
    order: VecDeque<(Key, usize)>,
    bytes: usize,
}

/// The most bytes that one answer may take: a sixteenth, so that it drives out few others.
fn largest() -> usize {
    Collection::Repeats.most() / 16
}

impl Kept {
    fn add(&mut self, key: &Key, answer: Answer) {
        let answer = match answer.bytes() > largest() {
            true => Answer {
                content: Content::TooLarge,
                ..answer
            },
            false => answer,
        };
        // The key stands in two places.
        let bytes = OVERHEAD + 2 * (key.path.len() + key.key.len()) + answer.bytes();
        let Some(entry) = self.entries.get_mut(key) else {
            return;
        };
        entry.answer = Some(Arc::new(answer));
        let share = self.callers.entry(key.caller.clone()).or_default();
        share.order.push_back((key.clone(), bytes));
        share.bytes += bytes;
        self.answers += 1;
        self.bytes += bytes;
        while self.answers > ANSWERS && self.drop_oldest(|share| share.order.len()) {}
        while self.bytes > Collection::Repeats.most() && self.drop_oldest(|share| share.bytes) {}
    }

    /// Drop the oldest answer of the caller whose share is the greatest, so that nobody
    /// drives out the answers of those who have fewer. False if there is none.
    fn drop_oldest(&mut self, share: impl Fn(&Share) -> usize) -> bool {
        let greatest = self.callers.iter_mut().max_by_key(|(_, it)| share(it));
        let Some((caller, greatest)) = greatest else {
            return false;
        };
        if let Some((key, bytes)) = greatest.order.pop_front() {
            greatest.bytes -= bytes;
            self.bytes -= bytes;
            self.answers -= 1;
            self.entries.remove(&key);
        }
        if greatest.order.is_empty() {
            let caller = caller.clone();
            self.callers.remove(&caller);
        }
        true
    }
}

/// The answers that are kept.
#[derive(Debug, Default)]
pub(crate) struct Answers {
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
        self.answers.lock().add(&self.key, answer);
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

    fn key(caller: &str, number: usize) -> Key {
        Key {
            caller: Some(caller.into()),
            path: "/".to_owned(),
            key: number.to_string(),
        }
    }

    fn answer(body: Bytes) -> Answer {
        Answer {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            content: Content::Body(body),
        }
    }

    fn begun(answers: &Arc<Answers>, key: &Key) -> Slot {
        match answers.begin(key, [0; 32]) {
            Found::Nothing(slot) => slot,
            _ => panic!("the key {key:?} is known"),
        }
    }

    fn is_kept(answers: &Arc<Answers>, key: &Key) -> bool {
        matches!(answers.begin(key, [0; 32]), Found::Answer(_))
    }

    #[test]
    fn a_key_is_in_flight_then_answered() {
        let answers = Arc::new(Answers::default());
        let key = key("a", 1);
        let slot = begun(&answers, &key);
        assert!(matches!(answers.begin(&key, [0; 32]), Found::InFlight));
        slot.keep(answer(Bytes::from_static(b"x")));
        assert!(is_kept(&answers, &key));
        assert!(matches!(answers.begin(&key, [1; 32]), Found::Other));
    }

    #[test]
    fn a_key_without_an_answer_is_free_again() {
        let answers = Arc::new(Answers::default());
        let key = key("a", 1);
        drop(begun(&answers, &key));
        begun(&answers, &key).keep(answer(Bytes::new()));
    }

    #[test]
    fn the_oldest_answers_go_first() {
        let answers = Arc::new(Answers::default());
        for number in 0..ANSWERS + 10 {
            begun(&answers, &key("a", number)).keep(answer(Bytes::new()));
        }
        assert_eq!(answers.lock().entries.len(), ANSWERS);
        assert!(!is_kept(&answers, &key("a", 9)));
        assert!(is_kept(&answers, &key("a", 10)));
        let large = Bytes::from(vec![0; largest() - 1]);
        for number in 1..=17 {
            let key = key("a", ANSWERS * 2 + number);
            begun(&answers, &key).keep(answer(large.clone()));
        }
        let kept = answers.lock();
        assert!(kept.bytes <= Collection::Repeats.most(), "{}", kept.bytes);
        assert!(kept.entries.contains_key(&key("a", ANSWERS * 2 + 17)));
        let order: usize = kept.callers.values().map(|share| share.order.len()).sum();
        assert_eq!((kept.answers, kept.entries.len()), (order, order));
    }

    #[test]
    fn a_caller_with_many_answers_drives_out_none_of_others() {
        let answers = Arc::new(Answers::default());
        begun(&answers, &key("few", 1)).keep(answer(Bytes::new()));
        for number in 0..2 * ANSWERS {
            begun(&answers, &key("many", number)).keep(answer(Bytes::new()));
        }
        let large = Bytes::from(vec![0; largest()]);
        for number in 0..40 {
            begun(&answers, &key("large", number)).keep(answer(large.clone()));
        }
        assert!(is_kept(&answers, &key("few", 1)));
        assert!(is_kept(&answers, &key("many", 2 * ANSWERS - 1)));
        assert!(answers.lock().bytes <= Collection::Repeats.most());
    }

    #[test]
    fn of_an_answer_that_is_too_large_is_kept_that_there_was_one() {
        let answers = Arc::new(Answers::default());
        begun(&answers, &key("a", 1)).keep(answer(Bytes::new()));
        let huge = Bytes::from(vec![0; Collection::Repeats.most() + 1]);
        begun(&answers, &key("a", 2)).keep(answer(huge));
        assert!(is_kept(&answers, &key("a", 1)));
        match answers.begin(&key("a", 2), [0; 32]) {
            Found::Answer(answer) => assert!(matches!(answer.content, Content::TooLarge)),
            _ => panic!("it would be carried out once more"),
        }
    }
}
