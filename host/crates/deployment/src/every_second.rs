//! Threads that look every second whether something is due in a deployment.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::Deployment;
use placewright_scheduler::Cancel;

/// How often it is looked.
const LOOK: Duration = Duration::from_secs(1);

/// Looks every second, until it is dropped or the deployment is gone.
#[derive(Debug)]
pub(super) struct EverySecond {
    /// Dropped, it ends the thread.
    stop: Option<mpsc::Sender<()>>,
    /// Set, it ends what is being worked out.
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl EverySecond {
    /// Look in a thread of that name. `look` ends early once the given [`Cancel`] says so.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub(super) fn start(
        deployment: &Arc<Deployment>,
        name: &str,
        look: impl Fn(&Deployment, &Cancel) + Send + 'static,
    ) -> io::Result<Self> {
        let deployment = Arc::downgrade(deployment);
        let (stop, stopped) = mpsc::channel();
        let cancelled = Arc::<AtomicBool>::default();
        let cancel = Cancel::default().when(&cancelled);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                    let Some(deployment) = deployment.upgrade() else {
                        return;
                    };
                    look(&deployment, &cancel);
                }
            })?;
        Ok(Self {
            stop: Some(stop),
            cancelled,
            thread: Some(thread),
        })
    }

    /// End what is being worked out, if anything is.
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for EverySecond {
    fn drop(&mut self) {
        self.cancel();
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It has no news for us; if it panicked, that was logged.
            let _ = thread.join();
        }
    }
}
