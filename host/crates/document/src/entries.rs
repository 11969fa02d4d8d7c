//! Where in a document a problem is, as programs count: the way to the value, and the entry of a
//! list that it belongs to. Whoever sends thousands of entries in one line finds none by a column.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Content, Node, Place, Problems, Table, shown};

/// One step from the top of a document to a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'t> {
    /// To the value of a key.
    Key(&'t str),
    /// To an entry of a list, counted from 0; with its id, if it has one.
    Entry(usize, Option<&'t str>),
}

/// The way to a value: `vms[17].memory`. None: it is the document itself.
pub(crate) fn path(steps: &[Step<'_>]) -> Option<String> {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&plain(key));
            }
            Step::Entry(position, _) => {
                // Writing to a text does not fail.
                let _ = write!(path, "[{position}]");
            }
        }
    }
    Some(path).filter(|path| !path.is_empty())
}

/// The entry that a value belongs to: `vms[17] "web-3"`. Of entries in each other it is the
/// innermost one with an id, or the outermost if none has one. None: it is in no list.
pub(crate) fn entry(steps: &[Step<'_>]) -> Option<String> {
    let has_id = |step: &Step<'_>| matches!(step, Step::Entry(_, Some(_)));
    let is_entry = |step: &Step<'_>| matches!(step, Step::Entry(..));
    let last = steps.iter().rposition(has_id);
    let last = last.or_else(|| steps.iter().position(is_entry))?;
    let mut entry = path(&steps[..=last])?;
    if let Step::Entry(_, Some(id)) = steps[last] {
        // Writing to a text does not fail.
        let _ = write!(entry, " \"{}\"", plain(id));
    }
    Some(entry)
}

/// A key or an id that does not break the line in which it is shown.
fn plain(text: &str) -> String {
    match text.contains(char::is_control) {
        true => shown(&text.escape_debug().to_string()),
        false => shown(text),
    }
}

impl Problems {
    /// Say of each problem where in this document it is, as far as it is in it.
    pub(crate) fn locate(&mut self, document: &Table) {
        if self.is_empty() {
            return;
        }
        let mut places: Vec<(u32, u32)> = self.iter().map(|it| at(&it.place)).collect();
        places.sort_unstable();
        places.dedup();
        // Of each place the last value that begins there or before, by its number; a value is
        // known by its number, since most of a large document has nothing to be said of it.
        let mut begun: Vec<Option<((u32, u32), usize)>> = vec![None; places.len()];
        let mut number = 0;
        visit(document, &mut Vec::new(), &mut |begins, _| {
            let first = places.partition_point(|place| *place < begins);
            if let Some(last) = begun.get_mut(first) {
                *last = (*last).max(Some((begins, number)));
            }
            number += 1;
        });
        let mut nearest = None;
        let of_places = begun.into_iter().map(|last| {
            nearest = nearest.max(last);
            nearest.map(|(_, number)| number)
        });
        let of_places: BTreeMap<(u32, u32), usize> = places
            .iter()
            .zip(of_places)
            .filter_map(|(place, number)| Some((*place, number?)))
            .collect();
        let mut ways: BTreeMap<usize, (Option<String>, Option<String>)> =
            of_places.values().map(|it| (*it, (None, None))).collect();
        number = 0;
        visit(document, &mut Vec::new(), &mut |_, steps| {
            if let Some(way) = ways.get_mut(&number) {
                *way = (path(steps), entry(steps));
            }
            number += 1;
        });
        self.say_where(|place| ways.get(of_places.get(&at(place))?).cloned());
    }
}

fn at(place: &Place) -> (u32, u32) {
    (place.line, place.column)
}

/// Call `see` with every key and value of a table: where it begins, and the way to it.
fn visit<'t>(
    table: &'t Table,
    steps: &mut Vec<Step<'t>>,
    see: &mut impl FnMut((u32, u32), &[Step<'t>]),
) {
    for entry in &table.entries {
        steps.push(Step::Key(&entry.key));
        see(at(&entry.place), steps);
        visit_value(&entry.node, steps, see);
        steps.pop();
    }
}

fn visit_value<'t>(
    node: &'t Node,
    steps: &mut Vec<Step<'t>>,
    see: &mut impl FnMut((u32, u32), &[Step<'t>]),
) {
    see(at(&node.place), steps);
    match &node.content {
        Content::Table(table) => visit(table, steps, see),
        Content::List(list) => {
            for (position, node) in list.iter().enumerate() {
                steps.push(Step::Entry(position, id(node)));
                visit_value(node, steps, see);
                steps.pop();
            }
        }
        _ => {}
    }
}

/// The id of an entry of a list, which may be the entry itself.
fn id(entry: &Node) -> Option<&str> {
    let id = match &entry.content {
        Content::Table(table) => &table.get("id")?.content,
        own => own,
    };
    match id {
        Content::Text(id) => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{ClusterDocument, InventoryChanges, Surroundings, read_requests};
    use placewright_model::schema::Schema;

    fn changes(text: &str) -> crate::Problems {
        InventoryChanges::read(text, "body", Schema::built_in()).unwrap_err()
    }

    fn sentences(problems: &crate::Problems) -> String {
        let sentences = problems.iter().map(crate::Problem::sentence);
        sentences.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_problem_of_changes_names_list_position_and_id() {
        let told = changes(
            r#"{"vms": [{"id": "a"}, {"id": "web-3", "memory": true}, {"memory": true}],
                "gone": {"vms": ["x", "x"]}, "groups": [{"id": "g", "vms": [3]}]}"#,
        );
        let ways: Vec<_> = told
            .iter()
            .map(|it| (it.entry.as_deref().unwrap(), it.path.as_deref().unwrap()))
            .collect();
        assert_eq!(
            ways,
            [
                ("vms[1] \"web-3\"", "vms[1].memory"),
                ("vms[2]", "vms[2]"),
                ("vms[2]", "vms[2].memory"),
                ("gone.vms[1] \"x\"", "gone.vms[1]"),
                ("groups[0] \"g\"", "groups[0].vms[0]"),
            ]
        );
        let first = sentences(&told);
        assert!(first.starts_with("vms[1] \"web-3\": \"memory\""), "{first}");
    }

    #[test]
    fn entries_are_found_in_toml_in_whatever_order_they_stand() {
        let text = "[[hosts]]\nid = \"h1\"\n\n[[vms]]\nid = \"a\"\nhost = \"h1\"\n\n[[hosts]]\nid = \"h2\"\ncolour = 1\n\n[[hosts.vms]]\nid = \"b\"\nmemory = true\n";
        let told = ClusterDocument::read(text, "c.toml").unwrap_err();
        let ways: Vec<_> = told.iter().map(|it| it.path.as_deref().unwrap()).collect();
        assert_eq!(ways, ["hosts[1].colour", "hosts[1].vms[0].memory"]);
        let told = sentences(&told);
        assert!(told.contains("hosts[1] \"h2\": "), "{told}");
        assert!(told.contains("hosts[1].vms[0] \"b\": "), "{told}");
    }

    #[test]
    fn a_problem_of_a_request_names_the_request_and_the_vm() {
        let surroundings = Surroundings {
            schema: Schema::built_in(),
            now: 0,
            hosts: None,
        };
        let text = r#"{"requests": [{"vms": ["a"]}, {"vms": ["b", {"id": "c", "cpu": true}]}]}"#;
        let told = read_requests(text, "body", surroundings).unwrap_err();
        let told = sentences(&told);
        assert!(told.contains("requests[1].vms[1] \"c\": \"cpu\""), "{told}");
    }

    #[test]
    fn a_document_that_is_no_list_has_no_entry() {
        let told = changes(r#"{"colour": 1}"#);
        let only = told.iter().next().unwrap();
        assert_eq!(
            (only.entry.as_deref(), only.path.as_deref()),
            (None, Some("colour"))
        );
    }

    #[test]
    fn text_that_breaks_off_tells_in_which_entry() {
        let told = changes(r#"{"vms": [{"id": "a"}, {"id": "web-3", "memory": "#);
        let only = told.iter().next().unwrap();
        assert_eq!(only.entry.as_deref(), Some("vms[1] \"web-3\""));
        let told = changes(r#"{"vms": [{"id": "a"}, {"id": "web-3", "cpu": 1 "memory": 2}]}"#);
        assert!(sentences(&told).contains("vms[1] \"web-3\": this is no JSON"));
        let told = changes(r#"{"vms": [{"id": "a"}, {"cpu": 1, "cpu": 2, "id": "b"}]}"#);
        let told = sentences(&told);
        assert!(
            told.contains("vms[1]: the key \"cpu\" stands here"),
            "{told}"
        );
    }
}
