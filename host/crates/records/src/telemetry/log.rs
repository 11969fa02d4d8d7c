//! The log: sentences with fields, on standard error.

use std::io::{self, Write};

use tracing::Span;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use crate::traces::{self, Traces};
use placewright_model::{Word, visible, visible_json};

/// What a line of the log looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl Word for LogFormat {
    const WORDS: &'static [(&'static str, Self)] = &[("text", Self::Text), ("json", Self::Json)];
}

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The level is none.
    #[error(
        "\"{level}\" is no level of the log: write error, warn, info, debug or trace, or \
         levels by module such as \"info,placewright_library=debug\""
    )]
    Level {
        /// As given.
        level: String,
        /// What is wrong with it, if it is not just a word.
        source: Option<ParseError>,
    },
    /// There is one already.
    #[error("the log was started before")]
    Started(#[from] TryInitError),
}

/// Check a level, or levels by module, as [`start_log`] takes them.
///
/// # Errors
/// If it is none.
pub fn check_level(level: &str) -> Result<(), LogError> {
    filter(level).map(drop)
}

/// Write the program's log to standard error: what is at least as grave as `level`,
/// which may name levels by module. Spans go to `traces`, too, whatever the level. A line that
/// cannot be written, as on a full disk or to a reader that is gone, is left out: to tell of it there, as
/// would be done otherwise, fails as well, and whatever has logged it would end with a panic.
///
/// # Errors
/// If the level is none, or there is a log already.
pub fn start_log(format: LogFormat, level: &str, traces: Option<&Traces>) -> Result<(), LogError> {
    match traces {
        None => start_log_alone(format, level),
        Some(traces) => start_log_and_traces(format, level, traces),
    }
}

/// Standard error, on which each character is seen: what a log quotes turns no writing around and
/// hides in no name.
#[derive(Debug, Clone, Copy)]
struct Visible(LogFormat);

impl Write for Visible {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A line comes as a whole.
        let text = String::from_utf8_lossy(line);
        let text = match self.0 {
            LogFormat::Text => visible(&text),
            LogFormat::Json => visible_json(&text),
        };
        io::stderr().write_all(text.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn start_log_and_traces(format: LogFormat, level: &str, traces: &Traces) -> Result<(), LogError> {
    let log = fmt::layer::<Registry>()
        .with_writer(move || Visible(format))
        .log_internal_errors(false);
    let log = match format {
        LogFormat::Text => log
            .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
            .boxed(),
        LogFormat::Json => log.json().flatten_event(true).boxed(),
    };
    // Each has a filter of its own.
    let log = log.with_filter(filter(level)?);
    let both = tracing_subscriber::registry()
        .with(log)
        .with(traces.layer());
    both.try_init()?;
    traces::turn_on();
    Ok(())
}

fn start_log_alone(format: LogFormat, level: &str) -> Result<(), LogError> {
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter(level)?)
        .with_writer(move || Visible(format))
        .log_internal_errors(false);
    match format {
        LogFormat::Text => log
            .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
            .finish()
            .try_init()?,
        LogFormat::Json => log.json().flatten_event(true).finish().try_init()?,
    }
    Ok(())
}

fn filter(level: &str) -> Result<EnvFilter, LogError> {
    // A bare word that is no level would be taken for the name of a module.
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let refused = |source| LogError::Level {
        level: level.to_owned(),
        source,
    };
    let unknown = |part: &str| !part.contains('=') && !LEVELS.contains(&part.trim());
    if level.split(',').any(unknown) {
        return Err(refused(None));
    }
    let filter = EnvFilter::builder().parse(level);
    filter.map_err(|source| refused(Some(source)))
}

/// The span of one decision: what is logged inside carries its cluster and number.
pub fn decision_span(cluster: &str, decision: u64) -> Span {
    tracing::info_span!("decision", cluster, decision)
}
