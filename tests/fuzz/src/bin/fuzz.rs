//! libFuzzer on the target that the variable `FUZZ_TARGET` names; `tests/fuzz/run` starts it.

#![no_main]

use std::sync::OnceLock;

use placewright_fuzz::{Allocator, TARGETS, Target, allocator, find};

#[global_allocator]
static ALLOCATOR: Allocator = allocator();

/// The target of this process.
fn target() -> &'static Target {
    static TARGET: OnceLock<&Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        find(&name).unwrap_or_else(|| {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            eprintln!("FUZZ_TARGET must be one of: {}", names.join(", "));
            std::process::exit(2)
        })
    })
}

/// What libFuzzer calls before anything else: from here on every panic, also one that is caught
/// or on another thread, ends the process, so that libFuzzer keeps the input.
#[unsafe(no_mangle)]
pub extern "C" fn LLVMFuzzerInitialize(_: *const i32, _: *const *const *const u8) -> i32 {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        told(panic);
        std::process::abort();
    }));
    0
}

/// What libFuzzer calls with each input.
///
/// # Safety
/// `input` must be the beginning of `length` bytes that nobody changes meanwhile; libFuzzer
/// hands over a copy that is its own until this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn LLVMFuzzerTestOneInput(input: *const u8, length: usize) -> i32 {
    let target = target();
    // SAFETY: what the caller promises. A slice may not begin at null, so that an empty input
    // is not made of what is handed over.
    let input = match length {
        0 => &[],
        length => unsafe { std::slice::from_raw_parts(input, length.min(target.longest)) },
    };
    target.run(&ALLOCATOR, input);
    0
}
