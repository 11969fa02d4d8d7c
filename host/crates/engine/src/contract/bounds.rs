//! How much a unit may say of itself and in its answers, whatever limits a server sets.
//!
//! What a unit says is kept, logged, sent and stored, and names are compared with one another.
//! These bounds are wide for every unit that a person reads about, and make all of that cheap.
//! They are checked before anything is computed from what the unit says. Authors read of them
//! in `wit/policy.wit`.

/// Characters of a name: of a unit, a setting, a column, each part of a table's name, a fact,
/// a reserved amount. What stands before an attribute's name, `attribute.`, is not counted.
pub const NAME: usize = 64;

/// Bytes of a sentence or text: a summary, alias, meaning, reason, pattern, choice or default;
/// also a text in a change or fact.
pub const TEXT: usize = 1024;

/// Entries of a list of a description: settings, aliases, choices, tables of a part, columns of
/// a table.
pub const LIST: usize = 256;

/// Reasons of a part. The number of a reason has to fit a byte in which 0 says that there is
/// none.
pub const REASONS: usize = 255;

/// Names in the name of a table, as in `hosts/vms`.
pub const DEPTH: usize = 4;

/// Bytes of a whole description as it lies in the runtime's memory.
pub const DESCRIPTION: usize = 1 << 20;

/// Bytes that a pattern may take when it is compiled. A class such as `\w` takes some 10 KB,
/// one of ASCII letters some hundred bytes, and a repetition so much each time.
pub const PATTERN: usize = 256 << 10;

/// How many problems of a description are told of; the others are counted.
pub const PROBLEMS: usize = 20;
