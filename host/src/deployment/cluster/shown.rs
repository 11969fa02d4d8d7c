//! Hosts and VMs as programs read them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::ClusterState;
use crate::document::{ClusterDocument, WrittenFacts};
use crate::inventory::{Inventory, VmEntry};
use crate::model::Facts;

/// Some of a list, and the id after which the rest comes, if there is any.
pub type Part = (Vec<Value>, Option<Arc<str>>);

/// Which hosts are wanted: all that fit everything that is given.
#[derive(Debug, Clone, Default)]
pub struct WantedHosts {
    pub state: Option<String>,
}

/// Which VMs are wanted: all that fit everything that is given.
#[derive(Debug, Clone, Default)]
pub struct WantedVms {
    /// Id of the host on which they run or have a place reserved.
    pub host: Option<String>,
    pub tenant: Option<String>,
    /// Whether a place is reserved for them that is not confirmed.
    pub pending: Option<bool>,
}

impl WantedVms {
    fn has(&self, inventory: &Inventory, entry: &VmEntry) -> bool {
        let host = || inventory.host(entry.slot).map(|host| &*host.id);
        let tenant = || entry.vm.facts.text("tenant");
        let is = |wanted: &Option<String>, given: Option<&str>| {
            wanted.as_deref().is_none_or(|it| given == Some(it))
        };
        self.pending.is_none_or(|wanted| wanted == entry.pending)
            && (self.host.is_none() || is(&self.host, host()))
            && (self.tenant.is_none() || is(&self.tenant, tenant()))
    }
}

impl ClusterState {
    /// At most so many of the wanted hosts, by id, from after that id on.
    pub fn hosts_shown(&self, wanted: &WantedHosts, after: Option<&str>, most: usize) -> Part {
        let inventory = self.inventory();
        let is_wanted = |slot: u32| match &wanted.state {
            None => true,
            Some(state) => inventory.host_value(slot, "state") == Some(state.as_str().into()),
        };
        let hosts = inventory.hosts().filter(|(slot, _)| is_wanted(*slot));
        let (ids, next) = part(hosts.map(|(_, host)| &host.id), after, most);
        let shown = ids.iter().filter_map(|id| self.host_shown(id));
        (shown.collect(), next)
    }

    /// The affinity groups, as documents write them, by id.
    pub fn groups_shown(&self) -> Vec<Value> {
        let groups = self.inventory().groups();
        let document = ClusterDocument {
            groups: groups.map(|entry| entry.group.clone()).collect(),
            ..self.empty_document()
        };
        listed(&document, "groups")
    }

    /// The tenants, as documents write them, by id.
    pub fn tenants_shown(&self) -> Vec<Value> {
        let tenants = self.inventory().tenants();
        let document = ClusterDocument {
            tenants: tenants
                .map(|(id, facts)| (id.clone(), facts.clone()))
                .collect(),
            ..self.empty_document()
        };
        listed(&document, "tenants")
    }

    /// A document of this cluster without anything in it.
    fn empty_document(&self) -> ClusterDocument {
        ClusterDocument {
            name: self.name.clone(),
            now: None,
            seed: 0,
            schema: (**self.inventory().schema()).clone(),
            facts: Facts::new(),
            tenants: Default::default(),
            hosts: Vec::new(),
            vms: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// At most so many of the wanted VMs that run or have a place reserved, by id, from
    /// after that id on.
    pub fn vms_shown(&self, wanted: &WantedVms, after: Option<&str>, most: usize) -> Part {
        let inventory = self.inventory();
        let hosts = inventory.hosts();
        let vms = hosts.flat_map(|(_, host)| inventory.vms_of(host));
        let vms = vms.filter(|entry| wanted.has(inventory, entry));
        let (ids, next) = part(vms.map(|entry| &entry.vm.id), after, most);
        let shown = ids.iter().filter_map(|id| self.vm_shown(id));
        (shown.collect(), next)
    }

    /// A host with every column that has a value, and its VMs.
    pub fn host_shown(&self, id: &str) -> Option<Value> {
        let inventory = self.inventory();
        let slot = inventory.slot(id)?;
        let host = inventory.host(slot)?;
        let mut shown = self.written("hosts", &host.facts);
        let columns = shown.as_object_mut()?;
        if let Some(table) = inventory.schema().table("hosts") {
            for column in &table.columns {
                if let Some(value) = inventory.host_value(slot, &column.name) {
                    columns.insert(column.name.to_string(), json!(column.written(&value)));
                }
            }
        }
        let measured: BTreeMap<_, _> = inventory
            .measured(host)
            .map(|it| {
                let about = json!({"measured": it.measured, "outdated": it.outdated});
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
        Some(shown)
    }

    /// Facts of a row of that table as documents have them.
    fn written(&self, table: &str, facts: &Facts) -> Value {
        let schema = self.inventory().schema();
        let written = WrittenFacts {
            schema,
            table,
            facts,
        };
        serde_json::to_value(written).unwrap_or_default()
    }

    /// A VM with its places.
    pub fn vm_shown(&self, id: &str) -> Option<Value> {
        let inventory = self.inventory();
        let (running, pending) = (inventory.running(id), inventory.pending(id));
        let entry = pending.or(running)?;
        let mut shown = self.written("hosts/vms", &entry.vm.facts);
        let columns = shown.as_object_mut()?;
        let host = |slot: u32| inventory.host(slot).map(|host| host.id.clone());
        columns.insert("id".to_owned(), json!(entry.vm.id));
        if let Some(running) = running {
            columns.insert("host".to_owned(), json!(host(running.slot)));
        }
        if let Some(pending) = pending {
            columns.insert(
                "reserved".to_owned(),
                json!({"host": host(pending.slot), "expires": pending.expires}),
            );
        }
        Some(shown)
    }
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
