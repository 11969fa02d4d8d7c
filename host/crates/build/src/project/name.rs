//! What a unit may be called.

use placewright_engine::unit::inspect;

/// Words that no crate and no module can be called, in any of the languages; of the many
/// such words those that someone might call a unit.
const TAKEN: &[&str] = &[
    "alloc",
    "as",
    "async",
    "await",
    "break",
    "class",
    "const",
    "continue",
    "core",
    "crate",
    "def",
    "del",
    "dyn",
    "elif",
    "else",
    "enum",
    "except",
    "extern",
    "false",
    "finally",
    "fn",
    "for",
    "from",
    "function",
    "gen",
    "global",
    "if",
    "impl",
    "import",
    "in",
    "is",
    "lambda",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "not",
    "or",
    "pass",
    "placewright",
    "pub",
    "raise",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "unsafe",
    "use",
    "var",
    "where",
    "while",
    "with",
    "yield",
];

/// Why no unit can be called so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectNameError {
    /// Not as names of units are written.
    #[error(
        "\"{0}\" is no name of a unit: write lower-case words of letters and digits joined by hyphens, such as \"rack-spread\""
    )]
    Form(String),
    /// The languages, or what comes with them, use it themselves.
    #[error(
        "a unit cannot be called \"{0}\", which is a word of the language: choose another name"
    )]
    Word(String),
    /// The SDK is built with a crate of that name.
    #[error(
        "a unit in Rust cannot be called \"{0}\", since the SDK is built with a crate of that name: choose another name"
    )]
    Crate(String),
}

/// Whether a unit may be called so, whatever it is written in.
///
/// # Errors
/// If the name has another form than names of units, or is a word of a language.
pub fn check(name: &str) -> Result<(), ProjectNameError> {
    if !inspect::is_name(name) {
        return Err(ProjectNameError::Form(name.escape_debug().to_string()));
    }
    match TAKEN.contains(&name) {
        true => Err(ProjectNameError::Word(name.to_owned())),
        false => Ok(()),
    }
}
