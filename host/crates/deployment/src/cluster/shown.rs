//! Hosts and VMs as programs read them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::ClusterState;
use super::entities::scores;
use placewright_document::{ClusterDocument, ClusterRows, VmRow, WrittenFacts, write_cluster};
use placewright_inventory::{GroupEntry, Inventory, VmEntry};
use placewright_model::schema::Schema;
use placewright_model::{Facts, Group, Rfc3339, rfc3339_key};

impl ClusterState {
    /// An affinity group, as documents write it.
    pub(super) fn group_shown(&self, id: &str) -> Option<Value> {
        group(self.inventory(), id)
    }

    /// A tenant, as documents write it.
    pub(super) fn tenant_shown(&self, id: &str) -> Option<Value> {
        tenant(self.inventory(), id)
    }

    /// A tenant, as documents give it.
    pub(super) fn given_of_tenant(&self, id: &str) -> Option<Value> {
        let inventory = self.inventory();
        Some(tenant_given(inventory, id, inventory.tenant(id)?))
    }

    /// Facts of a row of that table as documents have them.
    pub(super) fn written(&self, table: &str, facts: &Facts) -> Value {
        written(self.inventory(), table, facts)
    }

    /// A host with every column that has a value, and its VMs.
    pub fn host_shown(&self, id: &str) -> Option<Value> {
        host(self.inventory(), id)
    }

    /// A VM with its places.
    pub fn vm_shown(&self, id: &str) -> Option<Value> {
        vm(self.inventory(), id)
    }

    /// The document of the cluster as it is now.
    pub fn document(&self) -> ClusterDocument {
        let (inventory, seed) = (self.inventory(), self.settings.seed);
        ClusterDocument::of_rows(&Whole { inventory, seed })
    }
}

/// A whole cluster.
pub(crate) struct Whole<'a> {
    pub inventory: &'a Inventory,
    pub seed: u64,
}

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_cluster(self, serializer)
    }
}

impl ClusterRows for Whole<'_> {
    fn name(&self) -> &Arc<str> {
        self.inventory.name()
    }

    fn now(&self) -> Option<i64> {
        None
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn schema(&self) -> &Schema {
        self.inventory.schema()
    }

    fn facts(&self) -> &Facts {
        self.inventory.facts()
    }

    fn tenants(&self) -> impl Iterator<Item = (&Arc<str>, &Facts)> {
        self.inventory.tenants()
    }

    fn hosts(&self) -> impl Iterator<Item = (&Arc<str>, Cow<'_, Facts>)> {
        let mut hosts: Vec<_> = self.inventory.hosts().map(|(_, host)| host).collect();
        // Read again, they are listed as they were.
        hosts.sort_by_key(|host| host.listed);
        let hosts = hosts.into_iter();
        hosts.map(|host| (&host.id, Cow::Owned(self.inventory.given_facts(host))))
    }

    fn vms(&self) -> impl Iterator<Item = VmRow<'_>> {
        let hosts = self.inventory.hosts();
        hosts.flat_map(|(_, host)| {
            let vms = self.inventory.vms_of(host);
            vms.map(|entry| VmRow {
                vm: &entry.vm,
                placed: entry.placed(),
                host: &host.id,
                pending: entry.pending,
            })
        })
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        self.inventory.groups().map(GroupEntry::given)
    }
}

/// A document of the cluster without anything in it.
fn empty(inventory: &Inventory) -> ClusterDocument {
    ClusterDocument {
        name: inventory.name().clone(),
        now: None,
        seed: 0,
        schema: (**inventory.schema()).clone(),
        facts: Facts::new(),
        tenants: Default::default(),
        hosts: Vec::new(),
        vms: Vec::new(),
        groups: Vec::new(),
    }
}

/// An affinity group, as documents write it.
pub(super) fn group(inventory: &Inventory, id: &str) -> Option<Value> {
    let entry = inventory.group(id)?;
    groups_listed(inventory, vec![entry.given().clone()]).pop()
}

/// A tenant, as documents write it.
pub(super) fn tenant(inventory: &Inventory, id: &str) -> Option<Value> {
    let facts = inventory.tenant(id)?;
    Some(tenant_written(inventory, id, facts))
}

/// The affinity groups, as documents write them, by id.
pub(super) fn groups(inventory: &Inventory) -> impl Iterator<Item = Value> {
    // One after the other: a page takes few of them.
    let groups = inventory.groups();
    groups.flat_map(|entry| groups_listed(inventory, vec![entry.given().clone()]))
}

fn groups_listed(inventory: &Inventory, groups: Vec<Group>) -> Vec<Value> {
    let document = ClusterDocument {
        groups,
        ..empty(inventory)
    };
    listed(&document, "groups")
}

/// The tenants, as documents write them, by id.
pub(super) fn tenants(inventory: &Inventory) -> impl Iterator<Item = Value> {
    let tenants = inventory.tenants();
    tenants.map(|(id, facts)| tenant_written(inventory, id, facts))
}

fn tenant_written(inventory: &Inventory, id: &str, facts: &Facts) -> Value {
    let mut shown = tenant_given(inventory, id, facts);
    add_times("tenant", &mut shown);
    shown
}

fn tenant_given(inventory: &Inventory, id: &str, facts: &Facts) -> Value {
    let mut given = written(inventory, "tenant", facts);
    if let Some(columns) = given.as_object_mut() {
        columns.insert("id".to_owned(), json!(id));
    }
    given
}

/// A column of times.
struct TimeColumn {
    /// The name of the column, in seconds since 1970-01-01 UTC.
    seconds: Arc<str>,
    /// The key of the same time after RFC 3339.
    key: String,
}

/// All columns of times, by the names of their tables.
static TIMES: LazyLock<BTreeMap<Arc<str>, Vec<TimeColumn>>> = LazyLock::new(|| {
    let mut times: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for table in Schema::built_in().tables() {
        for column in &table.columns {
            if let Some(key) = column.rfc3339_key() {
                let column = TimeColumn {
                    seconds: column.name.clone(),
                    key: key.into_owned(),
                };
                times.entry(table.name.clone()).or_default().push(column);
            }
        }
    }
    times
});

/// Put beside each time in seconds of a row of `table`, and of the rows below it, the same after
/// RFC 3339.
fn add_times(table: &str, row: &mut Value) {
    for (name, times) in &*TIMES {
        match name.strip_prefix(table) {
            Some("") => add_times_of_row(times, row),
            Some(below) => {
                let rows = below.strip_prefix('/').and_then(|below| row.get_mut(below));
                let rows = rows.and_then(Value::as_array_mut).into_iter().flatten();
                rows.for_each(|row| add_times_of_row(times, row));
            }
            None => {}
        }
    }
}

fn add_times_of_row(times: &[TimeColumn], row: &mut Value) {
    let Some(columns) = row.as_object_mut() else {
        return;
    };
    for time in times {
        if let Some(seconds) = columns.get(&*time.seconds).and_then(Value::as_i64) {
            columns.insert(time.key.clone(), json!(Rfc3339(seconds)));
        }
    }
}

/// A host with every column that has a value, and its VMs.
pub(super) fn host(inventory: &Inventory, id: &str) -> Option<Value> {
    let slot = inventory.slot(id)?;
    let host = inventory.host(slot)?;
    let mut shown = written(inventory, "hosts", &host.facts);
    let columns = shown.as_object_mut()?;
    if let Some(table) = inventory.schema().table("hosts") {
        for column in &table.columns {
            if let Some(mut value) = inventory.host_value(slot, &column.name) {
                if host.facts.get(&column.name) == Some(&value) {
                    let given = inventory.given(host, &column.name);
                    value = given.cloned().unwrap_or(value);
                }
                columns.insert(column.name.to_string(), json!(column.written(&value)));
            }
        }
    }
    let measured: BTreeMap<_, _> = inventory
        .measured(host)
        .map(|it| {
            let about = json!({
                "measured": it.measured,
                (rfc3339_key("measured")): Rfc3339(it.measured),
                "outdated": it.outdated,
            });
            (it.name, about)
        })
        .collect();
    if !measured.is_empty() {
        columns.insert("statistics".to_owned(), json!(measured));
    }
    let vms = inventory.vms_of(host);
    let vms: Vec<_> = vms
        .map(|entry| json!({"id": entry.vm.id, "pending": entry.pending}))
        .collect();
    columns.insert("vms".to_owned(), json!(vms));
    add_times("hosts", &mut shown);
    Some(shown)
}

/// Facts of a row of that table as documents have them.
fn written(inventory: &Inventory, table: &str, facts: &Facts) -> Value {
    let schema = inventory.schema();
    let written = WrittenFacts {
        schema,
        table,
        facts,
    };
    serde_json::to_value(written).unwrap_or_default()
}

/// A VM with its places.
pub(super) fn vm(inventory: &Inventory, id: &str) -> Option<Value> {
    let (running, pending) = (inventory.running(id), inventory.pending(id));
    // What it is to have elsewhere, or once its growth is confirmed, it does not have yet.
    let entry = running.or(pending)?;
    let mut shown = written(inventory, "hosts/vms", &entry.vm.facts);
    let columns = shown.as_object_mut()?;
    let host = |slot: u32| inventory.host(slot).map(|host| host.id.clone());
    columns.insert("id".to_owned(), json!(entry.vm.id));
    // What belongs to its stay where it runs.
    let placed = running.and_then(VmEntry::placed);
    if let Some(Value::Object(placed)) = placed.map(|rows| written(inventory, "hosts/vms", rows)) {
        columns.extend(placed);
    }
    let pinning = &entry.vm.pinning;
    for (key, hosts) in [
        ("pinned", &pinning.pinned),
        ("preferred", &pinning.preferred),
    ] {
        if !hosts.is_empty() {
            columns.insert(key.to_owned(), json!(hosts));
        }
    }
    if !pinning.location.is_empty() {
        columns.insert("location".to_owned(), scores(&pinning.location));
    }
    if let Some(running) = running {
        columns.insert("host".to_owned(), json!(host(running.slot)));
    }
    if let Some(pending) = pending {
        let mut reserved = json!({
            "host": host(pending.slot),
            "expires": pending.expires,
            (rfc3339_key("expires")): pending.expires.map(Rfc3339),
        });
        let changes = running.map(|running| differences(inventory, running, pending));
        if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
            reserved["changes"] = Value::Object(changes);
        }
        columns.insert("reserved".to_owned(), reserved);
    }
    Some(shown)
}

/// What a VM is to have otherwise where its place is reserved than where it runs: columns and
/// tables as they are to be; null: it is to have none.
fn differences(
    inventory: &Inventory,
    running: &VmEntry,
    pending: &VmEntry,
) -> serde_json::Map<String, Value> {
    let rows = |entry: &VmEntry| match written(inventory, "hosts/vms", &entry.vm.facts) {
        Value::Object(rows) => rows,
        _ => serde_json::Map::new(),
    };
    let (before, mut after) = (rows(running), rows(pending));
    for key in before.keys() {
        after.entry(key.clone()).or_insert(Value::Null);
    }
    after.retain(|key, value| before.get(key) != Some(value));
    after
}

/// The rows of a list of a document, by id.
fn listed(document: &ClusterDocument, list: &str) -> Vec<Value> {
    let mut whole = serde_json::to_value(document).unwrap_or_default();
    let rows = whole.get_mut(list).map(Value::take);
    let mut rows = match rows {
        Some(Value::Array(rows)) => rows,
        _ => Vec::new(),
    };
    let id = |row: &Value| row["id"].as_str().unwrap_or_default().to_owned();
    rows.sort_by_key(id);
    rows
}

/// The first `most` of the ids after `after`, ascending, and the last of them if there
/// are more. An id may come twice. The others are not put in order.
pub(super) fn part<'a>(
    ids: impl Iterator<Item = &'a Arc<str>>,
    after: Option<&str>,
    most: usize,
) -> (Vec<Arc<str>>, Option<Arc<str>>) {
    let is_after = |id: &&Arc<str>| after.is_none_or(|after| ***id > *after);
    let mut ids: Vec<&Arc<str>> = ids.filter(is_after).collect();
    // Each comes twice at most.
    let enough = most.saturating_add(1).saturating_mul(2);
    if ids.len() > enough {
        ids.select_nth_unstable(enough);
        ids.truncate(enough);
    }
    ids.sort_unstable();
    ids.dedup();
    let more = ids.len() > most;
    ids.truncate(most);
    let next = ids.last().filter(|_| more).map(|id| (*id).clone());
    (ids.into_iter().cloned().collect(), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_together_are_the_list_once() {
        let all: Vec<Arc<str>> = (0..50)
            .map(|it| format!("{:02}", it * 37 % 50).into())
            .collect();
        let twice = || all.iter().chain(all.iter().take(20));
        let (mut seen, mut after) = (Vec::new(), None::<Arc<str>>);
        loop {
            let (ids, next) = part(twice(), after.as_deref(), 7);
            assert!(ids.len() <= 7);
            seen.extend(ids);
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert_eq!(seen, sorted);
    }
}
