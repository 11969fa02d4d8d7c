//! The server's clock was ahead, and is set right.
//!
//! A cluster's clock does not follow the server's back by a few seconds, as clocks are set
//! now and then: it stands still until it is caught up with. If it is far ahead, it has
//! followed a clock that was wrong. Standing still would then hold places, pauses and
//! measurements for as long as the clock was ahead.

use super::ClusterState;

/// By so many seconds a cluster's clock may be ahead of the server's, and stands still
/// meanwhile. It is set back if it is further ahead.
pub(crate) const AHEAD: i64 = 300;

impl ClusterState {
    /// Set the cluster's clock back if it is too far ahead of `now`.
    pub(super) fn heed_clock(&mut self, now: i64) {
        let ahead = self.inventory().clock().saturating_sub(now);
        if ahead <= AHEAD {
            return;
        }
        tracing::warn!(
            cluster = %self.name,
            ahead,
            now,
            "the clock was ahead by that many seconds: the cluster's clock is set back, and reservations last as long as they would have"
        );
        self.scheduler.set_clock_back(now);
        self.breakers.set_clock_back(now);
        self.answers.set_clock_back(now);
        self.ended.set_clock_back(now);
        self.restarts.set_clock_back(now);
        self.keep_everything();
    }
}
