//! The connections that have shown a token, and which of them goes for one of another token.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::signal::Signal;

/// A token keeps so many connections even while requests on them are in work: another token
/// gets a place from one that has more.
pub(super) const GUARANTEED: usize = 8;

/// The connections that have shown a token.
#[derive(Debug, Default)]
pub(super) struct Known {
    holders: HashMap<Arc<str>, Holder>,
    count: usize,
}

/// The connections of one token.
#[derive(Debug, Default)]
struct Holder {
    is_admin: bool,
    connections: HashMap<u64, Arc<Signal>>,
}

/// How many there may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Of all tokens.
    pub all: usize,
    /// Of tokens that are no admin's.
    pub others: usize,
}

impl Known {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// How many the token has.
    pub(super) fn of(&self, token: &str) -> usize {
        let holder = self.holders.get(token);
        holder.map_or(0, |holder| holder.connections.len())
    }

    /// Make room for one more connection of that token, if there is none: the one that goes is
    /// told so. False if nobody has to give one.
    pub(super) fn make_room(&mut self, token: &str, is_admin: bool, room: Room) -> bool {
        let others = self.holders.values().filter(|holder| !holder.is_admin);
        let others: usize = others.map(|holder| holder.connections.len()).sum();
        let is_short_of_others = !is_admin && others >= room.others;
        if self.count < room.all && !is_short_of_others {
            return true;
        }
        let has = self.of(token);
        // Admins have places that nobody else takes, so an admin's are not taken for others.
        let holders = self.holders.iter();
        let greatest = holders
            .filter(|(_, holder)| !(is_short_of_others && holder.is_admin))
            .max_by_key(|(_, holder)| {
                let used = holder.connections.values().map(|signal| signal.used());
                (holder.connections.len(), Reverse(used.min()))
            });
        let Some((greatest, holder)) = greatest else {
            return false;
        };
        // Else the two would take them from each other for ever.
        if holder.connections.len() <= has + 1 {
            return false;
        }
        let may_be_busy = has < GUARANTEED;
        let idle_longest = holder
            .connections
            .iter()
            .filter(|(_, signal)| may_be_busy || !signal.is_busy())
            .min_by_key(|(_, signal)| (signal.is_busy(), signal.used()));
        let Some(number) = idle_longest.map(|(number, _)| *number) else {
            return false;
        };
        let greatest = greatest.clone();
        if let Some(signal) = self.remove(&greatest, number) {
            signal.is_needed();
        }
        true
    }

    /// One more.
    pub(super) fn insert(
        &mut self,
        (token, is_admin): (&Arc<str>, bool),
        number: u64,
        signal: Arc<Signal>,
    ) {
        let holder = self.holders.entry(token.clone()).or_default();
        holder.is_admin = is_admin;
        self.count += usize::from(holder.connections.insert(number, signal).is_none());
    }

    /// It is none of the token's any more. None if it was none: it had to go for another.
    pub(super) fn remove(&mut self, token: &Arc<str>, number: u64) -> Option<Arc<Signal>> {
        let holder = self.holders.get_mut(token)?;
        let signal = holder.connections.remove(&number)?;
        self.count -= 1;
        if holder.connections.is_empty() {
            self.holders.remove(token);
        }
        Some(signal)
    }

    /// Whether there are none, and nothing is remembered of any.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.holders.is_empty()
    }
}
