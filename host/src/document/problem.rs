//! What is wrong with a document, and where.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::{nearest, serial};

/// Names are suggested for so many problems: nobody reads on, and looking for the
/// nearest of many names takes long.
const SUGGESTIONS: usize = 100;

/// A place in a document, as editors count: the first line is 1, the first
/// character of a line is 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// Path of the file, or a word for what is no file.
    #[serde(serialize_with = "serial::text")]
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Character in the line, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One thing that is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Where it stands.
    pub place: Place,
    /// What is wrong, and what to do about it.
    pub message: String,
    /// The name that was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, " (did you mean \"{suggestion}\"?)"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong with a document; as an error, in the order of places
/// and one line each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    /// Nothing is wrong so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// The document would be wrong in one more way.
    pub fn add(&mut self, place: &Place, message: impl Into<String>) {
        self.list.push(Problem {
            place: place.clone(),
            message: message.into(),
            suggestion: None,
        });
    }

    /// As [`Problems::add`], where a name is wrong: suggests the nearest of the
    /// names that would be right.
    pub fn add_misnamed<'a>(
        &mut self,
        place: &Place,
        message: impl Into<String>,
        name: &str,
        right: impl IntoIterator<Item = &'a str>,
    ) {
        let suggestion = match self.list.len() {
            0..SUGGESTIONS => nearest(name, right).map(str::to_owned),
            _ => None,
        };
        self.list.push(Problem {
            place: place.clone(),
            message: message.into(),
            suggestion,
        });
    }

    /// Take over what is wrong elsewhere.
    pub fn append(&mut self, other: Problems) {
        self.list.extend(other.list);
    }

    /// The same problems, each with what it is found in before its sentence.
    #[must_use]
    pub fn within(mut self, what: &str) -> Self {
        for problem in &mut self.list {
            problem.message = format!("{what}: {}", problem.message);
        }
        self
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All problems.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter()
    }

    /// `value`, if nothing is wrong.
    ///
    /// # Errors
    /// All problems in the order of their places, each once.
    pub fn or<T>(mut self, value: T) -> Result<T, Self> {
        if self.list.is_empty() {
            return Ok(value);
        }
        self.list.sort();
        self.list.dedup();
        Err(self)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32) -> Place {
        Place {
            file: "c.toml".into(),
            line,
            column: 5,
        }
    }

    fn problems() -> Problems {
        let mut problems = Problems::new();
        problems.add(&place(10), "it is late");
        problems.add_misnamed(&place(9), "there is no host \"h0\"", "h0", ["x", "h1"]);
        problems.add(&place(10), "it is late");
        problems.or(()).unwrap_err()
    }

    #[test]
    fn problems_are_shown_in_the_order_of_places_each_once() {
        assert_eq!(
            problems().to_string(),
            "c.toml:9:5: there is no host \"h0\" (did you mean \"h1\"?)\nc.toml:10:5: it is late"
        );
    }

    #[test]
    fn problems_are_serialised_as_a_list() {
        assert_eq!(
            serde_json::to_value(problems()).unwrap(),
            serde_json::json!([
                {
                    "place": { "file": "c.toml", "line": 9, "column": 5 },
                    "message": "there is no host \"h0\"",
                    "suggestion": "h1",
                },
                {
                    "place": { "file": "c.toml", "line": 10, "column": 5 },
                    "message": "it is late",
                    "suggestion": null,
                },
            ])
        );
    }
}
