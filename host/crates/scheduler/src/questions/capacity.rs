//! How many more of one shape fit, and what stops the next one.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::{QuestionError, Situation, reasons};
use crate::place;
use crate::{PlaceError, QuotaRefusal, RemovedHosts, check_named_hosts, check_named_vms};
use placewright_inventory::Inventory;
use placewright_model::{Group, Request};

/// How many copies a search for room places at most where nobody says.
pub const USUAL_CAPACITY: usize = 10_000;

/// How many more fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Capacity {
    /// The VMs of the request, of which copies are placed.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["web-3"])))]
    pub vms: Vec<Arc<str>>,
    /// How many times the request finds a host.
    #[cfg_attr(feature = "openapi", schema(example = 14))]
    pub fit: usize,
    /// Whether the search ended at its bound: then more may fit.
    pub bounded: bool,
    /// How many go where; hosts that take none are left out. By id of the host.
    pub hosts: Vec<Filled>,
    /// If a quota does not allow the next one: which, what is held with those that fit, and what
    /// limits it. No host is looked for then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = QuotaRefusal))]
    pub refused_by_quota: Option<Box<QuotaRefusal>>,
    /// How many hosts the next one would be refused by; 0 if a quota does.
    #[cfg_attr(feature = "openapi", schema(example = 12))]
    pub considered: usize,
    /// What stops the next one, in policy order; empty if the bound or a quota does.
    pub stopped_by: Vec<RemovedHosts>,
    /// What the next one names and no host of the cluster has, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(example = json!(["VM \"web-3\" has no \"memory\": it counts as 0"])))]
    pub warnings: Vec<String>,
}

/// How many of the copies go to a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = HostCapacity))]
pub struct Filled {
    /// Id of the host.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "h1"))]
    pub host: Arc<str>,
    /// How many more VMs of the shape it takes.
    #[cfg_attr(feature = "openapi", schema(example = 14))]
    pub fit: usize,
}

impl Situation<'_> {
    /// Place copies of the request one after the other, each seeing those before it,
    /// until one finds no host, a quota does not allow it, or `at_most` have found one. Copies belong to the
    /// groups and tenants of what they are copies of, and run nowhere yet; what they
    /// are copies of keeps its place, if it has one.
    ///
    /// # Errors
    /// If there is no decision for a copy, or the request forces a host.
    pub fn capacity(&self, request: &Request, at_most: usize) -> Result<Capacity, QuestionError> {
        if request.forced.is_some() {
            return Err(QuestionError::ForcedCapacity);
        }
        check_named_vms(self.inventory, &request.named)?;
        check_named_hosts(self.inventory, &request.members)?;
        let mut scheduler = self.scheduler(self.policy.clone())?;
        scheduler.options.quotas = self.options.quotas.tried();
        let template = known(self.inventory, request);
        let mut hosts: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        let mut capacity = Capacity {
            vms: request.members.iter().map(|vm| vm.id.clone()).collect(),
            fit: 0,
            bounded: false,
            hosts: Vec::new(),
            refused_by_quota: None,
            considered: 0,
            stopped_by: Vec::new(),
            warnings: Vec::new(),
        };
        for number in 1.. {
            if capacity.fit == at_most {
                capacity.bounded = true;
                break;
            }
            let copy = copy(&template, number, scheduler.inventory_mut())?;
            let decision = scheduler.place(copy)?;
            capacity.considered = decision.decided.considered;
            match &decision.host {
                Some(host) => *hosts.entry(host.clone()).or_default() += 1,
                None => {
                    capacity.refused_by_quota.clone_from(&decision.refused);
                    capacity.stopped_by = reasons(&decision);
                    capacity.warnings.clone_from(&decision.unknown);
                    break;
                }
            }
            capacity.fit += 1;
        }
        let filled = hosts.into_iter();
        capacity.hosts = filled.map(|(host, fit)| Filled { host, fit }).collect();
        Ok(capacity)
    }
}

/// The request, with what the inventory knows of its members: of these it gives what is to be
/// different.
fn known(inventory: &Inventory, request: &Request) -> Request {
    let mut request = request.clone();
    for member in &mut request.members {
        let places = [inventory.running(&member.id), inventory.pending(&member.id)];
        if let Some(entry) = places.into_iter().flatten().next() {
            let unset = request.unset.get(&member.id);
            place::known_as(&entry.vm, member, unset.map_or(&[], Vec::as_slice));
        }
    }
    request.dry_run = false;
    // Copies have ids of their own.
    request.named.clear();
    request.unset.clear();
    request
}

/// A copy of the request: VMs of new ids, in the groups of the old ones.
fn copy(template: &Request, number: usize, world: &mut Inventory) -> Result<Request, PlaceError> {
    let mut copy = template.clone();
    for member in &mut copy.members {
        let original = member.id.clone();
        member.id = free_id(&original, number, world);
        let groups: Vec<Group> = world
            .groups_of(&original)
            .map(|entry| entry.group.clone())
            .collect();
        world.group_together(|world| {
            groups.into_iter().try_for_each(|mut group| {
                group.vms.push(member.id.clone());
                world.set_group(group)
            })
        })?;
    }
    Ok(copy)
}

/// An id that no VM of the cluster has.
fn free_id(original: &str, number: usize, world: &Inventory) -> Arc<str> {
    let mut id = format!("{original}+{number}");
    while world.running(&id).is_some() || world.pending(&id).is_some() {
        id.push('\'');
    }
    id.into()
}
