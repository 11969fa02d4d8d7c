//! What the process does that compiles for another one.

use std::io::{self, BufReader};
use std::time::Duration;
use std::{fs, process, thread};

use rayon::ThreadPoolBuilder;

use super::wire::{Answer, Request};
use crate::compile::step_back;
use crate::settings;

/// Threads that compile at most: each needs memory for the function that it is at.
const MOST_THREADS: usize = 4;

/// Address space beyond the memory that may be used: the program itself, stacks, and what the
/// allocator sets aside for each thread.
const ADDRESS_SPACE: u64 = 2 << 30;

/// Compile the component on standard input to standard output, within the bounds that come with
/// it. Ends the process early if standard input is closed, as it is when the program ends that
/// waits for the code.
///
/// # Errors
/// If there is no request, the bounds cannot be set, or the code cannot be written.
pub fn serve_compile() -> io::Result<()> {
    let mut input = BufReader::new(io::stdin());
    let request = Request::read(&mut input)?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(MOST_THREADS);
    confine(&request, threads)?;
    let bytes = request.read_bytes(&mut input)?;
    thread::spawn(move || {
        // Nothing more is written to it.
        let _ = io::copy(&mut input, &mut io::sink());
        process::exit(1);
    });
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(io::Error::other)?;
    let compiled = pool.install(|| {
        let engine = wasmtime::Engine::new(&settings(&request.limits()))?;
        engine.precompile_component(&bytes)
    });
    let mut output = io::stdout().lock();
    match compiled {
        Ok(code) => Answer::Code(&code).write(&mut output),
        Err(error) => Answer::Invalid(format!("{error:#}")).write(&mut output),
    }
}

/// Come after everything else, end rather than take more than was allowed, and give up every
/// right that compiling does not need.
fn confine(request: &Request, threads: usize) -> io::Result<()> {
    step_back();
    // Of all processes this is the one to be ended where memory is scarce. Not every system
    // knows that, and it can be done without.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    #[cfg(unix)]
    bound(request, threads)?;
    // Last, as the steps before need some of it. Where the system knows nothing of the kind, the bounds
    // and the empty environment are all there is.
    #[cfg(target_os = "linux")]
    let _ = super::confinement::give_up();
    Ok(())
}

#[cfg(unix)]
fn bound(request: &Request, threads: usize) -> io::Result<()> {
    use rlimit::Resource;

    let set = |resource: Resource, most: u64| {
        let (_, hard) = resource.get()?;
        let most = most.min(hard);
        resource.set(most, most)
    };
    // A crash is told by its signal; the picture of the memory is of no use to anyone.
    set(Resource::CORE, 0)?;
    set(Resource::DATA, request.memory)?;
    set(Resource::AS, request.memory.saturating_add(ADDRESS_SPACE))?;
    let seconds = request
        .time
        .saturating_add(Duration::from_secs(1))
        .as_secs();
    set(Resource::CPU, seconds.saturating_mul(threads as u64))
}
