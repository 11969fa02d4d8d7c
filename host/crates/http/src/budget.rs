//! How many bytes the bodies of all requests in work, or all answers that are on their way, may
//! take together, and those of one caller and of one cluster.
//!
//! A caller has half at most, or as much as the largest body; so have all callers together on
//! one cluster. An eighth is for callers that hold nothing else, each a small part of it: when
//! others have taken all the rest, what is small still goes on.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::problem::{Code, Problem};
use crate::shares::Shares;
use placewright_sync::atomic::{AtomicUsize, Ordering};

/// How long whoever finds no room waits for others to be done.
const WAIT: Duration = Duration::from_secs(5);

/// The part of all that is for callers that hold nothing else.
const RESERVE: usize = 8;

/// The part of that which one of them may have.
const OF_RESERVE: usize = 8;

/// What a budget is for, in sentences.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Purpose {
    /// What takes the bytes.
    pub what: &'static str,
    /// The option that says how many there are, if there is one.
    pub option: Option<&'static str>,
}

/// Bytes that are shared.
#[derive(Debug)]
pub(crate) struct Budget {
    purpose: Purpose,
    bytes: usize,
    /// The most of the reserve for one caller.
    of_reserve: usize,
    wait: Duration,
    common: Arc<Semaphore>,
    reserve: Arc<Semaphore>,
    /// Of each caller, and of each cluster.
    shares: Shares<Holder>,
    /// How many wait for room that others have.
    waiting: AtomicUsize,
}

/// Who has a share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Holder {
    Caller(Option<Arc<str>>),
    Cluster(Arc<str>),
}

impl Budget {
    /// So many bytes, of which the largest single one takes that many.
    pub(crate) fn new(purpose: Purpose, bytes: usize, largest: usize) -> Self {
        // The largest must fit, and what is counted into a semaphore.
        let most = u32::MAX as usize;
        let largest = largest.min(most);
        let bytes = bytes.clamp(largest, most);
        let reserve = (bytes / RESERVE).min(bytes - largest);
        Self {
            purpose,
            bytes,
            of_reserve: reserve / OF_RESERVE,
            wait: WAIT,
            common: Arc::new(Semaphore::new(bytes - reserve)),
            reserve: Arc::new(Semaphore::new(reserve)),
            shares: Shares::of_each((bytes / 2).max(largest)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// The same, where whoever finds no room waits for so long.
    pub(crate) fn waiting_for(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// The most that one caller may take.
    pub(crate) fn share(&self) -> usize {
        self.shares.most()
    }

    /// Whether somebody waits for room that others have.
    pub(crate) fn is_short(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

/// What one body, or one answer, takes of a budget, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    budget: Arc<Budget>,
    /// Of whom it takes a share.
    caller: Option<Arc<str>>,
    cluster: Option<Arc<str>>,
    bytes: usize,
    /// Those of the shares, of what all have, and of the reserve.
    permits: Vec<OwnedSemaphorePermit>,
    common: Option<OwnedSemaphorePermit>,
    reserve: Option<OwnedSemaphorePermit>,
}

/// Somebody waits until this is dropped.
struct Waits<'b>(&'b Budget);

impl<'b> Waits<'b> {
    fn on(budget: &'b Budget) -> Self {
        budget.waiting.fetch_add(1, Ordering::Relaxed);
        Self(budget)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Held {
    /// Nothing so far, for that caller on that cluster.
    pub(crate) fn new(
        budget: &Arc<Budget>,
        caller: Option<&Arc<str>>,
        cluster: Option<&Arc<str>>,
    ) -> Self {
        Self {
            budget: budget.clone(),
            caller: caller.cloned(),
            cluster: cluster.cloned(),
            bytes: 0,
            permits: Vec::new(),
            common: None,
            reserve: None,
        }
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether somebody else waits for room.
    pub(crate) fn is_wanted(&self) -> bool {
        self.bytes > 0 && self.budget.is_short()
    }

    /// Take so many bytes altogether. Those that come at once are served in their order, byte
    /// by byte: a small one does not wait for the end of a large one.
    ///
    /// # Errors
    /// If there was no room for some seconds.
    pub(crate) async fn grow_to(&mut self, bytes: usize) -> Result<(), Problem> {
        let more = bytes.saturating_sub(self.bytes);
        let budget = self.budget.clone();
        let until = Instant::now() + budget.wait;
        let own = budget.shares.of(Holder::Caller(self.caller.clone()));
        let on_cluster = self.cluster.clone().map(Holder::Cluster);
        let on_cluster = on_cluster.map(|holder| budget.shares.of(holder));
        let mut shares = Vec::with_capacity(2);
        for (share, is_own) in [(Some(own.clone()), true), (on_cluster, false)] {
            let Some(share) = share else { continue };
            match take(&budget, share, is_own, more, until).await {
                Some(permit) => shares.push(permit),
                None if is_own => return Err(self.none_of_own()),
                None => return Err(self.none_of_cluster()),
            }
        }
        // The share of the caller has what is not taken: it holds nothing but this.
        let is_alone = own.available_permits() + bytes >= budget.share();
        let of_reserve = self.reserve.as_ref().map_or(0, |it| it.num_permits());
        let may_have_reserve = is_alone && of_reserve + more <= budget.of_reserve;
        self.take_room(&budget, more, may_have_reserve, until)
            .await?;
        match self.permits.is_empty() {
            true => self.permits = shares,
            false => {
                for (held, more) in self.permits.iter_mut().zip(shares) {
                    held.merge(more);
                }
            }
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Take so many bytes altogether if they are there. Gives whether they were.
    pub(crate) fn try_grow_to(&mut self, bytes: usize) -> bool {
        let taking = std::pin::pin!(self.grow_to(bytes));
        // What is there is taken without waiting.
        matches!(futures_util::FutureExt::now_or_never(taking), Some(Ok(())))
    }

    /// Hold at least so many bytes, or the whole share, and then `step` more, on a thread that may
    /// wait.
    ///
    /// # Errors
    /// If there was no room for some seconds.
    pub(crate) fn wait_to_grow(&mut self, bytes: usize, step: usize) -> Result<(), Problem> {
        let wanted = bytes.min(self.budget.share());
        if wanted <= self.bytes {
            return Ok(());
        }
        let ahead = bytes.saturating_add(step).min(self.budget.share());
        match self.try_grow_to(ahead) {
            true => Ok(()),
            false => Handle::current().block_on(self.grow_to(wanted)),
        }
    }

    /// Take of what all have, or of the reserve.
    async fn take_room(
        &mut self,
        budget: &Budget,
        more: usize,
        may_have_reserve: bool,
        until: Instant,
    ) -> Result<(), Problem> {
        let permits = u32::try_from(more).unwrap_or(u32::MAX);
        if let Ok(permit) = budget.common.clone().try_acquire_many_owned(permits) {
            add(&mut self.common, permit);
            return Ok(());
        }
        if may_have_reserve
            && let Ok(permit) = budget.reserve.clone().try_acquire_many_owned(permits)
        {
            add(&mut self.reserve, permit);
            return Ok(());
        }
        match take(budget, budget.common.clone(), false, more, until).await {
            Some(permit) => {
                add(&mut self.common, permit);
                Ok(())
            }
            None => Err(self.none_at_all()),
        }
    }

    /// Give back all but so many bytes.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let mut less = self.bytes.saturating_sub(bytes);
        self.bytes -= less;
        for permit in &mut self.permits {
            drop(permit.split(less));
        }
        for of in [&mut self.reserve, &mut self.common].into_iter().flatten() {
            let given = less.min(of.num_permits());
            drop(of.split(given));
            less -= given;
        }
    }

    fn none_of_own(&self) -> Problem {
        let whose = " of yours";
        let all = format!("{} bytes that those of one caller may", self.budget.share());
        let then = "wait for those, then ask again";
        self.no_room(Code::TooManyRequests, whose, &all, then)
    }

    fn none_of_cluster(&self) -> Problem {
        let whose = " of this cluster";
        let all = format!(
            "{} bytes that those of one cluster may",
            self.budget.share()
        );
        self.no_room(Code::TooManyRequests, whose, &all, "ask again")
    }

    fn none_at_all(&self) -> Problem {
        let Budget { bytes, purpose, .. } = &*self.budget;
        let all = match purpose.option {
            Some(option) => format!("{bytes} bytes that the option {option} allows"),
            None => format!("{bytes} bytes that there are for them"),
        };
        self.no_room(Code::Unavailable, "", &all, "ask again")
    }

    /// There was no room for as long as whoever needs some waits.
    fn no_room(&self, code: Code, whose: &str, all: &str, then: &str) -> Problem {
        let Budget { purpose, wait, .. } = &*self.budget;
        let (what, seconds) = (purpose.what, wait.as_secs_f64());
        let long = match wait.is_zero() {
            true => String::new(),
            false => format!(" for {seconds} s"),
        };
        let sentence = format!("{what}{whose} have taken all {all}{long}: {then}");
        Problem::new(code, sentence)
    }
}

fn add(to: &mut Option<OwnedSemaphorePermit>, permit: OwnedSemaphorePermit) {
    match to {
        Some(held) => held.merge(permit),
        None => *to = Some(permit),
    }
}

/// Take so many, and wait for them until then.
async fn take(
    budget: &Budget,
    from: Arc<Semaphore>,
    is_own: bool,
    more: usize,
    until: Instant,
) -> Option<OwnedSemaphorePermit> {
    let more = u32::try_from(more).unwrap_or(u32::MAX);
    if let Ok(permit) = from.clone().try_acquire_many_owned(more) {
        return Some(permit);
    }
    // Whoever waits for what it holds itself takes no time from others.
    let _waits = (!is_own).then(|| Waits::on(budget));
    let acquired = tokio::time::timeout_at(until, from.acquire_many_owned(more)).await;
    // The semaphores are never closed.
    acquired.ok()?.ok()
}

#[cfg(test)]
mod tests;
