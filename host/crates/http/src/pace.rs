//! Whether a peer goes on sending or taking bytes: one that does so by drops holds a place
//! and memory for as long as it likes, and is never idle.

use std::time::Duration;

use tokio::time::Instant;

/// In a stretch of time a peer must send or take so many bytes for each of its seconds: a
/// slow line by satellite takes some 30 KiB.
pub(super) const SLOWEST: u64 = 8 << 10;

/// The stretch of time that runs, and what was sent or taken in it. Once that is enough, the
/// next one begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    stretch: Duration,
    began: Instant,
    moved: u64,
    /// Bytes that must move in a second.
    rate: f64,
}

impl Pace {
    /// A stretch of this length begins now.
    pub(super) fn new(stretch: Duration) -> Self {
        Self {
            stretch,
            began: Instant::now(),
            moved: 0,
            rate: SLOWEST as f64,
        }
    }

    /// So many bytes are held for the peer, which is to be done with as many in that time: the
    /// more there are, the faster it must be.
    pub(super) fn hold(&mut self, bytes: usize, within: Duration) {
        let rate = bytes as f64 / within.as_secs_f64().max(f64::MIN_POSITIVE);
        self.rate = rate.max(SLOWEST as f64);
    }

    /// The peer was kept waiting for so long.
    pub(super) fn waited(&mut self, time: Duration) {
        self.began += time;
    }

    /// A new stretch begins now.
    pub(super) fn begin(&mut self) {
        (self.began, self.moved) = (Instant::now(), 0);
    }

    /// The peer has sent or taken so many bytes. Whether that has begun a new stretch.
    pub(super) fn moved(&mut self, bytes: usize) -> bool {
        self.moved = self.moved.saturating_add(bytes as u64);
        let enough = self.moved >= self.least();
        if enough {
            self.begin();
        }
        enough
    }

    /// Bytes of a stretch.
    fn least(&self) -> u64 {
        (self.rate * self.stretch.as_secs_f64()) as u64
    }

    /// When to look whether the peer is behind, or too slow: each quarter of a stretch. None:
    /// never.
    pub(super) fn looks(&self) -> Option<Instant> {
        let ends = self.ends()?;
        let quarter = Instant::now().checked_add(self.stretch / 4)?;
        Some(quarter.min(ends))
    }

    /// Whether the stretch is over: the peer is too slow.
    pub(super) fn is_over(&self) -> bool {
        self.began.elapsed() >= self.stretch
    }

    /// Whether the peer has moved less than its pace in the stretch so far, of which a quarter
    /// has passed.
    pub(super) fn is_behind(&self) -> bool {
        let took = self.began.elapsed();
        took >= self.stretch / 4 && (self.moved as f64) < self.rate * took.as_secs_f64()
    }

    /// When the peer is too slow, unless the next stretch has begun by then. None: never.
    pub(super) fn ends(&self) -> Option<Instant> {
        self.began.checked_add(self.stretch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_more_must_be_faster_and_is_not_blamed_for_waiting() {
        let second = Duration::from_secs(1);
        let mut pace = Pace::new(10 * second);
        pace.began -= 5 * second;
        assert!(pace.is_behind() && !pace.is_over());
        assert!(!pace.moved(10 * SLOWEST as usize - 1));
        assert!(!pace.is_behind());
        assert!(pace.moved(1));
        // As much as it holds is to move in a minute.
        pace.hold(60 << 20, 60 * second);
        assert!(!pace.moved((10 << 20) - 1));
        pace.began -= 12 * second;
        assert!(pace.is_over() && pace.is_behind());
        pace.waited(3 * second);
        assert!(!pace.is_over());
        pace.began -= second;
        assert!(pace.is_over());
    }
}
