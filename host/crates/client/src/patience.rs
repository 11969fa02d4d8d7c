//! How long a call is repeated.

use std::time::{Duration, Instant};

use crate::ClientError;

/// The first wait; each is twice the one before.
const FIRST: Duration = Duration::from_millis(100);

/// What is left of a time in which a call is repeated.
pub(crate) struct Patience {
    end: Instant,
    wait: Duration,
}

impl Patience {
    pub(crate) fn new(patience: Duration) -> Self {
        Self {
            end: Instant::now() + patience,
            wait: FIRST,
        }
    }

    /// How long to wait before the call is made again; None: it is not made again.
    pub(crate) fn after(&mut self, error: &ClientError) -> Option<Duration> {
        let wait = match error {
            ClientError::Unreachable { .. } => self.wait,
            // 429 and 503 are the two by which a server asks to wait.
            ClientError::Refused(refusal) if matches!(refusal.status, 429 | 503) => {
                refusal.retry_after.unwrap_or(self.wait)
            }
            _ => return None,
        };
        self.wait = self.wait.saturating_mul(2);
        (Instant::now() + wait < self.end).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Refusal;
    use serde_json::Value;

    fn refused(status: u16, retry_after: Option<&str>) -> ClientError {
        ClientError::Refused(Box::new(Refusal::read(
            "s",
            status,
            Value::Null,
            retry_after,
        )))
    }

    #[test]
    fn a_server_that_asks_to_wait_is_waited_for_and_no_longer_than_there_is_time() {
        let mut patience = Patience::new(Duration::from_secs(3600));
        let wait = patience.after(&refused(503, Some("7")));
        assert_eq!(wait, Some(Duration::from_secs(7)));
        assert_eq!(patience.after(&refused(503, Some("7200"))), None);
        assert_eq!(patience.after(&refused(409, None)), None);
        let waits = [429, 503].map(|status| patience.after(&refused(status, None)));
        assert!(waits[0] < waits[1], "{waits:?}");
    }
}
