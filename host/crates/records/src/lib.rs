//! What a server tells about itself: its metrics, its log, its traces, and who changed what.
//!
//! Read [`telemetry::Telemetry`], [`audit::Audit`] and [`traces::Traces`] first.

#![forbid(unsafe_code)]

pub mod audit;
pub mod telemetry;
pub mod traces;
