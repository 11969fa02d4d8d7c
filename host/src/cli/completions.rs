//! `placewright completions`.

use clap::Args;
use clap_complete::Shell;

use super::failure::{Answer, Failure};
use super::output;

/// Print a script that completes commands in your shell.
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
        let mut script = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut super::every_command().subcommands(super::remote::commands()),
            "placewright",
            &mut script,
        );
        output::print_document(&String::from_utf8_lossy(&script))?;
        Ok(Answer::Yes)
    }
}
