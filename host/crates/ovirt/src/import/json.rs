//! JSON to a tree.
//!
//! In XML a list `filters` holds elements `filter`; in JSON it is an object in which
//! the list stands under `filter`. An answer that is one thing has no name at all.

use placewright_document::{self as document, Content, Node, Problems, Table};

use super::element::Element;

/// The keys of a policy. What has others is something else.
const POLICY: &[&str] = &[
    "id",
    "href",
    "name",
    "description",
    "comment",
    "locked",
    "default_policy",
    "properties",
    "thresholds",
    "link",
    "actions",
    "filters",
    "weights",
    "balances",
];

/// The outermost element of a document.
pub(super) fn parse(text: &str, file: &str) -> Result<Element, Problems> {
    let table = document::parse(text, file)?;
    Ok(element(name_of(&table), &table))
}

/// What the document would be called in XML.
fn name_of(table: &Table) -> &'static str {
    let has = |key: &str| table.get(key).is_some();
    let holds_list = |key: &str| {
        let node = table.get(key);
        matches!(node.map(|node| &node.content), Some(Content::List(_)))
    };
    if holds_list("scheduling_policy") {
        "scheduling_policies"
    } else if has("filter") {
        "filters"
    } else if has("weight") {
        "weights"
    } else if has("balance") {
        "balances"
    } else if has("custom_scheduling_policy_properties") || has("scheduling_policy") {
        "cluster"
    } else if has("reason") && has("detail") {
        "fault"
    } else if !table.entries.is_empty()
        && table
            .entries
            .iter()
            .all(|entry| POLICY.contains(&&*entry.key))
    {
        "scheduling_policy"
    } else {
        ""
    }
}

fn element(name: &str, table: &Table) -> Element {
    let mut inside = Vec::new();
    for entry in &table.entries {
        add(&entry.key, &entry.node, &mut inside);
    }
    Element {
        name: name.to_owned(),
        place: table.place.clone(),
        text: String::new(),
        inside,
    }
}

/// A list becomes an element for each of its values; an empty list of entries is
/// kept, since it says that there are none.
fn add(name: &str, node: &Node, to: &mut Vec<Element>) {
    let text = match &node.content {
        Content::Table(table) => return to.push(element(name, table)),
        Content::List(list) => {
            for node in list {
                add(name, node, to);
            }
            if !(list.is_empty() && ["filters", "weights", "balances"].contains(&name)) {
                return;
            }
            String::new()
        }
        Content::Text(text) => text.trim().to_owned(),
        Content::Integer(integer) => integer.to_string(),
        Content::Number(number) => number.to_string(),
        Content::Boolean(boolean) => boolean.to_string(),
        Content::Null => return,
    };
    to.push(Element {
        name: name.to_owned(),
        place: node.place.clone(),
        text,
        inside: Vec::new(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_called_as_in_xml() {
        for (text, name) in [
            (r#"{"scheduling_policy": []}"#, "scheduling_policies"),
            (r#"{"id": "1", "name": "a"}"#, "scheduling_policy"),
            (r#"{"filter": []}"#, "filters"),
            (r#"{"weight": [{}]}"#, "weights"),
            (r#"{"balance": []}"#, "balances"),
            (r#"{"reason": "a", "detail": "b"}"#, "fault"),
            (r#"{"scheduling_policy": {"id": "1"}}"#, "cluster"),
            (r#"{"id": "1", "name": "a", "address": "b"}"#, ""),
            ("{}", ""),
        ] {
            assert_eq!(parse(text, "a.json").unwrap().name, name, "{text}");
        }
    }

    #[test]
    fn lists_become_elements_of_one_name() {
        let text = r#"{"filter": [{"position": -1}, {"position": "1"}], "balances": []}"#;
        let root = parse(text, "a.json").unwrap();
        let positions: Vec<_> = root
            .all("filter")
            .map(|filter| &*filter.inside[0].text)
            .collect();
        assert_eq!(positions, ["-1", "1"]);
        assert!(root.get("balances").is_some());
    }
}
