//! Compiling in a process of its own, which can be ended.
//!
//! A few bytes can make a compiler take all the memory of a machine, and a thread cannot be
//! stopped. So a program that decides has units compiled by another process, with bounds on the
//! memory and the processor time that it may take, at low priority; at the time limit it is
//! killed. Two are compiled at a time, of which at most one is large: a small unit does not wait
//! for one that takes long. Which program that is, is told from outside: usually the same one, with
//! words that have it call [`serve_compile`].
//!
//! The bytes go to its standard input and the code comes from its standard output, with a
//! checksum, so that nothing is taken for code that was cut off.

mod child;
#[cfg(target_os = "linux")]
mod confinement;
mod wire;

pub use child::serve_compile;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Limits;
use wire::{Answer, Request};

/// What the process says when it ends without a result is kept up to here.
const LAST_WORDS: u64 = 1024;

/// The program that compiles units, and the words that have it do so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompilerProgram {
    /// The file of the program.
    pub program: PathBuf,
    /// The words after its name.
    pub arguments: Vec<OsString>,
}

/// How a process ended without code.
#[derive(Debug)]
pub(super) enum Ended {
    /// The bytes are no component for this engine.
    Invalid(String),
    /// It needed more memory than it may have.
    Memory,
    /// It used more processor time than it may.
    Processor,
    /// It was killed at the time limit, or never had its turn.
    Time,
    /// It ended in another way.
    Otherwise(String),
    /// There was no process.
    NotStarted(io::Error),
}

/// Has components compiled, two at a time.
#[derive(Debug)]
pub(super) struct Processes {
    program: CompilerProgram,
    queue: Mutex<Queue>,
    is_free: Condvar,
}

/// How many may wait while units are compiled: each holds a thread of whoever asks.
const MOST_WAITING: usize = 16;

/// How many processes compile at the same time, of which at most one compiles a large unit.
const MOST_AT_ONCE: usize = 2;

/// A unit of more bytes is large: compiling it may take many seconds. Units in Rust or C have
/// some hundreds of KiB, those in JavaScript and Python more than 8 MiB.
pub const SMALL_UNIT: usize = 4 << 20;

#[derive(Debug, Default)]
struct Queue {
    /// How many processes compile.
    busy: usize,
    /// Whether one of them compiles a large unit.
    large: bool,
    waiting: usize,
}

impl Queue {
    fn has_room(&self, is_large: bool) -> bool {
        self.busy < MOST_AT_ONCE && !(is_large && self.large)
    }
}

impl Processes {
    pub(super) fn new(program: CompilerProgram) -> Self {
        Self {
            program,
            queue: Mutex::default(),
            is_free: Condvar::new(),
        }
    }

    /// Run `work` for a unit of so many bytes when it has its turn. None if there was no turn in
    /// time, or too many wait for theirs.
    pub(super) fn in_turn<T>(
        &self,
        bytes: usize,
        limit: Duration,
        work: impl FnOnce() -> T,
    ) -> Option<T> {
        let _turn = self.turn(bytes > SMALL_UNIT, limit)?;
        Some(work())
    }

    fn turn(&self, is_large: bool, limit: Duration) -> Option<Turn<'_>> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.waiting >= MOST_WAITING {
            return None;
        }
        queue.waiting += 1;
        let must_wait = |queue: &mut Queue| !queue.has_room(is_large);
        let waited = self.is_free.wait_timeout_while(queue, limit, must_wait);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        queue.waiting -= 1;
        if !queue.has_room(is_large) {
            return None;
        }
        queue.busy += 1;
        queue.large |= is_large;
        Some(Turn {
            processes: self,
            is_large,
        })
    }

    /// Have the bytes compiled for an engine with these limits. The code is whole: its checksum
    /// was right.
    pub(super) fn compile(&self, bytes: &[u8], limits: &Limits) -> Result<Vec<u8>, Ended> {
        let request = Request::new(bytes, limits);
        let mut child = self.spawn().map_err(Ended::NotStarted)?;
        let outcome = talk(&mut child, &request, bytes, limits);
        if outcome.is_err() {
            // It has ended already, unless its time was over.
            let _ = child.kill();
        }
        let status = child.wait().map_err(Ended::NotStarted)?;
        match outcome {
            Ok(written) => {
                read(&written).unwrap_or_else(|| Err(ended(status, &written.last_words)))
            }
            Err(RecvTimeoutError::Timeout) => Err(Ended::Time),
            Err(RecvTimeoutError::Disconnected) => {
                Err(Ended::Otherwise("its output could not be read".to_owned()))
            }
        }
    }

    fn spawn(&self) -> io::Result<Child> {
        Command::new(&self.program.program)
            .args(&self.program.arguments)
            // It may hold secrets, such as tokens.
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }
}

/// The right to run a process.
struct Turn<'p> {
    processes: &'p Processes,
    is_large: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let queue = self.processes.queue.lock();
        let mut queue = queue.unwrap_or_else(PoisonError::into_inner);
        queue.busy = queue.busy.saturating_sub(1);
        queue.large &= !self.is_large;
        drop(queue);
        // Who is first may have to wait for another one.
        self.processes.is_free.notify_all();
    }
}

/// All that a process has written.
struct Written {
    output: Vec<u8>,
    last_words: String,
}

/// Hand the bytes in and wait for what is written until the process closes its output.
fn talk(
    child: &mut Child,
    request: &Request,
    bytes: &[u8],
    limits: &Limits,
) -> Result<Written, RecvTimeoutError> {
    let until = Instant::now() + limits.compile_time;
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // More code than that was not made within the bound on memory.
    let most = limits.compile_memory as u64;
    let output = collect(output, most);
    let errors = collect(errors, LAST_WORDS);
    thread::scope(|scope| {
        // The input stays open until the process is waited for: it ends if that is closed.
        let handed = scope.spawn(move || {
            let mut input = input;
            if let Some(input) = &mut input {
                // A process that has ended reads nothing, and its end tells why.
                let _ = request.write(input).and_then(|()| input.write_all(bytes));
                let _ = input.flush();
            }
            input
        });
        let left = || until.saturating_duration_since(Instant::now());
        let output = output.recv_timeout(left()).inspect_err(|_| {
            // Whoever writes to it is let go.
            let _ = child.kill();
        });
        let errors = errors.recv_timeout(left()).unwrap_or_default();
        drop(handed.join());
        Ok(Written {
            output: output?,
            last_words: String::from_utf8_lossy(&errors).trim().to_owned(),
        })
    })
}

/// Read to the end on a thread of its own, and keep the first `most` bytes.
fn collect(from: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Vec<u8>> {
    let (done, collected) = mpsc::channel();
    let read = move || {
        let mut kept = Vec::new();
        if let Some(mut from) = from {
            // What cannot be read is not there, which the checksum tells.
            let _ = from.by_ref().take(most).read_to_end(&mut kept);
            let _ = io::copy(&mut from, &mut io::sink());
        }
        // Nobody may wait any more.
        let _ = done.send(kept);
    };
    // Without a thread the channel is closed, which whoever waits is told.
    drop(
        thread::Builder::new()
            .name("compiled".to_owned())
            .spawn(read),
    );
    collected
}

/// What a process has answered; none if that is not whole.
fn read(written: &Written) -> Option<Result<Vec<u8>, Ended>> {
    Some(match Answer::read(&written.output)? {
        Answer::Code(code) => Ok(code.to_vec()),
        Answer::Invalid(why) => Err(Ended::Invalid(why)),
    })
}

/// What the end of a process without an answer tells.
fn ended(status: ExitStatus, last_words: &str) -> Ended {
    if last_words.contains("memory allocation of") || last_words.contains("out of memory") {
        return Ended::Memory;
    }
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        // SIGXCPU.
        const PROCESSOR: i32 = 24;
        if signal == PROCESSOR {
            return Ended::Processor;
        }
    }
    Ended::Otherwise(match last_words.lines().next() {
        None => status.to_string(),
        Some(first) => format!("{status}: {first}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processes() -> Processes {
        Processes::new(CompilerProgram {
            program: PathBuf::new(),
            arguments: Vec::new(),
        })
    }

    #[test]
    fn a_small_unit_waits_for_no_large_one_and_nobody_waits_longer_than_the_limit() {
        const LARGE: usize = SMALL_UNIT + 1;
        let (processes, at_once) = (processes(), Duration::ZERO);
        let beside = |first: usize, second: usize, third: usize| {
            processes.in_turn(first, at_once, || {
                processes.in_turn(second, at_once, || processes.in_turn(third, at_once, || ()))
            })
        };
        // Two at a time, whichever they are, but for two large ones.
        assert_eq!(beside(LARGE, SMALL_UNIT, 1), Some(Some(None)));
        assert_eq!(beside(1, LARGE, 1), Some(Some(None)));
        assert_eq!(beside(1, 1, 1), Some(Some(None)));
        assert_eq!(beside(LARGE, LARGE, 1), Some(None));
        assert_eq!(processes.in_turn(LARGE, at_once, || ()), Some(()));
    }

    #[test]
    fn only_so_many_wait_for_their_turn() {
        let processes = processes();
        processes.queue.lock().unwrap().waiting = MOST_WAITING;
        let hour = Duration::from_secs(3600);
        assert_eq!(processes.in_turn(1, hour, || ()), None);
        processes.queue.lock().unwrap().waiting -= 1;
        assert_eq!(processes.in_turn(1, hour, || ()), Some(()));
    }
}
