//! The commands.
//!
//! Each command turns words and files into calls of the library, and what comes out
//! into a table or JSON. Nothing is decided here.

mod audit;
mod balance;
mod capacity;
mod clusters;
mod columns;
mod compare_openb;
mod compile_unit;
mod completions;
mod demo;
mod evacuate;
mod explain;
mod explained;
mod failure;
mod manual;
mod output;
mod place;
mod policy;
mod progress;
mod questions;
mod remote;
mod rounds;
mod serve;
mod simulate;
mod simulate_cluster;
mod simulate_openb;
mod spread;
mod store;
mod token;
mod unit;
mod units;
mod visible;
mod what_if;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::Answer;

/// What every command's exit code means; shown below the help.
const EXIT_CODES: &str = "\
Exit codes:
  0  done, and the answer is yes
  1  done, and the answer is no: a VM found no host, a check failed
  2  the command line or a file is at fault
  3  a unit failed, or something went wrong that is no fault of the input";

/// Places virtual machines by policies made of WebAssembly units.
#[derive(Debug, Parser)]
#[command(name = "placewright", version, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The commands, each documented where it is.
#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Demo),
    Place(place::Place),
    Explain(explain::Explain),
    Capacity(capacity::Capacity),
    WhatIf(what_if::WhatIf),
    Simulate(Box<simulate::Simulate>),
    CompareOpenb(compare_openb::CompareOpenb),
    Balance(balance::Balance),
    Evacuate(evacuate::Evacuate),
    #[command(subcommand)]
    Policy(policy::Policy),
    Columns(columns::Columns),
    Serve(Box<serve::Serve>),
    #[command(subcommand)]
    Token(token::TokenCommand),
    #[command(subcommand)]
    Unit(unit::Unit),
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    #[command(subcommand)]
    Store(store::StoreCommand),
    Restore(store::Restore),
    Completions(completions::Completions),
    Manual(manual::Manual),
    #[command(subcommand)]
    Context(remote::ContextCommand),
    #[command(hide = true)]
    CompileUnit(compile_unit::CompileUnit),
}

/// Run the command that the words of the command line name.
pub(crate) fn run() -> ExitCode {
    // Ends the program where a shell asks how a line goes on.
    clap_complete::CompleteEnv::with_factory(remote::completed).complete();
    let words: Vec<_> = std::env::args_os().collect();
    let done = match remote::is_meant(&words) {
        true => remote::run(words),
        false => of_files(),
    };
    match done {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(failure) => failure.report(),
    }
}

/// All commands with their names and what they do, those for servers besides.
fn every_command() -> clap::Command {
    let of_servers = remote::commands();
    let names: Vec<&str> = of_servers.iter().map(clap::Command::get_name).collect();
    let about = output::list(
        "Commands for a server (placewright --server URL --help):",
        &names.iter().map(ToString::to_string).collect::<Vec<_>>(),
    );
    Cli::command().after_help(format!("{about}\n\n{EXIT_CODES}"))
}

/// Run a command that works on files.
fn of_files() -> Result<Answer, failure::Failure> {
    let matches = every_command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match cli.command {
        Command::Demo(demo) => demo.run(),
        Command::Place(place) => place.run(),
        Command::Explain(explain) => explain.run(),
        Command::Capacity(capacity) => capacity.run(),
        Command::WhatIf(what_if) => what_if.run(),
        Command::Simulate(simulate) => simulate.run(),
        Command::CompareOpenb(compare) => compare.run(),
        Command::Balance(balance) => balance.run(),
        Command::Evacuate(evacuate) => evacuate.run(),
        Command::Policy(policy) => policy.run(),
        Command::Columns(columns) => columns.run(),
        Command::Serve(serve) => serve.run(),
        Command::Token(token) => token.run(),
        Command::Unit(unit) => unit.run(),
        Command::Audit(audit) => audit.run(),
        Command::Store(store) => store.run(),
        Command::Restore(restore) => restore.run(),
        Command::Completions(completions) => completions.run(),
        Command::Manual(manual) => manual.run(),
        Command::Context(context) => context.run(),
        Command::CompileUnit(compile) => compile.run(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    /// Calls `look` with each command's words and what stands below its help.
    pub(super) fn each(command: &Command, words: &str, look: &mut impl FnMut(&str, &str)) {
        let words = format!("{words} {}", command.get_name());
        if let Some(text) = command.get_after_help() {
            look(&words, &text.to_string());
        }
        for below in command.get_subcommands() {
            each(below, &words, look);
        }
    }

    #[test]
    fn examples_fit_a_terminal_so_that_they_can_be_copied() {
        let mut examples = 0;
        each(&super::Cli::command(), "", &mut |words, text| {
            for line in text.lines().filter(|line| line.starts_with("  ")) {
                let width = line.chars().count();
                assert!(width <= 80, "{words}: {width} columns: {line}");
                examples += usize::from(line.starts_with("  placewright"));
            }
        });
        assert!(examples > 50, "only {examples} examples were found");
    }
}
