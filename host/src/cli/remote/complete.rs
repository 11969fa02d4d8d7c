//! Completions that ask the server: names of what it has, for the words of a command line.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use clap::{Command, CommandFactory, Parser, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use placewright_client::{Call, Client};
use serde_json::Value;

use super::connection::ConnectionArgs;
use super::contexts::Contexts;
use super::list::Kind;
use super::{ServerCli, is_meant};

/// How long somebody who presses a key waits for the server.
const WAIT: Duration = Duration::from_secs(2);

/// The command for contexts, which asks no server.
const CONTEXT: &str = "context";

/// Names that are offered, at most: more nobody reads.
const MOST: usize = 100;

/// Names that are asked for where the server cannot be asked for those that begin so.
const MOST_ASKED: usize = 1000;

/// Options with a value that say which server is asked about which cluster.
const OPTIONS: [&str; 6] = [
    "--server",
    "--context",
    "--token-file",
    "--authority",
    "--cluster",
    "-c",
];

/// The command line for the words that are completed: that for a server if they mean one.
pub(in crate::cli) fn command() -> Command {
    match is_meant(&words()) {
        true => with_names(ServerCli::command(), ""),
        false => {
            let of_servers = super::commands().into_iter();
            let of_servers = of_servers.map(|it| {
                let name = it.get_name().to_owned();
                with_names(it, &name)
            });
            let of_files = crate::cli::every_command();
            let of_files = of_files.mut_subcommand(CONTEXT, |it| with_names(it, CONTEXT));
            of_files.subcommands(of_servers)
        }
    }
}

/// The words that are completed, after those of the shell's script.
fn words() -> Vec<OsString> {
    let all = std::env::args_os().skip_while(|word| word != "--");
    all.skip(1).collect()
}

/// The command, asked for names where its arguments have some; `path` is its first word.
fn with_names(command: Command, path: &str) -> Command {
    let first = path.to_owned();
    let command = command.mut_args(|arg| match named(&first, arg.get_id().as_str()) {
        Some(what) => {
            let complete = move |prefix: &OsStr| candidates(what, prefix);
            arg.add(ArgValueCompleter::new(complete))
        }
        None => arg,
    });
    let path = path.to_owned();
    command.mut_subcommands(move |below| {
        let first = match path.is_empty() {
            true => below.get_name().to_owned(),
            false => path.clone(),
        };
        with_names(below, &first)
    })
}

/// What an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// One of a kind.
    One(Kind),
    /// One of the kind that stands before it.
    OfKind,
    /// A context, in the file of contexts.
    Context,
}

/// What the argument with that id names, of the commands that begin with that word.
fn named(first: &str, id: &str) -> Option<Named> {
    Some(match (first, id) {
        (_, "cluster" | "clusters") => Named::One(Kind::Clusters),
        (_, "context") | (CONTEXT, "name") => Named::Context,
        (_, "vm" | "vms") => Named::One(Kind::Vms),
        (_, "host" | "hosts" | "without_host") => Named::One(Kind::Hosts),
        (_, "plan") => Named::One(Kind::Plans),
        (_, "policy") | ("policy", "name") => Named::One(Kind::Policies),
        ("unit", "name") => Named::One(Kind::Units),
        ("quota", "name") => Named::One(Kind::Quotas),
        ("token", "name") => Named::One(Kind::Tokens),
        ("get" | "put" | "patch" | "delete", "name" | "words") => Named::OfKind,
        _ => return None,
    })
}

fn candidates(what: Named, prefix: &OsStr) -> Vec<CompletionCandidate> {
    let prefix = prefix.to_str().unwrap_or_default();
    // Whoever presses a key sees no errors: there are no names then.
    let names = names(what, prefix, &words())
        .unwrap_or_default()
        .into_iter();
    let fitting = names.filter(|name| name.starts_with(prefix) && is_plain(name));
    fitting.take(MOST).map(CompletionCandidate::new).collect()
}

/// Whether a name is the same for every shell without quotes. Others are not completed: a name
/// that somebody else chose must not become a command in a shell.
fn is_plain(name: &str) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || "-_.:/@+,%=".contains(letter);
    !name.starts_with('-') && name.chars().all(plain)
}

/// The server and the cluster that words name.
#[derive(Debug, Parser)]
struct Asked {
    #[command(flatten)]
    connection: ConnectionArgs,
    #[arg(long, short = 'c')]
    cluster: Option<String>,
}

impl Asked {
    /// Of the words of a command that is not whole yet; None if they make no sense.
    fn of(words: &[OsString]) -> Option<Self> {
        let mut options = vec![OsString::from("placewright")];
        let mut words = words.iter().skip(1);
        while let Some(word) = words.next() {
            let text = word.to_str().unwrap_or_default();
            let (name, value) = text
                .split_once('=')
                .map_or((text, None), |it| (it.0, Some(it.1)));
            if !OPTIONS.contains(&name) {
                continue;
            }
            let value = value.map(OsString::from).or_else(|| words.next().cloned());
            options.extend([OsString::from(name), value?]);
        }
        Self::try_parse_from(options).ok()
    }
}

/// What is asked for names that begin with `prefix`: lists by id begin with the first of them.
fn beginning_with(call: Call, kind: Kind, prefix: &str) -> (Call, usize) {
    let is_by_id = matches!(kind, Kind::Hosts | Kind::Vms | Kind::Groups | Kind::Tenants);
    if !is_by_id {
        return (call, MOST_ASKED);
    }
    let call = match prefix.is_empty() {
        true => call,
        false => call.query("text", prefix),
    };
    let list = kind.way(None).pop().unwrap_or_default();
    match just_before(prefix) {
        // As the cursors of these lists are written.
        Some(before) => (call.query("after", format!("{list}:{before}")), MOST),
        None => (call, MOST),
    }
}

/// A text that comes after all that is less than every text beginning with `prefix`.
fn just_before(prefix: &str) -> Option<String> {
    let last = prefix.chars().next_back()?;
    let less = char::from_u32(u32::from(last).checked_sub(1)?)?;
    let begin = prefix.strip_suffix(last)?;
    Some(format!("{begin}{less}{}", char::MAX))
}

fn names(what: Named, prefix: &str, words: &[OsString]) -> Option<Vec<String>> {
    let kind = match what {
        Named::Context => return Some(Contexts::load().ok()?.names()),
        Named::One(kind) => kind,
        Named::OfKind => {
            let mut words = words.iter().filter_map(|word| word.to_str());
            words.find_map(|word| Kind::from_str(word, false).ok())?
        }
    };
    let asked = Asked::of(words)?;
    let (options, cluster) = asked.connection.options().ok()?;
    let client = Client::new(placewright_client::ClientOptions {
        timeout: WAIT,
        patience: Duration::ZERO,
        ..options
    });
    let cluster = asked.cluster.or(cluster);
    if kind.is_of_cluster() && cluster.is_none() {
        return None;
    }
    let call = Call::get(kind.way(cluster.as_deref()));
    let (call, most) = beginning_with(call, kind, prefix);
    let items = client.ok()?.list(&call, most).ok()?;
    Some(items.iter().filter_map(name).collect())
}

/// What an item of a list is named by.
fn name(item: &Value) -> Option<String> {
    let keys = ["id", "name", "vm", "number"];
    let found = keys.iter().find_map(|key| item.get(key))?;
    match found {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Option<Asked> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Asked::of(&words)
    }

    #[test]
    fn the_server_and_the_cluster_are_read_from_a_command_that_is_not_whole() {
        let line = "placewright --server=http://s evacuate -c east --dry-run h";
        assert_eq!(asked(line).unwrap().cluster.as_deref(), Some("east"));
        assert!(asked("placewright get hosts --cluster").is_none());
        assert!(asked("placewright get hosts").unwrap().cluster.is_none());
    }

    #[test]
    fn a_list_begins_with_the_first_name_that_begins_so() {
        let before = just_before("web-1").unwrap();
        assert!(*"web-0zz" < *before && *before < *"web-1" && *before < *"web-10");
        assert_eq!(just_before(""), None);
    }

    #[test]
    fn names_that_a_shell_would_read_otherwise_are_not_completed() {
        for name in ["web-1", "10.0.0.1:80", "zürich/a@b"] {
            assert!(is_plain(name), "{name}");
        }
        for name in [
            "$(reboot)",
            "`x`",
            "a b",
            "a;b",
            "--server",
            "a\u{1b}[2J",
            "~",
            "a\nb",
        ] {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn every_argument_that_names_something_asks_for_it() {
        fn count(command: &Command, first: &str, found: &mut Vec<String>) {
            for below in command.get_subcommands() {
                let first = if first.is_empty() {
                    below.get_name()
                } else {
                    first
                };
                for arg in below.get_arguments() {
                    if arg.get::<ArgValueCompleter>().is_some() {
                        found.push(format!("{first} {}", arg.get_id()));
                    }
                }
                count(below, first, found);
            }
        }
        let mut found = Vec::new();
        count(&with_names(ServerCli::command(), ""), "", &mut found);
        for place in [
            "get cluster",
            "delete name",
            "migrate vm",
            "confirm vms",
            "evacuate hosts",
            "what-if without_host",
            "begin plan",
            "create policy",
            "policy name",
            "unit name",
        ] {
            assert!(found.iter().any(|it| it == place), "{place} of {found:?}");
        }
    }
}
