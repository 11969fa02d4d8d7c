//! Scheduling policies of oVirt as policies of units here.
//!
//! Nothing else in the library knows of oVirt. Units say by their aliases for which
//! of oVirt's units they stand; what cannot be said so is in `table`.
//!
//! ```text
//! XML or JSON ─► parse ─► Policy::read ─► carry ─► Document (TOML)
//! ```

pub(crate) mod carry;
pub(crate) mod element;
pub(crate) mod find;
mod json;
pub(crate) mod source;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod write;
mod xml;

pub use carry::{Carried, Entry, Loss, Options, carry};
pub use element::Element;
pub use source::Policy;
pub use write::Document;

use placewright_document::{Place, Problems};

/// Read a document in XML or JSON; `file` is what it is called in problems.
///
/// # Errors
/// If it is neither, or is nested too deeply.
pub fn parse(text: &str, file: &str) -> Result<Element, Problems> {
    // Editors of some systems begin files with this mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.trim_start().chars().next() {
        Some('<') => xml::parse(text, file),
        Some('{') => json::parse(text, file),
        _ => {
            let mut problems = Problems::new();
            let place = Place {
                file: file.into(),
                line: 1,
                column: 1,
            };
            problems.add(
                &place,
                "this is neither XML, which begins with <, nor an object of JSON, which begins \
                 with {; give what oVirt's engine answered",
            );
            Err(problems)
        }
    }
}

/// Texts of documents are shown in sentences up to this many characters.
const SHOWN: usize = 60;

/// A text of a document in quotes, cut to what fits into a sentence.
fn shown(text: &str) -> String {
    let mut characters = text.chars();
    let cut: String = characters.by_ref().take(SHOWN).collect();
    let more = characters.next().map_or("", |_| "…");
    format!("\"{}{more}\"", one_line(&cut))
}

/// A text without what would break a line or colour a terminal.
fn one_line(text: &str) -> String {
    let printed = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(printed).collect()
}
