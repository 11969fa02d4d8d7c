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
        let script = String::from_utf8_lossy(&script);
        match self.shell {
            Shell::Bash => output::print_document(&of_whole_words(&script))?,
            _ => output::print_document(&script)?,
        }
        Ok(Answer::Yes)
    }
}

/// The script for bash, which takes a line apart at colons and equals signs as well: with the words
/// as they stand in the line, and without what bash keeps of the last one.
fn of_whole_words(script: &str) -> String {
    let script = script.replacen(AS_BASH_HAS_THEM, WHOLE, 1);
    script.replacen(ANSWERED, CUT, 1)
}

const AS_BASH_HAS_THEM: &str = r#"    local words=("${COMP_WORDS[@]}")
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        words[COMP_CWORD]="$2"
    fi
"#;

/// Words that no space is between belong together where one of them is such a sign.
const WHOLE: &str = r#"    local words=() starts=() rest="$COMP_LINE" before="" word next number
    for (( number = 0; number < ${#COMP_WORDS[@]}; number++ )); do
        word="${COMP_WORDS[number]}"
        next="${rest#"${rest%%[![:space:]]*}"}"
        if [[ $number -gt 0 && "$next" == "$rest" && ( "$word" =~ ^[:=@]+$ || "$before" =~ ^[:=@]+$ ) ]]; then
            words[${#words[@]}-1]+="$word"
        else
            starts+=($(( ${#COMP_LINE} - ${#next} )))
            words+=("$word")
        fi
        if [[ $number -eq $COMP_CWORD ]]; then
            _CLAP_COMPLETE_INDEX=$(( ${#words[@]} - 1 ))
        fi
        rest="${next#"$word"}"
        before="$word"
    done
    local begun="" start="${starts[_CLAP_COMPLETE_INDEX]}"
    if [[ "${words[_CLAP_COMPLETE_INDEX]}" == *[:=@]* ]]; then
        word="${COMP_LINE:start:COMP_POINT-start}"
        words[_CLAP_COMPLETE_INDEX]="$word"
        begun="${word%"$2"}"
    elif [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        words[_CLAP_COMPLETE_INDEX]="$2"
    fi
"#;

const ANSWERED: &str = "        unset COMPREPLY
    elif ";

const CUT: &str = r#"        unset COMPREPLY
        return
    fi
    for number in "${!COMPREPLY[@]}"; do
        COMPREPLY[number]="${COMPREPLY[number]#"$begun"}"
    done
    if "#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_for_bash_has_both_changes() {
        let mut script = Vec::new();
        let shells = Shells::builtins();
        let bash = shells.completer("bash").unwrap();
        bash.write_registration(VARIABLE, "p", "p", "p", &mut script)
            .unwrap();
        let script = of_whole_words(&String::from_utf8(script).unwrap());
        assert!(script.contains(WHOLE) && script.contains(CUT), "{script}");
        assert!(!script.contains(AS_BASH_HAS_THEM), "{script}");
    }
}
