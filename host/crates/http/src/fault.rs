//! What the deployment and the library refuse, as a problem.

use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;

use super::access::unauthorized;
use super::problem::{Code, Problem, ProblemError, ProblemPlace};
use placewright_chain::DecisionError;
use placewright_deployment::{DeploymentError, TurnError};
use placewright_document::grouped;
use placewright_inventory::{InventoryError, RefusedEntries};
use placewright_library::live::LibraryOperationError;
use placewright_scheduler::questions::QuestionError;
use placewright_scheduler::{BalanceError, ExplainError, InterruptedError, PlaceError, UnknownVms};

impl From<DeploymentError> for Problem {
    fn from(error: DeploymentError) -> Self {
        let code = match &error {
            DeploymentError::Problems(problems) => {
                return Self::document("the document", problems);
            }
            DeploymentError::Inventory(InventoryError::Entries(entries)) => {
                return of_entries(entries);
            }
            DeploymentError::Place(PlaceError::UnknownVms(vms))
            | DeploymentError::Question(QuestionError::Place(PlaceError::UnknownVms(vms))) => {
                return of_unknown_vms(vms);
            }
            DeploymentError::Unknown { .. } => Code::NotFound,
            DeploymentError::TakenAway(_) => return unauthorized(&error.to_string()),
            DeploymentError::VmsRun(_) | DeploymentError::VmRuns { .. } => Code::VmRuns,
            DeploymentError::Reserved { .. } => Code::VmReserved,
            DeploymentError::ReservationEnded { .. } => Code::ReservationEnded,
            DeploymentError::OtherHost { .. } => Code::OtherHost,
            DeploymentError::Duration { .. } => Code::Unprocessable,
            DeploymentError::PolicyTooLarge { .. } => Code::TooLarge,
            DeploymentError::Full(_) => Code::Full,
            DeploymentError::Exists { .. }
            | DeploymentError::Busy(_)
            | DeploymentError::InUse { .. }
            | DeploymentError::Limited { .. }
            | DeploymentError::HostLost { .. } => Code::Conflict,
            DeploymentError::Locked(_) | DeploymentError::InFile { .. } => Code::Locked,
            DeploymentError::Revision { .. }
            | DeploymentError::Changed { .. }
            | DeploymentError::IsThere { .. } => Code::RevisionChanged,
            DeploymentError::NoTurn(TurnError::Waited(_)) => Code::TimedOut,
            DeploymentError::NoTurn(TurnError::Crowded(_)) => Code::TooManyRequests,
            DeploymentError::NoTurn(TurnError::Stopped)
            | DeploymentError::Ending(_)
            | DeploymentError::Removing(_)
            | DeploymentError::Unread { .. }
            | DeploymentError::NotKept(_)
            | DeploymentError::Store(_) => Code::Unavailable,
            DeploymentError::NoPolicy { .. } => Code::Conflict,
            DeploymentError::Paused { seconds, .. } => {
                let seconds = HeaderValue::from(*seconds);
                return Self::new(Code::UnitPaused, error).with_header(RETRY_AFTER, seconds);
            }
            DeploymentError::Vanishing { .. } => Code::Conflict,
            DeploymentError::Future { .. }
            | DeploymentError::OtherName { .. }
            | DeploymentError::Refused(_)
            | DeploymentError::Chain(_) => Code::Unprocessable,
            DeploymentError::OtherRequest(_) => Code::KeyReused,
            DeploymentError::Place(error) => of_place(error),
            DeploymentError::Inventory(error) => of_inventory(error),
            DeploymentError::Explain(error) => of_explain(error),
            DeploymentError::Question(error) => of_question(error),
            DeploymentError::Balance(BalanceError::Place(error)) => of_place(error),
            DeploymentError::Balance(_) => Code::Conflict,
        };
        let was_carried_out = error.was_carried_out();
        let problem = Self::new(code, error);
        match was_carried_out {
            true => problem.of_what_was_carried_out(),
            false => problem,
        }
    }
}

impl From<LibraryOperationError> for Problem {
    fn from(failure: LibraryOperationError) -> Self {
        let code = match &failure {
            LibraryOperationError::NoUnit(_) | LibraryOperationError::NoDigest { .. } => {
                Code::NotFound
            }
            LibraryOperationError::NoPrefix { .. } => Code::InvalidParameter,
            LibraryOperationError::NothingBefore { .. }
            | LibraryOperationError::State { .. }
            | LibraryOperationError::InUse { .. }
            | LibraryOperationError::Refused(_) => Code::Conflict,
            LibraryOperationError::Trust(_)
            | LibraryOperationError::Artifacts { .. }
            | LibraryOperationError::Watch(_) => Code::Unavailable,
        };
        Self::new(code, failure)
    }
}

impl From<InterruptedError> for Problem {
    fn from(error: InterruptedError) -> Self {
        Self::new(of_interrupted(&error), error)
    }
}

fn of_interrupted(error: &InterruptedError) -> Code {
    match error {
        InterruptedError::TimeLimit(_) | InterruptedError::GaveWay(_) => Code::TimedOut,
        InterruptedError::Cancelled => Code::Unavailable,
    }
}

fn of_place(error: &PlaceError) -> Code {
    match error {
        PlaceError::UnknownVms(_) => Code::NotFound,
        PlaceError::Pending(_) => Code::Conflict,
        PlaceError::NotMigratable { .. } => Code::VmRuns,
        PlaceError::Inventory(error) => of_inventory(error),
        PlaceError::Refusal(refusal) => of_refusal(refusal),
        PlaceError::Interrupted(error) => of_interrupted(error),
        PlaceError::Effects { .. } => Code::UnitFailed,
        PlaceError::Unheeded(_) => Code::UnheededNeed,
        PlaceError::NoMembers
        | PlaceError::MemberTwice(_)
        | PlaceError::Zones(..)
        | PlaceError::SearchForbidden(_)
        | PlaceError::BadDraw(_) => Code::Unprocessable,
    }
}

fn of_refusal(refusal: &DecisionError) -> Code {
    match refusal {
        DecisionError::Failed { .. } => Code::UnitFailed,
        DecisionError::OutOfTime { .. } => Code::TimedOut,
        DecisionError::Refused(_) | DecisionError::UnknownHost { .. } => Code::Unprocessable,
    }
}

fn of_inventory(error: &InventoryError) -> Code {
    match error {
        InventoryError::UnknownHost(_) | InventoryError::IsVm(_) | InventoryError::UnknownVm(_) => {
            Code::NotFound
        }
        InventoryError::HostExists(_)
        | InventoryError::HostInUse { .. }
        | InventoryError::VmRuns(_)
        | InventoryError::VmPending(_) => Code::Conflict,
        InventoryError::Full(_) => Code::Full,
        InventoryError::Entries(entries) => of_inventory(&entries.first().why),
        _ => Code::Unprocessable,
    }
}

/// Which entries of a document of changes are refused: of the kind of the first one, and all of
/// them in "errors".
fn of_entries(entries: &RefusedEntries) -> Problem {
    let told = entries.iter().count();
    let detail = match entries.more() {
        0 => entries.to_string(),
        more => format!(
            "{entries}; {} of them are in \"errors\", and there are {} more",
            grouped(told),
            grouped(more)
        ),
    };
    let problem = Problem::new(of_inventory(&entries.first().why), detail);
    entries.iter().fold(problem, |problem, entry| {
        problem.with_error(ProblemError {
            place: ProblemPlace {
                file: "body".to_owned(),
                path: Some(entry.path()),
                ..ProblemPlace::default()
            },
            message: entry.to_string(),
            suggestion: None,
        })
    })
}

/// Which VMs of a request are not known.
fn of_unknown_vms(vms: &UnknownVms) -> Problem {
    let problem = Problem::new(Code::NotFound, vms);
    vms.iter().fold(problem, |problem, unknown| {
        problem.with_error(ProblemError {
            place: ProblemPlace {
                file: "body".to_owned(),
                path: Some(unknown.named.path.to_string()),
                ..ProblemPlace::default()
            },
            message: unknown.to_string(),
            suggestion: unknown.nearest.as_ref().map(ToString::to_string),
        })
    })
}

fn of_explain(error: &ExplainError) -> Code {
    match error {
        ExplainError::Forgotten(_)
        | ExplainError::TooLongAgo(_)
        | ExplainError::NotRecorded { .. }
        | ExplainError::NoLonger { .. } => Code::Gone,
        ExplainError::Refusal(refusal) => of_refusal(refusal),
    }
}

fn of_question(error: &QuestionError) -> Code {
    match error {
        QuestionError::UnknownHost { .. } => Code::NotFound,
        QuestionError::Place(error) => of_place(error),
        QuestionError::Explain(error) => of_explain(error),
        QuestionError::Change(_) | QuestionError::Chain(_) | QuestionError::ForcedCapacity => {
            Code::Unprocessable
        }
    }
}
