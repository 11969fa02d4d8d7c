//! Whatever can be said of a request decides, is refused, or is named with the reason why it
//! makes no difference: a page of the book, written from what the policy `general` did.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use placewright_chain::Explanation;
use placewright_document::{ClusterDocument, Surroundings, read_requests};
use placewright_inventory::Inventory;
use placewright_model::schema::{Schema, Source};
use placewright_model::{Facts, Request};
use placewright_policy::Policy;
use placewright_scheduler::{PlaceError, Scheduler, SchedulerOptions};
use placewright_tests::repository;
use placewright_tests::units::built_in;

use super::cases::CASES;
use super::general;
use super::situations::{OTHERWISE, REFUSED, SITUATIONS, Situation};

/// Lists of hosts of a VM, which stand beside its columns.
const PINNING: [&str; 3] = ["pinned", "preferred", "location"];

/// A cluster of two hosts, in which something other than the need speaks for the first one.
fn document(situation: &Situation) -> ClusterDocument {
    let host = |id: &str, facts: &str| {
        let says = |column: &str| facts.lines().any(|line| line.starts_with(column));
        let memory = match says("memory.total") {
            true => "",
            false => "memory.total = \"64 GiB\"\n",
        };
        let cpu = match says("cpu.cores") || says("cpu.total") {
            true => "",
            false => "cpu.total = \"16 cores\"\n",
        };
        format!("[[hosts]]\nid = \"{id}\"\n{memory}{cpu}{facts}\n")
    };
    let text = format!(
        "name = \"test\"\nnow = 1000\n{}\n{}\n{}\n",
        host("first", situation.first),
        host("second", situation.second),
        situation.cluster,
    );
    let document = ClusterDocument::read(&text, "cluster.toml");
    document.unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// The situations of this page, and those in which a host lacks a need.
fn situations() -> Vec<(ClusterDocument, &'static str, bool)> {
    let own = SITUATIONS
        .iter()
        .map(|it| (document(it), it.request, it.reserve));
    let of_needs = CASES.iter().map(|case| {
        let document = super::document(case);
        (document, case.request, false)
    });
    own.chain(of_needs).collect()
}

fn request(document: &ClusterDocument, text: &str) -> Request {
    let surroundings = Surroundings {
        schema: &document.schema,
        now: 1000,
        hosts: None,
    };
    let requests = read_requests(text, "request.toml", surroundings);
    let mut requests = requests.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    requests.remove(0)
}

fn explained(
    document: &ClusterDocument,
    request: &Request,
    reserve: bool,
) -> Result<Explanation, PlaceError> {
    let inventory = Inventory::of_document(document.clone(), 1000).unwrap();
    let text = match reserve {
        true => general().replace("enabled = false", "enabled = true"),
        false => general().to_owned(),
    };
    let policy = Policy::load(&text, "policy.toml", built_in(), &document.schema);
    let policy = Arc::new(policy.unwrap_or_else(|problems| panic!("{problems}")));
    let options = SchedulerOptions {
        chain_limit: Duration::from_secs(60),
        ..SchedulerOptions::default()
    };
    let mut scheduler = Scheduler::new(inventory, policy, built_in(), options).unwrap();
    let decision = scheduler.place(request.clone())?;
    Ok(scheduler.explain(decision.number).unwrap())
}

/// What an operator can say, and the request without it.
fn without(request: &Request, schema: &Schema) -> Vec<(String, Request)> {
    let mut without = Vec::new();
    for (column, _) in request.facts.values() {
        let mut other = request.clone();
        other.facts.unset(column);
        if &**column == "tenant" {
            other
                .members
                .iter_mut()
                .for_each(|vm| vm.facts.unset(column));
        }
        without.push((format!("request {column}"), other));
    }
    let member = &request.members[0];
    for (column, _) in member.facts.values() {
        if request.facts.get(column).is_some() {
            continue;
        }
        let mut other = request.clone();
        other.members[0].facts.unset(column);
        without.push((format!("members {column}"), other));
    }
    for key in PINNING {
        let mut other = request.clone();
        let pinning = &mut other.members[0].pinning;
        let list = match key {
            "location" => {
                let given = !pinning.location.is_empty();
                pinning.location.clear();
                given
            }
            key => {
                let list = match key {
                    "pinned" => &mut pinning.pinned,
                    _ => &mut pinning.preferred,
                };
                let given = !list.is_empty();
                list.clear();
                given
            }
        };
        if list {
            without.push((format!("members {key}"), other));
        }
    }
    rows(&member.facts, "members", schema, &mut |path, change| {
        let mut other = request.clone();
        change(&mut other.members[0].facts);
        without.push((path, other));
    });
    without
}

/// Takes the name of a column, and what makes facts those without it.
type Each<'e> = dyn FnMut(String, &dyn Fn(&mut Facts)) + 'e;

/// For each column of the tables below: its name, and how facts become those without it. A row
/// that must have the column goes with it.
fn rows(facts: &Facts, table: &str, schema: &Schema, each: &mut Each<'_>) {
    for (name, of_table) in facts.tables() {
        let path = format!("{table}/{name}");
        let Some(known) = schema.table(&path) else {
            continue;
        };
        for column in &known.columns {
            let is_given = of_table.iter().any(|row| row.get(&column.name).is_some());
            if !is_given {
                continue;
            }
            each(format!("{path} {}", column.name), &|facts: &mut Facts| {
                let mut rows = facts.take_rows(name);
                match column.optional {
                    true => rows.iter_mut().for_each(|row| row.unset(&column.name)),
                    false => rows.clear(),
                }
                facts.set_rows(name.clone(), rows);
            });
        }
        if let Some(row) = of_table.first() {
            rows(row, &path, schema, &mut |path, change| {
                each(path, &|facts: &mut Facts| {
                    let mut rows = facts.take_rows(name);
                    rows.iter_mut().for_each(change);
                    facts.set_rows(name.clone(), rows);
                });
            });
        }
    }
}

/// Who makes the difference between what is decided with a column and without it: the filters
/// that remove a host in one of the two cases, with their reasons; or else, if another host is
/// chosen, the costs that differ.
fn deciders(with: &Explanation, without: &Explanation) -> Vec<String> {
    let removals = |of: &Explanation| -> BTreeSet<(Arc<str>, String)> {
        let hosts = of.stages.iter().flat_map(|stage| &stage.hosts);
        let removed = hosts.filter_map(|host| {
            let removed = host.removed.as_ref()?;
            let by = format!("filter `{}`: {}", removed.unit, removed.reason);
            Some((host.host.clone(), by))
        });
        removed.collect()
    };
    let (before, after) = (removals(with), removals(without));
    let by: BTreeSet<String> = before
        .symmetric_difference(&after)
        .map(|(_, by)| by.clone())
        .collect();
    if !by.is_empty() {
        return by.into_iter().collect();
    }
    if with.chosen == without.chosen {
        return Vec::new();
    }
    let costs = |of: &Explanation| -> BTreeSet<(Arc<str>, Arc<str>, u64)> {
        let hosts = of.stages.iter().flat_map(|stage| &stage.hosts);
        let costs = hosts.flat_map(|host| {
            let costs = host.costs.iter();
            costs.map(|cost| {
                (
                    host.host.clone(),
                    cost.name.clone(),
                    cost.weighted.to_bits(),
                )
            })
        });
        costs.collect()
    };
    let names = costs(with)
        .symmetric_difference(&costs(without))
        .map(|(_, name, _)| format!("cost `{name}`"))
        .collect::<BTreeSet<_>>();
    names.into_iter().collect()
}

/// By each column that makes a difference somewhere: who makes it.
fn decided() -> BTreeMap<String, BTreeSet<String>> {
    let mut decided: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (document, text, reserve) in situations() {
        let request = request(&document, text);
        let with = explained(&document, &request, reserve);
        let with = with.unwrap_or_else(|error| panic!("{error}\n{text}"));
        for (column, other) in without(&request, &document.schema) {
            let Ok(without) = explained(&document, &other, reserve) else {
                continue;
            };
            let by = deciders(&with, &without);
            if !by.is_empty() {
                decided.entry(column).or_default().extend(by);
            }
        }
    }
    decided
}

/// Everything that an operator can say of a request.
fn sayable() -> Vec<String> {
    let schema = Schema::built_in();
    let is_of_request =
        |name: &str| name == "request" || name == "members" || name.starts_with("members/");
    let tables = schema.tables().filter(|table| is_of_request(&table.name));
    let columns = tables.flat_map(|table| {
        let given = table.columns.iter();
        let given = given.filter(|column| column.source == Source::Given);
        given.map(|column| format!("{} {}", table.name, column.name))
    });
    // The tenant of a VM is that of its request.
    let columns = columns.filter(|name| name != "members tenant");
    columns
        .chain(PINNING.map(|key| format!("members {key}")))
        .collect()
}

/// The need that the policy does not check and that refuses a request with the column.
fn refusal(column: &str) -> Option<String> {
    let refused = REFUSED
        .iter()
        .find(|(columns, ..)| columns.contains(&column))?;
    let (_, need, text) = refused;
    let document = document(&Situation {
        cluster: "",
        first: "",
        second: "",
        request: text,
        reserve: false,
    });
    let request = request(&document, text);
    match explained(&document, &request, false) {
        Err(PlaceError::Unheeded(needs)) if needs.iter().any(|it| *it.need == **need) => {}
        other => panic!("{column} is not refused: {other:?}"),
    }
    Some(format!(
        "the request is refused: no filter of `general` checks the need `{need}`"
    ))
}

#[test]
fn whatever_a_request_says_decides_or_is_refused_and_the_page_names_by_whom() {
    let decided = decided();
    let mut table = "| what a request says | what decides |\n|---|---|\n".to_owned();
    let mut nobody = Vec::new();
    for column in sayable() {
        let otherwise = OTHERWISE.iter().find(|(known, _)| *known == column);
        let by = match (decided.get(&column), refusal(&column), otherwise) {
            (Some(by), None, None) => by.iter().cloned().collect::<Vec<_>>().join("; "),
            (None, Some(refusal), None) => refusal,
            (None, None, Some((_, why))) => (*why).to_owned(),
            (None, None, None) => {
                nobody.push(column);
                continue;
            }
            several => panic!("{column} is listed twice, or decides after all: {several:?}"),
        };
        let _ = writeln!(table, "| `{column}` | {by} |");
    }
    assert!(
        nobody.is_empty(),
        "nothing decides by {nobody:?}: add a situation in which it must, and a unit if none does"
    );
    let path = repository().join("book/src/general-columns.md");
    let page = fs::read_to_string(&path).unwrap();
    let start = page.find("| what a request says").unwrap_or(page.len());
    let right = format!("{}{table}", &page[..start]);
    if std::env::var("UPDATE_BOOK").is_ok_and(|value| value == "1") {
        fs::write(&path, &right).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap();
    assert!(
        page == right,
        "book/src/general-columns.md is out of date; run \
         UPDATE_BOOK=1 cargo test -p placewright-decisions -- general::columns"
    );
}
