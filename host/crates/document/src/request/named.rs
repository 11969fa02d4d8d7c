//! VMs that are written as their ids.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Content, Entry, Node, Table};
use placewright_model::NamedVm;

/// The document with each VM of `vms`, and of the `vms` of each request, as a table.
pub(super) fn as_tables(tree: &Table) -> Cow<'_, Table> {
    if !lists(tree).into_iter().any(|list| list.iter().any(is_text)) {
        return Cow::Borrowed(tree);
    }
    let mut tree = tree.clone();
    change(&mut tree);
    Cow::Owned(tree)
}

/// The VMs of a document that are named only, by their ids.
pub(super) fn named(tree: &Table) -> BTreeMap<Arc<str>, NamedVm> {
    let mut named = BTreeMap::new();
    collect(tree, "", &mut named);
    named
}

fn collect(tree: &Table, above: &str, named: &mut BTreeMap<Arc<str>, NamedVm>) {
    for entry in &tree.entries {
        let Content::List(list) = &entry.node.content else {
            continue;
        };
        for (position, node) in list.iter().enumerate() {
            let path = || format!("{above}{}[{position}]", entry.key);
            match (&*entry.key, &node.content) {
                ("vms", Content::Text(id)) => {
                    let path = path().into();
                    let id = id.clone();
                    named.insert(id.clone(), NamedVm { path, id });
                }
                ("requests", Content::Table(request)) => {
                    collect(request, &format!("{}.", path()), named);
                }
                _ => {}
            }
        }
    }
}

fn is_text(node: &Node) -> bool {
    matches!(node.content, Content::Text(_))
}

/// The lists of VMs of a document.
fn lists(tree: &Table) -> Vec<&Vec<Node>> {
    let own = match tree.get("vms").map(|node| &node.content) {
        Some(Content::List(list)) => Some(list),
        _ => None,
    };
    let requests = match tree.get("requests").map(|node| &node.content) {
        Some(Content::List(requests)) => &requests[..],
        _ => &[],
    };
    let of_requests = requests.iter().filter_map(|node| match &node.content {
        Content::Table(request) => Some(lists(request)),
        _ => None,
    });
    own.into_iter().chain(of_requests.flatten()).collect()
}

fn change(tree: &mut Table) {
    for entry in &mut tree.entries {
        let Content::List(list) = &mut entry.node.content else {
            continue;
        };
        match &*entry.key {
            "vms" => list.iter_mut().for_each(name),
            "requests" => {
                for node in list {
                    if let Content::Table(request) = &mut node.content {
                        change(request);
                    }
                }
            }
            _ => {}
        }
    }
}

/// A table with the id in the place of the text.
fn name(vm: &mut Node) {
    if !is_text(vm) {
        return;
    }
    let place = vm.place.clone();
    let id = Entry {
        key: "id".into(),
        place: place.clone(),
        node: vm.clone(),
    };
    vm.content = Content::Table(Table {
        place,
        entries: vec![id],
    });
}
