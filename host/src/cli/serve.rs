//! `placewright serve`.

mod arguments;
mod compile;
mod keys;
mod memory;
mod notify;
mod openid;
mod options;
mod reload;
mod settings;
mod shown;
mod sources;
mod start;
mod tokens;

pub(super) use settings::Settings;
pub(super) use tokens::lines as token_lines;

use std::path::PathBuf;

use clap::Args;

use self::arguments::Given;
use self::reload::Configured;
use super::failure::{Answer, Failure};
use super::output;

/// Run as a server: decide for clusters over HTTP, with units from a watched folder.
///
/// Set an option here, in the environment as PLACEWRIGHT_NAME, or in the configuration file under the
/// same name. The command line wins over the environment, the environment over the file, and the
/// file over the default. Tokens, roles of groups and trusted keys are in the file only. Without
/// tokens, callers on this machine may do everything.
///
/// SIGTERM or SIGINT ends the server: it accepts nothing more, finishes requests, writes
/// everything and exits with 0. A second signal ends it at once. SIGHUP has it read tokens,
/// certificate and trusted keys again; units that are no longer trusted stop deciding. If any of
/// them is invalid, or still being written after 10 seconds, nothing changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright serve
  placewright serve --data /srv/placewright --log-format json
  placewright serve --config /etc/placewright/placewright.toml --check
  curl http://127.0.0.1:7425/v1/ready

See placewright --help for exit codes.")]
pub(super) struct Serve {
    /// Configuration in TOML; host/examples/placewright.toml explains every key
    #[arg(
        long,
        env = "PLACEWRIGHT_CONFIG",
        value_name = "FILE",
        hide_env_values = true
    )]
    config: Option<PathBuf>,
    /// Check the configuration and the files that it names, and do nothing else
    #[arg(long)]
    check: bool,
    /// Print the options in force as a configuration file, with the source of each value
    #[arg(long, conflicts_with = "check")]
    print_config: bool,
    /// Compile the units of the program into the folder of compiled code, as long as standard
    /// input is open, and do nothing else
    #[arg(long, hide = true)]
    compile_units: bool,
    #[command(flatten)]
    given: Given,
}

impl Serve {
    /// Serve until a signal ends it.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let variables = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        for (name, meant) in sources::misspelt(variables) {
            output::remark(&format!("{name} is not known (did you mean {meant}?)"));
        }
        let sources = sources::gather(self.config.as_deref(), &self.given)?;
        let settings = Settings::of(&sources).map_err(Failure::input_because)?;
        if self.print_config {
            output::print(&shown::text(&sources, &settings))?;
            return Ok(Answer::Yes);
        }
        if self.compile_units {
            compile::here(&settings)?;
            return Ok(Answer::Yes);
        }
        let prepared = start::prepare(&settings)?;
        if self.check {
            start::check_folders(&settings)?;
            output::print("The configuration is good.")?;
            return Ok(Answer::Yes);
        }
        let configured = Configured::new(self.config, self.given)?;
        start::serve(settings, prepared, configured, reload::values(&sources))
    }
}
