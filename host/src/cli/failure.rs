//! How a command ends.

use std::fmt;
use std::io;
use std::process::ExitCode;

use placewright_chain::DecisionError;
use placewright_scheduler::questions::QuestionError;
use placewright_scheduler::{ExplainError, PlaceError};

/// How a command ends that was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// With what was asked for.
    Yes,
    /// With a no: a VM found no host, a check failed. It has been printed.
    No,
}

impl Answer {
    /// Yes if `good`.
    pub(super) fn yes_if(good: bool) -> Self {
        match good {
            true => Answer::Yes,
            false => Answer::No,
        }
    }
}

/// Why a command was not carried out.
#[derive(Debug)]
pub(super) struct Failure {
    fault: Fault,
    error: anyhow::Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The command line or a file.
    Input,
    /// A unit, or we.
    Internal,
    /// Nobody reads what is printed any more, as with `| head`.
    NobodyReads,
}

impl Failure {
    /// The command line or a file is at fault.
    pub(super) fn input(error: impl Into<anyhow::Error>) -> Self {
        Self {
            fault: Fault::Input,
            error: error.into(),
        }
    }

    /// As [`Failure::input`], with the sentence to be printed.
    pub(super) fn input_because(sentence: impl fmt::Display) -> Self {
        Self::input(anyhow::anyhow!("{sentence}"))
    }

    /// A unit failed, or something went wrong that is no fault of the input.
    pub(super) fn internal(error: impl Into<anyhow::Error>) -> Self {
        Self {
            fault: Fault::Internal,
            error: error.into(),
        }
    }

    /// A chain gave no answer.
    pub(super) fn refusal(refusal: DecisionError) -> Self {
        match refusal {
            DecisionError::Failed { .. } | DecisionError::OutOfTime { .. } => {
                Self::internal(refusal)
            }
            _ => Self::input(refusal),
        }
    }

    /// A request came to no decision.
    pub(super) fn place(error: PlaceError) -> Self {
        match error {
            PlaceError::Refusal(refusal) => Self::refusal(refusal),
            error => Self::input(error),
        }
    }

    /// A question has no answer.
    pub(super) fn question(error: QuestionError) -> Self {
        match error {
            QuestionError::Place(error) => Self::place(error),
            QuestionError::Explain(ExplainError::Refusal(refusal)) => Self::refusal(refusal),
            QuestionError::Explain(error) => Self::internal(error),
            error => Self::input(error),
        }
    }

    /// The same, with what was being done.
    pub(super) fn context(self, sentence: String) -> Self {
        Self {
            fault: self.fault,
            error: self.error.context(sentence),
        }
    }

    /// Output could not be written.
    pub(super) fn output(error: io::Error) -> Self {
        Self {
            fault: match error.kind() {
                io::ErrorKind::BrokenPipe => Fault::NobodyReads,
                _ => Fault::Internal,
            },
            error: anyhow::Error::new(error).context("cannot write the output"),
        }
    }

    /// Print one sentence, and say how the program ends.
    pub(super) fn report(self) -> ExitCode {
        let code = match self.fault {
            Fault::NobodyReads => return ExitCode::SUCCESS,
            Fault::Input => 2,
            Fault::Internal => 3,
        };
        super::output::complain(&sentence(&self.error));
        ExitCode::from(code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&sentence(&self.error))
    }
}

/// An error with its causes. A cause that an error repeats in its own words is not
/// said twice.
fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if sentence.is_empty() {
            sentence = cause;
        } else if !sentence.contains(&cause) {
            sentence = format!("{sentence}: {cause}");
        }
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let cause = io::Error::other("disk full");
        let error = anyhow::Error::new(cause).context("cannot write x");
        assert_eq!(sentence(&error), "cannot write x: disk full");
        let error = error.context("all: cannot write x: disk full");
        assert_eq!(sentence(&error), "all: cannot write x: disk full");
    }
}
