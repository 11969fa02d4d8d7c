//! What is answered: a tree of elements.

mod write;

use std::borrow::Cow;

pub(crate) use write::Format;

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

    /// The same with room for so many elements.
    #[must_use]
    pub(crate) fn with_room(mut self, elements: usize) -> Self {
        self.children.reserve(elements);
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

    /// The same with a link to what is found below its address, under the name of the link.
    #[must_use]
    pub(crate) fn link_below(self, href: &str, rel: &'static str) -> Self {
        self.link(rel, [href, "/", rel].concat())
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
}
