//! What is answered: a tree, written in XML or in JSON.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::{Map, Value};

/// An element with its attributes, and either a text or others in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tree {
    name: Cow<'static, str>,
    attributes: Vec<(&'static str, String)>,
    text: Option<String>,
    children: Vec<Tree>,
    /// Whether it holds any number of elements of one name: in JSON, a list.
    is_list: bool,
}

impl Tree {
    /// An element without anything in it.
    pub(crate) fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            attributes: Vec::new(),
            text: None,
            children: Vec::new(),
            is_list: false,
        }
    }

    /// An element that holds any number of others of one name.
    pub(crate) fn list(name: &'static str, children: impl IntoIterator<Item = Tree>) -> Self {
        Self {
            children: children.into_iter().collect(),
            is_list: true,
            ..Self::new(name)
        }
    }

    /// The same under another name.
    #[must_use]
    pub(crate) fn named(mut self, name: &'static str) -> Self {
        self.name = name.into();
        self
    }

    /// The same with an attribute.
    #[must_use]
    pub(crate) fn attribute(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    /// The same as what is found under an address.
    #[must_use]
    pub(crate) fn at(self, href: &str, id: &str) -> Self {
        self.attribute("href", href).attribute("id", id)
    }

    /// The same with another element in it.
    #[must_use]
    pub(crate) fn with(mut self, child: Tree) -> Self {
        self.children.push(child);
        self
    }

    /// The same with other elements in it.
    #[must_use]
    pub(crate) fn with_all(mut self, children: impl IntoIterator<Item = Tree>) -> Self {
        self.children.extend(children);
        self
    }

    /// An element that holds a text.
    pub(crate) fn of_text(name: impl Into<Cow<'static, str>>, text: impl ToString) -> Self {
        Self {
            text: Some(text.to_string()),
            ..Self::new(name)
        }
    }

    /// The same with an element in it that holds a text.
    #[must_use]
    pub(crate) fn text(self, name: impl Into<Cow<'static, str>>, text: impl ToString) -> Self {
        self.with(Self::of_text(name, text))
    }

    /// The same with a link to something that belongs to it.
    #[must_use]
    pub(crate) fn link(self, rel: &'static str, href: String) -> Self {
        let link = Self::new("link");
        self.with(link.attribute("href", href).attribute("rel", rel))
    }

    /// Its own text.
    pub(crate) fn own_text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The first element of that name in it, or the attribute of that name as one.
    pub(crate) fn get(&self, name: &str) -> Option<Cow<'_, Tree>> {
        if let Some(child) = self.children.iter().find(|child| child.name == name) {
            return Some(Cow::Borrowed(child));
        }
        let attribute = self.attributes.iter().find(|(known, _)| *known == name)?;
        Some(Cow::Owned(Self {
            text: Some(attribute.1.clone()),
            ..Self::new(attribute.0)
        }))
    }

    /// The same with at most so many elements in it.
    #[must_use]
    pub(crate) fn first(mut self, most: usize) -> Self {
        self.children.truncate(most);
        self
    }

    /// The element of that id in it.
    pub(crate) fn of_id(self, id: &str) -> Option<Self> {
        let has = |child: &Self| child.get("id").is_some_and(|own| own.own_text() == id);
        self.children.into_iter().find(has)
    }

    /// The elements in it.
    pub(crate) fn children(&self) -> &[Tree] {
        &self.children
    }

    /// A document in XML.
    pub(crate) fn xml(&self) -> String {
        let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n".to_owned();
        self.write(&mut text, 0);
        text
    }

    fn write(&self, out: &mut String, depth: usize) {
        let indent = |out: &mut String| out.extend(std::iter::repeat_n("  ", depth));
        indent(out);
        let _ = write!(out, "<{}", self.name);
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"");
            escape(value, out);
            out.push('"');
        }
        match (&self.text, self.children.is_empty()) {
            (None, true) => out.push_str("/>\n"),
            (Some(text), true) => {
                out.push('>');
                escape(text, out);
                let _ = writeln!(out, "</{}>", self.name);
            }
            (_, false) => {
                out.push_str(">\n");
                for child in &self.children {
                    child.write(out, depth + 1);
                }
                indent(out);
                let _ = writeln!(out, "</{}>", self.name);
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
    // Most texts are written as they are.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !b"&<>\"".contains(&byte);
    if text.bytes().all(is_plain) {
        out.push_str(text);
        return;
    }
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\r' | '\t' => {
                let _ = write!(out, "&#{};", u32::from(character));
            }
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
        let text = policy().xml();
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
}
