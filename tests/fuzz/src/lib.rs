//! What is fuzzed: for each kind of input a function that takes any bytes and panics if
//! something is wrong with what became of them.
//!
//! The program `fuzz` hands these functions to libFuzzer, the test `replay` the inputs that
//! are committed. `README.md` beside this crate tells how to run a campaign.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod guest;
pub mod hostile;
mod image;
mod targets;
mod world;

use std::alloc::System;
use std::path::PathBuf;

use cap::Cap;

/// What allocates memory in a program that runs targets: it knows how much is in use, and
/// refuses more than it is allowed to give.
pub type Allocator = Cap<System>;

/// An allocator without a limit, until a target runs.
pub const fn allocator() -> Allocator {
    Cap::new(System, usize::MAX)
}

/// Bytes of memory that one input may take at a time, beyond what is in use before it. Inputs have
/// a few KiB; what takes this much for one would take all memory for a body or a unit of the
/// sizes that are allowed.
const MEMORY: usize = 256 << 20;

/// A kind of input.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Names its corpus: the folder `corpus/NAME`.
    pub name: &'static str,
    /// The greatest input that is worth trying, in bytes.
    pub longest: usize,
    /// Takes an input; panics if something is wrong.
    body: fn(&[u8]),
}

impl Target {
    /// Take an input, with a bound on memory if the program has the allocator for it.
    ///
    /// # Panics
    /// If the input finds something. An input that takes too much memory aborts the program.
    pub fn run(&self, allocator: &Allocator, input: &[u8]) {
        let limit = allocator.allocated().saturating_add(MEMORY);
        // Fails only if more is in use than the limit, which is above what is in use.
        let limited = allocator.set_limit(limit);
        (self.body)(input);
        if limited.is_ok() {
            // Only ever raises the limit.
            let _ = allocator.set_limit(usize::MAX);
        }
    }
}

const fn target(name: &'static str, longest: usize, body: fn(&[u8])) -> Target {
    Target {
        name,
        longest,
        body,
    }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target("component", 16 << 10, targets::component::component),
    target("signature", 2 << 10, targets::component::signature),
    target("description", 4 << 10, targets::description::description),
    target("answers", 1 << 10, targets::answers::answers),
    target("decisions", 2 << 10, targets::decisions::decisions),
    target("policy", 4 << 10, targets::documents::policy),
    target("cluster", 4 << 10, targets::documents::cluster),
    target("changes", 4 << 10, targets::documents::changes),
    target("request", 4 << 10, targets::documents::request),
    target("scenario", 4 << 10, targets::documents::scenario),
    target("ovirt", 4 << 10, targets::imports::ovirt),
    target("ganeti", 4 << 10, targets::imports::ganeti),
    target("trace", 4 << 10, targets::imports::trace),
    target("http", 4 << 10, targets::http::http),
    target("engine", 4 << 10, targets::engine::engine),
    target("headers", 512, targets::headers::who),
    target("amounts", 128, targets::headers::amounts),
    target("store", 8 << 10, targets::store::store),
];

/// The target of that name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// The folder of a target's committed inputs.
pub fn corpus(target: &Target) -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.join("corpus").join(target.name)
}
