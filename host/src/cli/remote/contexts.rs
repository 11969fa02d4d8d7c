//! Servers by name: `placewright context`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use super::connection;
use crate::cli::failure::{Answer, Failure};
use crate::cli::output;

/// Names the file, in place of the one in the user's folder of settings.
const FILE: &str = "PLACEWRIGHT_CONTEXTS";

/// Servers by name, and the one that is asked where none is named.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Contexts {
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<String>,
    contexts: BTreeMap<String, Context>,
}

/// A server, and how it is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Context {
    pub(super) server: String,
    /// File with the secret of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token_file: Option<PathBuf>,
    /// File with certificates of the authority, in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) authority: Option<PathBuf>,
    /// The cluster that is meant where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cluster: Option<String>,
}

impl Context {
    /// A server without anything else.
    pub(super) fn of_server(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            token_file: None,
            authority: None,
            cluster: None,
        }
    }
}

impl Contexts {
    /// As they are in the file; none if there is no file.
    pub(super) fn load() -> Result<Self, Failure> {
        let path = path()?;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(unusable("read", &path, error)),
        };
        toml::from_str(&text).map_err(|error| {
            Failure::input(anyhow::Error::new(error).context(path.display().to_string()))
        })
    }

    /// The names of all.
    pub(super) fn names(&self) -> Vec<String> {
        self.contexts.keys().cloned().collect()
    }

    /// The context of that name, or else the current one.
    pub(super) fn chosen(&self, name: Option<&str>) -> Result<Context, Failure> {
        let Some(name) = name.or(self.current.as_deref()) else {
            return Err(Failure::input_because(
                "no server is named: give --server URL, or set a context (placewright context --help)",
            ));
        };
        let found = self.contexts.get(name).cloned();
        found.ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Failure {
        let known: Vec<&str> = self.contexts.keys().map(String::as_str).collect();
        Failure::input_because(match known.is_empty() {
            true => format!(
                "there is no context \"{name}\", nor any other: placewright context set --help"
            ),
            false => format!(
                "there is no context \"{name}\"; there are {}",
                known.join(", ")
            ),
        })
    }

    /// Write the file: the whole of it or nothing.
    fn save(&self) -> Result<(), Failure> {
        let path = path()?;
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| unusable("make", folder, error))?;
        let text = toml::to_string_pretty(self).map_err(Failure::internal)?;
        let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.persist(&path)?;
            Ok(())
        });
        written.map_err(|error| unusable("write", &path, error))
    }
}

fn path() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os(FILE) {
        return Ok(path.into());
    }
    let folder = dirs::config_dir().ok_or_else(|| {
        Failure::input_because(format!(
            "this user has no folder of settings: name a file for contexts with {FILE}"
        ))
    })?;
    Ok(folder.join("placewright").join("contexts.toml"))
}

fn unusable(what: &str, path: &Path, error: std::io::Error) -> Failure {
    Failure::input(anyhow::Error::new(error).context(format!("cannot {what} {}", path.display())))
}

/// Name servers, so that commands need no address, token and cluster
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  placewright context set prod --server https://placewright:7425 \\
      --token-file ~/.placewright-token --cluster east
  placewright context use prod
  placewright get hosts

The file is placewright/contexts.toml in your folder of settings, or the one that
PLACEWRIGHT_CONTEXTS names. It holds no secrets, but the names of their files.")]
pub(in crate::cli) enum ContextCommand {
    /// List the contexts; the current one is marked
    List,
    Set(Set),
    /// Make a context the current one
    Use {
        /// Its name
        name: String,
    },
    /// Remove a context
    Remove {
        /// Its name
        name: String,
    },
}

/// Add or change a context; the first one becomes the current one.
///
/// Of a context that is there, what is not given stays as it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright context set prod --server https://placewright:7425
  placewright context set prod --cluster west
  placewright context set prod --unset cluster --unset token-file")]
pub(in crate::cli) struct Set {
    /// Its name
    name: String,
    /// The server, as http://127.0.0.1:7425; a new context needs one
    #[arg(long = "server", value_name = "URL")]
    to: Option<String>,
    /// A file with the secret of the token to call with
    #[arg(long = "token-file", value_name = "FILE")]
    token: Option<PathBuf>,
    /// Certificates of the authority that signed the server's, in PEM
    #[arg(long = "authority", value_name = "FILE")]
    signed_by: Option<PathBuf>,
    /// The cluster that is meant where none is named
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,
    /// What the context is to have no more. May be given again
    #[arg(long, value_enum, value_name = "KEY")]
    unset: Vec<Key>,
}

/// What a context may have or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Key {
    TokenFile,
    Authority,
    Cluster,
}

impl Set {
    /// The context as it is from now on.
    fn of(self, known: Option<&Context>) -> Result<Context, Failure> {
        let name = &self.name;
        let mut context = match (known, &self.to) {
            (Some(known), _) => known.clone(),
            (None, Some(server)) => Context::of_server(server),
            (None, None) => {
                return Err(Failure::input_because(format!(
                    "there is no context \"{name}\" yet, and a new one needs --server URL"
                )));
            }
        };
        let given = [
            (Key::TokenFile, "--token-file", self.token.is_some()),
            (Key::Authority, "--authority", self.signed_by.is_some()),
            (Key::Cluster, "--cluster", self.cluster.is_some()),
        ];
        if self.to.is_none() && self.unset.is_empty() && given.iter().all(|(.., is)| !is) {
            return Err(Failure::input_because(format!(
                "nothing of context \"{name}\" is changed: give --server, --token-file, --authority, --cluster or --unset"
            )));
        }
        for (key, option, is_given) in given {
            if is_given && self.unset.contains(&key) {
                return Err(Failure::input_because(format!(
                    "{option} is set and unset at once"
                )));
            }
        }
        for key in &self.unset {
            match key {
                Key::TokenFile => context.token_file = None,
                Key::Authority => context.authority = None,
                Key::Cluster => context.cluster = None,
            }
        }
        let whole = |file: PathBuf| {
            std::path::absolute(&file).map_err(|error| unusable("find", &file, error))
        };
        context.server = self.to.unwrap_or(context.server);
        context.token_file = self.token.map(whole).transpose()?.or(context.token_file);
        context.authority = self.signed_by.map(whole).transpose()?.or(context.authority);
        context.cluster = self.cluster.or(context.cluster);
        if context.cluster.as_deref().is_some_and(str::is_empty) {
            return Err(Failure::input_because(
                "--cluster is empty: name a cluster, or take it away with --unset cluster",
            ));
        }
        connection::check(&context)?;
        Ok(context)
    }
}

/// Check that a context can be called so.
fn check_name(name: &str) -> Result<(), Failure> {
    match name.trim().is_empty() || name.starts_with('-') || name.contains(char::is_control) {
        true => Err(Failure::input_because(format!(
            "{name:?} is no name for a context: it begins with no \"-\", and has a letter or digit and no line breaks"
        ))),
        false => Ok(()),
    }
}

impl ContextCommand {
    /// Run the command.
    pub(in crate::cli) fn run(self) -> Result<Answer, Failure> {
        let mut contexts = Contexts::load()?;
        match self {
            Self::List => {
                output::print(&table(&contexts))?;
                return Ok(Answer::Yes);
            }
            Self::Set(set) => {
                let name = set.name.clone();
                check_name(&name)?;
                let context = set.of(contexts.contexts.get(&name))?;
                contexts.current.get_or_insert_with(|| name.clone());
                contexts.contexts.insert(name, context);
            }
            Self::Use { name } => {
                contexts.chosen(Some(&name))?;
                contexts.current = Some(name);
            }
            Self::Remove { name } => {
                if contexts.contexts.remove(&name).is_none() {
                    return Err(contexts.unknown(&name));
                }
                contexts.current = contexts.current.filter(|current| *current != name);
            }
        }
        contexts.save()?;
        Ok(Answer::Yes)
    }
}

fn table(contexts: &Contexts) -> String {
    if contexts.contexts.is_empty() {
        return "There is no context: placewright context set --help".to_owned();
    }
    let mut table = output::table(&["context", "server", "cluster", "token"]);
    for (name, context) in &contexts.contexts {
        let is_current = contexts.current.as_ref() == Some(name);
        let token = context.token_file.as_ref();
        table.add_row([
            format!("{name}{}", if is_current { " (current)" } else { "" }),
            context.server.clone(),
            context.cluster.clone().unwrap_or_default(),
            token
                .map(|file| file.display().to_string())
                .unwrap_or_default(),
        ]);
    }
    output::shown(&table)
}
