//! The program as its users start it: a server, the book's commands, the tools of authors.

mod bad_code;
mod begun;
mod book;
mod c;
mod console;
mod javascript;
mod mistakes;
mod monitoring;
mod ovirt;
#[cfg(target_os = "linux")]
mod packaging;
mod python;
mod scenarios;
mod server;
mod twins;
mod unit_bench;
mod unit_replay;
mod unit_run;
mod unit_sign;
