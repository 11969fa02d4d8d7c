//! The program as its users meet it: words and files in, output and exit code out.

mod asking;
mod bad_input;
mod balancing;
mod beginning;
mod evacuating;
mod gpus;
mod help;
mod importing;
mod own_cluster;
mod placing;
mod questions;
mod replaying;
mod run;
mod scenarios;
mod traps;
mod units;
#[cfg(unix)]
mod watching;
