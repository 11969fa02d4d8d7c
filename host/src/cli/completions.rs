//! `placewright completions`.

use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;

use super::failure::{Answer, Failure};
use super::output;

/// The variable by which the script asks the program how a line goes on.
const VARIABLE: &str = "COMPLETE";

/// Print a script that completes commands in your shell.
///
/// Names of clusters, hosts, VMs, plans, policies and units are those of the server that the line
/// is about: by --server, by --context, or by the current context.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright completions bash > ~/.bash_completion
  placewright completions zsh > ~/.zfunc/_placewright")]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Print the script.
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let name = self.shell.to_string();
        let shells = Shells::builtins();
        let shell = shells.completer(&name).ok_or_else(|| {
            Failure::input_because(format!("nothing is known of the shell {name}"))
        })?;
        let mut script = Vec::new();
        let program = "placewright";
        shell
            .write_registration(VARIABLE, program, program, program, &mut script)
            .map_err(Failure::internal)?;
        output::print_document(&String::from_utf8_lossy(&script))?;
        Ok(Answer::Yes)
    }
}
