//! A cluster at a glance: what its hosts have together, and columns of its hosts.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Snapshot;
use placewright_inventory::{HostEntry, Inventory, VmEntry};
use placewright_model::schema::Schema;
use placewright_model::{HostState, Rfc3339, Value as Cell, Word, nearest};
use placewright_records::telemetry::{Capacity, ClusterCapacity, StatisticsAge};

/// What a cluster has, and what of it is promised.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterSums {
    /// How many hosts are in each state.
    pub hosts: BTreeMap<String, usize>,
    /// VMs that run.
    #[schema(example = 180)]
    pub vms: usize,
    /// VMs that have a place reserved.
    #[schema(example = 2)]
    pub pending: usize,
    /// CPU of the hosts that are up, in cores.
    pub cpu: MeasureSums,
    /// Memory of the hosts that are up, in bytes.
    pub memory: MeasureSums,
    /// GPUs of the hosts that are up.
    pub gpus: MeasureSums,
    /// VMs that run on hosts that are not up.
    #[schema(example = 0)]
    pub vms_not_up: usize,
    /// When the next reservation ends, in seconds since 1970-01-01 UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 1764000300)]
    pub next_expiry: Option<i64>,
    /// The same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_expiry_time: Option<Rfc3339>,
}

/// An amount of which hosts have so much, and have promised so much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MeasureSums {
    /// What the hosts have.
    #[schema(example = 640.0)]
    pub total: f64,
    /// What may be promised of them: the total times the overcommit of the hosts, or that of the policy,
    /// without what hosts reserve for themselves.
    #[schema(example = 960.0)]
    pub promisable: f64,
    /// What is promised to VMs that run.
    #[schema(example = 412.5)]
    pub committed: f64,
    /// What is promised to VMs that have a place reserved.
    #[schema(example = 8.0)]
    pub reserved: f64,
    /// What was measured to be in use, of hosts for which it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 190.25)]
    pub used: Option<f64>,
}

/// Columns of hosts.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct HostColumns {
    /// How often the rows of the inventory have changed.
    #[schema(example = 912)]
    pub revision: u64,
    /// By the names of the columns their values, of one host after the other in the order of
    /// their ids; null where a host has none.
    #[schema(value_type = BTreeMap<String, Vec<Value>>)]
    pub columns: BTreeMap<String, Vec<Value>>,
    /// How much of the CPU of hosts without `cpu.overcommit` may be promised, 1 = all of it once: the
    /// least that a filter of the policy in force has as its setting `overcommit`. Absent where none
    /// has one; 1 is counted then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 2.0)]
    pub cpu_overcommit: Option<f64>,
}

impl Snapshot {
    /// What the cluster has, and what of it is promised.
    pub fn sums(&self) -> ClusterSums {
        let inventory = self.inventory();
        let cpu_overcommit = self.cpu_overcommit();
        let mut hosts = BTreeMap::new();
        let (mut cpu, mut memory) = (MeasureSums::default(), MeasureSums::default());
        let mut gpus = MeasureSums::default();
        let mut vms_not_up = 0;
        for (slot, host) in inventory.hosts() {
            let state = inventory.host_state(slot);
            *hosts.entry(state.word().to_owned()).or_default() += 1;
            if state == HostState::Up {
                let of = HostAmounts {
                    inventory,
                    slot,
                    cpu_overcommit,
                };
                cpu.add(of.cpu());
                memory.add(of.memory());
                gpus.add(gpus_of(inventory, host));
            } else {
                let running = inventory.vms_of(host).filter(|entry| !entry.pending);
                vms_not_up += running.count();
            }
        }
        ClusterSums {
            hosts,
            vms: inventory.running_count(),
            pending: inventory.pending_count(),
            cpu,
            memory,
            gpus,
            vms_not_up,
            next_expiry: inventory.next_expiry(),
            next_expiry_time: inventory.next_expiry().map(Rfc3339),
        }
    }

    /// What the cluster has at `now` (seconds), for metrics.
    pub fn capacity(&self, now: i64) -> ClusterCapacity {
        let sums = self.sums();
        let hosts = sums.hosts.into_iter();
        ClusterCapacity {
            cluster: self.inventory().name().clone(),
            hosts: hosts.map(|(state, hosts)| (state.into(), hosts)).collect(),
            cpu: sums.cpu.capacity(),
            memory: sums.memory.capacity(),
            gpus: sums.gpus.capacity(),
            statistics: self.statistics_age(now),
        }
    }

    /// How long ago the hosts that are up were measured.
    fn statistics_age(&self, now: i64) -> StatisticsAge {
        let inventory = self.inventory();
        let mut age = StatisticsAge::default();
        for (slot, host) in inventory.hosts() {
            if inventory.host_state(slot) != HostState::Up {
                continue;
            }
            let outdated = inventory.measured(host).any(|it| it.outdated);
            let last = inventory.measured(host).map(|it| it.measured).max();
            let Some(last) = last else {
                age.none += 1;
                continue;
            };
            match outdated {
                true => age.outdated += 1,
                false => age.current += 1,
            }
            let since = now.saturating_sub(last).max(0);
            age.newest = Some(age.newest.map_or(since, |newest| newest.min(since)));
            age.oldest = Some(age.oldest.map_or(since, |oldest| oldest.max(since)));
        }
        age
    }

    /// These columns of all hosts.
    ///
    /// # Errors
    /// The name that hosts have no column of, and the one that was probably meant.
    pub fn host_columns(&self, names: &[String]) -> Result<HostColumns, (String, Option<String>)> {
        let inventory = self.inventory();
        let schema = inventory.schema();
        let mut hosts: Vec<(&Arc<str>, u32)> = inventory
            .hosts()
            .map(|(slot, host)| (&host.id, slot))
            .collect();
        hosts.sort_unstable();
        let mut columns = BTreeMap::new();
        for name in names {
            let Some(column) = schema.column("hosts", name) else {
                return Err((name.clone(), near(schema, name)));
            };
            let values = hosts.iter().map(|(id, slot)| match &**name {
                "id" => json!(id),
                _ => {
                    let value = inventory.host_value(*slot, name);
                    json!(value.map(|value| column.written(&value)))
                }
            });
            columns.insert(name.clone(), values.collect());
        }
        Ok(HostColumns {
            revision: self.revision(),
            columns,
            cpu_overcommit: self.cpu_overcommit(),
        })
    }
}

fn near(schema: &Schema, name: &str) -> Option<String> {
    let columns = &schema.table("hosts")?.columns;
    nearest(name, columns.iter().map(|column| &*column.name)).map(str::to_owned)
}

/// Thousandths of a GPU.
const WHOLE_GPU: i64 = 1000;

/// The GPUs of a host.
fn gpus_of(inventory: &Inventory, host: &HostEntry) -> MeasureSums {
    let total = host.facts.rows("gpus").len() as f64;
    let mut sums = MeasureSums {
        total,
        promisable: total,
        ..MeasureSums::default()
    };
    for entry in inventory.vms_of(host) {
        let taken = gpus_taken(entry);
        if !entry.pending {
            sums.committed += taken;
            continue;
        }
        // Who is to run here with other amounts takes what it does not hold yet. It is looked up by its id:
        // a host may have very many VMs.
        let held = inventory.running(&entry.vm.id);
        let held = held.filter(|other| other.slot == entry.slot);
        sums.reserved += (taken - held.map_or(0.0, gpus_taken)).max(0.0);
    }
    sums
}

/// What a VM takes of GPUs: of those that it is known to have been given, and of others that it
/// needs besides.
fn gpus_taken(entry: &VmEntry) -> f64 {
    let rows = entry.placed_rows("gpus");
    let given = rows.iter().filter_map(|row| row.integer("share"));
    let given = given.fold(0_i64, i64::saturating_add);
    let known = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let others = entry.shape.gpus.saturating_sub(known).max(0);
    given.saturating_add(others.saturating_mul(entry.shape.gpu_share)) as f64 / WHOLE_GPU as f64
}

impl MeasureSums {
    fn capacity(&self) -> Capacity {
        Capacity {
            total: self.total,
            promisable: self.promisable,
            promised: self.committed,
            reserved: self.reserved,
            used: self.used,
        }
    }

    fn add(&mut self, other: Self) {
        self.total += other.total;
        self.promisable += other.promisable;
        self.committed += other.committed;
        self.reserved += other.reserved;
        if let Some(used) = other.used {
            *self.used.get_or_insert(0.0) += used;
        }
    }
}

/// What one host has.
struct HostAmounts<'i> {
    inventory: &'i Inventory,
    slot: u32,
    /// What the policy says of hosts that say nothing.
    cpu_overcommit: Option<f64>,
}

impl HostAmounts<'_> {
    fn amount(&self, column: &str) -> Option<f64> {
        match self.inventory.host_value(self.slot, column)? {
            Cell::Integer(amount) => Some(amount as f64),
            Cell::Number(amount) => Some(amount),
            Cell::Boolean(_) | Cell::Text(_) => None,
        }
    }

    fn or_zero(&self, column: &str) -> f64 {
        self.amount(column).unwrap_or(0.0)
    }

    /// In cores.
    fn cpu(&self) -> MeasureSums {
        let cores = |column| self.or_zero(column) / 1000.0;
        let total = cores("cpu.total");
        let overcommit = self.amount("cpu.overcommit").or(self.cpu_overcommit);
        MeasureSums {
            total,
            promisable: total * overcommit.unwrap_or(1.0),
            committed: cores("cpu.committed"),
            reserved: cores("cpu.pending"),
            used: self.amount("cpu.usage").map(|share| share * total),
        }
    }

    /// In bytes.
    fn memory(&self) -> MeasureSums {
        let total = self.or_zero("memory.total");
        let own = self.or_zero("memory.reserved");
        MeasureSums {
            total,
            promisable: (total * self.amount("memory.overcommit").unwrap_or(1.0) - own).max(0.0),
            committed: self.or_zero("memory.committed"),
            reserved: self.or_zero("memory.pending"),
            used: self
                .amount("memory.free")
                .map(|free| (total - free).max(0.0)),
        }
    }
}
