//! What works on files alone, and is asked of a server: a sentence says what to use instead.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::ServerCli;

/// What a server has in the place of commands that work on files alone.
const COMMANDS: &[(&str, &str)] = &[
    (
        "simulate",
        "placewright --server URL export writes the files that it takes",
    ),
    (
        "columns",
        "placewright --server URL call get clusters/NAME/host-schema tells the columns of a cluster",
    ),
    ("serve", "it is the server itself, on its own machine"),
    (
        "store",
        "it checks what a server has stored, on its own machine; placewright --server URL backup saves a copy",
    ),
    (
        "restore",
        "it puts a copy back on the server's own machine, while the server is stopped",
    ),
    (
        "audit",
        "placewright --server URL audit list reads what a server has recorded",
    ),
    (
        "token",
        "placewright --server URL token create issues a token of a server",
    ),
    (
        "unit",
        "it works on files; placewright --server URL unit put hands a component to a server",
    ),
    (
        "policy",
        "placewright --server URL put policies sends a policy to a server",
    ),
    (
        "context",
        "it writes the names of servers into a file of yours",
    ),
];

/// What a server has in the place of options for files.
const OPTIONS: &[(&str, &str, &str)] = &[
    (
        "place",
        "--explain",
        "placewright explain NUMBER explains the decision that was made",
    ),
    (
        "explain",
        "--vm",
        "placewright why --vm ID|FILE asks about a VM",
    ),
    (
        "explain",
        "--without",
        "the server's policy is asked as it is; placewright costs --policy NAME asks another one",
    ),
    (
        "explain",
        "--factor",
        "the server's policy is asked as it is; placewright costs --policy NAME asks another one",
    ),
    (
        "what-if",
        "--search",
        "a server places VMs of failed hosts in one order, without a search",
    ),
    (
        "balance",
        "--once",
        "--cool-down SECONDS has VMs stay where they were moved",
    ),
    (
        "balance",
        "--apply",
        "placewright begin NUMBER has the moves of a plan made",
    ),
    (
        "evacuate",
        "--host",
        "name the hosts alone, as placewright evacuate h1",
    ),
    (
        "",
        "--units",
        "the units are the server's (placewright get units)",
    ),
    (
        "",
        "--policy",
        "the policy is that of the cluster; placewright costs --policy NAME asks another one",
    ),
];

/// Why the words of a command line mean nothing to a server, where they mean something to the
/// command that works on files.
pub(super) fn instead(words: &[OsString], error: &clap::Error) -> Option<String> {
    let files = crate::cli::Cli::command();
    let path = path(&files, words);
    let names: Vec<&str> = path.iter().skip(1).map(|it| it.get_name()).collect();
    let (first, command) = (*names.first()?, *path.last()?);
    let line = names.join(" ");
    match error.kind() {
        ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument if !has(&names) => {
            let instead = COMMANDS.iter().find(|(name, _)| *name == first);
            let instead = instead.map_or(String::new(), |(_, instead)| format!("; {instead}"));
            Some(format!(
                "placewright {line} works without a server: leave --server and --context away{instead}"
            ))
        }
        ErrorKind::UnknownArgument => {
            let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
                return None;
            };
            let option = given.split(['=', ' ']).next()?;
            let long = option.strip_prefix("--")?;
            command
                .get_arguments()
                .find(|it| it.get_long() == Some(long))?;
            let instead = OPTIONS
                .iter()
                .find(|(name, known, _)| (name.is_empty() || *name == first) && *known == option);
            let instead = instead.map_or_else(
                || format!("placewright --server URL {line} --help lists what there is"),
                |(.., instead)| (*instead).to_owned(),
            );
            Some(format!(
                "placewright {line} has {option} for files alone, not for a server: {instead}"
            ))
        }
        _ => None,
    }
}

/// Whether servers have a command of these names.
fn has(names: &[&str]) -> bool {
    let servers = ServerCli::command();
    let mut command = Some(&servers);
    for name in names {
        command = command.and_then(|it| it.find_subcommand(name));
    }
    command.is_some()
}

/// The command that words name, after those that it stands below.
pub(super) fn path<'c>(top: &'c Command, words: &[OsString]) -> Vec<&'c Command> {
    let mut path = vec![top];
    for word in plain(words) {
        let Some(below) = path.last().and_then(|it| it.find_subcommand(word)) else {
            continue;
        };
        path.push(below);
    }
    path
}

/// The words that are no options, nor values of those that stand before every command.
fn plain(words: &[OsString]) -> impl Iterator<Item = &OsStr> {
    let mut is_value = false;
    let words = words.iter().skip(1).map(OsString::as_os_str);
    let words = words.take_while(|word| *word != "--");
    words.filter(move |word| {
        let text = word.to_str().unwrap_or_default();
        if std::mem::take(&mut is_value) {
            return false;
        }
        is_value = super::WITH_VALUE.contains(&text);
        !text.starts_with('-')
    })
}
