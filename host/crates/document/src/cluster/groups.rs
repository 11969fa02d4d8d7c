//! The affinity groups of a cluster's document.

use std::collections::BTreeSet;

use super::Ids;
use crate::form::{BOOLEAN, Fields, Key, NUMBER, Shape, TEXT, key, required};
use crate::{Problems, Word, shown, words};
use placewright_model::{Group, GroupRule};

/// What a group has.
pub(crate) const FORM: &[Key] = &[
    required("id", TEXT, "Id of the group, unique in the cluster").such_as("web-apart"),
    key("name", TEXT, "What people call it; its id if not given").such_as("Web servers apart"),
    key("description", TEXT, "What it is for").such_as("No two web servers on one host"),
    key("vms", Shape::Texts, "Ids of its VMs, running or not").such_as("web-1"),
    key("hosts", Shape::Texts, "Ids of its hosts").such_as("h1"),
    key(
        "vms-of",
        Shape::Texts,
        "Ids of other groups whose own VMs are in this one, too; one that is not there has none",
    )
    .such_as("web"),
    key(
        "hosts-of",
        Shape::Texts,
        "Ids of other groups whose own hosts are in this one, too; one that is not there has none",
    )
    .such_as("racks-1"),
    key(
        "rule",
        Shape::Word(words::<Rule>),
        "What it wants of its VMs: together on one host, or no two on one host",
    ),
    key(
        "hard",
        BOOLEAN,
        "Whether the rule for VMs must be kept; false if not given",
    ),
    key(
        "host-rule",
        Shape::Word(words::<Rule>),
        "What it wants of its VMs and hosts: VMs on these hosts, or not on them",
    ),
    key(
        "host-hard",
        BOOLEAN,
        "Whether the rule for hosts must be kept; false if not given",
    ),
    key(
        "priority",
        NUMBER,
        "The greater, the more it counts where not all groups can be had; 1 if not given",
    )
    .such_as("2"),
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    Positive,
    Negative,
}

impl Word for Rule {
    const WORDS: &'static [(&'static str, Self)] =
        &[("positive", Self::Positive), ("negative", Self::Negative)];
}

/// All groups. Their VMs may be unknown, for they need not run; their hosts may not.
pub(super) fn read(
    document: &Fields<'_>,
    known: &BTreeSet<&str>,
    problems: &mut Problems,
) -> Vec<Group> {
    let mut ids = Ids::new("group");
    let mut groups = Vec::new();
    for table in document.tables("groups") {
        let fields = Fields::read(table, FORM, "a group", problems);
        for (host, place) in fields.texts("hosts") {
            if !known.contains(&**host) {
                let message = format!("there is no host \"{}\"", shown(host));
                problems.add_misnamed(place, message, host, known.iter().copied());
            }
        }
        let vm_rule = rule(&fields, "rule", "hard", problems);
        let host_rule = rule(&fields, "host-rule", "host-hard", problems);
        if let Some(id) = ids.take(&fields, problems) {
            groups.push(Group {
                id,
                vms: fields.list("vms"),
                hosts: fields.list("hosts"),
                vm_rule,
                host_rule,
                priority: fields.number("priority").unwrap_or(1.0),
                name: fields.text("name"),
                description: fields.text("description"),
                vms_of: fields.list("vms-of"),
                hosts_of: fields.list("hosts-of"),
            });
        }
    }
    groups
}

fn rule(group: &Fields<'_>, rule: &str, hard: &str, problems: &mut Problems) -> Option<GroupRule> {
    let must = group.boolean(hard);
    if let (None, Some(place)) = (group.place_of(rule), group.place_of(hard)) {
        let message = format!("\"{hard}\" says nothing without \"{rule}\"");
        problems.add(place, message);
    }
    let hard = must.unwrap_or(false);
    Some(match group.word(rule)? {
        Rule::Positive => GroupRule::Positive { hard },
        Rule::Negative => GroupRule::Negative { hard },
    })
}
