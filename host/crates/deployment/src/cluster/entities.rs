//! One host, VM, group or tenant: shown, put, changed, taken out.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Changed, ClusterState};
use crate::DeploymentError;
use placewright_document::{
    ChangedGroup, ChangedRow, EntityKind, Gone, InventoryChanges, RuleChange,
};
use placewright_inventory::InventoryError;
use placewright_model::schema::Source;
use placewright_model::{Facts, FactsChange, GroupRule, Value as ModelValue, rfc3339_key};

/// An entity as programs read it.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityShown {
    /// Its row of the inventory's document, with what is worked out of it.
    pub shown: Value,
    /// Another number for each other state of what a document can say of it. Not for other
    /// statistics, nor for what its VMs add up to. Never 0.
    pub tag: u64,
}

/// On what condition an entity is changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Condition {
    /// Whether it is there or not.
    #[default]
    Any,
    /// It must not be there yet.
    New,
    /// It must be there, whatever it is like.
    There,
    /// It must be as it was when it had this tag.
    Unchanged(u64),
}

impl ClusterState {
    /// An entity.
    ///
    /// # Errors
    /// If there is none.
    pub fn entity(&self, kind: EntityKind, id: &str) -> Result<EntityShown, DeploymentError> {
        let found = self.entity_if_any(kind, id);
        found.ok_or_else(|| self.no_entity(kind, id))
    }

    fn no_entity(&self, kind: EntityKind, id: &str) -> DeploymentError {
        let inventory = self.inventory();
        let known: Vec<&str> = match kind {
            EntityKind::Host => inventory.hosts().map(|(_, host)| &*host.id).collect(),
            EntityKind::Group => inventory.groups().map(|it| &*it.group.id).collect(),
            EntityKind::Tenant => inventory.tenants().map(|(id, _)| &**id).collect(),
            // There are many, and their names are much alike.
            EntityKind::Vm => Vec::new(),
        };
        DeploymentError::unknown(kind.noun(), id, known)
    }

    fn entity_if_any(&self, kind: EntityKind, id: &str) -> Option<EntityShown> {
        let shown = match kind {
            EntityKind::Host => self.host_shown(id)?,
            EntityKind::Vm => self.vm_shown(id)?,
            EntityKind::Group => self.group_shown(id)?,
            EntityKind::Tenant => self.tenant_shown(id)?,
        };
        let tag = match kind {
            EntityKind::Host => tag(&self.given_of_host(id)?),
            EntityKind::Vm => {
                let mut place = shown.clone();
                // To renew a reservation is no change of the VM.
                if let Some(reserved) = place.get_mut("reserved").and_then(Value::as_object_mut) {
                    reserved.remove("expires");
                    reserved.remove(&*rfc3339_key("expires"));
                }
                tag(&place)
            }
            EntityKind::Group => tag(&shown),
            EntityKind::Tenant => tag(&self.given_of_tenant(id)?),
        };
        Some(EntityShown { shown, tag })
    }

    /// What was given of a host: all but what was measured.
    fn given_of_host(&self, id: &str) -> Option<Value> {
        let inventory = self.inventory();
        let host = inventory.host(inventory.slot(id)?)?;
        let mut facts = host.facts.clone();
        for measured in inventory.measured(host) {
            facts.unset(measured.name);
            facts.take_rows(measured.name);
        }
        Some(self.written("hosts", &facts))
    }

    /// Check that an entity is as a caller takes it to be. Gives whether it is there.
    ///
    /// # Errors
    /// If it is not.
    fn check(
        &mut self,
        kind: EntityKind,
        id: &str,
        condition: Condition,
    ) -> Result<bool, DeploymentError> {
        self.advance();
        let found = self.entity_if_any(kind, id);
        let what = || format!("{} \"{id}\"", kind.noun());
        match (condition, &found) {
            (Condition::New, Some(_)) => Err(DeploymentError::IsThere { what: what() }),
            (Condition::Unchanged(tag), found) if found.as_ref().is_none_or(|it| it.tag != tag) => {
                Err(DeploymentError::Changed { what: what() })
            }
            (Condition::There, None) => Err(DeploymentError::Changed { what: what() }),
            _ => Ok(found.is_some()),
        }
    }

    /// Put what a document says of an entity in the place of all that was given of it, or
    /// add it. What was measured of a host stays as it was measured. Gives whether it is new.
    ///
    /// # Errors
    /// If it is not as the caller takes it to be, or something does not go together with the
    /// cluster as it is.
    pub fn put_entity(
        &mut self,
        kind: EntityKind,
        id: &str,
        mut changes: InventoryChanges,
        condition: Condition,
    ) -> Result<(bool, Changed), DeploymentError> {
        let is_there = self.check(kind, id, condition)?;
        for host in &mut changes.hosts {
            self.replaces_host(host);
        }
        for vm in &mut changes.vms {
            let inventory = self.inventory();
            let runs = inventory.running(id);
            let Some(known) = runs.or_else(|| inventory.pending(id)) else {
                if vm.host.is_none() {
                    return Err(DeploymentError::Refused(format!(
                        "VM \"{id}\" does not run here: say on which \"host\" it runs; to find it a host, place it"
                    )));
                }
                continue;
            };
            replaces(&mut vm.facts, &known.vm.facts);
            if let Some(placed) = known.placed() {
                replaces(&mut vm.facts, placed);
            }
            let pinning = &mut vm.pinning;
            pinning.pinned.get_or_insert_default();
            pinning.preferred.get_or_insert_default();
            pinning.location.get_or_insert_default();
        }
        for group in &mut changes.groups {
            replaces_group(group)?;
        }
        for tenant in &mut changes.tenants {
            if let Some(known) = self.inventory().tenant(id) {
                replaces(&mut tenant.facts, known);
            }
        }
        Ok((!is_there, self.change_one(changes)?))
    }

    fn replaces_host(&self, row: &mut ChangedRow) {
        let inventory = self.inventory();
        let slot = inventory.slot(&row.id);
        let Some(host) = slot.and_then(|slot| inventory.host(slot)) else {
            return;
        };
        let measured = inventory.measured(host).map(|it| it.name.clone());
        let measured: BTreeSet<Arc<str>> = measured.collect();
        // What was read of the host has what holds where nothing is given, too: that is not
        // given from then on.
        let is_default = |(name, value): &(&Arc<str>, &ModelValue)| {
            host.facts.get(name).is_none()
                && slot
                    .and_then(|slot| inventory.host_value(slot, name))
                    .as_ref()
                    == Some(*value)
        };
        let set = row.facts.set.values().filter(is_default);
        let defaults: Vec<Arc<str>> = set.map(|(name, _)| name.clone()).collect();
        for name in measured.iter().chain(&defaults) {
            row.facts.set.unset(name);
            row.facts.set.take_rows(name);
        }
        replaces(&mut row.facts, &host.facts);
        let is_given = |name: &str| {
            let column = inventory.schema().column("hosts", name);
            column.is_none_or(|column| column.source == Source::Given)
        };
        let unset = &mut row.facts.unset;
        unset.retain(|name| is_given(name) && !measured.contains(name));
    }

    /// Change what is different of an entity.
    ///
    /// # Errors
    /// If there is none, it is not as the caller takes it to be, or something does not go
    /// together with the cluster as it is.
    pub fn change_entity(
        &mut self,
        kind: EntityKind,
        id: &str,
        changes: InventoryChanges,
        condition: Condition,
    ) -> Result<Changed, DeploymentError> {
        match self.check(kind, id, condition)? {
            true => self.change_one(changes),
            false => Err(self.no_entity(kind, id)),
        }
    }

    /// Take an entity out. A VM runs no more, and has no place reserved any more.
    ///
    /// # Errors
    /// If there is none, it is not as the caller takes it to be, or it is a host that still
    /// has VMs.
    pub fn remove_entity(
        &mut self,
        kind: EntityKind,
        id: &str,
        condition: Condition,
    ) -> Result<(), DeploymentError> {
        if !self.check(kind, id, condition)? {
            return Err(self.no_entity(kind, id));
        }
        let mut gone = Gone::default();
        let list = match kind {
            EntityKind::Host => &mut gone.hosts,
            EntityKind::Vm => &mut gone.vms,
            EntityKind::Group => &mut gone.groups,
            EntityKind::Tenant => &mut gone.tenants,
        };
        list.push(id.into());
        let changes = InventoryChanges {
            gone,
            ..InventoryChanges::default()
        };
        self.change_one(changes).map(|_| ())
    }

    /// Carry out changes of one entity. Whoever sent them knows of no list.
    fn change_one(&mut self, changes: InventoryChanges) -> Result<Changed, DeploymentError> {
        let changed = self.change_and_tell(changes);
        let changed = changed.map_err(DeploymentError::of_one_entry)?;
        // Places on a host that is lost now have ended before anybody is shown it.
        self.note();
        self.tell_host_states();
        Ok(changed)
    }
}

/// What of the `known` facts the change does not give is taken away by it.
fn replaces(change: &mut FactsChange, known: &Facts) {
    let values = known.values().map(|(name, _)| name);
    let names = values.chain(known.tables().map(|(name, _)| name));
    let is_given =
        |name: &Arc<str>| change.set.get(name).is_some() || !change.set.rows(name).is_empty();
    let gone: Vec<Arc<str>> = names.filter(|name| !is_given(name)).cloned().collect();
    change.unset.extend(gone);
}

/// What the change does not give of the group is not there from then on.
fn replaces_group(change: &mut ChangedGroup) -> Result<(), DeploymentError> {
    let group = change.apply(None).map_err(|key| InventoryError::NoRule {
        group: change.id.clone(),
        key,
    })?;
    let rule = |rule| match rule {
        None => RuleChange::Goes,
        Some(GroupRule::Positive { hard }) => RuleChange::Is {
            positive: true,
            hard: Some(hard),
        },
        Some(GroupRule::Negative { hard }) => RuleChange::Is {
            positive: false,
            hard: Some(hard),
        },
    };
    change.vm_rule = rule(group.vm_rule);
    change.host_rule = rule(group.host_rule);
    change.vms.all = Some(group.vms);
    change.hosts.all = Some(group.hosts);
    change.priority = Some(group.priority);
    change.name = Some(group.name);
    change.description = Some(group.description);
    change.vms_of = Some(group.vms_of);
    change.hosts_of = Some(group.hosts_of);
    Ok(())
}

/// A number that tells this text of an entity from others: the first bits of its SHA-256.
fn tag(shown: &Value) -> u64 {
    let digest = Sha256::digest(shown.to_string());
    let first = digest.first_chunk().copied().unwrap_or_default();
    // 0 stands for what is not there.
    u64::from_be_bytes(first).max(1)
}

/// The scores that a VM has for hosts, as documents write them.
pub(super) fn scores(location: &[(Arc<str>, i64)]) -> Value {
    let scores = location.iter();
    let scores = scores.map(|(host, score)| json!({"host": host, "score": score}));
    scores.collect()
}
