//! Which connections are open, of whom, and which of them goes if another one comes.
//!
//! A connection is unknown until a request on it shows a token, or may do without one where
//! there are none. Unknown connections never take more than three quarters of the places,
//! and where they are all taken, or those that one address may have, the oldest unknown one
//! goes: whoever has a token shows it at once. It keeps its place from then on, unless all
//! places for known ones are taken and another token has fewer: then the token with the most
//! gives up the one that is idle for the longest time. Some places are for admins alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError};
use std::task::Waker;
use std::time::Instant;

use super::address::Address;
use super::known::{Known, Room};
use super::rarely::Rarely;
use super::signal::Signal;
use crate::access::Caller;
use crate::limits::ApiLimits;
use crate::permission::Role;
use crate::problem::{Code, Problem};
use placewright_sync::Mutex;
use placewright_sync::atomic::{AtomicU64, Ordering};

/// The connections that are open.
#[derive(Debug)]
pub(crate) struct Register {
    bounds: Bounds,
    open: Mutex<Open>,
    /// Counts uses of connections: which of two was used later.
    clock: AtomicU64,
    /// Connections that were closed for others, or not taken.
    crowded: Rarely,
    /// Known ones that were closed for those of other tokens.
    shared: Rarely,
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// All connections.
    all: usize,
    /// Those that are unknown.
    unknown: usize,
    /// Those that are known: some places are left for connections that are to be known, and
    /// some are for admins alone.
    known: Room,
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
    known: Known,
}

impl Register {
    pub(crate) fn new(limits: &ApiLimits) -> Self {
        let all = limits.connections.max(1);
        let known = (all - all / 8).max(1);
        Self {
            bounds: Bounds {
                all,
                unknown: (all - all / 4).max(1),
                known: Room {
                    all: known,
                    others: (known - all / 16).max(1),
                },
                per_address: limits.connections_per_address.max(1),
                per_token: limits.connections_per_token.max(1),
            },
            open: Mutex::default(),
            clock: AtomicU64::new(0),
            crowded: Rarely::default(),
            shared: Rarely::default(),
        }
    }

    /// A place for a connection from there; others may have to go. None: there is none, as
    /// all connections have shown tokens.
    pub(super) fn admit(self: &Arc<Self>, address: Address) -> Option<Place> {
        let (place, crowded) = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let crowded = open.make_room(address, self.bounds);
            let full = open.known.count() + open.unknown.len() >= self.bounds.all;
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
        open.add_unknown(number, address, signal.clone());
        Place {
            number,
            address,
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
            || self.known.count() + self.unknown.len() >= bounds.all
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
            signal.is_needed();
        }
        signal.is_some()
    }

    fn add_unknown(&mut self, number: u64, address: Address, signal: Arc<Signal>) {
        self.unknown.insert(number, (address, signal));
        self.by_address.entry(address).or_default().insert(number);
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
}

/// The place of a connection.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    address: Address,
    signal: Arc<Signal>,
    register: Arc<Register>,
    /// The token that it counts for.
    token: Mutex<Option<Arc<str>>>,
}

/// A request that has no answer yet, until this is dropped: its connection is in use.
#[derive(Debug)]
pub(crate) struct InWork(Arc<Place>);

impl Drop for InWork {
    fn drop(&mut self) {
        self.0.signal.request(false, self.0.register.now());
    }
}

impl Register {
    /// The next moment of the clock that counts uses.
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }
}

impl Place {
    /// Whether another connection needs the place; if not, `waker` is woken once one does.
    pub(super) fn is_needed(&self, waker: &Waker) -> bool {
        self.signal.look(waker)
    }

    /// The peer has taken something.
    pub(super) fn moves(&self) {
        self.signal.touch(self.register.now());
    }

    /// A request on the connection has shown who calls: it counts for that token from now on,
    /// and is in use until what is given is dropped.
    ///
    /// # Errors
    /// If the token has as many connections as it may.
    pub(crate) fn is_of(self: &Arc<Self>, caller: &Caller) -> Result<InWork, Problem> {
        self.count_for(caller)?;
        self.signal.request(true, self.register.now());
        Ok(InWork(self.clone()))
    }

    /// A request on the connection has shown nothing that is known: it counts for its address
    /// again, so that a token that was taken away holds no place.
    pub(crate) fn is_of_nobody(&self) {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = token.take() else { return };
        let open = self.register.open.lock();
        let mut open = open.unwrap_or_else(PoisonError::into_inner);
        if open.known.remove(&before, self.number).is_some() {
            open.make_room(self.address, self.register.bounds);
            open.add_unknown(self.number, self.address, self.signal.clone());
        }
    }

    fn count_for(&self, caller: &Caller) -> Result<(), Problem> {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if token.as_ref() == Some(&caller.name) {
            return Ok(());
        }
        let bounds = self.register.bounds;
        let is_admin = caller.role == Role::Admin;
        // Without tokens all callers are one, and are not bounded by it.
        let most = match caller.is_anonymous() {
            true => bounds.known.all,
            false => bounds.per_token.min(bounds.known.all),
        };
        let open = self.register.open.lock();
        let mut open = open.unwrap_or_else(PoisonError::into_inner);
        let of_token = open.known.of(&caller.name);
        let is_closed = match &*token {
            Some(before) => open.known.remove(before, self.number).is_none(),
            None => !open.unknown.contains_key(&self.number),
        };
        if is_closed {
            // One that was closed for another is not counted again.
            *token = None;
            return Ok(());
        }
        let before = open.known.count();
        if of_token >= most || !open.known.make_room(&caller.name, is_admin, bounds.known) {
            if token.take().is_some() {
                open.add_unknown(self.number, self.address, self.signal.clone());
            }
            return Err(Problem::new(
                Code::TooManyRequests,
                format!(
                    "the token \"{}\" has {of_token} connections, and may have no more now; use fewer, for several requests each",
                    caller.name
                ),
            ));
        }
        let has_closed_one = open.known.count() < before;
        if token.is_none() {
            open.forget(self.number);
        }
        let entry = (&caller.name, is_admin);
        open.known.insert(entry, self.number, self.signal.clone());
        *token = Some(caller.name.clone());
        drop(open);
        if has_closed_one && let Some(connections) = self.register.shared.case(Instant::now()) {
            tracing::warn!(
                connections,
                "idle connections of the token with the most were closed for those of others: as many are open as are allowed"
            );
        }
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
            Some(token) => drop(open.known.remove(&token, self.number)),
            None => drop(open.forget(self.number)),
        }
    }
}

#[cfg(test)]
mod tests;
