//! How trees are written: in XML or in JSON.

use serde_json::{Map, Value};

use super::Tree;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Xml,
    Json,
}

/// How every document in XML begins.
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

impl Format {
    /// A document of one tree.
    pub(crate) fn document(self, tree: &Tree) -> String {
        match self {
            Self::Xml => {
                let mut text = DECLARATION.to_owned();
                tree.write_xml(&mut text, 0);
                text
            }
            Self::Json => tree.json().to_string(),
        }
    }

    /// A document of a list, as [`Tree::list`] has it. Of its elements, one at a time is in
    /// memory as a tree.
    ///
    /// # Errors
    /// The first that `goes_on` gives, which is asked at each element, with the bytes that are
    /// written before it.
    pub(crate) fn list<E>(
        self,
        name: &'static str,
        elements: impl Iterator<Item = Tree>,
        goes_on: impl Fn(usize) -> Result<(), E>,
    ) -> Result<String, E> {
        match self {
            Self::Xml => xml_list(name, elements, goes_on),
            Self::Json => json_list(elements, goes_on),
        }
    }
}

fn xml_list<E>(
    name: &'static str,
    elements: impl Iterator<Item = Tree>,
    goes_on: impl Fn(usize) -> Result<(), E>,
) -> Result<String, E> {
    let mut text = DECLARATION.to_owned();
    let mut elements = elements.peekable();
    if elements.peek().is_none() {
        Tree::new(name).write_xml(&mut text, 0);
        return Ok(text);
    }
    open(name, &mut text);
    text.push_str(">\n");
    while let Some(element) = elements.next() {
        let before = text.len();
        goes_on(before)?;
        element.write_xml(&mut text, 1);
        // Most elements are about as long as their neighbours. The text is not moved again and
        // again while it grows.
        let written = text.len() - before;
        if text.capacity() - text.len() < written {
            text.reserve(written.saturating_mul(elements.size_hint().0 + 2));
        }
    }
    close(name, &mut text);
    Ok(text)
}

fn json_list<E>(
    elements: impl Iterator<Item = Tree>,
    goes_on: impl Fn(usize) -> Result<(), E>,
) -> Result<String, E> {
    // Most often one list: all elements have one name.
    let mut lists: Vec<(String, String)> = Vec::new();
    let mut before = 0;
    for element in elements {
        goes_on(before)?;
        let shown = element.json().to_string();
        before += shown.len() + 1;
        match lists.iter_mut().find(|(name, _)| *name == element.name) {
            Some((_, list)) => {
                list.push(',');
                list.push_str(&shown);
            }
            None => lists.push((element.name.to_string(), shown)),
        }
    }
    let lists = lists.into_iter();
    let lists = lists.map(|(name, list)| format!("{}:[{list}]", Value::from(name)));
    Ok(format!("{{{}}}", lists.collect::<Vec<_>>().join(",")))
}

fn open(name: &str, out: &mut String) {
    out.push('<');
    out.push_str(name);
}

fn close(name: &str, out: &mut String) {
    out.push_str("</");
    out.push_str(name);
    out.push_str(">\n");
}

impl Tree {
    fn write_xml(&self, out: &mut String, depth: usize) {
        let indent = |out: &mut String| out.extend(std::iter::repeat_n("  ", depth));
        indent(out);
        open(&self.name, out);
        for (name, value) in &self.attributes {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            escape(value, out);
            out.push('"');
        }
        match (&self.text, self.children.is_empty()) {
            (None, true) => out.push_str("/>\n"),
            (Some(text), true) => {
                out.push('>');
                escape(text, out);
                close(&self.name, out);
            }
            (_, false) => {
                out.push_str(">\n");
                for child in &self.children {
                    child.write_xml(out, depth + 1);
                }
                indent(out);
                close(&self.name, out);
            }
        }
    }

    /// What it is in JSON: lists stand under the name of what they hold, and all else is text.
    pub(crate) fn json(&self) -> Value {
        if let (Some(text), true) = (&self.text, self.attributes.is_empty()) {
            return text.as_str().into();
        }
        let mut object = Map::new();
        for (name, value) in &self.attributes {
            object.insert((*name).to_owned(), value.as_str().into());
        }
        for child in &self.children {
            let name = child.name.to_string();
            let shown = child.json();
            if !self.is_list && child.name != "link" {
                object.insert(name, shown);
                continue;
            }
            if let Value::Array(list) = object.entry(name).or_insert_with(|| Value::Array(vec![])) {
                list.push(shown);
            }
        }
        object.into()
    }
}

/// Write a text so that it is read again as the same. Characters that XML cannot hold are
/// replaced.
fn escape(text: &str, out: &mut String) {
    // Most texts are written as they are. All bytes are looked at, since that is faster than to
    // stop at the first other one.
    let is_other =
        |byte: u8| !(b' '..=b'~').contains(&byte) | matches!(byte, b'&' | b'<' | b'>' | b'"');
    if !text
        .bytes()
        .fold(false, |found, byte| found | is_other(byte))
    {
        out.push_str(text);
        return;
    }
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            character => out.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy() -> Tree {
        let property = |name, value| {
            Tree::new("property")
                .text("name", name)
                .text("value", value)
        };
        Tree::new("scheduling_policy")
            .at("/p/1", "1")
            .text("name", "a < \"b\" & c\n\u{1}")
            .text("locked", true)
            .with(Tree::list("properties", [property("HighUtilization", 80)]))
            .with(Tree::list("empty", []))
            .link("filters", "/p/1/filters".to_owned())
    }

    #[test]
    fn xml_is_read_again_as_it_was_written() {
        let text = Format::Xml.document(&policy());
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("id"), Some("1"));
        let name = root.children().find(|node| node.has_tag_name("name"));
        assert_eq!(name.unwrap().text(), Some("a < \"b\" & c\n\u{fffd}"));
        assert!(text.contains("  <empty/>\n"), "{text}");
    }

    #[test]
    fn json_has_lists_under_the_name_of_what_they_hold_and_texts() {
        assert_eq!(
            policy().json(),
            json!({
                "href": "/p/1",
                "id": "1",
                "name": "a < \"b\" & c\n\u{1}",
                "locked": "true",
                "properties": {"property": [{"name": "HighUtilization", "value": "80"}]},
                "empty": {},
                "link": [{"href": "/p/1/filters", "rel": "filters"}],
            })
        );
        let list = Tree::list("scheduling_policies", [policy()]);
        assert_eq!(list.json()["scheduling_policy"][0]["id"], "1");
    }

    #[test]
    fn a_list_written_one_by_one_is_the_document_of_the_whole_list() {
        for count in 0..3 {
            let elements = || std::iter::repeat_n(policy(), count);
            let whole = Tree::list("scheduling_policies", elements());
            for format in [Format::Xml, Format::Json] {
                let goes_on = |_| Ok::<_, ()>(());
                let written = format.list("scheduling_policies", elements(), goes_on);
                let written = written.unwrap();
                assert_eq!(written, format.document(&whole), "{count} in {format:?}");
            }
        }
    }

    #[test]
    fn a_list_ends_when_it_is_told_to_with_what_is_written_of_it() {
        for format in [Format::Xml, Format::Json] {
            let one = format.document(&policy()).len();
            let elements = std::iter::repeat_n(policy(), 100);
            let goes_on = |written| match written < 10 * one {
                true => Ok(()),
                false => Err(written / one),
            };
            let written = format.list("scheduling_policies", elements, goes_on);
            assert_eq!(written, Err(10), "{format:?}");
        }
    }
}
