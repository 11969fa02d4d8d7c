//! What is decided: chains, costs, groups, batches, balance, effects and answers of units, claim by
//! claim, without a server.

mod bad_calls;
mod bad_parts;
mod balancing;
mod batch_search;
mod batches;
mod decisions;
mod departures;
mod effects;
mod evacuation;
mod explain_parts;
mod general;
mod gpus;
mod groups_by_state;
mod holding;
mod joined;
mod named_amounts;
mod no_host;
mod questions;
mod replay;
mod restarts;
mod reuse;
mod selections;
mod smallest;
mod unheeded;
mod unsound_parts;
