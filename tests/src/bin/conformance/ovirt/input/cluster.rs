//! An input as a cluster, and what is asked of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Group, GroupRule, Host, Kind, Request, Vm};

use super::host::OVER_COMMITTED;
use super::vm::set;
use super::{GroupInput, HostInput, Input, Pending, PendingKind, Rule, VmInput, bytes};

/// Since this version of a cluster, labels are no affinity groups any more.
const LABELS_ARE_GROUPS_BELOW: (u32, u32) = (4, 4);

/// What oVirt knows and we leave to operators: attributes.
const ATTRIBUTES: &[(&str, &str, Kind)] = &[
    ("hosts", "spm", Kind::Boolean),
    ("hosts", OVER_COMMITTED, Kind::Integer),
    ("vms", "compatibility-version", Kind::Text),
    ("vms", "cpu-passthrough", Kind::Boolean),
    ("vms", "lease", Kind::Text),
    ("vms", "migration-domain", Kind::Text),
    ("vms", "migration-support", Kind::Text),
    ("vms", "sap-agent", Kind::Boolean),
    ("clusters", "ha-reservation", Kind::Boolean),
];

impl Input {
    /// The cluster: candidates are up, all other hosts are not; VMs run, or have
    /// places reserved.
    ///
    /// # Errors
    /// What contradicts itself, or cannot be said to an inventory.
    pub(crate) fn inventory(&self) -> Result<Inventory, String> {
        self.check_ids()?;
        let name = self.cluster.id.as_deref().unwrap_or("cluster");
        let mut inventory = Inventory::new(name, Arc::new(schema()?));
        let refused = |error: &dyn std::fmt::Display| format!("input: {error}");
        inventory
            .set_facts(self.facts())
            .map_err(|error| refused(&error))?;
        let pending = self.pending_vms()?;
        for host in self.all_hosts(&pending)? {
            inventory.add_host(host).map_err(|error| refused(&error))?;
        }
        for (vm, host) in self.running()? {
            inventory
                .run_vm(vm, host)
                .map_err(|error| refused(&error))?;
        }
        for (vm, host) in pending {
            let reserved = inventory.reserve_vm(Arc::new(vm), host, None);
            reserved.map_err(|error| refused(&error))?;
        }
        for group in self.groups()? {
            inventory
                .set_group(group)
                .map_err(|error| refused(&error))?;
        }
        inventory.advance(self.now()?);
        Ok(inventory)
    }

    /// The request to place the scheduled VMs together; nothing is reserved.
    ///
    /// # Errors
    /// What contradicts itself.
    pub(crate) fn request(&self) -> Result<Request, String> {
        let member = |id: &String| {
            let known = self.vm(id);
            let known = known.ok_or_else(|| format!("field input.schedule: no VM \"{id}\""))?;
            known.vm()
        };
        Ok(Request {
            members: self.schedule.iter().map(member).collect::<Result<_, _>>()?,
            now: self.now()?,
            dry_run: true,
            ..Request::default()
        })
    }

    /// Ids of a kind are given, and no two are the same.
    fn check_ids(&self) -> Result<(), String> {
        let hosts = self.hosts.iter().chain(&self.other_hosts);
        let hosts = hosts.map(|host| host.id.as_str()).collect();
        let vms = self.vms.iter().map(|vm| vm.id.as_str()).collect();
        let groups = self.affinity_groups.iter().map(|group| group.id.as_str());
        let groups = groups.collect();
        for (field, ids) in [("hosts", hosts), ("vms", vms), ("affinity_groups", groups)] {
            let mut known = BTreeSet::new();
            let ids: Vec<&str> = ids;
            for id in ids {
                if id.is_empty() {
                    return Err(format!("field input.{field}: an id is empty"));
                }
                if !known.insert(id) {
                    return Err(format!("field input.{field}: \"{id}\" is there twice"));
                }
            }
        }
        Ok(())
    }

    fn vm(&self, id: &str) -> Option<&VmInput> {
        self.vms.iter().find(|vm| vm.id == id)
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        let reservation = self.cluster.ha_reservation;
        set(&mut facts, "attribute.ha-reservation", reservation);
        for network in &self.networks {
            let mut row = Facts::new().with("name", network.name.as_str());
            set(&mut row, "required", network.required);
            set(&mut row, "display", network.display);
            facts.push_row("networks", row);
        }
        facts
    }

    /// All hosts that are described or only named: by VMs, groups or reservations.
    fn all_hosts(&self, pending: &[(Vm, &str)]) -> Result<Vec<Host>, String> {
        let mut hosts = Vec::new();
        for host in &self.hosts {
            hosts.push(self.host(host, pending)?);
        }
        let described = self.hosts.iter().chain(&self.other_hosts);
        let described: BTreeSet<&str> = described.map(|host| host.id.as_str()).collect();
        let groups = self.affinity_groups.iter().map(|group| &group.hosts);
        let labels = self.labels.iter().map(|label| &label.hosts);
        let of_vms = self.vms.iter().filter_map(|vm| vm.run_on.as_deref());
        let named = groups.chain(labels).flatten().map(String::as_str);
        let named = named
            .chain(of_vms)
            .chain(pending.iter().map(|(_, host)| *host));
        let named: BTreeSet<&str> = named.filter(|id| !described.contains(id)).collect();
        let named = named.into_iter().map(|id| HostInput {
            id: id.to_owned(),
            ..HostInput::default()
        });
        for host in self.other_hosts.iter().cloned().chain(named) {
            let mut host = self.host(&host, pending)?;
            host.facts.set("state", "maintenance");
            hosts.push(host);
        }
        Ok(hosts)
    }

    /// A host, with what the vector says that its VMs add up to. The inventory adds
    /// up those of the vector itself: what is given is what is more than these.
    fn host(&self, input: &HostInput, pending: &[(Vm, &str)]) -> Result<Host, String> {
        let mut host = input.host(&self.networks)?;
        let running: Vec<&VmInput> = self
            .vms
            .iter()
            .filter(|vm| vm.run_on.as_deref() == Some(&input.id))
            .collect();
        let ha = running.iter().filter(|vm| vm.ha == Some(true)).count();
        // Where the number of active VMs matters, it is the one that is counted.
        let vms = match input.vm_active {
            Some(active) => ("vm_active", Some(active)),
            None => ("vm_count", input.vm_count),
        };
        for (column, (field, total), own) in [
            ("vms.count", vms, running.len()),
            ("vms.ha", ("ha_vms", input.ha_vms), ha),
            ("vms.migrating", ("vm_migrating", input.vm_migrating), 0),
        ] {
            let Some(total) = total else { continue };
            let others = i64::try_from(own).map_or(-1, |own| total - own);
            if others < 0 {
                let field = input.field(field);
                return Err(format!(
                    "field input.{field}: {own} VMs of the vector are there"
                ));
            }
            host.facts.set(column, others);
        }
        let mut taken = 0i64;
        for vm in &running {
            let field = format!("vms[{}].mem_mb", vm.id);
            taken = taken.saturating_add(bytes(&field, vm.mem_mb.unwrap_or(0))?);
        }
        let pending = pending.iter().filter(|(_, host)| **host == input.id);
        let pending = pending.map(|(vm, _)| vm.facts.integer("memory").unwrap_or(0));
        let mut missing = 0i64;
        for (column, field, total, own) in [
            (
                "memory.committed",
                "mem_committed_mb",
                input.mem_committed_mb,
                taken,
            ),
            (
                "memory.pending",
                "mem_pending_mb",
                input.mem_pending_mb,
                pending.sum(),
            ),
        ] {
            let Some(total) = input.bytes(field, total)? else {
                continue;
            };
            host.facts.set(column, (total - own).max(0));
            missing += (own - total).max(0);
        }
        make_up(&mut host.facts, missing);
        Ok(host)
    }

    /// The VMs that run, each with its host.
    fn running(&self) -> Result<Vec<(Vm, &str)>, String> {
        let mut running = Vec::new();
        for input in &self.vms {
            if let Some(host) = &input.run_on {
                running.push((input.vm()?, host.as_str()));
            }
        }
        Ok(running)
    }

    /// The VMs that have a place reserved, each with its host. Huge pages that are
    /// reserved are those that the VM needs.
    fn pending_vms(&self) -> Result<Vec<(Vm, &str)>, String> {
        let mut places: Vec<(Vm, &str)> = Vec::new();
        for pending in &self.pending {
            let place = places.iter().position(|(vm, _)| *vm.id == *pending.vm);
            let place = match place {
                Some(place) => place,
                None => {
                    let vm = match self.vm(&pending.vm) {
                        Some(known) => known.vm()?,
                        None => Vm::new(pending.vm.as_str()),
                    };
                    places.push((vm, &pending.host));
                    places.len() - 1
                }
            };
            let (vm, host) = &mut places[place];
            if *host != pending.host {
                return Err(format!(
                    "field input.pending: VM \"{}\" cannot be pending on two hosts",
                    pending.vm
                ));
            }
            if pending.kind == PendingKind::HugePages {
                reserve_pages(&mut vm.facts, pending)?;
            }
        }
        Ok(places)
    }

    /// Affinity groups, and labels where they are affinity groups.
    fn groups(&self) -> Result<Vec<Group>, String> {
        let version = self.cluster.compatibility_version.as_deref();
        let labels = version.map(version_numbers).transpose()?;
        let labels = labels.is_some_and(|version| version < LABELS_ARE_GROUPS_BELOW);
        let labels = self
            .labels
            .iter()
            .enumerate()
            .filter(|(_, label)| labels && label.implicit_affinity);
        let labels = labels.map(|(number, label)| Group {
            vms: shared(&label.vms),
            hosts: shared(&label.hosts),
            vm_rule: None,
            host_rule: Some(GroupRule::Positive { hard: true }),
            priority: 1.0,
            ..Group::new(format!("label-{number}"))
        });
        let groups = self.affinity_groups.iter().map(GroupInput::group);
        Ok(groups.chain(labels).collect())
    }
}

impl GroupInput {
    fn group(&self) -> Group {
        Group {
            vms: shared(&self.vms),
            hosts: shared(&self.hosts),
            vm_rule: rule(self.vm_rule, self.vm_enforcing),
            host_rule: rule(self.host_rule, self.host_enforcing),
            priority: self.priority.unwrap_or(1.0),
            ..Group::new(self.id.as_str())
        }
    }
}

fn rule(rule: Option<Rule>, enforcing: Option<bool>) -> Option<GroupRule> {
    let hard = enforcing == Some(true);
    Some(match rule? {
        Rule::Positive => GroupRule::Positive { hard },
        Rule::Negative => GroupRule::Negative { hard },
    })
}

fn shared(ids: &[String]) -> Vec<Arc<str>> {
    ids.iter().map(|id| id.as_str().into()).collect()
}

fn version_numbers(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once('.');
    let numbers =
        numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    numbers.ok_or_else(|| format!("field input.cluster.compatibility_version: \"{text}\" is none"))
}

/// The pages that are pending are those that the VM says that it needs.
fn reserve_pages(facts: &mut Facts, pending: &Pending) -> Result<(), String> {
    let size = pending.size_kib.and_then(|size| size.checked_mul(1024));
    let (Some(size), Some(count)) = (size, pending.count) else {
        return Err("field input.pending: huge pages need size_kib and count".to_owned());
    };
    let mut rows = facts.take_rows("huge-pages");
    rows.retain(|row| row.integer("size") != Some(size));
    rows.push(Facts::new().with("size", size).with("count", count));
    facts.set_rows("huge-pages", rows);
    Ok(())
}

/// In some of oVirt's fixtures a host has promised less memory than its VMs have. An
/// inventory cannot say that; more physical memory leaves as much to promise.
fn make_up(facts: &mut Facts, missing: i64) {
    if missing > 0 {
        let overcommit = facts.number("memory.overcommit").unwrap_or(1.0);
        let total = facts.integer("memory.total").unwrap_or(0);
        let more = (missing as f64 / overcommit).round() as i64;
        facts.set("memory.total", total.saturating_add(more));
    }
}

fn schema() -> Result<Schema, String> {
    let mut schema = Schema::default();
    for (entity, name, kind) in ATTRIBUTES {
        let defined = schema.define_attribute(entity, name, *kind, None, "As in oVirt");
        defined.map_err(|error| error.to_string())?;
    }
    Ok(schema)
}
