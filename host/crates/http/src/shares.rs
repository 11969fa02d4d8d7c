//! A share of something for each of those who have some of it at the moment.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, Weak};

use tokio::sync::Semaphore;

use placewright_sync::Mutex;

/// The shares of all who have some. Nothing is remembered of whoever has none any more.
#[derive(Debug)]
pub(super) struct Shares<K> {
    most: usize,
    holders: Mutex<HashMap<K, Weak<Semaphore>>>,
}

impl<K: Eq + Hash> Shares<K> {
    /// Shares of so much each.
    pub(super) fn of_each(most: usize) -> Self {
        Self {
            most,
            holders: Mutex::default(),
        }
    }

    /// The most of one share.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// What is free of the share of that holder.
    pub(super) fn of(&self, holder: K) -> Arc<Semaphore> {
        let mut holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = holders.get(&holder).and_then(Weak::upgrade) {
            return share;
        }
        holders.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.most));
        holders.insert(holder, Arc::downgrade(&share));
        share
    }
}
