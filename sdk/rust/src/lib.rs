//! x
pub mod bindings;
