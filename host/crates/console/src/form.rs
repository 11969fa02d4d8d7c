//! What forms of pages send.

use crate::url::Pairs;
use placewright_http::problem::{Code, Problem};

/// The fields of a form. A name may come more than once.
pub(crate) fn pairs(body: &[u8]) -> Pairs {
    form_urlencoded::parse(body).into_owned().collect()
}

/// The value of a field.
pub(crate) fn value<'p>(pairs: &'p Pairs, name: &str) -> Option<&'p str> {
    let found = pairs.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// All values of a field.
pub(crate) fn values<'p>(pairs: &'p Pairs, name: &'p str) -> impl Iterator<Item = &'p str> {
    let found = pairs.iter().filter(move |(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// Whether a problem is told beside what was entered, which can be mended there. Others have a page
/// of their own.
pub(crate) fn is_told(problem: &Problem) -> bool {
    matches!(
        problem.code(),
        Code::Conflict
            | Code::Full
            | Code::InvalidDocument
            | Code::InvalidJson
            | Code::InvalidParameter
            | Code::NotFound
            | Code::RevisionChanged
            | Code::Unprocessable
    )
}
