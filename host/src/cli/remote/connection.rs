//! Which server is asked, and by whom.

use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use placewright_client::{Client, ClientError, ClientOptions};

use super::contexts::{Context, Contexts};
use crate::cli::failure::Failure;

/// Which server is asked, and by whom, of the command line and of the environment. An option goes
/// before the environment: one that names the server leaves what the environment names aside.
#[derive(Debug)]
pub(super) struct ConnectionArgs(Given);

/// What is given of that, options or the environment.
#[derive(Debug, Args)]
struct Given {
    /// The server, as http://127.0.0.1:7425
    #[arg(long, global = true, value_name = "URL", env = "PLACEWRIGHT_SERVER")]
    server: Option<String>,
    /// A context, in place of the current one (placewright context --help)
    #[arg(long, global = true, value_name = "NAME", env = "PLACEWRIGHT_CONTEXT")]
    context: Option<String>,
    /// A file with the secret of the token to call with
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "PLACEWRIGHT_TOKEN_FILE"
    )]
    token_file: Option<PathBuf>,
    /// The secret itself, by the environment alone: a command line can be read by others
    #[arg(skip = std::env::var("PLACEWRIGHT_TOKEN").ok())]
    token: Option<String>,
    /// Certificates of the authority that signed the server's, in PEM
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "PLACEWRIGHT_AUTHORITY"
    )]
    authority: Option<PathBuf>,
}

impl Args for ConnectionArgs {
    fn augment_args(command: Command) -> Command {
        Given::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Given::augment_args_for_update(command)
    }
}

impl FromArgMatches for ConnectionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Given::from_arg_matches(matches)?;
        let is_option = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        match (is_option("server"), is_option("context")) {
            (true, true) => {
                let sentence =
                    "the argument '--context <NAME>' cannot be used with '--server <URL>'\n";
                return Err(clap::Error::raw(ErrorKind::ArgumentConflict, sentence));
            }
            (false, true) => given.server = None,
            // The environment goes before contexts, so that its server goes before its context.
            (_, false) if given.server.is_some() => given.context = None,
            _ => {}
        }
        Ok(Self(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ConnectionArgs {
    /// A client of the server, and the cluster that the context names.
    pub(super) fn open(self) -> Result<(Client, Option<String>), Failure> {
        let (options, cluster) = self.options()?;
        let client = Client::new(options).map_err(Failure::input)?;
        Ok((client, cluster))
    }

    /// How the server is called, and the cluster that the context names.
    pub(super) fn options(self) -> Result<(ClientOptions, Option<String>), Failure> {
        let Self(given) = self;
        let context = match &given.server {
            Some(server) => Context::of_server(server),
            None => Contexts::load()?.chosen(given.context.as_deref())?,
        };
        // What is said for this call goes before what the context says for all.
        let secret_itself = given.token.filter(|token| !token.is_empty());
        let token = match (given.token_file, secret_itself, context.token_file) {
            (Some(file), _, _) | (None, None, Some(file)) => Some(secret(&file)?),
            (None, secret_itself, _) => secret_itself,
        };
        let authorities = given.authority.or(context.authority);
        let authorities =
            authorities.map(|file| fs::read(&file).map_err(|error| cannot_read(&file, error)));
        let options = ClientOptions {
            token: token.filter(|token| !token.is_empty()),
            authorities: authorities.transpose()?,
            ..ClientOptions::new(address(&context.server))
        };
        Ok((options, context.cluster))
    }
}

/// Check that a server can be called as a context says: its address, the secret and the certificates
/// can be used. Nothing is sent.
pub(super) fn check(context: &Context) -> Result<(), Failure> {
    let authorities = context.authority.as_deref();
    let authorities =
        authorities.map(|file| fs::read(file).map_err(|error| cannot_read(file, error)));
    let token = context.token_file.as_deref().map(secret).transpose()?;
    if let (Some(file), Some("")) = (&context.token_file, token.as_deref()) {
        return Err(Failure::input_because(format!(
            "{} is empty, and the secret of a token belongs there",
            file.display()
        )));
    }
    let options = ClientOptions {
        authorities: authorities.transpose()?,
        ..ClientOptions::new(address(&context.server))
    };
    Client::new(options).map(|_| ()).map_err(Failure::input)
}

/// The address of a server; that of its API is taken for it.
fn address(given: &str) -> &str {
    let given = given.trim_end_matches('/');
    given.strip_suffix("/v1").unwrap_or(given)
}

/// The secret in a file, which nobody else may read.
fn secret(file: &Path) -> Result<String, Failure> {
    let text = fs::read_to_string(file).map_err(|error| cannot_read(file, error))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let about = fs::metadata(file).map_err(|error| cannot_read(file, error))?;
        let mode = about.permissions().mode() & 0o777;
        if about.is_file() && mode & 0o077 != 0 {
            return Err(Failure::input_because(format!(
                "others may read or change {} (mode {mode:o}), which holds a secret: chmod 600 {0}",
                file.display()
            )));
        }
    }
    Ok(text.trim().to_owned())
}

fn cannot_read(file: &Path, error: std::io::Error) -> Failure {
    Failure::input(anyhow::Error::new(error).context(format!("cannot read {}", file.display())))
}

/// How a command ends whose call has no answer.
pub(in crate::cli) fn fault(error: ClientError) -> Failure {
    match &error {
        ClientError::Refused(refusal) if refusal.status == 401 => Failure::input_because(format!(
            "{error}\nthe token is that of --token-file, PLACEWRIGHT_TOKEN_FILE, PLACEWRIGHT_TOKEN or the context"
        )),
        // 507: more was asked for than there may be.
        ClientError::Refused(refusal) if refusal.status < 500 || refusal.status == 507 => {
            Failure::input(error)
        }
        ClientError::Address(_)
        | ClientError::Certificates(_)
        | ClientError::Scheme { .. }
        | ClientError::Unsendable(_) => Failure::input(error),
        _ => Failure::internal(error),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        connection: ConnectionArgs,
    }

    /// The server and the context that are asked with these options, if the environment is this.
    fn asked(
        environment: &[(&'static str, &'static str)],
        words: &[&str],
    ) -> Result<Named, ErrorKind> {
        let mut command = ConnectionArgs::augment_args(Command::new("placewright"));
        for name in ["server", "context"] {
            let value = environment.iter().find(|(known, _)| *known == name);
            command = command.mut_arg(name, |arg| match value {
                // As a value of the environment, less than an option.
                Some((_, value)) => arg.env(None::<&str>).default_value(*value),
                None => arg.env(None::<&str>),
            });
        }
        let words = ["placewright"].iter().chain(words);
        let matches = command.try_get_matches_from(words);
        let read = matches.and_then(|it| ConnectionArgs::from_arg_matches(&it));
        let ConnectionArgs(given) = read.map_err(|error| error.kind())?;
        Ok((given.server, given.context))
    }

    type Named = (Option<String>, Option<String>);

    #[test]
    fn an_option_goes_before_the_environment_and_its_server_before_its_context() {
        let (server, context) = (("server", "http://e"), ("context", "east"));
        let of_server = |url: &str| Ok((Some(url.to_owned()), None));
        let of_context = |name: &str| Ok((None, Some(name.to_owned())));
        for environment in [&[][..], &[server], &[context], &[server, context]] {
            let by_server = asked(environment, &["--server", "http://o"]);
            assert_eq!(by_server, of_server("http://o"), "{environment:?}");
            let by_context = asked(environment, &["--context", "lab"]);
            assert_eq!(by_context, of_context("lab"), "{environment:?}");
            let both = asked(environment, &["--context", "lab", "--server", "http://o"]);
            assert_eq!(both, Err(ErrorKind::ArgumentConflict));
        }
        assert_eq!(asked(&[server, context], &[]), of_server("http://e"));
        assert_eq!(asked(&[context], &[]), of_context("east"));
        assert_eq!(asked(&[], &[]), Ok((None, None)));
    }

    #[test]
    fn options_of_a_whole_line_are_read_likewise() {
        let both = ["placewright", "--context", "lab", "--server", "http://o"];
        let refused = Line::try_parse_from(both).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ArgumentConflict);
        assert!(refused.to_string().contains("--server <URL>"));
        let line = Line::try_parse_from(&both[..3]).unwrap();
        assert_eq!(line.connection.0.context.as_deref(), Some("lab"));
    }
}
