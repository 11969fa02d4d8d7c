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

/// The tag of what a form shows, which is changed only if it still has that.
///
/// # Errors
/// If the form has none.
pub(crate) fn tag(fields: &Pairs, what: &str) -> Result<String, Problem> {
    match value(fields, "tag") {
        Some(tag) if !tag.is_empty() => Ok(tag.to_owned()),
        _ => {
            let wrong = format!("\"tag\" must be that of the {what} as the page has shown it");
            Err(Problem::new(Code::InvalidParameter, wrong))
        }
    }
}

/// Whether the button "Remove" of a form was pressed, rather than the one that saves it.
///
/// # Errors
/// If it was neither of them.
pub(crate) fn removes(fields: &Pairs) -> Result<bool, Problem> {
    match value(fields, "deed") {
        None => Ok(false),
        Some("remove") => Ok(true),
        Some(_) => {
            let wrong = "\"deed\" must be remove, or not given";
            Err(Problem::new(Code::InvalidParameter, wrong))
        }
    }
}

/// Whether a problem is shown beside the form, so that the entry can be corrected. Other problems
/// have a page of their own.
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
