//! Which server is asked, and by whom.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use placewright_client::{Client, ClientError, ClientOptions};

use super::contexts::{Context, Contexts};
use crate::cli::failure::Failure;

/// Which server is asked, and by whom.
#[derive(Debug, Args)]
pub(super) struct ConnectionArgs {
    /// The server, as http://127.0.0.1:7425
    #[arg(long, global = true, value_name = "URL", env = "PLACEWRIGHT_SERVER")]
    server: Option<String>,
    /// A context, in place of the current one (placewright context --help)
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "PLACEWRIGHT_CONTEXT",
        conflicts_with = "server"
    )]
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

impl ConnectionArgs {
    /// A client of the server, and the cluster that the context names.
    pub(super) fn open(self) -> Result<(Client, Option<String>), Failure> {
        let (options, cluster) = self.options()?;
        let client = Client::new(options).map_err(Failure::input)?;
        Ok((client, cluster))
    }

    /// How the server is called, and the cluster that the context names.
    pub(super) fn options(self) -> Result<(ClientOptions, Option<String>), Failure> {
        let context = match &self.server {
            Some(server) => Context::of_server(server),
            None => Contexts::load()?.chosen(self.context.as_deref())?,
        };
        // What is said for this call goes before what the context says for all.
        let given = self.token.filter(|token| !token.is_empty());
        let token = match (self.token_file, given, context.token_file) {
            (Some(file), _, _) | (None, None, Some(file)) => Some(secret(&file)?),
            (None, given, _) => given,
        };
        let authorities = self.authority.or(context.authority);
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
