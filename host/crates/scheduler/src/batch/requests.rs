//! A batch of the requests of a document: what they may differ in, and what not.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::Batch;
use placewright_model::{Facts, Request, Value};

const TENANT: &str = "tenant";

/// Two requests ask for what one batch cannot give both.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// A batch has one value of this key.
    #[error(
        "VM \"{vm}\" (entry {position}) has {key} {value} and VM \"{first}\" has {}: all VMs of a batch have one {key}; send one batch for each",
        .first_value
    )]
    Differs {
        /// Position of its request among all, counted from 0.
        position: usize,
        /// Id of the first VM with another value than the first VM of all.
        vm: Arc<str>,
        /// The key, as requests write it.
        key: String,
        /// Its value.
        value: String,
        /// Id of the first VM of all.
        first: Arc<str>,
        /// Its value of the key.
        first_value: String,
    },
    /// A batch looks at all hosts.
    #[error(
        "the request for VM \"{vm}\" (entry {position}) has \"{key}\": a batch looks at all hosts; place VMs that name hosts one by one, or pin them (\"pinned\")"
    )]
    NamesHosts {
        /// Position of the request among all, counted from 0.
        position: usize,
        /// Id of the first VM of the request.
        vm: Arc<str>,
        /// The key, as requests write it.
        key: &'static str,
    },
}

impl Batch {
    /// The VMs of all requests as one batch, which has the time, draw and columns of the
    /// first. Those of one request go on one host. Their tenants may differ: then each VM is placed
    /// for its own. It is enough that one of them asks to be tried only, or for all or nothing.
    ///
    /// # Errors
    /// If they differ in what a batch has one of, or name hosts.
    pub fn of_requests(requests: Vec<Request>) -> Result<Self, BatchError> {
        let mut batch = Self::default();
        let Some(first) = requests.first() else {
            return Ok(batch);
        };
        (batch.now, batch.draw, batch.reserve_for) = (first.now, first.draw, first.reserve_for);
        batch.facts = first.facts.clone();
        let is_theirs = requests.iter().all(is_for_its_vms);
        let tenants: BTreeSet<String> =
            requests.iter().map(|it| shown(&it.facts, TENANT)).collect();
        let several = is_theirs && tenants.len() > 1;
        for (position, request) in requests.iter().enumerate() {
            if let Some(key) = names_hosts(request) {
                return Err(BatchError::NamesHosts {
                    position,
                    vm: id(request),
                    key,
                });
            }
            if let Some((key, value, first_value)) = difference(request, first, several) {
                return Err(BatchError::Differs {
                    position,
                    vm: id(request),
                    key,
                    value,
                    first: id(first),
                    first_value,
                });
            }
            batch.dry_run |= request.dry_run;
            batch.all_or_nothing |= request.all_or_nothing;
        }
        if several {
            // That of each turn is that of its members.
            batch.facts.unset(TENANT);
        }
        for request in requests {
            let places = batch.members.len()..batch.members.len() + request.members.len();
            if places.len() > 1 {
                batch.together.push(places.collect());
            }
            if request.again {
                let ids = request.members.iter().map(|member| member.id.clone());
                batch.again.extend(ids);
            }
            batch.members.extend(request.members);
            batch.unset.extend(request.unset);
            batch.named.extend(request.named);
        }
        Ok(batch)
    }
}

fn id(request: &Request) -> Arc<str> {
    let first = request.members.first();
    first.map_or_else(|| "".into(), |member| member.id.clone())
}

/// Whether a request is made for the tenant to which all its VMs belong, or for none.
fn is_for_its_vms(request: &Request) -> bool {
    let tenant = request.facts.get(TENANT);
    let mut members = request.members.iter();
    members.all(|member| member.facts.get(TENANT) == tenant)
}

fn names_hosts(request: &Request) -> Option<&'static str> {
    let named = [
        ("allowed", !request.allowed.is_empty()),
        ("excluded", !request.excluded.is_empty()),
        ("preferred-hosts", !request.preferred.is_empty()),
        ("force", request.forced.is_some()),
    ];
    named.into_iter().find_map(|(key, is)| is.then_some(key))
}

/// The first key in which two requests differ although a batch has one value of it, and both
/// values.
fn difference(
    request: &Request,
    first: &Request,
    several_tenants: bool,
) -> Option<(String, String, String)> {
    let options = |it: &Request| {
        [
            ("now", it.now.to_string()),
            ("draw", said(it.draw)),
            ("reserve-for", said(it.reserve_for)),
        ]
    };
    let both = options(request).into_iter().zip(options(first));
    for ((key, one), (_, other)) in both {
        if one != other {
            return Some((key.to_owned(), one, other));
        }
    }
    let values = request.facts.values().chain(first.facts.values());
    let columns: BTreeSet<&str> = values.map(|(column, _)| &**column).collect();
    let of_batch = |column: &&str| !(several_tenants && *column == TENANT);
    for column in columns.into_iter().filter(of_batch) {
        if request.facts.get(column) != first.facts.get(column) {
            let (one, other) = (shown(&request.facts, column), shown(&first.facts, column));
            return Some((column.to_owned(), one, other));
        }
    }
    let tables = request.facts.tables().chain(first.facts.tables());
    let names: BTreeSet<&str> = tables.map(|(table, _)| &**table).collect();
    let differs = |table: &&str| request.facts.rows(table) != first.facts.rows(table);
    names.into_iter().find(differs).map(|table| {
        let rows = |it: &Request| format!("of {} rows", it.facts.rows(table).len());
        (table.to_owned(), rows(request), rows(first))
    })
}

fn said<T: fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn shown(facts: &Facts, column: &str) -> String {
    match facts.get(column) {
        None => "none".to_owned(),
        Some(Value::Text(text)) => format!("\"{text}\""),
        Some(value) => value.to_string(),
    }
}
