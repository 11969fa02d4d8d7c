//! Work that takes long shares a bounded number of threads, fairly between clusters and between
//! callers: next is one about the cluster with the fewest under way, of the caller with the
//! fewest, and of those alike, one that was served least lately.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::document::aside;
use super::gone::Gone;
use super::problem::{Code, Problem};
use placewright_scheduler::Cancel;

/// How many of one caller may wait.
const WAITING_OF_ONE: usize = 32;

/// How many of all callers may wait. Beyond that there is a place for each caller of whom
/// nothing waits.
const WAITING: usize = 256;

/// The threads for work of one kind.
#[derive(Debug)]
pub struct Pool {
    /// What it is for, in sentences: a word for many.
    what: &'static str,
    state: Mutex<State>,
    slots: Slots,
    /// How long one may take, once it has begun.
    limit: Duration,
}

/// How many may be under way at the same time.
#[derive(Debug, Clone, Copy)]
struct Slots {
    all: usize,
    of_caller: usize,
    of_cluster: usize,
}

#[derive(Debug, Default)]
struct State {
    /// In the order in which they came, by number.
    waiting: BTreeMap<u64, Waiting>,
    next: u64,
    /// How many are under way.
    running: usize,
    /// By caller and by cluster; those of whom nothing is waiting or under way are left out.
    callers: BTreeMap<Arc<str>, Served>,
    clusters: BTreeMap<Option<Arc<str>>, Served>,
    served: u64,
}

/// How a caller or a cluster was served.
#[derive(Debug, Clone, Copy, Default)]
struct Served {
    running: usize,
    waiting: usize,
    /// The place of the last one that began among all.
    last: u64,
}

#[derive(Debug)]
struct Waiting {
    about: About,
    begin: oneshot::Sender<Permit>,
}

/// Who asks, and of which cluster.
#[derive(Debug, Clone)]
pub(crate) struct About {
    pub(crate) caller: Arc<str>,
    /// None: it is about the server.
    pub(crate) cluster: Option<Arc<str>>,
}

/// Work that is under way, until this is dropped.
#[derive(Debug)]
pub struct Permit {
    pool: Arc<Pool>,
    about: About,
}

/// Work that waits; dropped, it waits no more.
struct Place {
    pool: Arc<Pool>,
    number: u64,
}

impl Pool {
    /// At most so many of what it is for at the same time, each for so long. One caller has half
    /// of the places at most, and one cluster all but one, so that others need not wait for the
    /// end of something long.
    pub fn new(what: &'static str, slots: usize, limit: Duration) -> Arc<Self> {
        let slots = Slots {
            all: slots.max(1),
            of_caller: (slots / 2).max(1),
            of_cluster: slots.saturating_sub(1).max(1),
        };
        Arc::new(Self {
            what,
            state: Mutex::default(),
            slots,
            limit,
        })
    }

    /// Have `work` done when it is its turn. What it is given ends it when its time is up, or
    /// the caller waits no more.
    ///
    /// # Errors
    /// Those of the work, and that too many wait already.
    pub async fn run<T, E>(
        self: &Arc<Self>,
        (caller, cluster): (&Arc<str>, &Arc<str>),
        work: impl FnOnce(Cancel) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: Into<Problem> + Send + 'static,
    {
        let about = About {
            caller: caller.clone(),
            cluster: Some(cluster.clone()),
        };
        let permit = self.admit(about).await?;
        let gone = Gone::default();
        let cancel = gone.cancel().within(self.limit);
        // The place is free when the work has ended, whether or not anybody waits for it.
        let done = aside(move || {
            let _permit = permit;
            work(cancel)
        });
        let done = done.await;
        drop(gone);
        done
    }

    /// Wait for a place, and hold it as long as what is given.
    ///
    /// # Errors
    /// If too many wait already.
    pub async fn place(
        self: &Arc<Self>,
        caller: &Arc<str>,
        cluster: Option<&Arc<str>>,
    ) -> Result<Permit, Problem> {
        let about = About {
            caller: caller.clone(),
            cluster: cluster.cloned(),
        };
        self.admit(about).await
    }

    pub(crate) async fn admit(self: &Arc<Self>, about: About) -> Result<Permit, Problem> {
        let (receiver, place) = self.enqueue(about)?;
        let permit = receiver.await;
        drop(place);
        permit.map_err(|_| Problem::new(Code::Unavailable, "the server stops"))
    }

    fn enqueue(
        self: &Arc<Self>,
        about: About,
    ) -> Result<(oneshot::Receiver<Permit>, Place), Problem> {
        let mut state = self.lock();
        let of_one = state.callers.get(&about.caller).map_or(0, |it| it.waiting);
        if of_one >= WAITING_OF_ONE {
            let what = self.what;
            let sentence = format!("{of_one} of your {what} wait already: ask again later");
            return Err(Problem::new(Code::TooManyRequests, sentence));
        }
        if of_one > 0 && state.waiting.len() >= WAITING {
            let what = self.what;
            let sentence = format!("{WAITING} {what} wait already: ask again later");
            return Err(Problem::new(Code::Unavailable, sentence));
        }
        let (begin, receiver) = oneshot::channel();
        let number = state.next;
        state.next += 1;
        state.count(&about, |served| served.waiting += 1);
        state.waiting.insert(number, Waiting { about, begin });
        drop(state);
        self.begin();
        let pool = self.clone();
        Ok((receiver, Place { pool, number }))
    }

    /// Let work begin as long as there is room.
    fn begin(self: &Arc<Self>) {
        loop {
            let next = self.lock().take_next(self.slots);
            let Some(Waiting { about, begin }) = next else {
                return;
            };
            let permit = Permit {
                pool: self.clone(),
                about,
            };
            // Whoever has gone meanwhile gives it back.
            let _ = begin.send(permit);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Change what is counted of a caller, and of a cluster.
    fn count(&mut self, about: &About, change: impl Fn(&mut Served)) {
        let (of_caller, of_cluster) = (
            self.callers.entry(about.caller.clone()).or_default(),
            self.clusters.entry(about.cluster.clone()).or_default(),
        );
        change(of_caller);
        change(of_cluster);
        let is_idle = |served: &Served| served.running == 0 && served.waiting == 0;
        if is_idle(of_cluster) {
            self.clusters.remove(&about.cluster);
        }
        if is_idle(of_caller) {
            self.callers.remove(&about.caller);
        }
    }

    /// Take the one out that begins next, if there is room for one.
    fn take_next(&mut self, slots: Slots) -> Option<Waiting> {
        if self.running >= slots.all {
            return None;
        }
        let rank = |number: u64, about: &About| {
            let of_caller = self.callers.get(&about.caller).copied().unwrap_or_default();
            let of_cluster = self.clusters.get(&about.cluster).copied();
            let of_cluster = of_cluster.unwrap_or_default();
            // What is about the server is about nobody's cluster.
            let may = of_caller.running < slots.of_caller
                && (about.cluster.is_none() || of_cluster.running < slots.of_cluster);
            let under_way = (of_cluster.running, of_caller.running);
            may.then_some((under_way, of_cluster.last, of_caller.last, number))
        };
        let ranked = self.waiting.iter();
        let ranked = ranked.filter_map(|(number, it)| Some((rank(*number, &it.about)?, *number)));
        let (_, number) = ranked.min()?;
        let next = self.waiting.remove(&number)?;
        self.running += 1;
        self.served += 1;
        let last = self.served;
        self.count(&next.about, |served| {
            served.waiting -= 1;
            served.running += 1;
            served.last = last;
        });
        Some(next)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        {
            let mut state = self.pool.lock();
            state.running -= 1;
            state.count(&self.about, |served| served.running -= 1);
        }
        self.pool.begin();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        if let Some(waiting) = state.waiting.remove(&self.number) {
            state.count(&waiting.about, |served| served.waiting -= 1);
        }
    }
}

#[cfg(test)]
mod tests;
