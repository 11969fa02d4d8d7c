//! Hosts and VMs as programs read them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::ClusterState;

/// Some of a list, and the id after which the rest comes, if there is any.
pub type Part = (Vec<Value>, Option<Arc<str>>);

impl ClusterState {
    /// At most so many hosts, by id, from after that id on.
    pub fn hosts_shown(&self, after: Option<&str>, most: usize) -> Part {
        let hosts = self.inventory().hosts().map(|(_, host)| &host.id);
        let (ids, next) = part(hosts, after, most);
        let shown = ids.iter().filter_map(|id| self.host_shown(id));
        (shown.collect(), next)
    }

    /// At most so many VMs that run or have a place reserved, by id, from after that id
    /// on.
    pub fn vms_shown(&self, after: Option<&str>, most: usize) -> Part {
        let inventory = self.inventory();
        let hosts = inventory.hosts();
        let vms = hosts.flat_map(|(_, host)| inventory.vms_of(host));
        let (ids, next) = part(vms.map(|entry| &entry.vm.id), after, most);
        let shown = ids.iter().filter_map(|id| self.vm_shown(id));
        (shown.collect(), next)
    }

    /// A host with every column that has a value, and its VMs.
    pub fn host_shown(&self, id: &str) -> Option<Value> {
        let inventory = self.inventory();
        let slot = inventory.slot(id)?;
        let host = inventory.host(slot)?;
        let mut shown = serde_json::to_value(&host.facts).unwrap_or_default();
        let columns = shown.as_object_mut()?;
        if let Some(table) = inventory.schema().table("hosts") {
            for column in &table.columns {
                if let Some(value) = inventory.host_value(slot, &column.name) {
                    columns.insert(column.name.to_string(), json!(value));
                }
            }
        }
        let vms = inventory.vms_of(host);
        let vms: Vec<_> = vms
            .map(|entry| json!({"id": entry.vm.id, "pending": entry.pending}))
            .collect();
        columns.insert("vms".to_owned(), json!(vms));
        Some(shown)
    }

    /// A VM with its places.
    pub fn vm_shown(&self, id: &str) -> Option<Value> {
        let inventory = self.inventory();
        let (running, pending) = (inventory.running(id), inventory.pending(id));
        let entry = pending.or(running)?;
        let mut shown = serde_json::to_value(&entry.vm.facts).unwrap_or_default();
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
