//! What a unit may use, as one type.

use std::time::Duration;

/// The limits under which units are loaded and called.
///
/// Each has a unit in `tests/` that runs into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall time of one run of a chain, shared by the calls in it. While the whole program is
    /// stopped, no time passes.
    ///
    /// It is also the processor time of making an instance, and of each call that no decision waits
    /// for, as when a unit describes itself or is probed: on a machine that is busy with other
    /// things, such a call may take thirty times as long by the wall clock.
    ///
    /// A chain of five units over 10,000 hosts takes some tenths of a
    /// millisecond, so that one second is only met by a unit that hangs.
    pub time: Duration,
    /// Linear memory of an instance in bytes, all its memories together.
    pub memory: usize,
    /// Elements of each table of an instance. An interpreter compiled to
    /// WebAssembly has some 15,000 functions in its table.
    pub table_elements: usize,
    /// Stack of a call in bytes. Threads that call units need twice as much.
    pub stack: usize,
    /// Size of the values of one answer in bytes, as they lie in our memory.
    pub answer: usize,
    /// Size of a unit's file in bytes. An interpreter brings 30 MB.
    pub file: usize,
    /// Wall time to compile a unit.
    pub compile_time: Duration,
    /// Memory to compile a unit in bytes, where it is done in a process of its own: see
    /// [`Engine::beside_decisions`](super::Engine::beside_decisions). An interpreter of 18 MB
    /// takes some 500 MB.
    pub compile_memory: usize,
    /// Fuel of one call, about one per WebAssembly instruction. If given, calls
    /// are limited by fuel alone and not by time: the same call ends in the same
    /// way on every machine, and more slowly.
    pub fuel: Option<u64>,
    /// Logged sentences of one call that are kept; more are dropped.
    pub log_messages: usize,
    /// Bytes that are kept of a sentence that a unit says: logged or as the
    /// problem that it names.
    pub sentence: usize,
    /// Instances that can exist at the same time. Each sets 4 GiB of address
    /// space aside, none of it memory until it is used.
    pub instances: u32,
    /// Linear memory and tables in bytes of all instances together. An instance of a small unit
    /// has one MiB, that of an interpreter some twenty.
    pub total_memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(1),
            memory: 256 << 20,
            table_elements: 100_000,
            stack: 1 << 20,
            answer: 64 << 20,
            file: 64 << 20,
            compile_time: Duration::from_secs(120),
            compile_memory: 1 << 30,
            fuel: None,
            log_messages: 32,
            sentence: 4096,
            instances: 1000,
            total_memory: 768 << 20,
        }
    }
}

impl Limits {
    /// Limits for runs that must come out the same everywhere (`unit check`,
    /// `bench`): fuel in place of time, and few instances.
    pub fn reproducible() -> Self {
        Self {
            // About as much as runs in the default second.
            fuel: Some(1_000_000_000),
            instances: 16,
            ..Self::default()
        }
    }
}
