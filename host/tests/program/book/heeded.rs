//! Which of the policies that come with the program read what an operator can give: a page
//! of the book, written from what their units declare.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use placewright_engine::contract::Part;
use placewright_model::schema::{Schema, Source};
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_tests::units::built_in;

use super::{REMEDY, is_to_be_updated, pages};

/// Columns that nobody reads because the runtime acts on them itself, or because they are
/// there for people, with what becomes of them.
const OF_THE_RUNTIME: &[(&str, &str)] = &[
    (
        "request tenant",
        "the runtime: the tenant's row is that one",
    ),
    ("members name", "nobody: it is there for people"),
    (
        "members tenant",
        "the runtime: a request is made for the tenant of its VMs",
    ),
    (
        "members zone",
        "the runtime: a request for the VM asks for that zone",
    ),
    (
        "members memory.usage",
        "the runtime: a plan of moves takes it along from host to host",
    ),
    (
        "hosts/amounts total",
        "the runtime: what is `free` is worked out of it",
    ),
    (
        "hosts/vms/gpus index",
        "the runtime: what is `taken` and `free` of `hosts/gpus` is worked out of it",
    ),
    (
        "hosts/vms/gpus share",
        "the runtime: what is `taken` and `free` of `hosts/gpus` is worked out of it",
    ),
    ("hosts/failures kind", "nobody: it is there for people"),
    ("hosts/usage name", "nobody: it is there for people"),
];

/// Relations that say in another way what is given there.
const ELSEWHERE: &[(&str, &str)] = &[("tenant/bindings", "hosts/bindings")];

/// What is given of groups, which units see of the groups of a request.
const OF_GROUPS: [&str; 5] = ["rule", "hard", "host-rule", "host-hard", "priority"];

/// What is given of VMs as lists of hosts, and the relation in which units see it.
const OF_PINNING: [(&str, &str); 3] = [
    ("pinned", "hosts/pinned"),
    ("preferred", "hosts/preferred"),
    ("location", "hosts/location"),
];

/// A table and a column; an empty name for the table itself.
type Place = (String, String);

/// The tables and columns that each policy reads.
fn reads_by_policy() -> Vec<(&'static str, BTreeSet<Place>)> {
    let schema = Schema::built_in();
    let policies = plugins::POLICIES.iter();
    policies
        .map(|embedded| {
            let policy = Policy::load(embedded.text, embedded.name, built_in(), schema).unwrap();
            (embedded.name, reads(&policy))
        })
        .collect()
}

/// What the units of a policy read, those of entries that are not enabled among them: they
/// are there to be enabled.
fn reads(policy: &Policy) -> BTreeSet<Place> {
    let mut parts = Vec::new();
    for stage in &policy.stages {
        let judges = stage.filters.iter().map(|entry| &entry.unit);
        let judges = judges.chain(stage.costs.iter().map(|entry| &entry.unit));
        parts.extend(judges.map(|unit| (unit, Part::Judge)));
        let selections = stage.selections.iter();
        parts.extend(selections.map(|entry| (&entry.unit, Part::Selection)));
    }
    let effects = policy.effects.iter();
    parts.extend(effects.map(|entry| (&entry.unit, Part::Effects)));
    parts.extend(policy.order.iter().map(|entry| (&entry.unit, Part::Order)));
    let balance = policy.balance.iter();
    parts.extend(balance.map(|entry| (&entry.unit, Part::Balance)));
    let mut reads = BTreeSet::new();
    for (unit, part) in parts {
        let unit = built_in().get(&unit.name).expect("the policy was checked");
        for table in unit.description().reads(part).unwrap_or_default() {
            reads.insert((table.table.clone(), String::new()));
            let columns = table.columns.iter();
            reads.extend(columns.map(|it| (table.table.clone(), it.column.clone())));
        }
    }
    reads
}

/// What an operator can give, table by table, each with the tables and columns in which
/// units find it.
fn given() -> Vec<(Place, Vec<Place>)> {
    let mut given = Vec::new();
    let schema = Schema::built_in();
    for table in schema.tables() {
        let name = &*table.name;
        // As for VMs to be placed.
        let is_running = name == "hosts/vms" || name.starts_with("hosts/vms/");
        let twin = name.replacen("hosts/vms", "members", 1);
        let is_kept = table.source == Source::Kept && name != "groups" && !is_running;
        if is_kept || name == "candidates" || (is_running && schema.table(&twin).is_some()) {
            continue;
        }
        for column in &table.columns {
            let of_group = name == "groups" && OF_GROUPS.contains(&&*column.name);
            if column.source != Source::Given && !of_group {
                continue;
            }
            let mut places = vec![(name.to_owned(), column.name.to_string())];
            if name == "members" || name.starts_with("members/") {
                let running = name.replacen("members", "hosts/vms", 1);
                places.push((running, column.name.to_string()));
            }
            let elsewhere = ELSEWHERE.iter().filter(|(table, _)| *table == name);
            places.extend(elsewhere.map(|(_, it)| ((*it).to_owned(), column.name.to_string())));
            let place = (name.to_owned(), column.name.to_string());
            given.push((place, places));
        }
    }
    for (key, relation) in OF_PINNING {
        let places = vec![(relation.to_owned(), String::new())];
        given.push((("members".to_owned(), key.to_owned()), places));
    }
    given
}

/// Names of policies, those of one family as one where all of it is there.
fn in_words(names: &BTreeSet<&str>) -> String {
    const FAMILIES: [&str; 6] = [
        "ovirt",
        "pacemaker",
        "flexiant",
        "tricircle",
        "aeolus",
        "gpu",
    ];
    let all: Vec<&str> = plugins::POLICIES.iter().map(|policy| policy.name).collect();
    if names.len() == all.len() {
        return "all".to_owned();
    }
    let family = |name: &str| FAMILIES.into_iter().find(|family| name.starts_with(family));
    let is_whole = |of: &str| {
        let mut members = all.iter().filter(|name| family(name) == Some(of));
        members.all(|name| names.contains(name))
    };
    let mut words: Vec<String> = Vec::new();
    for name in all.iter().filter(|name| names.contains(*name)) {
        let word = match family(name) {
            Some(family) if is_whole(family) => format!("`{family}…`"),
            _ => format!("`{name}`"),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(", ")
}

/// What becomes of what no policy has to read.
fn of_the_runtime(name: &str) -> Option<&'static str> {
    let found = OF_THE_RUNTIME.iter().find(|(known, _)| *known == name);
    found.map(|(_, what)| *what)
}

/// By table and column, the policies that read it.
fn heeded() -> Vec<(String, String, BTreeSet<&'static str>)> {
    let policies = reads_by_policy();
    given()
        .into_iter()
        .map(|((table, column), places)| {
            let reading = policies.iter().filter(|(_, reads)| {
                let mut places = places.iter();
                places.any(|place| reads.contains(place))
            });
            (table, column, reading.map(|(name, _)| *name).collect())
        })
        .collect()
}

#[test]
fn whatever_an_operator_can_give_is_heeded_by_a_policy() {
    let nobody: Vec<String> = heeded()
        .into_iter()
        .map(|(table, column, policies)| (format!("{table} {column}"), policies))
        .filter(|(name, policies)| policies.is_empty() && of_the_runtime(name).is_none())
        .map(|(name, _)| name)
        .collect();
    assert!(
        nobody.is_empty(),
        "no unit of any policy that comes with the program reads {}",
        nobody.join(", ")
    );
}

#[test]
fn the_page_on_what_policies_heed_is_current() {
    let mut tables: BTreeMap<String, String> = BTreeMap::new();
    for (table, column, policies) in heeded() {
        let name = format!("{table} {column}");
        let mut by: Vec<String> = vec![in_words(&policies)];
        by.extend(of_the_runtime(&name).map(str::to_owned));
        by.retain(|words| !words.is_empty());
        let rows = tables.entry(table).or_default();
        let _ = writeln!(rows, "| `{column}` | {} |", by.join("; "));
    }
    let mut printed = String::new();
    for (table, rows) in tables {
        let _ = write!(
            printed,
            "## `{table}`\n\n| column | policies |\n|---|---|\n{rows}\n"
        );
    }
    let path = pages().join("heeded.md");
    let page = fs::read_to_string(&path).unwrap();
    let first = page.find("\n## ").map_or(page.len(), |at| at + 1);
    if is_to_be_updated() {
        fs::write(
            &path,
            format!("{}{}", &page[..first], printed.trim_end()) + "\n",
        )
        .unwrap();
    }
    let page = fs::read_to_string(&path).unwrap();
    assert!(
        page[first..].trim_end() == printed.trim_end(),
        "book/src/heeded.md is out of date; {REMEDY}"
    );
}
