//! Lists of hosts and VMs: some of them, in an order, a part at a time.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::PageRoom;
use placewright_document::{alternatives, nearest, shown};
use placewright_inventory::{Inventory, VmEntry};
use placewright_model::schema::{ATTRIBUTE, Column, Schema};
use placewright_model::{Kind, Value};

/// Some of a list, and where the rest of it begins, if there is any.
pub(super) type Part = (Vec<Json>, Option<String>);

/// Which hosts are wanted: all that fit everything that is given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WantedHosts {
    /// State of the hosts, as in documents.
    pub state: Option<String>,
    /// Availability zone.
    pub zone: Option<String>,
    /// Id of a group that they are in.
    pub group: Option<String>,
    /// Attributes by name, each with its value as a text.
    pub attributes: Vec<(String, String)>,
    /// Part of their ids or names, in letters of either case.
    pub text: Option<String>,
    /// By which column they are listed; `-` before it: the greatest first. By id if not given.
    pub sort: Option<String>,
}

/// Which VMs are wanted: all that fit everything that is given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WantedVms {
    /// Id of the host on which they run or have a place reserved.
    pub host: Option<String>,
    /// Id of the tenant.
    pub tenant: Option<String>,
    /// Whether a place is reserved for them that is not confirmed.
    pub pending: Option<bool>,
    /// Their state, such as up; one that runs is up if nothing was told of it.
    pub state: Option<String>,
    /// Availability zone.
    pub zone: Option<String>,
    /// Id of a group that they are in.
    pub group: Option<String>,
    /// Attributes by name, each with its value as a text.
    pub attributes: Vec<(String, String)>,
    /// Part of their ids or names, in letters of either case.
    pub text: Option<String>,
    /// By which column they are listed; `-` before it: the greatest first. By id if not given.
    pub sort: Option<String>,
}

/// A filter, an order or a cursor that makes no sense for a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentence of each variant names its fields")]
pub enum ListError {
    #[error("\"{key}\": there is no {what} \"{name}\"{}", meant(.nearest))]
    Unknown {
        /// The filter.
        key: &'static str,
        what: &'static str,
        name: String,
        nearest: Option<String>,
    },
    #[error(
        "\"attribute\": {entity} of this cluster have no attribute \"{name}\"{}; write \"attribute=NAME:VALUE\"",
        meant(.nearest)
    )]
    Attribute {
        entity: &'static str,
        name: String,
        nearest: Option<String>,
    },
    #[error("\"attribute\": {name} is {kind}, and \"{value}\" is none")]
    AttributeValue {
        name: String,
        kind: &'static str,
        value: String,
    },
    #[error("\"sort\": {entity} have no column \"{name}\"{}", meant(.nearest))]
    Sort {
        entity: &'static str,
        name: String,
        nearest: Option<String>,
    },
    #[error("\"state\" must be {known}, not \"{name}\"")]
    State { known: String, name: String },
    #[error(
        "\"after\" is not the \"next\" of a page of this list: keep all other parameters while you turn pages"
    )]
    Cursor,
}

fn meant(nearest: &Option<String>) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean \"{nearest}\"?"),
        None => String::new(),
    }
}

/// What rows of a table are held against.
struct Filter<'a> {
    zone: Option<&'a str>,
    state: Option<&'a str>,
    attributes: Vec<(Arc<str>, Value)>,
    text: Option<String>,
}

impl Filter<'_> {
    /// Whether a row with that id and these values fits.
    fn fits(&self, id: &str, value: impl Fn(&str) -> Option<Value>) -> bool {
        let is = |column: &str, wanted: Option<&str>| {
            wanted.is_none_or(|wanted| value(column) == Some(wanted.into()))
        };
        let mut attributes = self.attributes.iter();
        is("zone", self.zone)
            && is("state", self.state)
            && attributes.all(|(column, wanted)| value(column).as_ref() == Some(wanted))
            && self.text.as_deref().is_none_or(|text| {
                let holds = |name: &str| name.to_lowercase().contains(text);
                let name = || value("name");
                holds(id) || matches!(name(), Some(Value::Text(name)) if holds(&name))
            })
    }
}

/// In which order a list is.
struct Order {
    /// As it was asked for.
    sort: String,
    column: Arc<str>,
    is_descending: bool,
}

/// Where a row stands in a list.
type Key = (Option<Value>, Arc<str>);

impl Order {
    /// By what a row with that id and these values is put in order.
    fn value(&self, id: &Arc<str>, value: impl Fn(&str) -> Option<Value>) -> Option<Value> {
        match &*self.column {
            "id" => Some(Value::Text(id.clone())),
            column => value(column),
        }
    }

    fn compare(&self, one: &Key, other: &Key) -> Ordering {
        let values = match (&one.0, &other.0) {
            (Some(one), Some(other)) if self.is_descending => compare(other, one),
            (Some(one), Some(other)) => compare(one, other),
            // What has no value comes last.
            (one, other) => other.is_some().cmp(&one.is_some()),
        };
        values.then_with(|| one.1.cmp(&other.1))
    }

    fn cursor(&self, key: &Key) -> String {
        json!([self.sort, key.0, key.1]).to_string()
    }

    fn read(&self, cursor: &str) -> Result<Key, ListError> {
        match serde_json::from_str::<(String, Option<Value>, Arc<str>)>(cursor) {
            Ok((sort, value, id)) if sort == self.sort => Ok((value, id)),
            _ => Err(ListError::Cursor),
        }
    }
}

fn compare(one: &Value, other: &Value) -> Ordering {
    let number = |value: &Value| match value {
        Value::Integer(value) => Some(*value as f64),
        Value::Number(value) => Some(*value),
        Value::Boolean(value) => Some(f64::from(u8::from(*value))),
        Value::Text(_) => None,
    };
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => one.cmp(other),
        (one, other) => number(one)
            .unwrap_or(f64::NAN)
            .total_cmp(&number(other).unwrap_or(f64::NAN)),
    }
}

/// At most so many of the wanted hosts, in their order.
///
/// # Errors
/// If a filter, the order or the cursor makes no sense.
pub(super) fn hosts(
    inventory: &Inventory,
    wanted: &WantedHosts,
    after: Option<&str>,
    most: usize,
) -> Result<Part, ListError> {
    let schema = inventory.schema();
    if let Some(state) = &wanted.state {
        check_state(schema, state)?;
    }
    let filter = Filter {
        zone: wanted.zone.as_deref(),
        state: wanted.state.as_deref(),
        attributes: attributes(schema, "hosts", &wanted.attributes)?,
        text: wanted.text.as_deref().map(str::to_lowercase),
    };
    let group = group(inventory, wanted.group.as_deref())?;
    let order = order(schema, "hosts", wanted.sort.as_deref())?;
    let hosts = inventory.hosts().filter(|(slot, host)| {
        let in_group = group.is_none_or(|group| group.hosts.binary_search(slot).is_ok());
        in_group && filter.fits(&host.id, |column| inventory.host_value(*slot, column))
    });
    let keys = hosts.map(|(slot, host)| {
        let value = |column: &str| inventory.host_value(slot, column);
        let value = order.as_ref().and_then(|it| it.value(&host.id, value));
        (value, host.id.clone())
    });
    part_of("hosts", keys, (order.as_ref(), after, most), |id| {
        super::shown::host(inventory, id)
    })
}

/// At most so many of the wanted VMs that run or have a place reserved, in their order.
///
/// # Errors
/// If a filter, the order or the cursor makes no sense.
pub(super) fn vms(
    inventory: &Inventory,
    wanted: &WantedVms,
    after: Option<&str>,
    most: usize,
) -> Result<Part, ListError> {
    let schema = inventory.schema();
    if let Some(host) = &wanted.host {
        check_host(inventory, host)?;
    }
    if let Some(tenant) = &wanted.tenant {
        check_tenant(inventory, tenant)?;
    }
    if let Some(state) = &wanted.state {
        check_vm_state(inventory, state)?;
    }
    let filter = Filter {
        zone: wanted.zone.as_deref(),
        state: wanted.state.as_deref(),
        attributes: attributes(schema, "hosts/vms", &wanted.attributes)?,
        text: wanted.text.as_deref().map(str::to_lowercase),
    };
    let group = group(inventory, wanted.group.as_deref())?;
    let group = group.map(|group| {
        let mut vms: Vec<&Arc<str>> = group.group.vms.iter().collect();
        vms.sort_unstable();
        vms
    });
    let order = order(schema, "hosts/vms", wanted.sort.as_deref())?;
    let is_wanted = |entry: &&VmEntry| {
        let host = || inventory.host(entry.slot).map(|host| &*host.id);
        let is = |wanted: &Option<String>, given: &dyn Fn() -> Option<String>| {
            wanted.is_none() || *wanted == given()
        };
        wanted
            .pending
            .is_none_or(|pending| pending == entry.pending)
            && is(&wanted.host, &|| host().map(str::to_owned))
            && is(&wanted.tenant, &|| {
                entry.vm.facts.text("tenant").map(str::to_owned)
            })
            && group
                .as_ref()
                .is_none_or(|vms| vms.binary_search(&&entry.vm.id).is_ok())
            && filter.fits(&entry.vm.id, |column| vm_value(entry, column))
    };
    let keys = entries(inventory).filter(is_wanted).map(|entry| {
        let value = |column: &str| entry.vm.facts.get(column).cloned();
        let value = order.as_ref().and_then(|it| it.value(&entry.vm.id, value));
        (value, entry.vm.id.clone())
    });
    part_of("vms", keys, (order.as_ref(), after, most), |id| {
        super::shown::vm(inventory, id)
    })
}

/// The part of a list, of which the cursors name the list: no other takes them.
fn part_of(
    list: &str,
    keys: impl Iterator<Item = Key>,
    (order, after, most): (Option<&Order>, Option<&str>, usize),
    shown: impl Fn(&str) -> Option<Json>,
) -> Result<Part, ListError> {
    let cursor = |after: &'_ str| {
        let cursor = after.strip_prefix(list).and_then(|it| it.strip_prefix(':'));
        cursor.map(str::to_owned).ok_or(ListError::Cursor)
    };
    let after = after.map(cursor).transpose()?;
    let (items, next) = part(keys, order, after.as_deref(), most, shown)?;
    Ok((items, next.map(|next| format!("{list}:{next}"))))
}

/// The first `most` rows after the cursor, or fewer where they are large, and the cursor of the
/// last of them if there are more. A row may come twice. The others are not put in order.
fn part(
    keys: impl Iterator<Item = Key>,
    order: Option<&Order>,
    after: Option<&str>,
    most: usize,
    shown: impl Fn(&str) -> Option<Json>,
) -> Result<Part, ListError> {
    let after = match (after, order) {
        (None, _) => None,
        (Some(cursor), Some(order)) => Some(order.read(cursor)?),
        (Some(cursor), None) => {
            // That of a list in another order.
            if serde_json::from_str::<(String, Json, String)>(cursor).is_ok() {
                return Err(ListError::Cursor);
            }
            Some((None, cursor.into()))
        }
    };
    let compare = |one: &Key, other: &Key| match order {
        Some(order) => order.compare(one, other),
        None => one.1.cmp(&other.1),
    };
    let is_after = |key: &Key| {
        let after = after.as_ref();
        after.is_none_or(|after| compare(key, after) == Ordering::Greater)
    };
    let mut keys: Vec<Key> = keys.filter(is_after).collect();
    // Each comes twice at most.
    let enough = most.saturating_add(1).saturating_mul(2);
    if keys.len() > enough {
        keys.select_nth_unstable_by(enough, compare);
        keys.truncate(enough);
    }
    keys.sort_unstable_by(compare);
    keys.dedup_by(|one, other| one.1 == other.1);
    let (mut room, mut items, mut taken) = (PageRoom::default(), Vec::new(), 0);
    for (_, id) in keys.iter().take(most) {
        taken += 1;
        let item = shown(id);
        let has_room = item.as_ref().is_none_or(|item| room.takes_json(item));
        items.extend(item);
        if !has_room {
            break;
        }
    }
    let more = keys.len() > taken;
    keys.truncate(taken);
    let next = keys.last().filter(|_| more).map(|last| match order {
        Some(order) => order.cursor(last),
        None => last.1.to_string(),
    });
    Ok((items, next))
}

fn check_state(schema: &Schema, state: &str) -> Result<(), ListError> {
    let column = schema.column("hosts", "state");
    let known = column.map_or(&[][..], |column| column.choices);
    match known.contains(&state) {
        true => Ok(()),
        false => Err(ListError::State {
            known: alternatives(known),
            name: shown(state),
        }),
    }
}

fn group<'i>(
    inventory: &'i Inventory,
    id: Option<&str>,
) -> Result<Option<&'i placewright_inventory::GroupEntry>, ListError> {
    let Some(id) = id else {
        return Ok(None);
    };
    match inventory.group(id) {
        Some(group) => Ok(Some(group)),
        None => {
            let known = inventory.groups().map(|it| &*it.group.id);
            Err(unknown("group", "group", id, known))
        }
    }
}

/// A filter names something that is not there.
fn unknown<'a>(
    key: &'static str,
    what: &'static str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> ListError {
    // Each is compared with the name.
    let known = known.into_iter().take(COMPARED);
    ListError::Unknown {
        key,
        what,
        name: shown(name),
        nearest: nearest(name, known).map(str::to_owned),
    }
}

/// Of so many names the nearest is looked for.
const COMPARED: usize = 1000;

/// All VMs that run or have a place reserved; one may come twice.
fn entries(inventory: &Inventory) -> impl Iterator<Item = &VmEntry> {
    let on_hosts = inventory.hosts();
    on_hosts.flat_map(|(_, host)| inventory.vms_of(host))
}

/// Check that there is a host of that id.
///
/// # Errors
/// If not.
pub(super) fn check_host(inventory: &Inventory, id: &str) -> Result<(), ListError> {
    match inventory.slot(id) {
        Some(_) => Ok(()),
        None => {
            let known = inventory.hosts().map(|(_, host)| &*host.id);
            Err(unknown("host", "host", id, known))
        }
    }
}

/// Check that there is a VM of that id, or a group that names one.
///
/// # Errors
/// If not.
pub(super) fn check_vm(inventory: &Inventory, id: &str) -> Result<(), ListError> {
    let has_place = inventory.running(id).is_some() || inventory.pending(id).is_some();
    let of_groups = || inventory.groups().flat_map(|it| it.group.vms.iter());
    match has_place || of_groups().any(|vm| **vm == *id) {
        true => Ok(()),
        false => {
            let known = entries(inventory).map(|entry| &*entry.vm.id);
            let known = known.chain(of_groups().map(|vm| &**vm));
            Err(unknown("vm", "VM", id, known))
        }
    }
}

/// Check that there is a tenant of that id, or a VM that names one.
fn check_tenant(inventory: &Inventory, id: &str) -> Result<(), ListError> {
    let named = || entries(inventory).filter_map(|entry| entry.vm.facts.text("tenant"));
    match inventory.tenant(id).is_some() || named().any(|tenant| tenant == id) {
        true => Ok(()),
        false => {
            let known: BTreeSet<&str> = inventory.tenants().map(|(id, _)| &**id).collect();
            let known = known.into_iter().chain(named());
            Err(unknown("tenant", "tenant", id, known))
        }
    }
}

/// Check that a VM may be in a state, or that one is.
fn check_vm_state(inventory: &Inventory, state: &str) -> Result<(), ListError> {
    let column = inventory.schema().column("members", "state");
    let known = column.map_or(&[][..], |column| column.choices);
    // A store of an older program may have others.
    let mut told = entries(inventory).filter_map(|entry| entry.vm.facts.text("state"));
    match known.contains(&state) || told.any(|told| told == state) {
        true => Ok(()),
        false => Err(ListError::State {
            known: alternatives(known),
            name: shown(state),
        }),
    }
}

/// A value of a VM. One that runs is up unless something else was told of it.
fn vm_value(entry: &VmEntry, column: &str) -> Option<Value> {
    let told = entry.vm.facts.get(column).cloned();
    match column {
        "state" if !entry.pending => told.or_else(|| Some("up".into())),
        _ => told,
    }
}

/// What the rows of a table are, in sentences.
fn entity(table: &str) -> &'static str {
    match table {
        "hosts" => "hosts",
        _ => "VMs",
    }
}

fn attributes(
    schema: &Schema,
    table: &'static str,
    wanted: &[(String, String)],
) -> Result<Vec<(Arc<str>, Value)>, ListError> {
    let known = || {
        let columns = schema.table(table).into_iter().flat_map(|it| &it.columns);
        columns.filter_map(|column| column.name.strip_prefix(ATTRIBUTE))
    };
    let read = |(name, text): &(String, String)| {
        let column = schema.column(table, &format!("{ATTRIBUTE}{name}"));
        let column = column.ok_or_else(|| ListError::Attribute {
            entity: entity(table),
            name: shown(name),
            nearest: nearest(name, known()).map(str::to_owned),
        })?;
        let value = value(&column, text).ok_or_else(|| ListError::AttributeValue {
            name: name.clone(),
            kind: noun(column.kind),
            value: shown(text),
        })?;
        Ok((column.name.clone(), value))
    };
    wanted.iter().map(read).collect()
}

fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "an integer",
        Kind::Number => "a number",
        Kind::Boolean => "true or false",
        Kind::Text => "a text",
    }
}

/// A value of the column that is written as a text.
fn value(column: &Column, text: &str) -> Option<Value> {
    if let Some(measure) = column.measure {
        return measure.parse(text, column.kind).ok();
    }
    match column.kind {
        Kind::Integer => text.parse().ok().map(Value::Integer),
        Kind::Number => text
            .parse()
            .ok()
            .filter(|it: &f64| it.is_finite())
            .map(Value::Number),
        Kind::Boolean => text.parse().ok().map(Value::Boolean),
        Kind::Text => Some(text.into()),
    }
}

fn order(
    schema: &Schema,
    table: &'static str,
    sort: Option<&str>,
) -> Result<Option<Order>, ListError> {
    let Some(sort) = sort else {
        return Ok(None);
    };
    let (column, is_descending) = match sort.strip_prefix('-') {
        Some(column) => (column, true),
        None => (sort, false),
    };
    if column == "id" && !is_descending {
        return Ok(None);
    }
    let table_of = schema.table(table);
    let known = table_of.into_iter().flat_map(|it| &it.columns);
    let found = known.clone().find(|it| *it.name == *column);
    match found {
        Some(found) => Ok(Some(Order {
            sort: sort.to_owned(),
            column: found.name.clone(),
            is_descending,
        })),
        None => Err(ListError::Sort {
            entity: entity(table),
            name: shown(column),
            nearest: nearest(column, known.map(|it| &*it.name)).map(str::to_owned),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Order {
        Order {
            sort: "-memory".to_owned(),
            column: "memory".into(),
            is_descending: true,
        }
    }

    /// The ids of a list, page by page; rows may come twice.
    fn pages(keys: &[Key], order: Option<&Order>) -> Vec<String> {
        let (mut seen, mut after) = (Vec::new(), None::<String>);
        loop {
            let twice = keys.iter().chain(keys.iter().take(20)).cloned();
            let found = part(twice, order, after.as_deref(), 7, |id| Some(json!(id)));
            let (ids, next) = found.unwrap();
            assert!(ids.len() <= 7);
            seen.extend(ids.iter().map(|id| id.as_str().unwrap().to_owned()));
            match next {
                Some(next) => after = Some(next),
                None => return seen,
            }
        }
    }

    #[test]
    fn a_page_of_large_rows_has_fewer_and_the_next_goes_on_after_it() {
        let large = "x".repeat(crate::PAGE_BYTES / 2);
        let keys: Vec<Key> = (0..5)
            .map(|number| (None, number.to_string().into()))
            .collect();
        let (mut pages, mut after) = (Vec::new(), None::<String>);
        loop {
            let rows = keys.iter().cloned();
            let shown = |id: &str| Some(json!([id, large]));
            let (items, next) = part(rows, None, after.as_deref(), 100, shown).unwrap();
            let ids = items
                .iter()
                .map(|item| item[0].as_str().unwrap().to_owned());
            pages.push(ids.collect::<Vec<_>>().join(" "));
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(pages, ["0 1", "2 3", "4"]);
    }

    fn keys() -> Vec<Key> {
        let key = |number: i64| {
            let id = format!("{:02}", number * 37 % 50).into();
            ((number % 10 != 0).then_some(Value::Integer(number % 7)), id)
        };
        (0..50).map(key).collect()
    }

    #[test]
    fn pages_together_are_the_list_once() {
        let keys = keys();
        let mut sorted: Vec<String> = keys.iter().map(|(_, id)| id.to_string()).collect();
        sorted.sort_unstable();
        assert_eq!(pages(&keys, None), sorted);
    }

    #[test]
    fn sorted_pages_together_are_the_sorted_list_with_what_has_no_value_last() {
        let mut keys = keys();
        let found = pages(&keys, Some(&order()));
        let number = |key: &Key| match &key.0 {
            Some(Value::Integer(number)) => *number,
            _ => i64::MIN,
        };
        keys.sort_by_key(|key| (-number(key).max(-1000), key.1.clone()));
        let sorted: Vec<String> = keys.iter().map(|(_, id)| id.to_string()).collect();
        assert_eq!(found, sorted);
    }

    #[test]
    fn a_cursor_of_another_order_is_refused() {
        let of_order = order().cursor(&(Some(Value::Integer(1)), "a".into()));
        let other = of_order.replace("-memory", "memory");
        let list = |order: Option<&Order>, after: &str| {
            part(keys().into_iter(), order, Some(after), 1, |_| None)
        };
        assert!(list(Some(&order()), &of_order).is_ok());
        for (order, after) in [
            (Some(&order()), &*other),
            (Some(&order()), "a"),
            (None, &*of_order),
        ] {
            assert_eq!(list(order, after).unwrap_err(), ListError::Cursor);
        }
    }
}
