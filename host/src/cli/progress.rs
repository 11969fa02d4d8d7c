//! A bar that shows how far long work is: on a terminal, once it takes over a second.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use placewright_chain::Explanation;
use placewright_scheduler::{Decision, Scheduler};
use placewright_tools::simulate::Observer;

/// What is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many events go by between two looks at the clock.
const EVENTS: usize = 256;

/// A bar on standard error, if that is a terminal and the work takes its time.
pub(super) struct Bar {
    bar: Option<ProgressBar>,
    begin: Instant,
    title: String,
}

impl Bar {
    /// A bar with this title.
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self {
            bar: None,
            begin: Instant::now(),
            title: title.into(),
        }
    }

    /// So much of it is done.
    pub(super) fn progressed(&mut self, done: usize, of: usize) {
        if self.bar.is_none() && self.begin.elapsed() > PATIENCE && io::stderr().is_terminal() {
            self.bar = Some(bar(&self.title, of));
        }
        if let Some(bar) = &self.bar {
            match done == of {
                true => bar.finish_and_clear(),
                false => bar.set_position(done as u64),
            }
        }
    }
}

/// Shows how far a replay is, and keeps the explanation of one decision.
pub(super) struct Follower {
    bar: Bar,
    /// The decision to be explained, if any, by its number.
    wanted: Option<u64>,
    /// It, once it was made.
    pub explained: Option<(Decision, Explanation)>,
}

impl Follower {
    /// A bar with this title.
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self {
            bar: Bar::new(title),
            wanted: None,
            explained: None,
        }
    }

    /// Explain the decision of this number, too.
    pub(super) fn explaining(mut self, number: u64) -> Self {
        self.wanted = Some(number);
        self
    }

    /// So many of all events are done.
    pub(super) fn advance(&mut self, done: usize, of: usize) {
        if done.is_multiple_of(EVENTS) || done == of {
            self.bar.progressed(done, of);
        }
    }
}

fn bar(title: &str, of: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(of as u64), ProgressDrawTarget::stderr());
    // The template is fixed; one that was wrong would give the plain bar.
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:40} {percent} %, {eta} to go") {
        bar.set_style(style);
    }
    bar.with_message(title.to_owned())
}

/// Shows how far several replays are that run at once.
pub(super) struct SharedBar {
    bar: OnceLock<ProgressBar>,
    begin: Instant,
    title: &'static str,
    done: AtomicUsize,
    of: usize,
}

impl SharedBar {
    /// A bar with this title, for so many events of all replays together.
    pub(super) fn new(title: &'static str, of: usize) -> Self {
        Self {
            bar: OnceLock::new(),
            begin: Instant::now(),
            title,
            done: AtomicUsize::new(0),
            of,
        }
    }

    /// So many more are done.
    pub(super) fn progressed(&self, events: usize) {
        let done = self.done.fetch_add(events, Ordering::Relaxed) + events;
        if done / EVENTS == (done - events) / EVENTS {
            return;
        }
        if self.begin.elapsed() > PATIENCE && io::stderr().is_terminal() {
            let bar = self.bar.get_or_init(|| bar(self.title, self.of));
            bar.set_position(done as u64);
        }
    }

    /// Take it away.
    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Follower {
    fn decided(&mut self, scheduler: &Scheduler, decision: &Decision) {
        if self.wanted == Some(decision.number) {
            self.explained = scheduler
                .explain(decision.number)
                .ok()
                .map(|explanation| (decision.clone(), explanation));
        }
    }

    fn progressed(&mut self, done: usize, of: usize) {
        self.advance(done, of);
    }
}
