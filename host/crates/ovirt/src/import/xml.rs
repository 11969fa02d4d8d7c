//! XML to a tree.

mod size;

use std::sync::Arc;

use placewright_document::{Bound, Place, Problems};
use roxmltree::{Document, Error, Node, ParsingOptions};

use super::element::Element;

/// A policy needs five levels; a bound keeps recursion from using up the stack.
const DEEPEST: usize = 64;

/// The outermost element of a document.
pub(super) fn parse(text: &str, file: &str) -> Result<Element, Problems> {
    // Before and behind each element there may be a text.
    let nodes = Bound::of_xml(text.len()).most().saturating_mul(3);
    let options = ParsingOptions {
        nodes_limit: u32::try_from(nodes).unwrap_or(u32::MAX),
        ..ParsingOptions::default()
    };
    let mut reader = Reader {
        text,
        file: file.into(),
        at: 0,
        line: 1,
        column: 1,
        problems: Problems::new(),
    };
    if let Err(too_much) = size::check(text) {
        let place = reader.place(too_much.at);
        reader.problems.add(&place, too_much.sentence);
        return reader.problems.or(Element::at(place));
    }
    match Document::parse_with_options(text, options) {
        Ok(document) => {
            let root = reader.element(document.root_element(), 1);
            reader.problems.or(root)
        }
        Err(error) => {
            reader.line = error.pos().row;
            reader.column = error.pos().col;
            let place = reader.here();
            reader.problems.add(&place, sentence(&error));
            reader.problems.or(Element::at(place))
        }
    }
}

fn sentence(error: &Error) -> String {
    match error {
        Error::DtdDetected => "a document type is not read; leave <!DOCTYPE ...> out".to_owned(),
        error => {
            let said = error.to_string();
            // The place stands before the sentence.
            let end = format!(" at {}", error.pos());
            format!(
                "this is no XML: {}",
                said.strip_suffix(&end).unwrap_or(&said)
            )
        }
    }
}

impl Element {
    fn at(place: Place) -> Self {
        Self {
            name: String::new(),
            place,
            text: String::new(),
            inside: Vec::new(),
        }
    }
}

/// Goes through a document from its beginning to its end, and counts lines on the
/// way.
struct Reader<'t> {
    text: &'t str,
    file: Arc<str>,
    at: usize,
    line: u32,
    column: u32,
    problems: Problems,
}

impl Reader<'_> {
    fn here(&self) -> Place {
        Place {
            file: self.file.clone(),
            line: self.line,
            column: self.column,
        }
    }

    /// The place of a byte that does not stand before the last one asked for.
    fn place(&mut self, byte: usize) -> Place {
        for character in self.text.get(self.at..byte).unwrap_or("").chars() {
            match character {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
        }
        self.at = self.at.max(byte);
        self.here()
    }

    fn element(&mut self, node: Node<'_, '_>, depth: usize) -> Element {
        let mut element = Element {
            name: node.tag_name().name().to_owned(),
            ..Element::at(self.place(node.range().start))
        };
        for attribute in node.attributes() {
            element.inside.push(Element {
                name: attribute.name().to_owned(),
                text: attribute.value().trim().to_owned(),
                ..Element::at(self.place(attribute.range().start))
            });
        }
        for inner in node.children() {
            if inner.is_text() {
                element.text.push_str(inner.text().unwrap_or(""));
            } else if inner.is_element() && depth < DEEPEST {
                let inner = self.element(inner, depth + 1);
                element.inside.push(inner);
            } else if inner.is_element() {
                let place = self.place(inner.range().start);
                let message = format!("nothing may be nested deeper than {DEEPEST} levels");
                self.problems.add(&place, message);
                break;
            }
        }
        element.text = element.text.trim().to_owned();
        element
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        parse(text, "p.xml").unwrap_err().to_string()
    }

    #[test]
    fn attributes_and_elements_look_alike_and_have_places() {
        let text = "<?xml version=\"1.0\"?>\n<a x=' 1 '>\n  <y>2 &lt; <!-- - -->3</y><y/></a>";
        let root = parse(text, "a.xml").unwrap();
        assert_eq!((&*root.name, &*root.text), ("a", ""));
        let inside: Vec<_> = root
            .inside
            .iter()
            .map(|inner| (&*inner.name, &*inner.text, inner.place.to_string()))
            .collect();
        assert_eq!(
            inside,
            [
                ("x", "1", "a.xml:2:4".to_owned()),
                ("y", "2 < 3", "a.xml:3:3".to_owned()),
                ("y", "", "a.xml:3:28".to_owned()),
            ]
        );
    }

    #[test]
    fn what_is_no_xml_is_refused_at_its_place() {
        assert_eq!(
            problem("<a>\n<b></a>"),
            "p.xml:2:4: this is no XML: expected 'b' tag, not 'a'"
        );
        assert!(problem("<a>").starts_with("p.xml:1:1: this is no XML: "));
        assert!(problem("<a>&lol;</a>").starts_with("p.xml:1:4: this is no XML: "));
        assert_eq!(
            problem("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
            "p.xml:1:1: a document type is not read; leave <!DOCTYPE ...> out"
        );
    }

    #[test]
    fn values_are_bounded() {
        let told = problem(&format!("<a>\n{}</a>", "<b/>".repeat(100_000)));
        assert!(told.starts_with("p.xml:2:"), "{told}");
        assert!(told.contains("this one holds more"), "{told}");
        let texts = "<b>a text</b> ".repeat(100_000);
        assert!(parse(&format!("<a>{texts}</a>"), "a.xml").is_ok());
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "<a>".repeat(100_000) + &"</a>".repeat(100_000);
        assert_eq!(
            problem(&deep),
            "p.xml:1:193: nothing may be nested deeper than 64 levels"
        );
    }
}
