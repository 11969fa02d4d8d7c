//! The promise of an answer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::sync::oneshot;
use tokio::time::Sleep;

use super::TurnError;
use placewright_sync as sync;

/// The promise of an answer: a future, or to be waited for. Dropped before its turn has
/// begun, it takes the turn back, unless that is one that has to be done.
pub struct Reply<R, E> {
    receiver: oneshot::Receiver<Result<R, E>>,
    /// None: the turn is not taken back.
    wait: Option<Wait>,
}

/// A turn that has not begun, as far as is known.
struct Wait {
    /// When it is taken back; None: never.
    until: Option<Instant>,
    withdraw: Box<dyn Fn() -> bool + Send + Sync>,
    sleep: Option<Pin<Box<Sleep>>>,
}

/// Where an answer is given. Dropped without one, the caller is told that the thread
/// has stopped.
#[derive(Debug)]
pub(crate) struct Answer<R, E>(oneshot::Sender<Result<R, E>>);

impl<R, E> Answer<R, E> {
    /// Give the answer. Whoever asked may have gone away meanwhile.
    pub(crate) fn give(self, answer: Result<R, E>) {
        let _ = self.0.send(answer);
    }
}

pub(super) fn channel<R, E>() -> (Answer<R, E>, oneshot::Receiver<Result<R, E>>) {
    let (send, receiver) = oneshot::channel();
    (Answer(send), receiver)
}

impl<R, E> Reply<R, E> {
    /// Of a turn that is not taken back.
    pub(super) fn of(receiver: oneshot::Receiver<Result<R, E>>) -> Self {
        Self {
            receiver,
            wait: None,
        }
    }

    /// Of a turn that is taken back by `withdraw` if it has not begun by then.
    pub(super) fn withdrawable(
        receiver: oneshot::Receiver<Result<R, E>>,
        until: Option<Instant>,
        withdraw: Box<dyn Fn() -> bool + Send + Sync>,
    ) -> Self {
        Self {
            receiver,
            wait: Some(Wait {
                until,
                withdraw,
                sleep: None,
            }),
        }
    }
}

impl<R, E: From<TurnError>> Reply<R, E> {
    /// Wait for the answer; not on a thread that runs futures.
    ///
    /// # Errors
    /// Those of the answer, and that there was no turn.
    pub fn wait(mut self) -> Result<R, E> {
        if let Some(wait) = &self.wait {
            if let Some(answer) = sync::receive_by(&mut self.receiver, wait.until) {
                self.wait = None;
                return answer.unwrap_or(Err(TurnError::Stopped.into()));
            }
            // One that has begun gives an answer. So does one that is taken back.
            (wait.withdraw)();
            self.wait = None;
        }
        let answer = sync::receive_by(&mut self.receiver, None).flatten();
        answer.unwrap_or(Err(TurnError::Stopped.into()))
    }
}

impl<R, E: From<TurnError>> Future for Reply<R, E> {
    type Output = Result<R, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { receiver, wait } = &mut *self;
        if let Poll::Ready(answer) = Pin::new(&mut *receiver).poll(context) {
            *wait = None;
            return Poll::Ready(answer.unwrap_or(Err(TurnError::Stopped.into())));
        }
        let is_over = wait.as_mut().is_some_and(|wait| wait.is_over(context));
        if !is_over {
            return Poll::Pending;
        }
        if let Some(wait) = wait.take() {
            // One that has begun gives an answer. So does one that is taken back.
            (wait.withdraw)();
        }
        let answer = Pin::new(receiver).poll(context);
        answer.map(|answer| answer.unwrap_or(Err(TurnError::Stopped.into())))
    }
}

impl Wait {
    /// Whether the wait is over; the task is woken when it is.
    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let Some(until) = self.until else {
            return false;
        };
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until.into())));
        sleep.as_mut().poll(context).is_ready()
    }
}

impl<R, E> Drop for Reply<R, E> {
    fn drop(&mut self) {
        if let Some(wait) = &self.wait {
            (wait.withdraw)();
        }
    }
}

impl<R, E> fmt::Debug for Reply<R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").finish_non_exhaustive()
    }
}
