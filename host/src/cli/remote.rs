//! The commands for a server elsewhere: `placewright --server URL ...`.
//!
//! Each command turns words and files into calls of the server's API, and the answer into a table
//! or JSON. They are a command line of their own, since of a server a cluster is a name and not a
//! file, and policies and units are the server's.

mod ask;
mod audit;
mod backup;
mod complete;
mod connection;
mod contexts;
mod decided;
mod document;
mod events;
mod explanation;
mod export;
mod list;
mod moment;
mod moves;
mod of_files;
mod policy;
mod quota;
mod restarts;
mod shown;
mod status;
mod token;
mod unit;
mod ways;
mod write;

use std::ffi::{OsStr, OsString};

use clap::{Args, CommandFactory, Parser, Subcommand};

use super::failure::{Answer, Failure};
use super::output::Format;
pub(super) use complete::command as completed;
use connection::ConnectionArgs;
pub(super) use connection::fault;
pub(super) use contexts::ContextCommand;

/// Options that mean a server, before a command or behind it.
const OF_SERVER: [&str; 2] = ["--server", "--context"];

/// Options with a value that may stand before every command.
const WITH_VALUE: [&str; 5] = [
    "--server",
    "--context",
    "--token-file",
    "--authority",
    "--format",
];

/// Asks a server, and changes what it has.
///
/// The server is the one of --server, or of a context: a name for an address, a token and a
/// cluster (placewright context --help). Every answer is there as JSON with --format json.
#[derive(Debug, Parser)]
#[command(
    name = "placewright",
    version,
    after_help = "\
Examples:
  placewright --server https://placewright:7425 --token-file token get clusters
  placewright --context prod place --cluster east --vm vm.toml --dry-run
  placewright get hosts --cluster east --where state=down

Exit codes:
  0  done, and the answer is yes
  1  done, and the answer is no: a VM found no host, a check failed
  2  the command line, a file or the call is at fault
  3  the server cannot be reached, or something went wrong that is no fault of the input"
)]
#[command(
    disable_help_subcommand = true,
    max_term_width = 100,
    arg_required_else_help = true
)]
struct ServerCli {
    #[command(flatten)]
    connection: ConnectionArgs,
    /// Output format
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    format: Format,
    #[command(subcommand)]
    command: ServerCommand,
}

/// The commands, each documented where it is.
#[derive(Debug, Subcommand)]
enum ServerCommand {
    Get(list::Get),
    Create(write::Create),
    Put(write::Put),
    Patch(write::Patch),
    Delete(write::Delete),
    Change(write::Change),
    Place(ask::Place),
    Migrate(ask::Migrate),
    Confirm(moves::Confirm),
    Cancel(moves::Cancel),
    Renew(moves::Renew),
    Why(ask::Why),
    Explain(ask::Explain),
    Capacity(ask::Capacity),
    Costs(ask::Costs),
    WhatIf(ask::WhatIf),
    Balance(moves::Balance),
    Evacuate(moves::Evacuate),
    Begin(moves::Begin),
    Stop(moves::Stop),
    Restarts(restarts::Restarts),
    #[command(subcommand)]
    Policy(policy::Policy),
    #[command(subcommand)]
    Unit(unit::Unit),
    #[command(subcommand)]
    Quota(quota::Quota),
    #[command(subcommand)]
    Audit(audit::Audit),
    #[command(subcommand)]
    Token(token::Token),
    Events(events::Follow),
    Status(status::Status),
    Reload(status::Reload),
    Backup(backup::Backup),
    Export(export::Export),
    Call(status::RawCall),
}

/// A cluster of the server.
#[derive(Debug, Args)]
struct ClusterArg {
    /// The cluster; that of the context if not given
    #[arg(long, short = 'c', value_name = "NAME")]
    cluster: Option<String>,
}

impl ClusterArg {
    fn name(&self, session: &Session) -> Result<String, Failure> {
        let name = self.cluster.as_ref().or(session.cluster.as_ref());
        name.cloned().ok_or_else(|| {
            Failure::input_because(
                "no cluster is named: give --cluster NAME, or set one in the context",
            )
        })
    }
}

/// What a command works with.
struct Session {
    client: placewright_client::Client,
    /// The cluster of the context.
    cluster: Option<String>,
    format: Format,
}

impl Session {
    /// Make a call.
    fn call(&self, call: placewright_client::Call) -> Result<placewright_client::Answer, Failure> {
        self.client.call(call).map_err(fault)
    }

    /// Print an answer: as it is for programs, and as `text` for people.
    fn print(
        &self,
        body: &serde_json::Value,
        text: impl FnOnce(&serde_json::Value) -> String,
    ) -> Result<(), Failure> {
        match self.format {
            Format::Json => super::output::print_json(body),
            Format::Table => super::output::print(&text(body)),
        }
    }
}

/// Whether the words of the command line mean a server: one is named, or only servers have such a
/// command, as `get`, or `token list`.
pub(super) fn is_meant(all: &[OsString]) -> bool {
    let mut words = all.iter().skip(1).map(OsString::as_os_str);
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or_default();
        let name = text.split('=').next().unwrap_or_default();
        match name {
            _ if OF_SERVER.contains(&name) => return true,
            // It has a value, which is no command.
            _ if WITH_VALUE.contains(&text) => {
                words.next();
            }
            _ if name.starts_with('-') => {}
            _ => {
                return is_only_of_servers(word)
                    || is_only_below(word, words.next())
                    || is_named_behind(all);
            }
        }
    }
    false
}

/// Whether a server is named behind a command that has no option of that name for itself.
fn is_named_behind(words: &[OsString]) -> bool {
    let cli = super::Cli::command();
    let path = of_files::path(&cli, words);
    let (Some(command), true) = (path.last(), path.len() > 1) else {
        return false;
    };
    let words = words.iter().filter_map(|word| word.to_str());
    let mut words = words.take_while(|word| *word != "--");
    words.any(|word| {
        let name = word.split('=').next().unwrap_or_default();
        let has = |arg: &clap::Arg| arg.get_long() == name.strip_prefix("--");
        OF_SERVER.contains(&name) && !command.get_arguments().any(has)
    })
}

/// Whether the command of that name has one of the second name for servers alone.
fn is_only_below(name: &OsStr, second: Option<&OsStr>) -> bool {
    let Some(second) = second else { return false };
    let has = |cli: &clap::Command| {
        let command = cli.find_subcommand(name);
        command.is_some_and(|command| command.find_subcommand(second).is_some())
    };
    has(&ServerCli::command()) && !has(&super::Cli::command())
}

/// Whether servers have a command of that name, and files have none.
fn is_only_of_servers(name: &OsStr) -> bool {
    let has = |cli: &clap::Command| cli.get_subcommands().any(|it| it.get_name() == name);
    has(&ServerCli::command()) && !has(&super::Cli::command())
}

/// The commands that only servers have, with what they do.
pub(super) fn commands() -> Vec<clap::Command> {
    let of_servers = ServerCli::command();
    let commands = of_servers.get_subcommands();
    commands
        .filter(|command| is_only_of_servers(OsStr::new(command.get_name())))
        .cloned()
        .collect()
}

/// Run the command that the words of the command line name.
pub(super) fn run(words: Vec<OsString>) -> Result<Answer, Failure> {
    let cli = match ServerCli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => match of_files::instead(&words, &error) {
            Some(sentence) => return Err(Failure::input_because(sentence)),
            None => error.exit(),
        },
    };
    let (client, cluster) = cli.connection.open()?;
    let session = Session {
        client,
        cluster,
        format: cli.format,
    };
    match cli.command {
        ServerCommand::Get(get) => get.run(&session),
        ServerCommand::Create(create) => create.run(&session),
        ServerCommand::Put(put) => put.run(&session),
        ServerCommand::Patch(patch) => patch.run(&session),
        ServerCommand::Delete(delete) => delete.run(&session),
        ServerCommand::Change(change) => change.run(&session),
        ServerCommand::Place(place) => place.run(&session),
        ServerCommand::Migrate(migrate) => migrate.run(&session),
        ServerCommand::Confirm(confirm) => confirm.run(&session),
        ServerCommand::Cancel(cancel) => cancel.run(&session),
        ServerCommand::Renew(renew) => renew.run(&session),
        ServerCommand::Why(why) => why.run(&session),
        ServerCommand::Explain(explain) => explain.run(&session),
        ServerCommand::Capacity(capacity) => capacity.run(&session),
        ServerCommand::Costs(costs) => costs.run(&session),
        ServerCommand::WhatIf(what_if) => what_if.run(&session),
        ServerCommand::Balance(balance) => balance.run(&session),
        ServerCommand::Evacuate(evacuate) => evacuate.run(&session),
        ServerCommand::Begin(begin) => begin.run(&session),
        ServerCommand::Stop(stop) => stop.run(&session),
        ServerCommand::Restarts(restarts) => restarts.run(&session),
        ServerCommand::Policy(policy) => policy.run(&session),
        ServerCommand::Unit(unit) => unit.run(&session),
        ServerCommand::Quota(quota) => quota.run(&session),
        ServerCommand::Audit(audit) => audit.run(&session),
        ServerCommand::Token(token) => token.run(&session),
        ServerCommand::Events(events) => events.run(&session),
        ServerCommand::Status(status) => status.run(&session),
        ServerCommand::Reload(reload) => reload.run(&session),
        ServerCommand::Backup(backup) => backup.run(&session),
        ServerCommand::Export(export) => export.run(&session),
        ServerCommand::Call(call) => call.run(&session),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(line: &str) -> bool {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        is_meant(&words)
    }

    #[test]
    fn a_server_is_meant_where_it_is_named_or_only_servers_have_the_command() {
        for line in [
            "placewright --server http://s place --vm v",
            "placewright --server=http://s unit list",
            "placewright --context prod --help",
            "placewright get hosts",
            "placewright --format json get hosts",
            "placewright --token-file place get hosts",
            "placewright token list",
            "placewright audit list",
            "placewright policy attach mine",
            "placewright place --vm v --server http://s",
            "placewright unit list --server=http://s",
            "placewright what-if --context prod",
            "placewright simulate --server http://s",
        ] {
            assert!(meant(line), "{line}");
        }
        for line in [
            "placewright",
            "placewright --help",
            "placewright place --cluster c.toml --vm v.toml",
            "placewright unit replay u.wasm --server http://s",
            "placewright context set prod --server http://s",
            "placewright place --vm v -- --server",
            "placewright nonsense",
            "placewright token",
            "placewright audit verify data",
            "placewright token new --name list",
            "placewright policy check list",
        ] {
            assert!(!meant(line), "{line}");
        }
    }

    fn told(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = ServerCli::try_parse_from(&words).unwrap_err();
        of_files::instead(&words, &error).unwrap_or_default()
    }

    #[test]
    fn what_works_on_files_alone_is_told_with_what_a_server_has_instead() {
        for (line, sentence) in [
            (
                "placewright --server http://s simulate --trace t",
                "placewright simulate works without a server: leave --server and --context away; placewright --server URL export",
            ),
            (
                "placewright demo --context prod",
                "placewright demo works without a server",
            ),
            (
                "placewright --server http://s unit build",
                "placewright unit build works without a server",
            ),
            (
                "placewright --server http://s place --vm v --explain",
                "placewright place has --explain for files alone, not for a server: placewright explain NUMBER",
            ),
            (
                "placewright what-if --server http://s --search=4",
                "placewright what-if has --search for files alone",
            ),
            (
                "placewright explain --vm v --server http://s",
                "placewright explain has --vm for files alone, not for a server: placewright why",
            ),
        ] {
            assert!(told(line).starts_with(sentence), "{line}: {}", told(line));
        }
        assert_eq!(
            told("placewright --server http://s get hosts --nonsense"),
            ""
        );
        assert_eq!(told("placewright --server http://s nonsense"), "");
    }

    #[test]
    fn the_command_line_is_consistent() {
        ServerCli::command().debug_assert();
    }

    #[test]
    fn examples_fit_a_terminal_so_that_they_can_be_copied() {
        let mut examples = 0;
        super::super::tests::each(&ServerCli::command(), "", &mut |words, text| {
            for line in text
                .lines()
                .filter(|line| line.starts_with("  placewright"))
            {
                assert!(line.chars().count() <= 80, "{words}: {line}");
                examples += 1;
            }
        });
        assert!(examples > 20, "only {examples} examples were found");
    }
}
