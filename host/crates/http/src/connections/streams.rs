//! How many streams of events are open for each token: each holds a connection for as long
//! as its caller likes.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::watch::Receiver;

use crate::access::{Access, Caller};
use crate::limits::ApiLimits;
use crate::problem::{Code, Problem};
use placewright_sync::Mutex;

/// How often the clock is asked whether a token has expired. It may be set meanwhile, so that
/// nobody can tell beforehand how long that takes.
const LOOK: Duration = Duration::from_secs(1);

/// The streams that are open, by token.
#[derive(Debug, Clone)]
pub struct Streams {
    per_token: usize,
    access: Arc<Access>,
    open: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

/// A stream that counts until it is dropped, for as long as its caller may do what it might when
/// the stream was opened.
#[derive(Debug)]
pub struct Stream {
    streams: Streams,
    grant: Grant,
}

/// What a caller might do when it called, for as long as it may do it still.
#[derive(Debug)]
pub struct Grant {
    caller: Caller,
    access: Arc<Access>,
    replaced: Receiver<u64>,
    is_over: bool,
}

impl Streams {
    /// As many streams as the limits say.
    pub fn new(limits: &ApiLimits, access: Arc<Access>) -> Self {
        Self {
            per_token: limits.streams_per_token,
            access,
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
            streams: self.clone(),
            grant: self.grant(caller),
        })
    }

    /// Sees when the caller may not do any more what it may now.
    pub fn grant(&self, caller: &Caller) -> Grant {
        let mut grant = Grant {
            caller: caller.clone(),
            access: self.access.clone(),
            replaced: self.access.replaced(),
            is_over: false,
        };
        // Tokens may have been replaced since the caller was let in.
        grant.look();
        grant
    }
}

impl Stream {
    /// Whether the caller may not go on.
    pub fn is_over(&mut self) -> bool {
        self.grant.is_over()
    }

    /// Returns when the caller may not go on.
    pub async fn over(&mut self) {
        self.grant.over().await;
    }
}

impl Grant {
    /// Whether the caller may not go on: its token is gone, has expired, or has another role or
    /// other clusters.
    pub fn is_over(&mut self) -> bool {
        if self.replaced.has_changed().unwrap_or(false) {
            self.replaced.mark_unchanged();
            self.look();
        }
        self.is_over |= self.access.has_expired(self.caller.expires);
        self.is_over
    }

    /// Returns when the caller may not go on.
    pub async fn over(&mut self) {
        let expires = self.caller.expires.is_some();
        while !self.is_over() {
            let changed = tokio::select! {
                changed = self.replaced.changed() => changed,
                () = tokio::time::sleep(LOOK), if expires => continue,
            };
            // The access, which this holds, never goes away.
            if changed.is_err() {
                return;
            }
            self.look();
        }
    }

    /// See whether the tokens of now still allow it.
    fn look(&mut self) {
        self.is_over |= !self.access.still_allows(&self.caller);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut open = self
            .streams
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let name = &self.grant.caller.name;
        if let Some(count) = open.get_mut(name) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(name);
            }
        }
    }
}
