//! What is wrong with a document, and where.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::entries::{self, Step};
use super::names::allowed;
use super::{nearest, serial};

/// So many problems are listed, those that were found first. Others are only counted.
const MOST: usize = 100;

/// Names are suggested for so many problems: nobody reads on, and looking for the
/// nearest of many names takes long.
const SUGGESTIONS: usize = 20;

/// The sentence of a problem has so many bytes at most.
const LONGEST: usize = 4096;

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
    /// The entry of a list that it is about, with its position, counted from 0, and its id:
    /// `vms[17] "web-3"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The way to the value: `vms[17].memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Problem {
    /// What is wrong, and in which entry of a list: for programs, which find no entry by the line
    /// and the character. Editors go to these, so that the text of a problem names them alone.
    pub fn sentence(&self) -> String {
        match &self.entry {
            Some(entry) => format!("{entry}: {}", self.message),
            None => self.message.clone(),
        }
    }
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
/// and one line each. The first 100 problems that were found are listed, the others counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems {
    list: Vec<Problem>,
    /// Problems that are counted and not listed.
    #[serde(skip)]
    more: usize,
}

impl Problems {
    /// Nothing is wrong so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// The document would be wrong in one more way.
    pub fn add(&mut self, place: &Place, message: impl Into<String>) {
        if self.is_full() {
            return self.more += 1;
        }
        self.list.push(Problem {
            place: place.clone(),
            message: shortened(message.into()),
            suggestion: None,
            entry: None,
            path: None,
        });
    }

    /// As [`Problems::add`], where it is known by which steps the value is reached.
    pub(crate) fn add_at(&mut self, place: &Place, steps: &[Step<'_>], message: impl Into<String>) {
        let listed = self.list.len();
        self.add(place, message);
        if let Some(problem) = self.list.get_mut(listed) {
            (problem.path, problem.entry) = (entries::path(steps), entries::entry(steps));
        }
    }

    /// Say of each problem what `way` knows of its place: the way to it, and the entry.
    pub(crate) fn say_where(
        &mut self,
        mut way: impl FnMut(&Place) -> Option<(Option<String>, Option<String>)>,
    ) {
        for problem in &mut self.list {
            if let Some(known) = way(&problem.place) {
                (problem.path, problem.entry) = known;
            }
        }
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
        self.add_misnamed_or(place, message, name, right, "");
    }

    /// As [`Problems::add_misnamed`]; `otherwise` goes on with the sentence where no right name is
    /// suggested.
    pub fn add_misnamed_or<'a>(
        &mut self,
        place: &Place,
        message: impl Into<String>,
        name: &str,
        right: impl IntoIterator<Item = &'a str>,
        otherwise: &str,
    ) {
        if self.is_full() {
            return self.more += 1;
        }
        let suggestion = match self.list.len() {
            0..SUGGESTIONS => nearest(name, right).map(str::to_owned),
            _ => None,
        };
        let mut message = message.into();
        if suggestion.is_none() {
            message.push_str(otherwise);
        }
        self.list.push(Problem {
            place: place.clone(),
            message: shortened(message),
            suggestion,
            entry: None,
            path: None,
        });
    }

    /// As [`Problems::add_misnamed`], for a name that does not belong into its table: where
    /// no right name is near, all are listed, within a bound.
    pub fn add_unknown<'a>(
        &mut self,
        place: &Place,
        mut message: String,
        name: &str,
        right: impl Iterator<Item = &'a str> + Clone,
    ) {
        let suggests = self.list.len() < SUGGESTIONS;
        if suggests && nearest(name, right.clone()).is_none() {
            message.push_str("; it may have ");
            message.push_str(&allowed(name, right.clone()));
        }
        self.add_misnamed(place, message, name, right);
    }

    /// Count one more problem that need not be listed, as [`Problems::is_full`] says.
    pub fn count(&mut self) {
        self.more += 1;
    }

    /// Whether as many problems are listed as will be: of others no sentence is needed.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// How many problems are counted besides those that are listed.
    pub fn more(&self) -> usize {
        self.more
    }

    /// Take over what is wrong elsewhere.
    pub fn append(&mut self, mut other: Problems) {
        let room = MOST.saturating_sub(self.list.len()).min(other.list.len());
        self.more += other.more + other.list.len() - room;
        other.list.truncate(room);
        self.list.append(&mut other.list);
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

    /// The problems that are listed.
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
        match self.more {
            0 => Ok(()),
            more => write!(f, "\nand {} more", grouped(more)),
        }
    }
}

/// A sentence of 4 KiB at most.
pub fn shortened(mut sentence: String) -> String {
    if sentence.len() > LONGEST {
        let end = sentence.floor_char_boundary(LONGEST - '…'.len_utf8());
        sentence.truncate(end);
        sentence.push('…');
    }
    sentence
}

/// A number with commas between its thousands.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

    #[test]
    fn a_hundred_problems_are_told_and_the_others_counted() {
        let mut problems = Problems::new();
        for line in 1..=100 {
            problems.add(&place(line), "it is late");
        }
        assert!(!problems.to_string().contains("more"), "{problems}");
        for line in 101..=13_034 {
            problems.add_misnamed(&place(line), "there is no \"a\"", "a", ["b"]);
        }
        let mut whole = Problems::new();
        whole.add(&place(1), "it is early");
        whole.append(problems);
        let error = whole.or(()).unwrap_err();
        assert_eq!(error.iter().count(), 100);
        let text = error.to_string();
        assert!(
            text.ends_with("c.toml:99:5: it is late\nand 12,935 more"),
            "{text}"
        );
    }

    #[test]
    fn a_long_sentence_is_cut() {
        let mut problems = Problems::new();
        problems.add(&place(1), "ü".repeat(LONGEST));
        let told = problems
            .iter()
            .map(|it| it.message.as_str())
            .collect::<String>();
        assert!(
            told.len() <= LONGEST && told.ends_with("ü…"),
            "{}",
            told.len()
        );
    }

    #[test]
    fn thousands_are_set_apart() {
        for (number, text) in [
            (7, "7"),
            (100, "100"),
            (1234, "1,234"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
