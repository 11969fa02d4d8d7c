//! The kinds of problems.

use axum::http::StatusCode;

/// A kind of problem: a word for programs, a status and a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The request is no HTTP that we understand.
    BadRequest,
    /// The body is no JSON, or not of the form that belongs here.
    InvalidJson,
    /// A part of the path, a parameter or a header is wrong.
    InvalidParameter,
    /// There is no token, or one that nobody knows.
    Unauthorized,
    /// The token's role or scope does not allow it.
    Forbidden,
    /// There is no such path.
    UnknownRoute,
    /// There is no such thing.
    NotFound,
    /// The path has no such method.
    MethodNotAllowed,
    /// The request did not arrive in time.
    RequestTimeout,
    /// It contradicts the state of things.
    Conflict,
    /// The VM runs already.
    VmRuns,
    /// The VM has a place reserved already.
    VmReserved,
    /// The reservation has ended.
    ReservationEnded,
    /// The VM's place is on another host than the one that was named.
    OtherHost,
    /// It was there, and is kept no longer.
    Gone,
    /// The thing has changed since the revision that the request names.
    RevisionChanged,
    /// The request must name the revision that it is about.
    RevisionRequired,
    /// The body is too large.
    TooLarge,
    /// The body is of another type than the one that belongs here.
    UnsupportedType,
    /// A document is wrong.
    InvalidDocument,
    /// The request is well formed and cannot be carried out.
    Unprocessable,
    /// The request needs what no filter of the policy checks.
    UnheededNeed,
    /// An idempotency key was used before, for another request.
    KeyReused,
    /// Stock that cannot be changed.
    Locked,
    /// Too much is asked at once.
    TooManyRequests,
    /// The fault is ours.
    Internal,
    /// A unit failed, and the policy cannot do without it.
    UnitFailed,
    /// A unit keeps failing and is not called for a while, and the policy cannot do without it.
    UnitPaused,
    /// Not now: the server starts, stops or is too busy.
    Unavailable,
    /// It took too long.
    TimedOut,
    /// There is no room for what it would leave behind.
    Full,
}

impl Code {
    /// Every kind.
    pub const ALL: [Self; 31] = [
        Self::BadRequest,
        Self::InvalidJson,
        Self::InvalidParameter,
        Self::Unauthorized,
        Self::Forbidden,
        Self::UnknownRoute,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::Conflict,
        Self::VmRuns,
        Self::VmReserved,
        Self::ReservationEnded,
        Self::OtherHost,
        Self::Gone,
        Self::RevisionChanged,
        Self::RevisionRequired,
        Self::TooLarge,
        Self::UnsupportedType,
        Self::InvalidDocument,
        Self::Unprocessable,
        Self::UnheededNeed,
        Self::KeyReused,
        Self::Locked,
        Self::TooManyRequests,
        Self::Internal,
        Self::UnitFailed,
        Self::Unavailable,
        Self::UnitPaused,
        Self::TimedOut,
        Self::Full,
    ];

    fn row(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::BadRequest => (400, "bad-request", "Bad request"),
            Self::InvalidJson => (400, "invalid-json", "Invalid JSON"),
            Self::InvalidParameter => (400, "invalid-parameter", "Invalid parameter"),
            Self::Unauthorized => (401, "unauthorized", "No valid token"),
            Self::Forbidden => (403, "forbidden", "Not allowed"),
            Self::UnknownRoute => (404, "unknown-route", "No such path"),
            Self::NotFound => (404, "not-found", "Not found"),
            Self::MethodNotAllowed => (405, "method-not-allowed", "Method not allowed"),
            Self::RequestTimeout => (408, "request-timeout", "Request too slow"),
            Self::Conflict => (409, "conflict", "Conflict"),
            Self::VmRuns => (409, "vm-runs", "The VM runs already"),
            Self::VmReserved => (409, "vm-reserved", "The VM has a place reserved"),
            Self::ReservationEnded => (409, "reservation-ended", "The reservation has ended"),
            Self::OtherHost => (409, "other-host", "The place is on another host"),
            Self::Gone => (410, "gone", "No longer available"),
            Self::RevisionChanged => (412, "revision-changed", "Changed in the meantime"),
            Self::TooLarge => (413, "too-large", "Too large"),
            Self::UnsupportedType => (415, "unsupported-type", "Unsupported type"),
            Self::InvalidDocument => (422, "invalid-document", "Invalid document"),
            Self::Unprocessable => (422, "unprocessable", "Cannot be carried out"),
            Self::UnheededNeed => (
                422,
                "unheeded-need",
                "A need that the policy does not check",
            ),
            Self::KeyReused => (422, "key-reused", "Idempotency key used before"),
            Self::Locked => (423, "locked", "Locked"),
            Self::RevisionRequired => (428, "revision-required", "Revision required"),
            Self::TooManyRequests => (429, "too-many-requests", "Too many requests"),
            Self::Internal => (500, "internal", "Internal error"),
            Self::UnitFailed => (502, "unit-failed", "A unit failed"),
            Self::UnitPaused => (503, "unit-paused", "A unit is paused"),
            Self::Unavailable => (503, "unavailable", "Not available now"),
            Self::TimedOut => (504, "timed-out", "Took too long"),
            Self::Full => (507, "full", "No room left"),
        }
    }

    /// The status of the answer.
    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(self.row().0).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The word for programs.
    pub fn word(self) -> &'static str {
        self.row().1
    }

    /// In a few words.
    pub fn title(self) -> &'static str {
        self.row().2
    }

    /// The kind for an answer with a status alone, made by a library below us.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        let first = Self::ALL.into_iter().find(|code| code.status() == status);
        first.unwrap_or(match status.is_server_error() {
            true => Self::Internal,
            false => Self::BadRequest,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn kinds_have_words_of_their_own() {
        let words: BTreeSet<_> = Code::ALL.iter().map(|code| code.word()).collect();
        assert_eq!(words.len(), Code::ALL.len());
    }
}
