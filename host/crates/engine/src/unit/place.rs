//! Where in a unit's code a call ended, as far as its author can be told.

use std::fmt;

/// Where in a unit's code a call ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// It did not end in code, or in code of which the author knows no functions: that of an
    /// interpreter, or of another compiler without names.
    Untold,
    /// In code that was written with the SDK for Rust and built without the names of functions.
    Nameless,
    /// In these functions of the author, innermost first.
    Functions(Vec<String>),
}

/// What is said after the words that tell how the call ended.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untold => Ok(()),
            Self::Nameless => f.write_str(
                "; built with `placewright unit build --names`, it also tells in which functions",
            ),
            Self::Functions(names) => write!(f, " (in {})", names.join(", called by ")),
        }
    }
}
