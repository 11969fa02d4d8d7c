//! The options of the server, in one table: the command's help, the keys of the
//! configuration file and the names in the environment are made from it.

mod table;

pub(super) use table::OPTIONS;

use placewright_document::form::Shape;
use placewright_document::{Content, Expected, Node, Place, Problems, Word};
use placewright_model::{Kind, Value};

/// One option.
#[derive(Debug)]
pub(crate) struct ServeOption {
    /// Name of the flag and key of the file.
    pub name: &'static str,
    /// What stands for its value in the help.
    pub value_name: &'static str,
    /// What its value is.
    pub shape: Shape,
    /// The value if nobody gives one, as text; None if there is none, or if it depends
    /// on others.
    pub default: Option<&'static str>,
    /// What is said of the default in the help where it depends on others.
    pub otherwise: Option<&'static str>,
    /// One sentence.
    pub meaning: &'static str,
    /// Title in the help above this option and the ones below it.
    pub heading: &'static str,
}

/// How sure a change is on disk when it is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// It survives a loss of power.
    Full,
    /// It survives the end of the program; a loss of power may take the last ones.
    Normal,
}

impl Word for Durability {
    const WORDS: &'static [(&'static str, Self)] =
        &[("full", Self::Full), ("normal", Self::Normal)];
}

impl ServeOption {
    /// Its name in the environment.
    pub(crate) fn variable(&self) -> String {
        format!("PLACEWRIGHT_{}", self.name.replace('-', "_").to_uppercase())
    }

    /// Whether it is switched on by its name alone.
    pub(crate) fn is_switch(&self) -> bool {
        matches!(self.shape, Shape::Value(Kind::Boolean, _, _))
    }

    /// Read its value from a document.
    pub(crate) fn read(&self, node: &Node, problems: &mut Problems) -> Option<Value> {
        match self.shape {
            Shape::Word(words) => Expected {
                choices: &words(),
                ..Expected::of_kind(self.name, Kind::Text)
            }
            .read(node, problems),
            Shape::Value(kind, measure, bounds) => Expected {
                measure,
                bounds,
                ..Expected::of_kind(self.name, kind)
            }
            .read(node, problems),
            _ => None,
        }
    }

    /// Read its value from a text: of a flag, of the environment, or its default.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, String> {
        let place = Place {
            file: self.name.into(),
            line: 1,
            column: 1,
        };
        let mut problems = Problems::new();
        let content = self.content(text);
        let value = self.read(&Node { place, content }, &mut problems);
        value.ok_or_else(|| {
            let problem = problems.iter().next();
            let suggestion = problem.and_then(|problem| problem.suggestion.as_ref());
            let message = problem.map_or_else(String::new, |problem| problem.message.clone());
            match suggestion {
                Some(suggestion) => format!("{message} (did you mean \"{suggestion}\"?)"),
                None => message,
            }
        })
    }

    /// The text as it would stand in a file.
    fn content(&self, text: &str) -> Content {
        let bare = match self.shape {
            Shape::Value(Kind::Boolean, _, _) => text.parse().ok().map(Content::Boolean),
            Shape::Value(Kind::Integer, _, _) => text.parse().ok().map(Content::Integer),
            Shape::Value(Kind::Number, _, _) => text.parse().ok().map(Content::Number),
            _ => None,
        };
        bare.unwrap_or_else(|| Content::Text(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn options_have_names_of_their_own_and_good_defaults() {
        let names: BTreeSet<_> = OPTIONS.iter().map(|option| option.name).collect();
        assert_eq!(names.len(), OPTIONS.len());
        for option in OPTIONS {
            if let Some(default) = option.default {
                assert!(option.parse(default).is_ok(), "{}", option.name);
            }
        }
    }

    #[test]
    fn options_of_one_heading_stand_together() {
        let mut headings: Vec<_> = OPTIONS.iter().map(|option| option.heading).collect();
        headings.dedup();
        let different: BTreeSet<_> = headings.iter().collect();
        assert_eq!(different.len(), headings.len());
    }
}
