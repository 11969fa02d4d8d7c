//! The program as its users meet it: words and files in, output and exit code out.

mod bad_input;
mod gpus;
mod help;
mod importing;
mod placing;
mod replaying;
mod run;
mod units;
