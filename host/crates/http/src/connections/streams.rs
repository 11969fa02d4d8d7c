//! How many streams of events are open for each token: each holds a connection for as long
//! as its caller likes.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use crate::access::Caller;
use crate::limits::ApiLimits;
use crate::problem::{Code, Problem};
use placewright_sync::Mutex;

/// The streams that are open, by token.
#[derive(Debug, Clone)]
pub struct Streams {
    per_token: usize,
    open: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

/// A stream that counts until it is dropped.
#[derive(Debug)]
pub struct Stream {
    token: Arc<str>,
    streams: Streams,
}

impl Streams {
    /// As many streams as the limits say.
    pub fn new(limits: &ApiLimits) -> Self {
        Self {
            per_token: limits.streams_per_token,
            open: Arc::default(),
        }
    }

    /// One more stream for the caller.
    ///
    /// # Errors
    /// If it has as many as it may.
    pub fn open(&self, caller: &Caller) -> Result<Stream, Problem> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(caller.name.clone()).or_default();
        if *count >= self.per_token {
            return Err(Problem::new(
                Code::TooManyRequests,
                format!(
                    "the token \"{}\" follows events on {count} connections, and may have no more, as the option streams-per-token says",
                    caller.name
                ),
            ));
        }
        *count += 1;
        Ok(Stream {
            token: caller.name.clone(),
            streams: self.clone(),
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut open = self
            .streams
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.token) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(&self.token);
            }
        }
    }
}
