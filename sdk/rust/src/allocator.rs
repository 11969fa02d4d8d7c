//! Where a unit's memory comes from.
//!
//! The allocator of the standard library for WebAssembly is a tenth of the code of a small unit:
//! what is compiled when the unit comes, and kept while it is in force. This one is a quarter of
//! it, and takes the same few steps for each allocation, however many there are.
//!
//! A unit with an allocator of its own leaves the SDK's feature `allocator` out.

use rlsf::{GlobalTlsf, GlobalTlsfOptions};

/// Small code, but no room between the pages that the memory has grown by: columns of a large
/// cluster take more than one page each.
struct Small;

impl GlobalTlsfOptions for Small {
    const ENABLE_REALLOCATION: bool = false;
    const COALESCE_POOLS: bool = true;
}

#[global_allocator]
static MEMORY: GlobalTlsf<Small> = GlobalTlsf::new();
