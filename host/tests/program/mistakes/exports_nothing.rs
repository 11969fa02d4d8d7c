//! A rule that nobody can call: the macro `export!` is missing.

pub fn keep(free: u64, wanted: u64) -> bool {
    free >= wanted
}
