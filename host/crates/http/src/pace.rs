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
}

impl Pace {
    /// A stretch of this length begins now.
    pub(super) fn new(stretch: Duration) -> Self {
        Self {
            stretch,
            began: Instant::now(),
            moved: 0,
        }
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
        (SLOWEST as f64 * self.stretch.as_secs_f64()) as u64
    }

    /// When the peer is too slow, unless the next stretch has begun by then. None: never.
    pub(super) fn ends(&self) -> Option<Instant> {
        self.began.checked_add(self.stretch)
    }
}
