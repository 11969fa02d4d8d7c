//! The options as flags and in the environment.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::options::OPTIONS;

/// A value that is given by flag or environment.
#[derive(Debug, Clone)]
pub(super) struct GivenValue {
    /// Name of the option.
    pub name: &'static str,
    /// As given.
    pub text: String,
    /// Whether the environment gives it.
    pub by_environment: bool,
}

/// The values that are given by flag or environment; of both, the flag's.
#[derive(Debug, Clone, Default)]
pub(super) struct Given {
    /// In the order of the options.
    pub values: Vec<GivenValue>,
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, option| {
            let mut help = option.meaning.to_owned();
            if let Some(told) = option.default.or(option.otherwise) {
                help = format!("{help} [default: {told}]");
            }
            let mut arg = Arg::new(option.name)
                .long(option.name)
                .env(option.variable())
                .hide_env_values(true)
                .value_name(option.value_name)
                .help(help)
                .help_heading(option.heading);
            if option.is_switch() {
                arg = arg
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("true");
            }
            command.arg(arg)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let values = OPTIONS.iter().filter_map(|option| {
            let text = matches.get_one::<String>(option.name)?.clone();
            let source = matches.value_source(option.name);
            let by_environment = source == Some(ValueSource::EnvVariable);
            // An empty variable is how some programs say that there is none.
            let is_none = by_environment && text.is_empty();
            (!is_none).then_some(GivenValue {
                name: option.name,
                text,
                by_environment,
            })
        });
        Ok(Self {
            values: values.collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
