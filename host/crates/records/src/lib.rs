//! What a server tells about itself: its metrics, its log, and who changed what.
//!
//! Read [`telemetry::Telemetry`] and [`audit::Audit`] first.

#![forbid(unsafe_code)]

pub mod audit;
pub mod telemetry;
