//! Parts of trees that no file holds.

use super::{Content, Entry, Node, Place, Table};

/// An entry that the file does not hold, and stands where `place` is.
pub fn entry(key: &str, content: Content, place: &Place) -> Entry {
    Entry {
        key: key.into(),
        place: place.clone(),
        node: Node {
            place: place.clone(),
            content,
        },
    }
}

/// A table that the file does not hold.
pub fn table(place: &Place, entries: impl IntoIterator<Item = Entry>) -> Table {
    Table {
        place: place.clone(),
        entries: entries.into_iter().collect(),
    }
}

/// A list of tables that the file does not hold as one.
pub fn list(place: &Place, tables: impl IntoIterator<Item = Table>) -> Content {
    let nodes = tables.into_iter().map(|table| Node {
        place: place.clone(),
        content: Content::Table(table),
    });
    Content::List(nodes.collect())
}
