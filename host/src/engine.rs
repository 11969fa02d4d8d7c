//! The one place that builds a Wasmtime engine and compiles components.
//!
//! An [`Engine`] comes in two flavours, chosen by [`Limits::fuel`]: calls limited
//! by wall time for decisions, or by fuel for runs that must come out the same
//! on every machine. What is run in it is [`crate::unit`]'s business.

mod cache;
mod compile;
mod functions;
mod limits;
mod ticker;

pub use limits::Limits;

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::Component;
use wasmtime::{Config, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

use cache::Cache;
use compile::{Compilers, Turn};
use functions::Functions;
use ticker::Ticker;

/// Core instances that one component may have.
const CORE_INSTANCES: u32 = 64;

/// Frames of a trap's backtrace that are kept; a recursion repeats itself, and a panic adds some
/// ten of its own.
const FRAMES: NonZeroUsize = NonZeroUsize::new(32).expect("32 is not 0");

/// Compiles and runs units. A cheap handle: clones share the engine, which ends
/// with the last of them.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    // Declared first, dropped first: the ticker holds the engine.
    _ticker: Option<Ticker>,
    engine: wasmtime::Engine,
    limits: Limits,
    cache: Option<Arc<Cache>>,
    compilers: Compilers,
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
    /// The compiling thread could not be started or did not finish.
    #[error("the compiler did not finish: {0}")]
    Compiler(String),
}

impl Engine {
    /// An engine with these limits. With `code`, compiled code is kept in that
    /// folder; a folder that cannot be used is reported and done without.
    ///
    /// # Errors
    /// If Wasmtime refuses, or a thread cannot be started.
    pub fn new(limits: Limits, code: Option<&Path>) -> Result<Self, EngineError> {
        Self::compiling(limits, code, Turn::AsOthers)
    }

    /// The same for a process that decides while it compiles: compiling comes after
    /// everything else, and so may take its time on a machine that has much to do. Functions
    /// that were compiled before are not compiled again.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn beside_decisions(limits: Limits, code: Option<&Path>) -> Result<Self, EngineError> {
        Self::compiling(limits, code, Turn::AfterOthers)
    }

    fn compiling(limits: Limits, code: Option<&Path>, turn: Turn) -> Result<Self, EngineError> {
        let engine = build(&limits, turn)?;
        let ticker = match limits.fuel {
            Some(_) => None,
            None => Some(Ticker::start(engine.clone()).map_err(EngineError::Ticker)?),
        };
        let cache = code.and_then(|folder| {
            Cache::open(folder, &engine)
                .inspect_err(|error| {
                    tracing::warn!(folder = %folder.display(), %error, "compiled code is not kept");
                })
                .ok()
        });
        Ok(Self {
            inner: Arc::new(Inner {
                _ticker: ticker,
                engine,
                compilers: Compilers::new(limits.compile_time, turn),
                limits,
                cache: cache.map(Arc::new),
            }),
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

    /// The epochs after which `budget` has passed.
    pub(crate) fn ticks(&self, budget: Duration) -> u64 {
        ticker::ticks(budget)
    }

    /// Compile a component whose digest in hexadecimal is `digest`, or take its
    /// code from disk. Takes milliseconds for a small unit and up to a minute
    /// for an interpreter; from disk, a millisecond.
    ///
    /// # Errors
    /// If the bytes are not a component for this engine, or on time out. The
    /// compiler cannot be stopped: its thread then ends when it is done, and the code is
    /// there for who asks next.
    pub(crate) fn compile(
        &self,
        bytes: Arc<[u8]>,
        digest: &str,
    ) -> Result<Component, CompileError> {
        if let Some(cache) = &self.inner.cache
            && let Some(component) = cache.get(&self.inner.engine, digest)
        {
            return Ok(component);
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

    /// Whether the code of the component with that digest is to be compiled, although there
    /// is a folder of compiled code.
    pub(crate) fn lacks_code(&self, digest: &str) -> bool {
        let cache = self.inner.cache.as_ref();
        cache.is_some_and(|cache| !cache.has(digest))
    }

    /// What was noted of the component with that digest, beside its compiled code.
    pub(crate) fn note(&self, digest: &str, kind: &str) -> Option<Vec<u8>> {
        let cache = self.inner.cache.as_ref()?;
        cache.note(digest, kind)
    }

    /// Note something of the component with that digest beside its compiled code, if
    /// code is kept: `kind` is what, and `note` must be short.
    pub(crate) fn keep_note(&self, digest: &str, kind: &str, note: &[u8]) {
        if let Some(cache) = &self.inner.cache {
            cache.keep_note(digest, kind, note);
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
