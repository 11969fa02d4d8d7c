//! The wish that the server should stop, for streams that would go on for ever.

use tokio::sync::watch;

/// Says when the server stops.
#[derive(Debug, Clone)]
pub struct Stop(watch::Receiver<bool>);

/// Stops the server; also when it is dropped.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stop {
    /// Both ends.
    pub fn new() -> (Stopper, Self) {
        let (sender, receiver) = watch::channel(false);
        (Stopper(sender), Self(receiver))
    }

    /// Whether the server stops.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Returns when the server stops. A stream of events should end then.
    pub async fn requested(&mut self) {
        // An error says that the stopper is gone, which means the same.
        let _ = self.0.wait_for(|stops| *stops).await;
    }
}

impl Stopper {
    /// Stop.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}
