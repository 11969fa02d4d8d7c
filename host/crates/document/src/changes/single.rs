//! A document of one host, VM, group or tenant: all that there is of it, or what is
//! different.
//!
//! It is read as a document of changes with one entry, so that both have the same words
//! and the same mistakes are told in the same sentences.

use std::sync::Arc;

use super::InventoryChanges;
use crate::{Content, Entry, Node, Problems, Table, parse_with_nulls, shown};
use placewright_model::Kind;
use placewright_model::schema::{Schema, Source};

/// What a document of one entity is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityKind {
    /// A host.
    Host,
    /// A VM.
    Vm,
    /// A group of VMs.
    Group,
    /// A tenant.
    Tenant,
}

/// How much a document says of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Everything: what it does not say is not there from then on.
    Whole,
    /// What is different: everything else stays, and null takes a value away.
    Change,
}

impl EntityKind {
    /// What it is, for a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Vm => "VM",
            Self::Group => "group",
            Self::Tenant => "tenant",
        }
    }

    /// The key under which documents list such entities.
    pub fn list(self) -> &'static str {
        match self {
            Self::Host => "hosts",
            Self::Vm => "vms",
            Self::Group => "groups",
            Self::Tenant => "tenants",
        }
    }

    /// What the API shows under this key of such an entity if it works that out itself, or adds
    /// to it what VMs add up to: what is read can be put again, and such a key says nothing then.
    fn worked_out(self, schema: &Schema, key: &str) -> Option<WorkedOut> {
        let table = match (self, key) {
            (Self::Host, "vms") | (_, "warnings") => return Some(WorkedOut::List),
            (Self::Host, "statistics") | (Self::Vm, "reserved") => return Some(WorkedOut::Table),
            (_, "id") | (Self::Group, _) => return None,
            (Self::Host, _) => "hosts",
            (Self::Vm, _) => "hosts/vms",
            (Self::Tenant, _) => "tenant",
        };
        let column = schema.column(table, key)?;
        let has_texts = column.measure.is_some();
        (column.source != Source::Given).then_some(match column.kind {
            Kind::Integer | Kind::Number => WorkedOut::Number { has_texts },
            Kind::Boolean => WorkedOut::Boolean,
            Kind::Text => WorkedOut::Text,
        })
    }
}

/// What is shown of an entity and worked out. Of its value no more is looked at than what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WorkedOut {
    Number { has_texts: bool },
    Boolean,
    Text,
    List,
    Table,
}

impl WorkedOut {
    fn is(self, content: &Content) -> bool {
        match (self, content) {
            (_, Content::Null)
            | (Self::Number { .. }, Content::Integer(_) | Content::Number(_))
            | (Self::Boolean, Content::Boolean(_))
            | (Self::List, Content::List(_))
            | (Self::Table, Content::Table(_)) => true,
            (Self::Number { has_texts }, Content::Text(_)) => has_texts,
            (Self::Text, content) => matches!(content, Content::Text(_)),
            _ => false,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Number { .. } => "a number",
            Self::Boolean => "true or false",
            Self::Text => "a text",
            Self::List => "a list",
            Self::Table => "a table",
        }
    }
}

impl InventoryChanges {
    /// Read a document of one entity in JSON or TOML. `file` is what problems call it. The
    /// document may leave out the id; if it has one, it must be this one.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read_one(
        text: &str,
        file: &str,
        schema: &Schema,
        (kind, id): (EntityKind, &str),
        extent: Extent,
    ) -> Result<Self, Problems> {
        let mut table = parse_with_nulls(text, file)?;
        let place = table.place.clone();
        let mut problems = Problems::new();
        match table.get("id") {
            None => table.entries.push(Entry {
                key: "id".into(),
                place: place.clone(),
                node: node(&place, Content::Text(id.into())),
            }),
            Some(Node {
                place,
                content: Content::Text(given),
            }) if **given != *id => {
                let message = format!(
                    "the document is of {} \"{}\", and the path names \"{}\": send it there, or leave the id out",
                    kind.noun(),
                    shown(given),
                    shown(id)
                );
                problems.add(place, message);
            }
            // What else is wrong with an id is told below.
            Some(_) => {}
        }
        if extent == Extent::Whole {
            table.entries.retain(|entry| {
                let worked_out = kind.worked_out(schema, &entry.key);
                let content = &entry.node.content;
                if let Some(shown) = worked_out.filter(|shown| !shown.is(content)) {
                    let message = format!(
                        "\"{}\" is worked out by the runtime and is {}, not {}; leave it out, or as it was read",
                        entry.key,
                        shown.noun(),
                        content.noun()
                    );
                    problems.add(&entry.place, message);
                }
                !matches!(content, Content::Null) && worked_out.is_none()
            });
        }
        problems.or(())?;
        let entries = vec![node(&place, Content::Table(table))];
        let list = Entry {
            key: Arc::from(kind.list()),
            place: place.clone(),
            node: node(&place, Content::List(entries)),
        };
        let whole = Table {
            place,
            entries: vec![list],
        };
        Self::of_tree(&whole, schema)
    }
}

fn node(place: &crate::Place, content: Content) -> Node {
    Node {
        place: place.clone(),
        content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, kind: EntityKind, extent: Extent) -> Result<InventoryChanges, String> {
        let schema = Schema::built_in();
        InventoryChanges::read_one(text, "b.json", schema, (kind, "x"), extent)
            .map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_whole_host_may_have_what_is_shown_of_it_and_a_change_may_not() {
        let text = r#"{"id": "x", "cpu.total": 4, "cpu.committed": 2, "listed": 0, "vms": [], "zone": null}"#;
        let whole = read(text, EntityKind::Host, Extent::Whole).unwrap();
        let facts = &whole.hosts[0].facts;
        assert_eq!(facts.set.integer("cpu.total"), Some(4000));
        assert_eq!((facts.set.values().count(), facts.unset.len()), (1, 0));
        let told = read(text, EntityKind::Host, Extent::Change).unwrap_err();
        assert!(
            told.contains("\"listed\" is worked out by the runtime"),
            "{told}"
        );
    }

    #[test]
    fn what_is_worked_out_has_the_type_that_it_is_shown_with() {
        for (kind, wrong) in [
            (EntityKind::Host, r#"{"cpu.committed": true}"#),
            (EntityKind::Host, r#"{"vms.count": "x"}"#),
            (EntityKind::Host, r#"{"memory.pending": [1]}"#),
            (EntityKind::Host, r#"{"vms": 3}"#),
            (EntityKind::Host, r#"{"statistics": []}"#),
            (EntityKind::Vm, r#"{"pending": "perhaps"}"#),
            (EntityKind::Vm, r#"{"reserved": "h1"}"#),
            (EntityKind::Tenant, r#"{"warnings": "none"}"#),
        ] {
            let told = read(wrong, kind, Extent::Whole).unwrap_err();
            assert!(
                told.contains("worked out by the runtime"),
                "{wrong}: {told}"
            );
        }
        let right = r#"{"pending": false, "reserved": {"host": "h1"}, "warnings": []}"#;
        assert!(read(right, EntityKind::Vm, Extent::Whole).is_ok());
    }

    #[test]
    fn the_id_may_be_left_out_and_must_not_be_another_one() {
        for kind in [
            EntityKind::Host,
            EntityKind::Vm,
            EntityKind::Group,
            EntityKind::Tenant,
        ] {
            let text = r#"{"id": "y"}"#;
            for extent in [Extent::Whole, Extent::Change] {
                let told = read(text, kind, extent).unwrap_err();
                assert!(told.contains("the path names \"x\""), "{told}");
                assert!(read(r#"{"id": 3}"#, kind, extent).is_err());
                // The id of the path is all that a document without keys has.
                let (empty, with_id) = ("{}", r#"{"id": "x"}"#);
                assert_eq!(read(empty, kind, extent), read(with_id, kind, extent));
            }
        }
        let changes = read(r#"{"priority": 2}"#, EntityKind::Group, Extent::Change).unwrap();
        assert_eq!(&*changes.groups[0].id, "x");
    }

    #[test]
    fn mistakes_are_told_where_they_stand() {
        let told = read("{\n  \"colour\": 1}", EntityKind::Vm, Extent::Whole).unwrap_err();
        assert!(
            told.starts_with("b.json:2:3: a VM has no \"colour\"; it may have \"id\", \"host\"")
                && told.contains("\"cpu\", \"memory\"")
                && told.contains("\"cpu.*\""),
            "{told}"
        );
    }
}
