//! Which connections are open, of whom, and which of them goes if another one comes.
//!
//! A connection is unknown until a request on it shows a token, or may do without one where
//! there are none. Unknown connections never take more than three quarters of the places,
//! and where they are all taken, or those that one address may have, the oldest unknown one
//! goes: whoever has a token shows it at once, and keeps its place from then on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError};
use std::task::Waker;
use std::time::Instant;

use futures_util::task::AtomicWaker;

use super::address::Address;
use super::rarely::Rarely;
use crate::access::Caller;
use crate::limits::ApiLimits;
use crate::problem::{Code, Problem};
use placewright_sync::Mutex;
use placewright_sync::atomic::{AtomicBool, Ordering};

/// The connections that are open.
#[derive(Debug)]
pub(crate) struct Register {
    bounds: Bounds,
    open: Mutex<Open>,
    /// Connections that were closed for others, or not taken.
    crowded: Rarely,
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// All connections.
    all: usize,
    /// Those that are unknown.
    unknown: usize,
    /// Those that are known: some places are left for connections that are to be known.
    known: usize,
    /// Unknown ones from one address.
    per_address: usize,
    /// Known ones of one token.
    per_token: usize,
}

#[derive(Debug, Default)]
struct Open {
    /// Connections so far: the number of each says which is older.
    count: u64,
    unknown: BTreeMap<u64, (Address, Arc<Signal>)>,
    by_address: HashMap<Address, BTreeSet<u64>>,
    known: usize,
    by_token: HashMap<Arc<str>, usize>,
}

/// Tells a connection that its place is needed.
#[derive(Debug, Default)]
struct Signal {
    needed: AtomicBool,
    waker: AtomicWaker,
}

impl Register {
    pub(crate) fn new(limits: &ApiLimits) -> Self {
        let all = limits.connections.max(1);
        Self {
            bounds: Bounds {
                all,
                unknown: (all - all / 4).max(1),
                known: (all - all / 8).max(1),
                per_address: limits.connections_per_address.max(1),
                per_token: limits.connections_per_token.max(1),
            },
            open: Mutex::default(),
            crowded: Rarely::default(),
        }
    }

    /// A place for a connection from there; others may have to go. None: there is none, as
    /// all connections have shown tokens.
    pub(super) fn admit(self: &Arc<Self>, address: Address) -> Option<Place> {
        let (place, crowded) = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let crowded = open.make_room(address, self.bounds);
            let full = open.known + open.unknown.len() >= self.bounds.all;
            let place = (!full).then(|| self.enter(&mut open, address));
            (place, crowded || full)
        };
        if crowded && let Some(connections) = self.crowded.case(Instant::now()) {
            tracing::warn!(
                connections,
                "connections without a token were closed for others, or new ones were: as many are open as are allowed, of all or from one address"
            );
        }
        place
    }

    fn enter(self: &Arc<Self>, open: &mut Open, address: Address) -> Place {
        open.count += 1;
        let (number, signal) = (open.count, Arc::new(Signal::default()));
        open.unknown.insert(number, (address, signal.clone()));
        open.by_address.entry(address).or_default().insert(number);
        Place {
            number,
            signal,
            register: self.clone(),
            token: Mutex::new(None),
        }
    }
}

impl Open {
    /// Close what must go for one more connection from there. Whether something did.
    fn make_room(&mut self, address: Address, bounds: Bounds) -> bool {
        let of_address = self.by_address.get(&address).map_or(0, BTreeSet::len);
        let from = if of_address >= bounds.per_address {
            Some(address)
        } else if self.unknown.len() >= bounds.unknown
            || self.known + self.unknown.len() >= bounds.all
        {
            // The address that has the most; of several, any: the one with the oldest.
            let most = self.by_address.iter().max_by_key(|(_, numbers)| {
                let oldest = numbers.first().copied().unwrap_or_default();
                (numbers.len(), std::cmp::Reverse(oldest))
            });
            most.map(|(address, _)| *address)
        } else {
            None
        };
        let numbers = from.and_then(|from| self.by_address.get(&from));
        let oldest = numbers.and_then(|numbers| numbers.first().copied());
        let signal = oldest.and_then(|oldest| self.forget(oldest));
        if let Some(signal) = &signal {
            signal.needed.store(true, Ordering::Release);
            signal.waker.wake();
        }
        signal.is_some()
    }

    /// An unknown connection is none any more.
    fn forget(&mut self, number: u64) -> Option<Arc<Signal>> {
        let (address, signal) = self.unknown.remove(&number)?;
        if let Some(numbers) = self.by_address.get_mut(&address) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.by_address.remove(&address);
            }
        }
        Some(signal)
    }

    fn one_less(&mut self, token: &Arc<str>) {
        self.known = self.known.saturating_sub(1);
        if let Some(count) = self.by_token.get_mut(token) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_token.remove(token);
            }
        }
    }
}

/// The place of a connection.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    signal: Arc<Signal>,
    register: Arc<Register>,
    /// The token that it counts for.
    token: Mutex<Option<Arc<str>>>,
}

impl Place {
    /// Whether another connection needs the place; if not, `waker` is woken once one does.
    pub(super) fn is_needed(&self, waker: &Waker) -> bool {
        if self.signal.needed.load(Ordering::Acquire) {
            return true;
        }
        self.signal.waker.register(waker);
        self.signal.needed.load(Ordering::Acquire)
    }

    /// A request on the connection has shown who calls: it counts for that token from now on.
    ///
    /// # Errors
    /// If the token has as many connections as it may.
    pub(crate) fn is_of(&self, caller: &Caller) -> Result<(), Problem> {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if token.as_ref() == Some(&caller.name) {
            return Ok(());
        }
        let bounds = self.register.bounds;
        // Without tokens all callers are one, and are not bounded by it.
        let most = match caller.is_anonymous() {
            true => bounds.known,
            false => bounds.per_token.min(bounds.known),
        };
        let open = self.register.open.lock();
        let mut open = open.unwrap_or_else(PoisonError::into_inner);
        let of_token = open.by_token.get(&caller.name).copied().unwrap_or(0);
        let is_new = token.is_none();
        if of_token >= most || is_new && open.known >= bounds.known {
            return Err(Problem::new(
                Code::TooManyRequests,
                format!(
                    "the token \"{}\" has {of_token} connections, and may have no more now; use fewer, for several requests each",
                    caller.name
                ),
            ));
        }
        match token.take() {
            Some(before) => open.one_less(&before),
            // One that was closed for another is not counted again.
            None if open.forget(self.number).is_none() => return Ok(()),
            None => {}
        }
        open.known += 1;
        *open.by_token.entry(caller.name.clone()).or_default() += 1;
        *token = Some(caller.name.clone());
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let token = self.token.get_mut();
        let token = token.unwrap_or_else(PoisonError::into_inner).take();
        let open = self.register.open.lock();
        let mut open = open.unwrap_or_else(PoisonError::into_inner);
        match token {
            Some(token) => open.one_less(&token),
            None => {
                open.forget(self.number);
            }
        }
    }
}

#[cfg(test)]
mod tests;
