//! The options of the server, in one table: the command's help, the keys of the
//! configuration file and the names in the environment are made from it.

use placewright::document::form::{BOOLEAN, Shape, TEXT};
use placewright::document::{Content, Expected, Node, Place, Problems, Word, words};
use placewright::model::{Bounds, Kind, Measure, Value};
use placewright::telemetry::LogFormat;

/// One option.
#[derive(Debug)]
pub struct ServeOption {
    /// Name of the flag and key of the file.
    pub name: &'static str,
    /// What stands for its value in the help.
    pub value_name: &'static str,
    /// What its value is.
    pub shape: Shape,
    /// The value if nobody gives one, as text; None if there is none, or if it depends
    /// on others.
    pub default: Option<&'static str>,
    /// What is said of the default in the help where it depends on others.
    pub otherwise: Option<&'static str>,
    /// One sentence.
    pub meaning: &'static str,
    /// Title in the help above this option and the ones below it.
    pub heading: &'static str,
}

/// How sure a change is on disk when it is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It survives a loss of power.
    Full,
    /// It survives the end of the program; a loss of power may take the last ones.
    Normal,
}

impl Word for Durability {
    const WORDS: &'static [(&'static str, Self)] =
        &[("full", Self::Full), ("normal", Self::Normal)];
}

const AT_LEAST_ONE: Bounds = Bounds {
    least: Some(1.0),
    greatest: None,
};

const DURATION: Shape = Shape::Value(Kind::Number, Some(Measure::Seconds), POSITIVE_DAY);
/// Longer than a day nothing here should take.
const POSITIVE_DAY: Bounds = Bounds {
    least: Some(0.001),
    greatest: Some(86_400.0),
};
const SIZE: Shape = Shape::Value(Kind::Integer, Some(Measure::Bytes), AT_LEAST_ONE);
const COUNT: Shape = Shape::Value(Kind::Integer, None, AT_LEAST_ONE);

const fn option(
    heading: &'static str,
    name: &'static str,
    value_name: &'static str,
    shape: Shape,
    default: &'static str,
    meaning: &'static str,
) -> ServeOption {
    ServeOption {
        name,
        value_name,
        shape,
        default: Some(default),
        otherwise: None,
        meaning,
        heading,
    }
}

const fn without_default(
    heading: &'static str,
    name: &'static str,
    value_name: &'static str,
    shape: Shape,
    otherwise: Option<&'static str>,
    meaning: &'static str,
) -> ServeOption {
    ServeOption {
        default: None,
        otherwise,
        ..option(heading, name, value_name, shape, "", meaning)
    }
}

const PLACES: &str = "Places";
const TRUST: &str = "Trust";
const DECISIONS: &str = "Decisions";
const UNITS: &str = "Limits of units";
const REQUESTS: &str = "Limits of requests";
const LOG: &str = "Log and program";

/// Every option.
pub const OPTIONS: &[ServeOption] = &[
    option(
        PLACES,
        "listen",
        "ADDRESS:PORT",
        TEXT,
        "127.0.0.1:7425",
        "Where requests come in; port 0 takes any that is free",
    ),
    without_default(
        PLACES,
        "data",
        "DIR",
        TEXT,
        Some("the platform's folder for data"),
        "Folder of what must last",
    ),
    without_default(
        PLACES,
        "units",
        "DIR",
        TEXT,
        Some("DATA/units"),
        "Folder that is watched for units (*.wasm)",
    ),
    without_default(
        PLACES,
        "policies",
        "DIR",
        TEXT,
        Some("DATA/policies"),
        "Folder that is watched for policies (*.toml)",
    ),
    without_default(
        PLACES,
        "cache",
        "DIR",
        TEXT,
        Some("DATA/cache"),
        "Folder where the code of compiled units is kept",
    ),
    without_default(
        TRUST,
        "tls-certificate",
        "FILE",
        TEXT,
        None,
        "Certificates in PEM, the server's own first; with it and --tls-key requests come by TLS",
    ),
    without_default(
        TRUST,
        "tls-key",
        "FILE",
        TEXT,
        None,
        "The certificate's private key in PEM",
    ),
    option(
        TRUST,
        "require-signatures",
        "BOOL",
        BOOLEAN,
        "false",
        "Refuse units that no trusted key has signed",
    ),
    without_default(
        TRUST,
        "require-replay",
        "SHARE",
        Shape::Value(Kind::Number, Some(Measure::Fraction), Bounds::SHARE),
        Some("none is refused for it"),
        "Refuse a unit that would change a greater share of the recorded decisions",
    ),
    option(
        DECISIONS,
        "decision-wait",
        "DURATION",
        DURATION,
        "10 s",
        "How long a request waits for its cluster's turn",
    ),
    option(
        DECISIONS,
        "decision-hold",
        "DURATION",
        DURATION,
        "1 s",
        "How long one decision may take of its turn",
    ),
    option(
        DECISIONS,
        "reservation",
        "DURATION",
        Shape::Value(Kind::Integer, Some(Measure::Seconds), Bounds::FROM_ZERO),
        "5 min",
        "When a reserved place that nobody confirms is free again; 0: never",
    ),
    option(
        DECISIONS,
        "recorded-decisions",
        "COUNT",
        Shape::Value(Kind::Integer, None, Bounds::FROM_ZERO),
        "1000",
        "Decisions of a cluster that are remembered, to be explained and replayed",
    ),
    option(
        DECISIONS,
        "durability",
        "WORD",
        Shape::Word(words::<Durability>),
        "full",
        "Whether what is acknowledged survives a loss of power (full) or only the end of the program (normal)",
    ),
    option(
        UNITS,
        "unit-time",
        "DURATION",
        DURATION,
        "1 s",
        "For one run of a chain; also for a unit to describe itself",
    ),
    option(
        UNITS,
        "unit-memory",
        "SIZE",
        SIZE,
        "256 MiB",
        "Memory of an instance",
    ),
    option(UNITS, "unit-answer", "SIZE", SIZE, "64 MiB", "One answer"),
    option(UNITS, "unit-file", "SIZE", SIZE, "64 MiB", "A unit's file"),
    option(
        UNITS,
        "unit-compile-time",
        "DURATION",
        DURATION,
        "2 min",
        "For a unit to be compiled",
    ),
    option(
        UNITS,
        "unit-instances",
        "COUNT",
        COUNT,
        "1000",
        "Instances at the same time",
    ),
    option(
        REQUESTS,
        "request-body",
        "SIZE",
        SIZE,
        "64 MiB",
        "The body of a request",
    ),
    option(
        REQUESTS,
        "request-time",
        "DURATION",
        DURATION,
        "60 s",
        "From a request to its answer",
    ),
    option(
        REQUESTS,
        "header-time",
        "DURATION",
        DURATION,
        "30 s",
        "For a request's head to arrive; idle connections are closed after it",
    ),
    option(
        REQUESTS,
        "connections",
        "COUNT",
        COUNT,
        "1024",
        "Connections at the same time",
    ),
    option(
        LOG,
        "log-format",
        "WORD",
        Shape::Word(words::<LogFormat>),
        "text",
        "Lines for people (text) or for programs (json), on standard error",
    ),
    option(
        LOG,
        "log-level",
        "LEVEL",
        TEXT,
        "info",
        "error, warn, info, debug or trace; or by module, as in \"info,placewright::library=debug\"",
    ),
    option(
        LOG,
        "shutdown-time",
        "DURATION",
        DURATION,
        "30 s",
        "How long requests may go on after a signal to stop",
    ),
    option(
        LOG,
        "threads",
        "COUNT",
        COUNT,
        "2",
        "Threads for requests; decisions have their own",
    ),
];

impl ServeOption {
    /// Its name in the environment.
    pub fn variable(&self) -> String {
        format!("PLACEWRIGHT_{}", self.name.replace('-', "_").to_uppercase())
    }

    /// Whether it is switched on by its name alone.
    pub fn is_switch(&self) -> bool {
        matches!(self.shape, Shape::Value(Kind::Boolean, _, _))
    }

    /// Read its value from a document.
    pub fn read(&self, node: &Node, problems: &mut Problems) -> Option<Value> {
        match self.shape {
            Shape::Word(words) => Expected {
                choices: &words(),
                ..Expected::of_kind(self.name, Kind::Text)
            }
            .read(node, problems),
            Shape::Value(kind, measure, bounds) => Expected {
                measure,
                bounds,
                ..Expected::of_kind(self.name, kind)
            }
            .read(node, problems),
            _ => None,
        }
    }

    /// Read its value from a text: of a flag, of the environment, or its default.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let place = Place {
            file: self.name.into(),
            line: 1,
            column: 1,
        };
        let mut problems = Problems::new();
        let content = self.content(text);
        let value = self.read(&Node { place, content }, &mut problems);
        value.ok_or_else(|| {
            let problem = problems.iter().next();
            let suggestion = problem.and_then(|problem| problem.suggestion.as_ref());
            let message = problem.map_or_else(String::new, |problem| problem.message.clone());
            match suggestion {
                Some(suggestion) => format!("{message} (did you mean \"{suggestion}\"?)"),
                None => message,
            }
        })
    }

    /// The text as it would stand in a file.
    fn content(&self, text: &str) -> Content {
        let bare = match self.shape {
            Shape::Value(Kind::Boolean, _, _) => text.parse().ok().map(Content::Boolean),
            Shape::Value(Kind::Integer, _, _) => text.parse().ok().map(Content::Integer),
            Shape::Value(Kind::Number, _, _) => text.parse().ok().map(Content::Number),
            _ => None,
        };
        bare.unwrap_or_else(|| Content::Text(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn options_have_names_of_their_own_and_good_defaults() {
        let names: BTreeSet<_> = OPTIONS.iter().map(|option| option.name).collect();
        assert_eq!(names.len(), OPTIONS.len());
        for option in OPTIONS {
            if let Some(default) = option.default {
                assert!(option.parse(default).is_ok(), "{}", option.name);
            }
        }
    }

    #[test]
    fn options_of_one_heading_stand_together() {
        let mut headings: Vec<_> = OPTIONS.iter().map(|option| option.heading).collect();
        headings.dedup();
        let different: BTreeSet<_> = headings.iter().collect();
        assert_eq!(different.len(), headings.len());
    }
}
