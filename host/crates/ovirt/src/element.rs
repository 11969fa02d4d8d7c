//! What bodies have in common.

use super::fault::Fault;
use super::import::Element;

/// That a body has no elements but these.
///
/// # Errors
/// The first other one.
pub(crate) fn only(body: &Element, known: &[&str]) -> Result<(), Fault> {
    let other = body
        .inside
        .iter()
        .find(|it| !known.contains(&it.name.as_str()));
    match other {
        None => Ok(()),
        Some(other) => Err(Fault::syntax(format!(
            "\"{}\" at {} is no element of \"{}\" here; there are {}",
            placewright_document::shown(&other.name),
            other.place,
            body.name,
            known.join(", ")
        ))),
    }
}

/// True or false, if an element of that name is given.
///
/// # Errors
/// If it is neither.
pub(crate) fn flag(body: &Element, name: &str) -> Result<Option<bool>, Fault> {
    let given = body.get(name).map(|it| it.text.to_ascii_lowercase());
    match given.as_deref() {
        None => Ok(None),
        Some("true" | "1") => Ok(Some(true)),
        Some("false" | "0") => Ok(Some(false)),
        Some(_) => Err(Fault::syntax(format!("\"{name}\" must be true or false"))),
    }
}
