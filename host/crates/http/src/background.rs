//! Threads for work that takes long and that nobody waits for by the millisecond. They come after
//! the threads that serve and decide: where those take all of the cores, calls of others go on.

use rayon::{ThreadPool, ThreadPoolBuilder};
use thread_priority::{ThreadPriority, ThreadPriorityValue};
use tokio::sync::oneshot;

use super::document::aside;
use super::problem::Problem;

/// Priority of these threads, from 0 to 99. On Linux it is a niceness of 9: where calls take all of
/// a core, this work takes about an eighth of it.
const PRIORITY: u8 = 24;

/// Such threads, for work of one kind.
#[derive(Debug)]
pub(crate) struct Background {
    /// None: the system gave none, so that the work is done where other long work is.
    threads: Option<ThreadPool>,
}

impl Background {
    /// So many threads, for what has that name.
    pub(crate) fn new(what: &'static str, threads: usize) -> Self {
        let threads = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(move |number| format!("{what}-{number}"))
            .start_handler(|_| step_back())
            // The hook for panics has told of it, and whoever waits learns that the work is gone.
            .panic_handler(|_| ())
            .build();
        if let Err(error) = &threads {
            tracing::warn!(%error, what, "there are no threads of low priority for this work");
        }
        Self {
            threads: threads.ok(),
        }
    }

    /// Do work on one of the threads, when one is free.
    ///
    /// # Errors
    /// Those of the work, and that it has panicked.
    pub(crate) async fn run<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: Into<Problem> + Send + 'static,
    {
        let Some(threads) = &self.threads else {
            return aside(work).await;
        };
        let span = tracing::Span::current();
        let (sender, receiver) = oneshot::channel();
        threads.spawn(move || {
            // Whoever has gone meanwhile needs no result.
            let _ = sender.send(span.in_scope(work));
        });
        match receiver.await {
            Ok(done) => done.map_err(Into::into),
            Err(gone) => Err(Problem::internal(&gone)),
        }
    }
}

/// Let this thread come after others from now on, where the system knows how.
fn step_back() {
    let priority = ThreadPriorityValue::try_from(PRIORITY);
    let set = priority.map(|priority| ThreadPriority::Crossplatform(priority).set_for_current());
    if !matches!(set, Ok(Ok(()))) {
        tracing::debug!(
            ?set,
            "documents are read with the priority of everything else"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Code;

    #[tokio::test]
    async fn work_is_done_on_a_thread_of_its_own_with_its_result_or_error() {
        let threads = Background::new("documents", 1);
        let name = || Ok::<_, Problem>(std::thread::current().name().map(str::to_owned));
        let name = threads.run(name).await.unwrap();
        assert_eq!(name.as_deref(), Some("documents-0"));
        let refused = threads.run(|| Err::<(), _>(Problem::new(Code::Unprocessable, "no")));
        assert!(refused.await.is_err());
    }

    #[tokio::test]
    async fn a_panic_ends_the_work_and_not_the_thread() {
        let threads = Background::new("documents", 1);
        let ended = threads.run(|| -> Result<(), Problem> { panic!("on purpose") });
        assert!(ended.await.is_err());
        assert!(threads.run(|| Ok::<_, Problem>(())).await.is_ok());
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_threads_come_after_those_that_serve() {
        let niceness = || {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            // The name in brackets may have spaces; the niceness is the 19th value.
            let (_, rest) = stat.rsplit_once(") ").unwrap();
            let niceness = rest.split(' ').nth(16).unwrap();
            Ok::<_, Problem>(niceness.parse::<i32>().unwrap())
        };
        let here = niceness().unwrap();
        let threads = Background::new("documents", 1);
        let there = threads.run(niceness).await.unwrap();
        assert!(there > here || here >= 9, "{here} {there}");
    }
}
