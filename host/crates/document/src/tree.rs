//! A document as a tree of values, each with its place.
//!
//! What the document is about does not matter here. TOML and JSON give the same
//! tree for the same content, so that nothing above knows which it was.

mod bound;
mod json;
mod position;
mod toml;

use std::sync::Arc;

pub use bound::Bound;

use super::{Place, Problems};
use position::Positions;

/// Tables and lists may stand in each other so deep. No document needs more than
/// ten levels; a bound keeps recursion from using up the stack.
const DEEPEST: usize = 64;

/// A value of a document.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// What it is.
    pub content: Content,
}

/// What a value of a document is.
#[derive(Debug, Clone)]
pub enum Content {
    /// A whole number.
    Integer(i64),
    /// Any other number; whole ones that do not fit 64 bits, too.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// A text. TOML's dates and times are texts.
    Text(Arc<str>),
    /// Values in order.
    List(Vec<Node>),
    /// Values by key.
    Table(Table),
    /// JSON's null, under a key of a document where it takes a value away.
    Null,
}

impl Content {
    /// What it is, for a sentence: "not a list".
    pub fn noun(&self) -> &'static str {
        match self {
            Content::Integer(_) => "a whole number",
            Content::Number(_) => "a number",
            Content::Boolean(_) => "a boolean",
            Content::Text(_) => "a text",
            Content::List(_) => "a list",
            Content::Table(_) => "a table",
            Content::Null => "null",
        }
    }
}

/// Values by key, in the order in which they are written. No key comes twice.
#[derive(Debug, Clone)]
pub struct Table {
    /// Where it begins.
    pub place: Place,
    /// The entries in order.
    pub entries: Vec<Entry>,
}

impl Table {
    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries
            .iter()
            .find(|entry| *entry.key == *key)
            .map(|entry| &entry.node)
    }
}

/// A key and its value.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key.
    pub key: Arc<str>,
    /// Where the key stands.
    pub place: Place,
    /// The value.
    pub node: Node,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Toml,
    Json,
}

impl Language {
    /// By the ending of the file's name, else by the first character.
    fn of(text: &str, file: &str) -> Self {
        let ending = file
            .rsplit_once('.')
            .map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some("toml") => Language::Toml,
            Some("json" | "jsonc") => Language::Json,
            _ if text.trim_start().starts_with('{') => Language::Json,
            _ => Language::Toml,
        }
    }
}

/// Read a document in TOML or JSON.
///
/// # Errors
/// If it is neither. Every mistake that can be told apart is given.
pub fn parse(text: &str, file: &str) -> Result<Table, Problems> {
    parse_with(text, file, Nulls::LeftOut)
}

/// What becomes of a null under a key. Programs write it for a value that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nulls {
    /// It is as if the key were not there.
    LeftOut,
    /// It is kept, for it takes away what was there.
    Kept,
}

/// The same, where a null takes a value away.
///
/// # Errors
/// As for [`parse`].
pub fn parse_with_nulls(text: &str, file: &str) -> Result<Table, Problems> {
    parse_with(text, file, Nulls::Kept)
}

/// Read one line of a file of JSON lines, which is a document of its own; lines are counted from
/// 1. A null takes a value away.
///
/// # Errors
/// If it is no JSON object. Every mistake that can be told apart is given.
pub(crate) fn parse_line(text: &str, file: &Arc<str>, line: u32) -> Result<Table, Problems> {
    let before = line.saturating_sub(1) as usize;
    let positions = Positions::after(before, text, file.clone());
    json::parse(text, &positions, Nulls::Kept)
}

fn parse_with(text: &str, file: &str, nulls: Nulls) -> Result<Table, Problems> {
    let language = Language::of(text, file);
    // Editors of some systems begin files with this mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let positions = Positions::new(text, file);
    match language {
        Language::Toml => toml::parse(text, &positions),
        Language::Json => json::parse(text, &positions, nulls),
    }
}

#[cfg(test)]
mod tests;
