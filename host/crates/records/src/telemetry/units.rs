//! Calls, unit by unit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

type Seconds = Counter<f64, AtomicU64>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Unit {
    unit: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Part {
    unit: Arc<str>,
    part: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    unit: Arc<str>,
    part: &'static str,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refused {
    unit: Arc<str>,
    reason: Arc<str>,
}

/// Reasons are named by units. Those of a unit beyond so many are counted together, so that
/// no unit can fill the memory of who collects metrics.
const REASONS: usize = 20;
const OTHER_REASONS: &str = "other";

/// The reasons of each unit that are counted by themselves.
type Reasons = Arc<Mutex<BTreeMap<Arc<str>, BTreeSet<Arc<str>>>>>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct UnitOfCluster {
    unit: Arc<str>,
    cluster: Arc<str>,
}

/// Where units were ever paused.
type Paused = Arc<Mutex<BTreeSet<(Arc<str>, Arc<str>)>>>;

/// What is done about a part of a unit that fails again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaker {
    /// Nothing: it is called.
    Closed,
    /// It is not called for a while.
    Open,
    /// It is called once, to see whether it is well again.
    HalfOpen,
}

impl Breaker {
    const ALL: [Self; 3] = [Self::Closed, Self::Open, Self::HalfOpen];

    fn word(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        }
    }
}

/// Metrics of units.
#[derive(Debug, Clone)]
pub struct UnitFamilies {
    calls: Family<Unit, Counter>,
    rows: Family<Unit, Counter>,
    reused: Family<Unit, Counter>,
    seconds: Family<Unit, Seconds>,
    failures: Family<Part, Counter>,
    pauses: Family<Part, Counter>,
    state: Family<State, Gauge>,
    paused: Family<UnitOfCluster, Gauge>,
    decisions_refused: Family<Unit, Counter>,
    hosts_refused: Family<Refused, Counter>,
    reasons: Reasons,
    ever_paused: Paused,
}

impl UnitFamilies {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let families = Self {
            calls: Family::default(),
            rows: Family::default(),
            reused: Family::default(),
            seconds: Family::default(),
            failures: Family::default(),
            pauses: Family::default(),
            state: Family::default(),
            paused: Family::default(),
            decisions_refused: Family::default(),
            hosts_refused: Family::default(),
            reasons: Reasons::default(),
            ever_paused: Paused::default(),
        };
        registry.register("unit_calls", "Calls of the unit", families.calls.clone());
        registry.register(
            "unit_rows",
            "Rows that the unit was asked about",
            families.rows.clone(),
        );
        registry.register(
            "unit_rows_reused",
            "Rows that were answered from the cache",
            families.reused.clone(),
        );
        registry.register(
            "unit_seconds",
            "Time inside calls of the unit",
            families.seconds.clone(),
        );
        registry.register(
            "unit_failures",
            "Calls that failed, by part",
            families.failures.clone(),
        );
        registry.register(
            "unit_pauses",
            "How often a part was paused because it kept failing",
            families.pauses.clone(),
        );
        registry.register(
            "unit_decisions_refused",
            "Decisions that found no host, and in which the unit removed some",
            families.decisions_refused.clone(),
        );
        registry.register(
            "unit_hosts_refused",
            "Hosts that the unit removed in decisions that found none, by reason",
            families.hosts_refused.clone(),
        );
        registry.register(
            "unit_state",
            "1 for the state of the part's breaker, 0 for the others",
            families.state.clone(),
        );
        registry.register(
            "unit_paused",
            "1 while a unit that keeps failing is not called in the cluster, else 0",
            families.paused.clone(),
        );
        families
    }

    /// The metrics of one unit.
    pub fn of(&self, unit: &str) -> UnitMeter {
        let name: Arc<str> = unit.into();
        let label = Unit { unit: name.clone() };
        UnitMeter {
            calls: self.calls.get_or_create_owned(&label),
            rows: self.rows.get_or_create_owned(&label),
            reused: self.reused.get_or_create_owned(&label),
            seconds: self.seconds.get_or_create_owned(&label),
            failures: self.failures.clone(),
            pauses: self.pauses.clone(),
            state: self.state.clone(),
            paused: self.paused.clone(),
            ever_paused: self.ever_paused.clone(),
            unit: name,
        }
    }

    /// A decision has found no host. Of the units, each of these removed so many hosts for
    /// one reason; a unit may be there with several.
    pub fn refused<'a>(&self, by: impl IntoIterator<Item = (&'a str, &'a str, u64)>) {
        let mut reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        let mut units = BTreeSet::new();
        for (unit, reason, hosts) in by {
            let unit: Arc<str> = unit.into();
            let known = reasons.entry(unit.clone()).or_default();
            let reason: Arc<str> = match known.get(reason) {
                Some(known) => known.clone(),
                None if known.len() < REASONS => reason.into(),
                None => OTHER_REASONS.into(),
            };
            known.insert(reason.clone());
            units.insert(unit.clone());
            let labels = Refused { unit, reason };
            self.hosts_refused.get_or_create(&labels).inc_by(hosts);
        }
        for unit in units {
            self.decisions_refused.get_or_create(&Unit { unit }).inc();
        }
    }

    /// A cluster is no more: no unit is paused in it.
    pub fn forget_cluster(&self, cluster: &str) {
        let mut ever = self
            .ever_paused
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        ever.retain(|(of, unit)| {
            let is_other = **of != *cluster;
            if !is_other {
                self.paused.remove(&UnitOfCluster {
                    unit: unit.clone(),
                    cluster: of.clone(),
                });
            }
            is_other
        });
    }

    /// A unit is no more: its metrics end. `parts` are those that it had.
    pub fn forget(&self, unit: &str, parts: impl IntoIterator<Item = &'static str>) {
        let unit: Arc<str> = unit.into();
        for part in parts {
            let failed = Part {
                unit: unit.clone(),
                part,
            };
            self.failures.remove(&failed);
            self.pauses.remove(&failed);
            for state in Breaker::ALL {
                self.state.remove(&State {
                    unit: unit.clone(),
                    part,
                    state: state.word(),
                });
            }
        }
        let mut reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        for reason in reasons.remove(&unit).unwrap_or_default() {
            let unit = unit.clone();
            self.hosts_refused.remove(&Refused { unit, reason });
        }
        drop(reasons);
        let mut ever = self
            .ever_paused
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        ever.retain(|(cluster, of)| {
            let is_other = *of != unit;
            if !is_other {
                self.paused.remove(&UnitOfCluster {
                    unit: of.clone(),
                    cluster: cluster.clone(),
                });
            }
            is_other
        });
        drop(ever);
        let label = Unit { unit };
        for counters in [
            &self.calls,
            &self.rows,
            &self.reused,
            &self.decisions_refused,
        ] {
            counters.remove(&label);
        }
        self.seconds.remove(&label);
    }
}

/// Counts for one unit.
#[derive(Debug, Clone)]
pub struct UnitMeter {
    unit: Arc<str>,
    calls: Counter,
    rows: Counter,
    reused: Counter,
    seconds: Seconds,
    failures: Family<Part, Counter>,
    pauses: Family<Part, Counter>,
    state: Family<State, Gauge>,
    paused: Family<UnitOfCluster, Gauge>,
    ever_paused: Paused,
}

impl UnitMeter {
    /// The unit has worked: so many calls about so many rows, which took so long
    /// together; for so many rows kept answers were taken.
    pub fn worked(&self, calls: u64, rows: u64, reused: u64, took: Duration) {
        self.calls.inc_by(calls);
        self.rows.inc_by(rows);
        self.reused.inc_by(reused);
        self.seconds.inc_by(took.as_secs_f64());
    }

    /// A call of a part has failed.
    pub fn failed(&self, part: &'static str) {
        let unit = self.unit.clone();
        self.failures.get_or_create(&Part { unit, part }).inc();
    }

    /// Whether the unit is not called in a cluster for a while.
    pub fn paused(&self, cluster: &Arc<str>, paused: bool) {
        let labels = UnitOfCluster {
            unit: self.unit.clone(),
            cluster: cluster.clone(),
        };
        let mut ever = self
            .ever_paused
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        ever.insert((labels.cluster.clone(), labels.unit.clone()));
        self.paused.get_or_create(&labels).set(i64::from(paused));
    }

    /// The breaker of a part has changed to this state.
    pub fn breaker(&self, part: &'static str, now: Breaker) {
        if now == Breaker::Open {
            let unit = self.unit.clone();
            self.pauses.get_or_create(&Part { unit, part }).inc();
        }
        for state in Breaker::ALL {
            let labels = State {
                unit: self.unit.clone(),
                part,
                state: state.word(),
            };
            self.state
                .get_or_create(&labels)
                .set(i64::from(state == now));
        }
    }
}
