//! A document as a tree in which XML and JSON look alike: an attribute, an element
//! and a value under a key are the same thing.

use placewright_document::{Place, Problems};

use super::shown;

/// A named piece of a document.
#[derive(Debug, Clone)]
pub struct Element {
    /// What it is called. The outermost of a JSON document is called as it would be
    /// in XML; empty if that cannot be told.
    pub name: String,
    /// Where it begins.
    pub place: Place,
    /// Its own text, without blanks around it.
    pub text: String,
    /// What it holds: attributes first, in the order of the document.
    pub inside: Vec<Element>,
}

impl Element {
    /// The elements of that name in it.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.inside.iter().filter(move |inner| inner.name == name)
    }

    /// The first element of that name in it.
    pub fn get(&self, name: &str) -> Option<&Element> {
        self.inside.iter().find(|inner| inner.name == name)
    }

    /// The element of that name that has a text. If there are several, they must say
    /// the same.
    pub fn value(&self, name: &str, problems: &mut Problems) -> Option<&Element> {
        let mut values = self.inside.iter().filter(|it| it.name == name);
        let first = values.find(|value| !value.text.is_empty())?;
        for other in values.filter(|other| !other.text.is_empty()) {
            if other.text != first.text {
                let message = format!(
                    "\"{name}\" is {} here and {} at {}; leave only what is right",
                    shown(&other.text),
                    shown(&first.text),
                    first.place
                );
                problems.add(&other.place, message);
            }
        }
        Some(first)
    }

    /// The text of the element of that name.
    pub fn text(&self, name: &str, problems: &mut Problems) -> Option<String> {
        Some(self.value(name, problems)?.text.clone())
    }
}
