//! What clusters have, and what of it is promised, as it is when metrics are asked for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

type Amounts = Family<Label, Gauge<f64, AtomicU64>>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Label {
    cluster: Arc<str>,
    amount: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    cluster: Arc<str>,
    state: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Measured {
    cluster: Arc<str>,
    statistics: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Age {
    cluster: Arc<str>,
    host: &'static str,
}

/// How fresh is what was measured of the hosts that are up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatisticsAge {
    /// Hosts of which all that was measured counts.
    pub current: usize,
    /// Hosts of which something was measured too long ago to count.
    pub outdated: usize,
    /// Hosts of which nothing was ever measured.
    pub none: usize,
    /// Of the host that was measured last: seconds since then.
    pub newest: Option<i64>,
    /// Of the host that has not been measured for the longest time: seconds since it was.
    pub oldest: Option<i64>,
}

/// What a cluster has of one resource.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Capacity {
    /// What its hosts have that are up.
    pub total: f64,
    /// What these may promise.
    pub promisable: f64,
    /// What is promised to VMs that run there.
    pub promised: f64,
    /// What is promised to VMs that have a place reserved there.
    pub reserved: f64,
    /// What was measured to be in use, where it was measured.
    pub used: Option<f64>,
}

impl Capacity {
    /// What may still be promised; less than 0 where more was promised than may be.
    pub fn free(&self) -> f64 {
        self.promisable - self.promised - self.reserved
    }
}

/// What a cluster has of every resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterCapacity {
    /// Name of the cluster.
    pub cluster: Arc<str>,
    /// How many hosts are in each state.
    pub hosts: BTreeMap<Arc<str>, usize>,
    /// In cores.
    pub cpu: Capacity,
    /// In bytes.
    pub memory: Capacity,
    /// In whole GPUs.
    pub gpus: Capacity,
    /// How fresh its statistics are.
    pub statistics: StatisticsAge,
}

/// Metrics of what clusters have.
#[derive(Debug)]
pub(super) struct CapacityFamilies {
    cpu: Amounts,
    memory: Amounts,
    gpus: Amounts,
    hosts: Family<State, Gauge>,
    statistics: Family<Measured, Gauge>,
    ages: Family<Age, Gauge>,
}

impl CapacityFamilies {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let families = Self {
            cpu: Family::default(),
            memory: Family::default(),
            gpus: Family::default(),
            hosts: Family::default(),
            statistics: Family::default(),
            ages: Family::default(),
        };
        for (name, of, family) in [
            ("cpu_cores", "CPU in cores", &families.cpu),
            ("memory_bytes", "Memory in bytes", &families.memory),
            ("gpus", "GPUs", &families.gpus),
        ] {
            let help = format!(
                "{of} of the hosts that are up: total, promisable, promised to VMs that run, reserved, free to promise, and used as measured"
            );
            registry.register(name, help, family.clone());
        }
        registry.register(
            "hosts_in_state",
            "Hosts of the cluster, by their state",
            families.hosts.clone(),
        );
        registry.register(
            "hosts_with_statistics",
            "Hosts that are up, by whether what was measured of them counts: current, outdated (some of it no longer does), or none was measured",
            families.statistics.clone(),
        );
        registry.register(
            "statistics_age_seconds",
            "Seconds since a host that is up was measured: the host that was measured last (newest), and the one that was not for the longest time (oldest)",
            families.ages.clone(),
        );
        families
    }

    /// These clusters and no others.
    pub(super) fn set(&self, clusters: &[ClusterCapacity]) {
        for family in [&self.cpu, &self.memory, &self.gpus] {
            family.clear();
        }
        self.hosts.clear();
        self.statistics.clear();
        self.ages.clear();
        for of in clusters {
            set(&self.cpu, &of.cluster, &of.cpu);
            set(&self.memory, &of.cluster, &of.memory);
            set(&self.gpus, &of.cluster, &of.gpus);
            for (state, hosts) in &of.hosts {
                let label = State {
                    cluster: of.cluster.clone(),
                    state: state.clone(),
                };
                let hosts = i64::try_from(*hosts).unwrap_or(i64::MAX);
                self.hosts.get_or_create(&label).set(hosts);
            }
            self.set_statistics(&of.cluster, &of.statistics);
        }
    }

    fn set_statistics(&self, cluster: &Arc<str>, of: &StatisticsAge) {
        let hosts = [
            ("current", of.current),
            ("outdated", of.outdated),
            ("none", of.none),
        ];
        for (statistics, hosts) in hosts {
            let label = Measured {
                cluster: cluster.clone(),
                statistics,
            };
            let hosts = i64::try_from(hosts).unwrap_or(i64::MAX);
            self.statistics.get_or_create(&label).set(hosts);
        }
        for (host, age) in [("newest", of.newest), ("oldest", of.oldest)] {
            let Some(age) = age else { continue };
            let label = Age {
                cluster: cluster.clone(),
                host,
            };
            self.ages.get_or_create(&label).set(age);
        }
    }
}

fn set(family: &Amounts, cluster: &Arc<str>, capacity: &Capacity) {
    let amounts = [
        ("total", Some(capacity.total)),
        ("promisable", Some(capacity.promisable)),
        ("promised", Some(capacity.promised)),
        ("reserved", Some(capacity.reserved)),
        ("free", Some(capacity.free())),
        ("used", capacity.used),
    ];
    for (amount, value) in amounts {
        let Some(value) = value else { continue };
        let label = Label {
            cluster: cluster.clone(),
            amount,
        };
        family.get_or_create(&label).set(value);
    }
}
