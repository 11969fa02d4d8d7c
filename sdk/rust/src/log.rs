//! Sentences for whoever develops or runs the unit; no influence on decisions.
//!
//! In a component they go to the import `log`; natively to standard error.

use crate::contract::Level;

/// Says that something is wrong.
pub fn error(message: &str) {
    say(Level::Error, message);
}

/// Says that something may be wrong.
pub fn warn(message: &str) {
    say(Level::Warn, message);
}

/// Says something worth knowing.
pub fn info(message: &str) {
    say(Level::Info, message);
}

/// Says something of interest during development.
pub fn debug(message: &str) {
    say(Level::Debug, message);
}

#[cfg(target_arch = "wasm32")]
fn say(level: Level, message: &str) {
    crate::bindings::contract::placewright::policy::log::log(level, message);
}

#[cfg(not(target_arch = "wasm32"))]
fn say(level: Level, message: &str) {
    let level = match level {
        Level::Error => "error",
        Level::Warn => "warn",
        Level::Info => "info",
        Level::Debug => "debug",
    };
    eprintln!("{level}: {message}");
}
