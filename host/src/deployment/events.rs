//! What happens in a deployment, told to whoever listens.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use serde::Serialize;
use tokio::sync::broadcast;

use crate::sync::Mutex;

/// How many events are remembered, for listeners that come back.
const REMEMBERED: usize = 1024;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Event {
    /// Counts up from 1 since the start of the deployment.
    pub number: u64,
    /// Seconds since 1970-01-01 UTC.
    pub at: i64,
    /// What happened, in one word: `unit-in-force`.
    pub kind: &'static str,
    /// The cluster that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Arc<str>>,
    /// The unit that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Arc<str>>,
    /// The policy that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Arc<str>>,
    /// A sentence for people.
    pub message: String,
}

/// An event that is about to be told.
#[derive(Debug, Clone, Default)]
pub struct News {
    pub kind: &'static str,
    pub cluster: Option<Arc<str>>,
    pub unit: Option<Arc<str>>,
    pub policy: Option<Arc<str>>,
    pub message: String,
}

/// The events of a deployment.
#[derive(Debug)]
pub struct Events {
    told: Mutex<Told>,
    listeners: broadcast::Sender<Arc<Event>>,
}

#[derive(Debug, Default)]
struct Told {
    next: u64,
    last: VecDeque<Arc<Event>>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            told: Mutex::default(),
            listeners: broadcast::channel(REMEMBERED).0,
        }
    }
}

impl Events {
    /// Tell of something that happened at `at` (seconds).
    pub fn tell(&self, at: i64, news: News) {
        let News {
            kind,
            cluster,
            unit,
            policy,
            message,
        } = news;
        tracing::info!(
            kind,
            cluster = cluster.as_deref(),
            unit = unit.as_deref(),
            policy = policy.as_deref(),
            "{message}"
        );
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.next += 1;
        let event = Arc::new(Event {
            number: told.next,
            at,
            kind,
            cluster,
            unit,
            policy,
            message,
        });
        if told.last.len() == REMEMBERED {
            told.last.pop_front();
        }
        told.last.push_back(event.clone());
        // Under the lock, so that listeners get events in the order of their numbers.
        // Without listeners nobody is told.
        let _ = self.listeners.send(event);
    }

    /// The events after number `after` that are remembered, and those to come.
    pub fn listen(&self, after: u64) -> (Vec<Arc<Event>>, broadcast::Receiver<Arc<Event>>) {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let since = told.last.iter().filter(|event| event.number > after);
        (since.cloned().collect(), self.listeners.subscribe())
    }

    /// The number of the last event; 0 before the first.
    pub fn last(&self) -> u64 {
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(message: &str) -> News {
        News {
            kind: "test",
            message: message.to_owned(),
            ..News::default()
        }
    }

    #[test]
    fn whoever_comes_back_misses_nothing_that_is_remembered() {
        let events = Events::default();
        for number in 0..3 {
            events.tell(number, news(&number.to_string()));
        }
        let (missed, mut to_come) = events.listen(1);
        let numbers: Vec<u64> = missed.iter().map(|event| event.number).collect();
        assert_eq!(numbers, [2, 3]);
        events.tell(9, news("later"));
        assert_eq!(to_come.try_recv().unwrap().number, 4);
        assert_eq!(events.last(), 4);
    }

    #[test]
    fn the_memory_of_events_is_bounded() {
        let events = Events::default();
        for number in 0..2000 {
            events.tell(number, news("again"));
        }
        assert_eq!(events.listen(0).0.len(), REMEMBERED);
        assert_eq!(events.listen(0).0[0].number, 2001 - REMEMBERED as u64);
    }
}
