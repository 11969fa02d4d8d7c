//! Writes what came out into scenario files. Comments and all other keys stay as they are.

use std::sync::Arc;

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::moves::MoveOutcome;
use super::outcome::{HostOutcome, Outcome};
use super::run::Tested;
use super::{NONE, Scenarios};

/// Why what came out cannot be written into a file.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// It is written in JSON.
    #[error("only scenario files in TOML can be updated")]
    NoToml,
    /// It cannot be read as TOML.
    #[error("it cannot be read again")]
    Unreadable(#[from] toml_edit::TomlError),
    /// A case is not where it was when the file was read.
    #[error("case \"{0}\" is not where it was; it was changed meanwhile")]
    Moved(Arc<str>),
}

impl Scenarios {
    /// The text of the file with what came out of `tested` in place of what was expected
    /// otherwise. What was right stays as it is; a case that expected nothing is given the
    /// choice and what became of each host. `text` is the file as it was read.
    ///
    /// # Errors
    /// If the file is no TOML, or is not what was read.
    pub fn updated(&self, text: &str, tested: &[Tested<'_>]) -> Result<String, UpdateError> {
        if self.path.extension().is_some_and(|ending| ending == "json") {
            return Err(UpdateError::NoToml);
        }
        let mut document: DocumentMut = text.parse()?;
        for tested in tested.iter().filter(|tested| !tested.passed()) {
            let case = tested.case;
            let table = table_of(&mut document, case.number);
            let table = table.filter(|table| {
                let name = table.get("name").and_then(Item::as_str);
                name == Some(&*case.name)
            });
            match table {
                Some(table) => update(table, tested),
                None => return Err(UpdateError::Moved(case.name.clone())),
            }
        }
        Ok(document.to_string())
    }
}

/// The table of a case, however the list of cases is written.
fn table_of(document: &mut DocumentMut, number: usize) -> Option<&mut dyn TableLike> {
    match document.get_mut("cases")? {
        Item::ArrayOfTables(tables) => Some(tables.get_mut(number)?),
        Item::Value(Value::Array(list)) => Some(list.get_mut(number)?.as_inline_table_mut()?),
        _ => None,
    }
}

/// Have a case expect what came out of it.
fn update(case: &mut dyn TableLike, tested: &Tested<'_>) {
    if case.get("expect").is_none() {
        // Within a table in one line, this is written in the line, too.
        case.insert("expect", Item::Table(Table::new()));
    }
    let Some(expect) = case.get_mut("expect").and_then(Item::as_table_like_mut) else {
        return;
    };
    let outcome = &tested.outcome;
    if let (None, [error, ..]) = (&outcome.explanation, outcome.errors.as_slice()) {
        for key in ["chosen", "hosts", "moves"] {
            expect.remove(key);
        }
        set(expect, "error", Some(essence(error, &tested.digest).into()));
        return;
    }
    for difference in &tested.differences {
        match (&difference.host, &*difference.what) {
            (None, "error") => set(expect, "error", error(outcome, &tested.digest)),
            (None, "moves") => set(expect, "moves", outcome.moves.as_deref().map(moves)),
            (None, _) => set(expect, "chosen", Some(chosen(outcome))),
            (Some(host), what) => {
                let hosts = expect.get_mut("hosts").and_then(Item::as_table_like_mut);
                let item = hosts.and_then(|hosts| hosts.get_mut(host));
                if let (Some(item), Some(outcome)) = (item, outcome.hosts.get(host)) {
                    if let Some(table) = item.as_table_like_mut() {
                        update_host(table, what, outcome);
                    }
                    // Keys come and go: the blanks between them are set anew.
                    if let Some(table) = item.as_inline_table_mut() {
                        table.fmt();
                    }
                }
            }
        }
    }
    if expect.is_empty() {
        set(expect, "chosen", Some(chosen(outcome)));
        let mut hosts = Table::new();
        hosts.set_dotted(true);
        for (id, outcome) in &outcome.hosts {
            hosts.insert(id, Item::Value(Value::InlineTable(host(outcome))));
        }
        expect.insert("hosts", Item::Table(hosts));
    }
}

fn chosen(outcome: &Outcome) -> Value {
    outcome.chosen.as_deref().unwrap_or(NONE).into()
}

fn moves(moves: &[MoveOutcome]) -> Value {
    let table = |proposed: &MoveOutcome| {
        let mut table = InlineTable::new();
        table.insert("vm", (&*proposed.vm).into());
        table.insert("from", (&*proposed.from).into());
        let to = proposed.to.iter().map(|to| &**to);
        table.insert("to", Value::Array(to.collect()));
        table
    };
    Value::Array(moves.iter().map(table).collect())
}

fn error(outcome: &Outcome, digest: &str) -> Option<Value> {
    let error = outcome.errors.first()?;
    Some(essence(error, digest).into())
}

/// What of an error is the same when the unit is built again: what follows its digest, and
/// not the names of its functions.
fn essence<'e>(error: &'e str, digest: &str) -> &'e str {
    let cause = error.rsplit_once(&format!("({digest}), "));
    let cause = cause.map_or(error, |(_, cause)| cause);
    cause.split_once(" (in ").map_or(cause, |(cause, _)| cause)
}

/// Write one thing that was expected otherwise of a host.
fn update_host(table: &mut dyn TableLike, what: &str, outcome: &HostOutcome) {
    if let Some(entry) = what.strip_prefix("costs.") {
        if let Some(costs) = table.get_mut("costs").and_then(Item::as_table_like_mut) {
            set(
                costs,
                entry,
                outcome.costs.get(entry).map(|cost| (*cost).into()),
            );
        }
        return;
    }
    let value = match what {
        "keep" => Some(outcome.keep.into()),
        "reason" => outcome.reason.as_deref().map(Value::from),
        "passing" => Some(outcome.passing.into()),
        "by" => outcome.by.as_deref().map(Value::from),
        "cost" => outcome.cost.map(Value::from),
        "sum" => match outcome.sum[..] {
            [] => None,
            [sum] => Some(sum.into()),
            ref tiers => Some(Value::Array(tiers.iter().copied().collect())),
        },
        "group" => outcome.group.map(Value::from),
        "share" => outcome.share.map(Value::from),
        _ => return,
    };
    set(table, what, value);
    if what == "keep" && !outcome.keep && table.get("reason").is_none() {
        set(table, "reason", outcome.reason.as_deref().map(Value::from));
    }
}

/// What a case that expected nothing is given to expect of a host.
fn host(outcome: &HostOutcome) -> InlineTable {
    let mut table = InlineTable::new();
    for what in ["keep", "reason", "cost", "group", "share"] {
        update_host(&mut table, what, outcome);
    }
    if outcome.passing {
        update_host(&mut table, "passing", outcome);
    }
    table
}

/// Set or remove a key. What stands around its value, as a comment behind it, stays.
fn set(table: &mut dyn TableLike, key: &str, value: Option<Value>) {
    let Some(mut value) = value else {
        table.remove(key);
        return;
    };
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}
