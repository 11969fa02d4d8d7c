//! Compiling in a process of its own, which can be ended.
//!
//! A few bytes can make a compiler take all the memory of a machine, and a thread cannot be
//! stopped. So a program that decides has units compiled by another process, with bounds on the
//! memory and the processor time that it may take, at low priority, one at a time; at the time
//! limit it is killed. Which program that is, is told from outside: usually the same one, with
//! words that have it call [`serve_compile`].
//!
//! The bytes go to its standard input and the code comes from its standard output, with a
//! checksum, so that nothing is taken for code that was cut off.

mod child;
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

/// Has components compiled, one at a time.
#[derive(Debug)]
pub(super) struct Processes {
    program: CompilerProgram,
    queue: Mutex<Queue>,
    is_free: Condvar,
}

/// How many may wait while a unit is compiled: each holds a thread of whoever asks.
const MOST_WAITING: usize = 16;

#[derive(Debug, Default)]
struct Queue {
    is_busy: bool,
    waiting: usize,
}

impl Processes {
    pub(super) fn new(program: CompilerProgram) -> Self {
        Self {
            program,
            queue: Mutex::default(),
            is_free: Condvar::new(),
        }
    }

    /// Run `work` while no other process compiles. None if there was no turn in time, or too
    /// many wait for theirs.
    pub(super) fn in_turn<T>(&self, limit: Duration, work: impl FnOnce() -> T) -> Option<T> {
        let _turn = self.turn(limit)?;
        Some(work())
    }

    fn turn(&self, limit: Duration) -> Option<Turn<'_>> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.waiting >= MOST_WAITING {
            return None;
        }
        queue.waiting += 1;
        let is_busy = |queue: &mut Queue| queue.is_busy;
        let waited = self.is_free.wait_timeout_while(queue, limit, is_busy);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        queue.waiting -= 1;
        if queue.is_busy {
            return None;
        }
        queue.is_busy = true;
        Some(Turn(self))
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
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }
}

/// The right to run the one process.
struct Turn<'p>(&'p Processes);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let queue = self.0.queue.lock();
        queue.unwrap_or_else(PoisonError::into_inner).is_busy = false;
        self.0.is_free.notify_one();
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
    fn one_unit_is_compiled_at_a_time_and_nobody_waits_longer_than_the_limit() {
        let processes = processes();
        let inner = processes.in_turn(Duration::ZERO, || processes.in_turn(Duration::ZERO, || ()));
        assert_eq!(inner, Some(None));
        assert_eq!(processes.in_turn(Duration::ZERO, || ()), Some(()));
    }

    #[test]
    fn only_so_many_wait_for_their_turn() {
        let processes = processes();
        processes.queue.lock().unwrap().waiting = MOST_WAITING;
        let hour = Duration::from_secs(3600);
        assert_eq!(processes.in_turn(hour, || ()), None);
        processes.queue.lock().unwrap().waiting -= 1;
        assert_eq!(processes.in_turn(hour, || ()), Some(()));
    }
}
