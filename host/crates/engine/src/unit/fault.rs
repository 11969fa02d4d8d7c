//! Every way in which a call can end without an answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytesize::ByteSize;

use super::{Digest, Place};
use crate::contract::Part;

/// Which unit something is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its name; before it has described itself, where it came from.
    pub name: String,
    /// The digest of its component.
    pub digest: Digest,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unit \"{}\" ({})", self.name, self.digest.short())
    }
}

/// A call that gave no answer: whose it was, how it ended, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{unit}, {part}: {}", Told { cause, place })]
pub struct Fault {
    /// The unit that was called.
    pub unit: Arc<Identity>,
    /// The part that was called.
    pub part: Part,
    /// How the call ended. Boxed, since calls that go well return this type too.
    pub cause: Box<Cause>,
    /// Where in the unit's code it ended.
    pub place: Place,
}

impl Fault {
    /// Whether the request or a setting is at fault and not the unit.
    #[inline]
    pub fn is_refusal(&self) -> bool {
        matches!(*self.cause, Cause::Refused(_))
    }

    /// Whether another instance may give an answer. Not if the request is at fault, and
    /// not if the time is gone: there is none left.
    pub fn is_worth_another_try(&self) -> bool {
        !self.is_refusal() && !self.is_out_of_time()
    }

    /// Whether the call took longer than it had.
    #[inline]
    pub fn is_out_of_time(&self) -> bool {
        matches!(*self.cause, Cause::Time(_))
    }

    /// Whether the call ran into one of [`crate::Limits`].
    pub fn is_limit(&self) -> bool {
        self.cause.is_limit()
    }
}

/// How a call ended without an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// The request or a setting is at fault, in the unit's own words.
    Refused(String),
    /// The unit is at fault, in its own words.
    Failed(String),
    /// It ran out of its share of the chain's time.
    Time(Duration),
    /// It ran out of fuel.
    Fuel(u64),
    /// It ended after it was refused more memory.
    Memory {
        /// Bytes that it would have had.
        wanted: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// It ended after it was refused a greater table.
    Table {
        /// Elements that the table would have had.
        wanted: usize,
        /// Elements allowed.
        limit: usize,
    },
    /// It recursed too deeply; bytes of stack allowed.
    Stack(usize),
    /// Its answer is beyond that many bytes.
    AnswerTooLarge(usize),
    /// What it says of itself is beyond that many bytes.
    DescriptionTooLarge(usize),
    /// It panicked, with the last error that it logged.
    Panic(String),
    /// It trapped without a word, of which WebAssembly says this.
    Trap(String),
    /// The instance is gone since an earlier call trapped.
    Poisoned,
    /// All instances that may exist are in use.
    NoInstance(u32),
    /// It wanted memory when all instances together had as much as they may.
    TotalMemory {
        /// Bytes that it wanted more.
        wanted: usize,
        /// Bytes allowed to all instances.
        limit: usize,
    },
    /// Making an instance took longer than that.
    Start(Duration),
    /// It cannot be instantiated or does not export the part.
    NotCallable(String),
    /// Its answer breaks the rules for values that cross the border.
    Unreadable(String),
    /// A list of the answer is too short or too long.
    Length {
        /// Which list.
        list: &'static str,
        /// Entries wanted.
        want: usize,
        /// Entries given.
        got: usize,
    },
    /// A cost that is NaN or -infinity, for a row that is kept.
    NoCost {
        /// The row.
        row: usize,
        /// What was given.
        cost: f64,
    },
    /// A cost outside the declared range.
    OutOfRange {
        /// The row.
        row: usize,
        /// What was given.
        cost: f64,
        /// The least cost declared.
        least: f64,
        /// The greatest cost declared.
        greatest: f64,
    },
    /// A reason that is not declared.
    Reason {
        /// Where it was given: the number of a row or of a proposal, from 0.
        place: usize,
        /// The number given, counted from 1.
        reason: u8,
        /// How many reasons are declared.
        known: usize,
    },
    /// Its answer breaks a rule of the contract, which the sentence names.
    AgainstContract(String),
    /// A proposal names a row or table that is not there.
    Row {
        /// Number of the proposal, from 0.
        proposal: usize,
        /// The table.
        table: String,
        /// The row number given.
        row: u32,
        /// How many rows there are.
        rows: u32,
    },
}

impl Cause {
    /// Whether what the server has to give was used up by others: the unit is not to blame.
    pub fn is_shortage(&self) -> bool {
        matches!(self, Cause::NoInstance(_) | Cause::TotalMemory { .. })
    }

    /// Whether a limit was met.
    pub fn is_limit(&self) -> bool {
        matches!(
            self,
            Cause::Time(_)
                | Cause::Fuel(_)
                | Cause::Memory { .. }
                | Cause::Table { .. }
                | Cause::Stack(_)
                | Cause::AnswerTooLarge(_)
                | Cause::DescriptionTooLarge(_)
                | Cause::Start(_)
        )
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &Place::Untold;
        Told { cause: self, place }.fmt(f)
    }
}

/// How a call ended, where, and what to do.
struct Told<'a> {
    cause: &'a Cause,
    place: &'a Place,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |size: &usize| ByteSize(*size as u64).display().iec();
        let place = self.place;
        match self.cause {
            Cause::Refused(text) => write!(f, "refused: {text}"),
            Cause::Failed(text) => write!(f, "failed: {text}"),
            Cause::Time(budget) => write!(
                f,
                "stopped after the {} that were left of the chain's time{place}; a unit of ordinary speed needs microseconds, so look for a loop that does not end, or raise the limit (of a server: `unit-time`)",
                humantime::format_duration(Duration::from_millis(
                    u64::try_from(budget.as_millis()).unwrap_or(u64::MAX)
                ))
            ),
            Cause::Fuel(fuel) => write!(
                f,
                "stopped when {fuel} units of fuel were used{place}; look for a loop that does not end, or let the unit do less for each host"
            ),
            Cause::Memory { wanted, limit } => write!(
                f,
                "ended when it wanted {} of memory and was refused, the limit being {}{place}; let it keep less, or raise the limit (of a server: `unit-memory`)",
                bytes(wanted),
                bytes(limit)
            ),
            Cause::Table { wanted, limit } => write!(
                f,
                "ended when it wanted a table of {wanted} elements and was refused, the limit being {limit}{place}; let it have fewer functions, or a smaller interpreter: this limit is the same everywhere"
            ),
            Cause::Stack(limit) => write!(
                f,
                "used up its stack of {}{place}; look for a recursion that does not end, and let one that goes deep be a loop: this limit is the same everywhere",
                bytes(limit)
            ),
            Cause::AnswerTooLarge(limit) => write!(
                f,
                "gave an answer of more than {}; answer with less, or raise the limit (of a server: `unit-answer`)",
                bytes(limit)
            ),
            Cause::DescriptionTooLarge(limit) => write!(
                f,
                "describes itself with more than {}; shorten its texts and lists: this limit is the same everywhere",
                bytes(limit)
            ),
            Cause::Panic(message) => {
                // The SDK for Rust begins its message so itself.
                let begin = if message.starts_with("panicked") {
                    ""
                } else {
                    "panicked: "
                };
                write!(f, "{begin}{message}{place}")?;
                f.write_str(after_panic(message))
            }
            Cause::Trap(trap) => write!(
                f,
                "trapped: {trap}{place}; a recursion that does not end or a very large local variable can be behind it, and a panic handler that logs says more of others"
            ),
            Cause::Poisoned => {
                f.write_str("this instance trapped in an earlier call and is not entered again")
            }
            Cause::NoInstance(limit) => write!(
                f,
                "all {limit} instances are in use; try again, or raise the limit (of a server: `unit-instances`)"
            ),
            Cause::TotalMemory { wanted, limit } => write!(
                f,
                "wanted {} more of memory when all instances together had what they may have, {}; try again, or raise the limit (of a server: `unit-total-memory`)",
                bytes(wanted),
                bytes(limit)
            ),
            Cause::Start(limit) => write!(
                f,
                "took longer than {} to be instantiated; let it have fewer and smaller segments, or raise the limit (of a server: `unit-time`)",
                humantime::format_duration(*limit)
            ),
            Cause::NotCallable(why) => write!(f, "cannot be called: {why}"),
            Cause::Unreadable(why) => write!(f, "gave an answer that cannot be read: {why}"),
            Cause::Length { list, want, got } => {
                write!(
                    f,
                    "gave {got} {list} where {want} were wanted; {}",
                    entries(*want)
                )
            }
            Cause::NoCost { row, cost } => write!(
                f,
                "gave the cost {cost} for row {row}; a cost is a number or +infinity: look for a division by zero or a value that is absent, and give +infinity where a host can have no cost"
            ),
            Cause::OutOfRange {
                row,
                cost,
                least,
                greatest,
            } => write!(
                f,
                "gave the cost {cost} for row {row}, outside the range {least} to {greatest} that it declares; keep the cost within it, or declare the range that its costs have (in Rust, `RANGE`)"
            ),
            Cause::Reason {
                place,
                reason,
                known,
            } => write!(
                f,
                "gave the reason {reason} in entry {place} of its answer and declares {known}; declare that reason too, or give one that is declared: the first has number 1"
            ),
            Cause::AgainstContract(what) => {
                write!(f, "gave an answer that breaks the contract: {what}")
            }
            Cause::Row {
                proposal,
                table,
                row,
                rows,
            } => write!(
                f,
                "proposal {proposal} names row {row} of {table}, which has {rows}"
            ),
        }
    }
}

/// What an answer must have instead, by how many entries were wanted.
fn entries(want: usize) -> &'static str {
    match want {
        0 => "leave out what the call does not ask for",
        _ => "give one for each row, in the order of the rows",
    }
}

/// What to do about a panic.
fn after_panic(message: &str) -> &'static str {
    // What the standard library of Rust says where there is no operating system.
    match message.contains("not implemented on this platform") {
        true => {
            "; a unit has no files, no clock and no chance: read the column `now` of the table `request` for the time, and `draw` for a random number"
        }
        false => {
            "; let the code answer in such a case too, or return a problem that says what is wrong"
        }
    }
}
