//! One thing after the other: a thread that owns a state, and a queue of turns.
//!
//! Whoever wants a turn waits at most as long as it says; what it asked for is then
//! not done. Turns run on the thread of the state, never on the caller's.

use std::future::Future;
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use std::{fmt, io};

use tokio::sync::oneshot;

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::thread::{self, JoinHandle};
use crate::sync::{self, Mutex, RwLock, mpsc};

/// Why there was no turn. Nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoTurn {
    /// Those before took too long.
    #[error("its turn did not come within {} ms: others are being served; try again", .0.as_millis())]
    Waited(Duration),
    /// More than that many wait already.
    #[error("{0} requests wait for their turn already; try again later")]
    Crowded(usize),
    /// The thread has ended.
    #[error("it has stopped")]
    Stopped,
}

/// A state that is changed in turns. The thread ends when this is dropped, after the
/// turns that were asked for.
pub struct Turns<S> {
    /// None: it has stopped.
    queue: RwLock<Option<mpsc::Sender<Turn<S>>>>,
    waiting: Arc<AtomicUsize>,
    /// How many may wait.
    bound: usize,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Turn<S> {
    /// When nobody waits for it any more; None: it is taken whenever it comes.
    until: Option<Instant>,
    work: Work<S>,
}

/// What is done in a turn; given nothing if the time is up.
type Work<S> = Box<dyn FnOnce(Option<&mut S>) + Send>;

/// The promise of an answer: a future, or to be waited for.
#[derive(Debug)]
pub struct Reply<R, E>(oneshot::Receiver<Result<R, E>>);

/// Where an answer is given. Dropped without one, the caller is told that the thread
/// has stopped.
#[derive(Debug)]
pub struct Answer<R, E>(oneshot::Sender<Result<R, E>>);

impl<R, E> Answer<R, E> {
    /// Give the answer. Whoever asked may have gone away meanwhile.
    pub fn give(self, answer: Result<R, E>) {
        let _ = self.0.send(answer);
    }
}

impl<R, E: From<NoTurn>> Reply<R, E> {
    /// Wait for the answer; not on a thread that runs futures.
    ///
    /// # Errors
    /// Those of the answer, and that there was no turn.
    pub fn wait(self) -> Result<R, E> {
        sync::receive(self.0).unwrap_or(Err(NoTurn::Stopped.into()))
    }
}

impl<R, E: From<NoTurn>> Future for Reply<R, E> {
    type Output = Result<R, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = Pin::new(&mut self.0).poll(context);
        answer.map(|answer| answer.unwrap_or(Err(NoTurn::Stopped.into())))
    }
}

impl<S: Send + 'static> Turns<S> {
    /// Start the thread that owns `state`, under that name. At most `bound` requests
    /// wait.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub fn start(name: &str, state: S, bound: usize) -> io::Result<Self> {
        let (queue, turns) = mpsc::channel::<Turn<S>>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let left = waiting.clone();
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || serve(state, &turns, &left))?;
        Ok(Self {
            queue: RwLock::new(Some(queue)),
            waiting,
            bound,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Ask for a turn that begins within `limit`. `work` gives the answer, in its turn
    /// or later; `ends` is called when the wait has ended, with a turn or without.
    pub fn take<R, E>(
        &self,
        limit: Duration,
        work: impl FnOnce(&mut S, Answer<R, E>) + Send + 'static,
        ends: impl FnOnce() + Send + 'static,
    ) -> Reply<R, E>
    where
        R: Send + 'static,
        E: From<NoTurn> + Send + 'static,
    {
        let (send, reply) = oneshot::channel();
        let answer = Answer(send);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.bound {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            ends();
            answer.give(Err(NoTurn::Crowded(self.bound).into()));
            return Reply(reply);
        }
        self.send(Turn {
            until: Some(Instant::now() + limit),
            work: Box::new(move |state| {
                ends();
                match state {
                    Some(state) => work(state, answer),
                    None => answer.give(Err(NoTurn::Waited(limit).into())),
                }
            }),
        });
        Reply(reply)
    }

    /// Ask for a turn that is taken whenever it comes, however many wait: for what has
    /// to be done.
    pub fn take_anyway<R, E>(
        &self,
        work: impl FnOnce(&mut S, Answer<R, E>) + Send + 'static,
    ) -> Reply<R, E>
    where
        R: Send + 'static,
        E: From<NoTurn> + Send + 'static,
    {
        let (send, reply) = oneshot::channel();
        let answer = Answer(send);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.send(Turn {
            until: None,
            work: Box::new(move |state| match state {
                Some(state) => work(state, answer),
                None => answer.give(Err(NoTurn::Stopped.into())),
            }),
        });
        Reply(reply)
    }

    /// Put a turn into the queue; it is counted already. If nobody takes turns any more,
    /// its answer is dropped with it.
    fn send(&self, turn: Turn<S>) {
        let queue = self.queue.read().unwrap_or_else(PoisonError::into_inner);
        let sent = queue.as_ref().map(|queue| queue.send(turn));
        if !matches!(sent, Some(Ok(()))) {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// How many wait for their turn.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Let those who wait have their turns, and end the thread.
    pub fn stop(&self) {
        let queue = self
            .queue
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(queue);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // A panic of a turn was told where it happened.
            let _ = thread.join();
        }
    }
}

/// Take turns until nobody can ask for one. After a panic nothing is known of the
/// state, so there are no more turns.
fn serve<S>(mut state: S, turns: &mpsc::Receiver<Turn<S>>, waiting: &AtomicUsize) {
    while let Ok(turn) = turns.recv() {
        waiting.fetch_sub(1, Ordering::Relaxed);
        let in_time = turn.until.is_none_or(|until| Instant::now() <= until);
        let work = AssertUnwindSafe(|| (turn.work)(in_time.then_some(&mut state)));
        if panic::catch_unwind(work).is_err() {
            tracing::error!("a turn has panicked: no more turns are taken here until a restart");
            return;
        }
    }
}

impl<S> fmt::Debug for Turns<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.waiting.load(Ordering::Relaxed);
        f.debug_struct("Turns")
            .field("waiting", &waiting)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn take<S: Send + 'static, R: Send + 'static>(
        turns: &Turns<S>,
        limit: Duration,
        work: impl FnOnce(&mut S, Answer<R, NoTurn>) + Send + 'static,
    ) -> Reply<R, NoTurn> {
        turns.take(limit, work, || {})
    }

    fn add(turns: &Turns<Vec<u32>>, number: u32) -> Reply<usize, NoTurn> {
        take(turns, LONG, move |state, answer| {
            state.push(number);
            answer.give(Ok(state.len()));
        })
    }

    #[test]
    fn turns_are_taken_in_order_and_end_before_the_thread_does() {
        let turns = Turns::start("test", Vec::new(), 100).unwrap();
        let replies: Vec<_> = (0..50).map(|number| add(&turns, number)).collect();
        let all = take(
            &turns,
            LONG,
            |state: &mut Vec<u32>, answer: Answer<_, NoTurn>| {
                answer.give(Ok(state.clone()));
            },
        );
        turns.stop();
        for (number, reply) in replies.into_iter().enumerate() {
            assert_eq!(reply.wait(), Ok(number + 1));
        }
        assert_eq!(all.wait().unwrap(), (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn whoever_waits_too_long_is_told_so_and_nothing_is_done() {
        let turns = Turns::start("test", Vec::new(), 100).unwrap();
        let (hold, held) = mpsc::channel::<()>();
        let first = take(
            &turns,
            LONG,
            move |_: &mut Vec<u32>, answer: Answer<(), NoTurn>| {
                let _ = held.recv();
                answer.give(Ok(()));
            },
        );
        let late = take(
            &turns,
            Duration::ZERO,
            |state: &mut Vec<u32>, answer: Answer<(), NoTurn>| {
                state.push(1);
                answer.give(Ok(()));
            },
        );
        hold.send(()).unwrap();
        assert_eq!(first.wait(), Ok(()));
        assert_eq!(late.wait(), Err(NoTurn::Waited(Duration::ZERO)));
        assert_eq!(add(&turns, 2).wait(), Ok(1));
    }

    #[test]
    fn no_more_than_the_bound_wait() {
        let turns = Turns::start("test", Vec::new(), 1).unwrap();
        let (hold, held) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel::<()>();
        let first = take(
            &turns,
            LONG,
            move |_: &mut Vec<u32>, answer: Answer<(), NoTurn>| {
                let _ = begun.send(());
                let _ = held.recv();
                answer.give(Ok(()));
            },
        );
        begins.recv().unwrap();
        let waits = add(&turns, 1);
        assert_eq!(add(&turns, 2).wait(), Err(NoTurn::Crowded(1)));
        // What has to be done is done all the same.
        let anyway = turns.take_anyway(|state: &mut Vec<u32>, answer: Answer<usize, NoTurn>| {
            state.push(3);
            answer.give(Ok(state.len()));
        });
        hold.send(()).unwrap();
        assert_eq!((first.wait(), waits.wait()), (Ok(()), Ok(1)));
        assert_eq!(anyway.wait(), Ok(2));
    }

    #[test]
    fn after_a_panic_everybody_is_told_that_it_has_stopped() {
        let turns = Turns::start("test", Vec::new(), 100).unwrap();
        let panics = take(&turns, LONG, |_: &mut Vec<u32>, _: Answer<(), NoTurn>| {
            panic!("on purpose")
        });
        assert_eq!(panics.wait(), Err(NoTurn::Stopped));
        assert_eq!(add(&turns, 1).wait(), Err(NoTurn::Stopped));
    }
}
