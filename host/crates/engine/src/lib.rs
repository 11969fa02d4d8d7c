//! The one place that builds a Wasmtime engine and compiles components.
//!
//! An [`Engine`] comes in two flavours, chosen by [`Limits::fuel`]: calls limited
//! by wall time for decisions, or by fuel for runs that must come out the same
//! on every machine. What is run in it is [`crate::unit`]'s business.
//!
//! Read [`Engine`], [`Limits`], [`unit::Unit`] and [`generation::Generation`] first.

#![deny(unsafe_code)]

pub mod contract;
pub mod generation;
pub mod unit;

mod cache;
mod clock;
mod compile;
mod functions;
mod idle;
mod limits;
mod process;
mod ticker;
mod total;
mod verdict;

pub use clock::{Allowance, Clock, Moment};
pub use idle::{IdleInstances, IdlePlace};
pub use limits::Limits;
pub use process::{CompilerProgram, SMALL_UNIT, serve_compile};
pub(crate) use total::Share;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytesize::ByteSize;
use wasmtime::component::Component;
use wasmtime::{Config, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

use cache::Cache;
use compile::{Compilers, Turn};
use functions::Functions;
use idle::{Idle, Need};
use placewright_model::cut;
use process::{Ended, Processes};
use ticker::Ticker;
use total::Total;
use verdict::Verdict;

/// Core instances that one component may have.
pub(crate) const CORE_INSTANCES: u32 = 64;

/// Frames of a trap's backtrace that are kept; a recursion repeats itself, and a panic adds some
/// ten of its own.
const FRAMES: NonZeroUsize = NonZeroUsize::new(32).expect("32 is not 0");

/// Compiles and runs units. A cheap handle: clones share the engine, which ends
/// with the last of them.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
    /// Whether components are compiled in this process although there is another one for that.
    here: bool,
}

/// Verdicts that are remembered where no code is kept; of more, any is forgotten.
const VERDICTS: usize = 4096;

struct Inner {
    // Declared first, dropped first: the ticker holds the engine.
    _ticker: Option<Ticker>,
    clock: Clock,
    engine: wasmtime::Engine,
    limits: Limits,
    cache: Option<Arc<Cache>>,
    compilers: Compilers,
    /// Compiles what nobody has vouched for.
    processes: Option<Processes>,
    /// By the digest of the component.
    verdicts: Mutex<BTreeMap<String, Verdict>>,
    idle: Arc<Idle>,
    total: Arc<Total>,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Wasmtime refuses the settings or cannot set its memory aside.
    #[error("cannot set up the WebAssembly engine")]
    Settings(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The thread that interrupts calls cannot be started.
    #[error("cannot start the thread that ends calls at their deadline")]
    Ticker(#[source] io::Error),
}

/// Why a component was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// It is invalid, or needs what this engine does not offer.
    #[error("{0}")]
    Invalid(String),
    /// Compiling took longer than [`Limits::compile_time`].
    #[error(
        "compiling took longer than the limit of {}; hand it in again when the machine has less to do, or raise the limit (of a server: `unit-compile-time`)",
        humantime::format_duration(*.0)
    )]
    TooSlow(Duration),
    /// Compiling took more memory than [`Limits::compile_memory`].
    #[error(
        "compiling took more than the limit of {} of memory; split its largest functions, or raise the limit (of a server: `unit-compile-memory`)",
        ByteSize(*.0 as u64).display().iec()
    )]
    TooMuchMemory(usize),
    /// Compiling used all processors for longer than [`Limits::compile_time`].
    #[error(
        "compiling used more processor time than the limit of {} allows; split its largest functions, or raise the limit (of a server: `unit-compile-time`)",
        humantime::format_duration(*.0)
    )]
    TooMuchProcessor(Duration),
    /// The process that compiles broke off.
    #[error("the compiler failed ({0}); build the unit again, or make it smaller")]
    Broken(String),
    /// Others were compiled for as long as [`Limits::compile_time`], or too many wait.
    #[error(
        "too many others are compiled for it to have its turn within the limit of {}; hand it in again when they are done",
        humantime::format_duration(*.0)
    )]
    Busy(Duration),
    /// It failed before under the same limits.
    #[error("{0}; it was tried before, and is not tried again under the same limits")]
    NotAgain(Box<CompileError>),
    /// The compiling thread or process could not be started or did not finish.
    #[error("the compiler did not finish: {0}")]
    Compiler(String),
}

impl CompileError {
    /// Whether the same bytes may be compiled at another time under the same limits.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::TooSlow(_) | Self::Busy(_) | Self::Compiler(_))
    }
}

impl Engine {
    /// An engine with these limits. With `code`, compiled code is kept in that
    /// folder; a folder that cannot be used is reported and done without.
    ///
    /// # Errors
    /// If Wasmtime refuses, or a thread cannot be started.
    pub fn new(limits: Limits, code: Option<&Path>) -> Result<Self, EngineError> {
        Self::compiling(limits, code, Turn::AsOthers, None)
    }

    /// The same for a process that decides while it compiles: compiling comes after
    /// everything else, and so may take its time on a machine that has much to do.
    ///
    /// With a `compiler`, components are compiled by that program, within bounds on memory and
    /// time after which it is killed; what was too much for it once is not tried again. Without
    /// one they are compiled in this process, which nothing can stop; then functions that were
    /// compiled before are not compiled again.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn beside_decisions(
        limits: Limits,
        code: Option<&Path>,
        compiler: Option<CompilerProgram>,
    ) -> Result<Self, EngineError> {
        Self::compiling(limits, code, Turn::AfterOthers, compiler)
    }

    /// The same engine for components that come with the program: they are compiled in this
    /// process, also where there is no other one.
    #[must_use]
    pub fn compiling_here(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            here: true,
        }
    }

    fn compiling(
        limits: Limits,
        code: Option<&Path>,
        turn: Turn,
        compiler: Option<CompilerProgram>,
    ) -> Result<Self, EngineError> {
        let engine = build(&limits, turn)?;
        let ticker = match limits.fuel {
            Some(_) => None,
            None => Some(Ticker::start(engine.clone()).map_err(EngineError::Ticker)?),
        };
        let cache = code.and_then(|folder| {
            Cache::open(folder, &engine)
                .inspect_err(|error| {
                    tracing::warn!(folder = %folder.display(), %error, "compiled code is not cached");
                })
                .ok()
        });
        let idle = Arc::new(Idle::default());
        Ok(Self {
            inner: Arc::new(Inner {
                clock: Clock::new(ticker.as_ref().map(Ticker::ticks)),
                _ticker: ticker,
                engine,
                compilers: Compilers::new(limits.compile_time, turn),
                processes: compiler.map(Processes::new),
                verdicts: Mutex::default(),
                total: Arc::new(Total::new(limits.total_memory, idle.clone())),
                idle,
                limits,
                cache: cache.map(Arc::new),
            }),
            here: false,
        })
    }

    /// The limits that units run under here.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Wasmtime's own engine, for `unit` alone.
    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.inner.engine
    }

    /// The clock by which runs of chains are limited.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// The epochs after which `budget` has passed.
    pub(crate) fn ticks(&self, budget: Duration) -> u64 {
        ticker::ticks(budget)
    }

    /// Compile a component whose digest in hexadecimal is `digest`, or take its
    /// code from disk. Takes milliseconds for a small unit and up to a minute
    /// for an interpreter; from disk, a millisecond.
    ///
    /// # Errors
    /// If the bytes are not a component for this engine, or on time out. In this process the
    /// compiler cannot be stopped: its thread then ends when it is done, and the code is
    /// there for who asks next. A process that compiles is killed; and if it took too much, it
    /// is not tried again under the same limits.
    pub(crate) fn compile(
        &self,
        bytes: Arc<[u8]>,
        digest: &str,
    ) -> Result<Component, CompileError> {
        if let Some(component) = self.compiled_before(digest) {
            return Ok(component);
        }
        if let Some(processes) = self.inner.processes.as_ref().filter(|_| !self.here) {
            return self.compile_in(processes, &bytes, digest);
        }
        let (engine, cache) = (self.inner.engine.clone(), self.inner.cache.clone());
        let named = digest.to_owned();
        let compiler = move || {
            let component = Component::from_binary(&engine, &bytes)?;
            if let Some(cache) = cache {
                cache.put(&named, &component);
            }
            Ok(component)
        };
        self.inner.compilers.compile(digest, compiler)
    }

    fn compiled_before(&self, digest: &str) -> Option<Component> {
        let cache = self.inner.cache.as_ref()?;
        cache.get(&self.inner.engine, digest)
    }

    /// Have a component compiled by another process.
    fn compile_in(
        &self,
        processes: &Processes,
        bytes: &[u8],
        digest: &str,
    ) -> Result<Component, CompileError> {
        let limits = &self.inner.limits;
        let before = self.verdict(digest);
        if let Some(error) = before.and_then(|before| before.error(limits)) {
            return Err(error);
        }
        let compiled = processes.in_turn(bytes.len(), limits.compile_time, || {
            // Whoever had the turn before may have compiled the same.
            if let Some(component) = self.compiled_before(digest) {
                return Ok(component);
            }
            let code = processes.compile(bytes, limits);
            code.map_err(|ended| not_compiled(ended, limits))
                .and_then(|code| self.take_over(digest, &code))
        });
        let compiled = compiled.unwrap_or(Err(CompileError::Busy(limits.compile_time)));
        if let Err(error) = &compiled
            && let Some(verdict) = Verdict::of(error, before, limits)
        {
            self.keep_verdict(digest, verdict);
        }
        compiled
    }

    /// Code that another process has made, which is kept.
    fn take_over(&self, digest: &str, code: &[u8]) -> Result<Component, CompileError> {
        let component = cache::of_process(&self.inner.engine, code);
        let component = component.map_err(|error| CompileError::Compiler(format!("{error:#}")))?;
        if let Some(cache) = &self.inner.cache {
            cache.put_code(digest, code);
        }
        Ok(component)
    }

    fn verdict(&self, digest: &str) -> Option<Verdict> {
        if let Some(verdict) = self.verdicts().get(digest) {
            return Some(*verdict);
        }
        let note = self.note(digest, verdict::KIND)?;
        String::from_utf8(note).ok()?.parse().ok()
    }

    fn keep_verdict(&self, digest: &str, verdict: Verdict) {
        let mut verdicts = self.verdicts();
        if verdicts.len() >= VERDICTS {
            verdicts.pop_first();
        }
        verdicts.insert(digest.to_owned(), verdict);
        drop(verdicts);
        self.keep_note(digest, verdict::KIND, verdict.to_string().as_bytes());
    }

    fn verdicts(&self) -> MutexGuard<'_, BTreeMap<String, Verdict>> {
        let verdicts = self.inner.verdicts.lock();
        verdicts.unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for instances that are ready for their next call, of one holder. They go, those of
    /// the holder that has the most first, where there is no room for others.
    pub fn idle_instances(&self) -> IdleInstances {
        self.inner.idle.holder()
    }

    /// Have an instance go that nobody uses just now, as there is no room for another one.
    /// False: there is none.
    pub(crate) fn release_instance(&self) -> bool {
        self.inner.idle.release(Need::Instance)
    }

    /// A share of the memory that all instances may have together, with nothing taken yet.
    pub(crate) fn share(&self) -> Share {
        Share::new(self.inner.total.clone())
    }

    /// Whether the code of the component with that digest is to be compiled, although there
    /// is a folder of compiled code.
    pub fn lacks_code(&self, digest: &str) -> bool {
        let cache = self.inner.cache.as_ref();
        cache.is_some_and(|cache| !cache.has(digest))
    }

    /// What was noted of the component with that digest, beside its compiled code.
    pub fn note(&self, digest: &str, kind: &str) -> Option<Vec<u8>> {
        let cache = self.inner.cache.as_ref()?;
        cache.note(digest, kind)
    }

    /// Note something of the component with that digest beside its compiled code, if
    /// code is kept: `kind` is what, and `note` must be short.
    pub fn keep_note(&self, digest: &str, kind: &str, note: &[u8]) {
        if let Some(cache) = &self.inner.cache {
            cache.keep_note(digest, kind, note);
        }
    }

    /// Remove what is kept on disk of the component with that digest. What is loaded of it
    /// goes on.
    pub fn forget_code(&self, digest: &str) {
        if let Some(cache) = &self.inner.cache {
            cache.remove(digest);
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("limits", &self.inner.limits)
            .finish_non_exhaustive()
    }
}

fn not_compiled(ended: Ended, limits: &Limits) -> CompileError {
    match ended {
        Ended::Invalid(why) => CompileError::Invalid(cut(why)),
        Ended::Memory => CompileError::TooMuchMemory(limits.compile_memory),
        Ended::Processor => CompileError::TooMuchProcessor(limits.compile_time),
        Ended::Time => CompileError::TooSlow(limits.compile_time),
        Ended::Otherwise(how) => CompileError::Broken(cut(how)),
        Ended::NotStarted(error) => {
            CompileError::Compiler(format!("its process cannot be started: {error}"))
        }
    }
}

/// A pool of instances makes a fresh one cost microseconds. Where the system
/// does not grant the address space for one, instances are made one by one.
fn build(limits: &Limits, turn: Turn) -> Result<wasmtime::Engine, EngineError> {
    let refused = |error: wasmtime::Error| EngineError::Settings(error.into_boxed_dyn_error());
    let mut config = settings(limits);
    // A program that ends after its command compiles nothing twice.
    if turn == Turn::AfterOthers {
        let functions = Arc::new(Functions::default());
        config
            .enable_incremental_compilation(functions)
            .map_err(refused)?;
    }
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
    if let Ok(engine) = wasmtime::Engine::new(&config) {
        return Ok(engine);
    }
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    let engine = wasmtime::Engine::new(&config).map_err(refused)?;
    tracing::warn!("no address space for a pool of instances: fresh instances will be slower");
    Ok(engine)
}

fn settings(limits: &Limits) -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // Units are called from ordinary threads and never wait: without the
        // machinery for concurrent tasks a call costs a quarter.
        .concurrency_support(false)
        // The same call must give the same bits on every machine.
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false)
        // More than 4 GiB is beyond every limit, and bounds checks would cost.
        .wasm_memory64(false)
        // Several memories stay allowed: components that were joined from parts,
        // as when WASI is stubbed out, are glued by modules that need them.
        // Threads, garbage collection and exceptions are not compiled in.
        .shared_memory(false)
        // Time or fuel, not both: each costs something in every loop.
        .epoch_interruption(limits.fuel.is_none())
        .consume_fuel(limits.fuel.is_some())
        .max_wasm_stack(limits.stack)
        // Units are loaded seldom and called often.
        .cranelift_opt_level(OptLevel::Speed)
        // A trap names the functions it went through, if the unit has names.
        .wasm_backtrace_max_frames(Some(FRAMES))
        // A fresh instance maps its first memory instead of writing it.
        .memory_init_cow(true);
    config
}

fn pool(limits: &Limits) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    // A component is one module with code, and small ones that join it to its
    // imports; an interpreter is joined from some forty. Of core instances only the
    // count is kept, so that there may be as many as all components together can have.
    pool.total_component_instances(limits.instances)
        .total_core_instances(limits.instances.saturating_mul(CORE_INSTANCES))
        .total_memories(limits.instances)
        .total_tables(limits.instances.saturating_mul(2))
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(8)
        .max_tables_per_component(32)
        .table_elements(limits.table_elements)
        // Writing zeros over what a small unit has touched is faster than giving
        // the pages back and faulting them in again.
        .linear_memory_keep_resident(256 << 10)
        .table_keep_resident(16 << 10);
    pool
}
