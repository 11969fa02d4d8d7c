//! Decisions, cluster by cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

mod outcomes;

use placewright_model::budget::{Collection, Counted, Payer};

pub use outcomes::{BalanceOutcome, MoveChange, Outcome, ReservationEnd};

/// Reasons are named by units. Those of a cluster beyond so many are counted together,
/// so that no unit can fill the memory of who collects metrics.
const REASONS: usize = 100;
const OTHER_REASONS: &str = "other";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Cluster {
    cluster: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Budget {
    cluster: Arc<str>,
    collection: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    cluster: Arc<str>,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Became {
    cluster: Arc<str>,
    how: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Rejected {
    cluster: Arc<str>,
    reason: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Unheeded {
    cluster: Arc<str>,
    need: Arc<str>,
}

/// Metrics of decisions.
#[derive(Debug)]
pub struct ClusterFamilies {
    decisions: Family<Ended, Counter>,
    balance: Family<Ended, Counter>,
    rejections: Family<Rejected, Counter>,
    causes: Family<Rejected, Counter>,
    unheeded: Family<Unheeded, Counter>,
    waiting: Family<Cluster, Gauge>,
    wait: Family<Cluster, Histogram>,
    chain: Family<Cluster, Histogram>,
    hosts: Family<Cluster, Gauge>,
    vms: Family<Cluster, Gauge>,
    reservations: Family<Cluster, Gauge>,
    bytes: Family<Budget, Gauge>,
    bounds: Family<Budget, Gauge>,
    ended: Family<Became, Counter>,
    moves: Family<Became, Counter>,
    restarts: Family<Became, Counter>,
    stuck: Family<Cluster, Gauge>,
    /// Clusters in which nothing is decided.
    pub broken: Gauge,
}

impl ClusterFamilies {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let families = Self {
            decisions: Family::default(),
            balance: Family::default(),
            rejections: Family::default(),
            causes: Family::default(),
            unheeded: Family::default(),
            waiting: Family::default(),
            wait: Family::new_with_constructor(super::seconds),
            chain: Family::new_with_constructor(super::seconds),
            hosts: Family::default(),
            vms: Family::default(),
            reservations: Family::default(),
            bytes: Family::default(),
            bounds: Family::default(),
            ended: Family::default(),
            moves: Family::default(),
            restarts: Family::default(),
            stuck: Family::default(),
            broken: Gauge::default(),
        };
        registry.register(
            "decisions",
            "Decisions, by how they ended: placed, rejected (no host may run the VM), failed (a unit failed, or a limit of time was reached)",
            families.decisions.clone(),
        );
        registry.register(
            "balance_plans",
            "Plans of moves that were due, by what became of them",
            families.balance.clone(),
        );
        registry.register(
            "rejections",
            "Hosts removed in decisions that found none, by reason",
            families.rejections.clone(),
        );
        registry.register(
            "decisions_rejected",
            "Decisions that found no host, by the reason that removed most of the hosts, or by what a quota did not allow",
            families.causes.clone(),
        );
        registry.register(
            "unheeded_needs",
            "Decisions on requests with a need that no filter of the policy checks",
            families.unheeded.clone(),
        );
        registry.register(
            "decisions_waiting",
            "Requests that wait for their turn",
            families.waiting.clone(),
        );
        registry.register(
            "decision_wait_seconds",
            "How long requests waited for their turn",
            families.wait.clone(),
        );
        registry.register(
            "decision_chain_seconds",
            "How long the chain took, from the turn's begin to the choice",
            families.chain.clone(),
        );
        registry.register("hosts", "Hosts of the cluster", families.hosts.clone());
        registry.register("vms", "VMs that have a place", families.vms.clone());
        registry.register(
            "reservations",
            "Places reserved and not confirmed",
            families.reservations.clone(),
        );
        registry.register(
            "reservations_ended",
            "Reservations that ended, by how: confirmed, expired, released (given back), host-lost (the host went down)",
            families.ended.clone(),
        );
        registry.register(
            "plan_moves",
            "Moves of plans, by what became of them: begun, confirmed, expired, cancelled, stale (the cluster has changed so that the move is none any more)",
            families.moves.clone(),
        );
        registry.register(
            "restarts",
            "Restarts that the server planned by itself of VMs whose hosts are down or in error, by what became of them: as of moves of plans",
            families.restarts.clone(),
        );
        registry.register(
            "restarts_stuck",
            "VMs of hosts that are down or in error for which the server finds no other host",
            families.stuck.clone(),
        );
        registry.register(
            "collection_bytes",
            "Bytes that requests have left behind in a collection of the cluster, estimated",
            families.bytes.clone(),
        );
        registry.register(
            "collection_bound_bytes",
            "Bytes that the collection may take",
            families.bounds.clone(),
        );
        registry.register(
            "clusters_broken",
            "Clusters that are out of service, or whose policy cannot run",
            families.broken.clone(),
        );
        families
    }

    /// The metrics of one cluster.
    pub fn of(&self, cluster: &str) -> ClusterMeter {
        let name: Arc<str> = cluster.into();
        let label = Cluster {
            cluster: name.clone(),
        };
        let outcome = |outcome: Outcome| {
            self.decisions.get_or_create_owned(&Ended {
                cluster: name.clone(),
                outcome: outcome.word(),
            })
        };
        let balanced = |outcome: BalanceOutcome| {
            self.balance.get_or_create_owned(&Ended {
                cluster: name.clone(),
                outcome: outcome.word(),
            })
        };
        let became = |family: &Family<Became, Counter>, how| {
            family.get_or_create_owned(&Became {
                cluster: name.clone(),
                how,
            })
        };
        let ended = |end: ReservationEnd| became(&self.ended, end.word());
        let moved = |change: MoveChange| became(&self.moves, change.word());
        let restarted = |change: MoveChange| became(&self.restarts, change.word());
        ClusterMeter {
            outcomes: Outcome::ALL.map(outcome),
            balanced: BalanceOutcome::ALL.map(balanced),
            ended: ReservationEnd::ALL.map(ended),
            moves: MoveChange::ALL.map(moved),
            restarts: MoveChange::ALL.map(restarted),
            stuck: self.stuck.get_or_create_owned(&label),
            rejections: self.rejections.clone(),
            causes: self.causes.clone(),
            reasons: Mutex::default(),
            unheeded: self.unheeded.clone(),
            needs: Mutex::default(),
            waiting: self.waiting.get_or_create_owned(&label),
            wait: self.wait.get_or_create_owned(&label),
            chain: self.chain.get_or_create_owned(&label),
            hosts: self.hosts.get_or_create_owned(&label),
            vms: self.vms.get_or_create_owned(&label),
            reservations: self.reservations.get_or_create_owned(&label),
            budgets: counted_of_clusters()
                .map(|collection| {
                    let label = budget(&name, collection);
                    let bytes = self.bytes.get_or_create_owned(&label);
                    (collection, (bytes, self.bounds.get_or_create_owned(&label)))
                })
                .collect(),
            cluster: name,
        }
    }

    /// A cluster is no more: its metrics end.
    pub fn forget(&self, meter: &ClusterMeter) {
        let cluster = meter.cluster.clone();
        for outcome in Outcome::ALL {
            self.decisions.remove(&Ended {
                cluster: cluster.clone(),
                outcome: outcome.word(),
            });
        }
        for outcome in BalanceOutcome::ALL {
            self.balance.remove(&Ended {
                cluster: cluster.clone(),
                outcome: outcome.word(),
            });
        }
        let ends = ReservationEnd::ALL.map(|end| (&self.ended, end.word()));
        let changes = MoveChange::ALL.map(|change| (&self.moves, change.word()));
        let restarts = MoveChange::ALL.map(|change| (&self.restarts, change.word()));
        for (family, how) in ends.into_iter().chain(changes).chain(restarts) {
            family.remove(&Became {
                cluster: cluster.clone(),
                how,
            });
        }
        let reasons = meter.reasons.lock();
        for reason in reasons.unwrap_or_else(PoisonError::into_inner).iter() {
            let rejected = Rejected {
                cluster: cluster.clone(),
                reason: reason.clone(),
            };
            self.rejections.remove(&rejected);
            self.causes.remove(&rejected);
        }
        let needs = meter.needs.lock();
        for need in needs.unwrap_or_else(PoisonError::into_inner).iter() {
            self.unheeded.remove(&Unheeded {
                cluster: cluster.clone(),
                need: need.clone(),
            });
        }
        let label = Cluster { cluster };
        let gauges = [&self.waiting, &self.hosts, &self.vms, &self.reservations];
        for gauges in gauges.into_iter().chain([&self.stuck]) {
            gauges.remove(&label);
        }
        for collection in counted_of_clusters() {
            let label = budget(&meter.cluster, collection);
            self.bytes.remove(&label);
            self.bounds.remove(&label);
        }
        self.wait.remove(&label);
        self.chain.remove(&label);
    }
}

/// Counts for one cluster.
#[derive(Debug)]
pub struct ClusterMeter {
    cluster: Arc<str>,
    /// As [`Outcome::ALL`].
    outcomes: [Counter; 3],
    /// As [`BalanceOutcome::ALL`].
    balanced: [Counter; 3],
    /// As [`ReservationEnd::ALL`].
    ended: [Counter; 4],
    /// As [`MoveChange::ALL`].
    moves: [Counter; 5],
    /// As [`MoveChange::ALL`].
    restarts: [Counter; 5],
    stuck: Gauge,
    rejections: Family<Rejected, Counter>,
    causes: Family<Rejected, Counter>,
    reasons: Mutex<BTreeSet<Arc<str>>>,
    unheeded: Family<Unheeded, Counter>,
    needs: Mutex<BTreeSet<Arc<str>>>,
    waiting: Gauge,
    wait: Histogram,
    chain: Histogram,
    hosts: Gauge,
    vms: Gauge,
    reservations: Gauge,
    /// Bytes of collections, and how many they may have.
    budgets: BTreeMap<Collection, (Gauge, Gauge)>,
}

/// The collections of clusters that are counted in bytes in memory.
fn counted_of_clusters() -> impl Iterator<Item = Collection> {
    Collection::all().filter(|collection| {
        let row = collection.row();
        let of_cluster = matches!(row.payer, Payer::Cluster | Payer::CallerInCluster);
        of_cluster && row.counted == Counted::Bytes && !row.fields.is_empty()
    })
}

fn budget(cluster: &Arc<str>, collection: Collection) -> Budget {
    Budget {
        cluster: cluster.clone(),
        collection: collection.row().word,
    }
}

impl ClusterMeter {
    /// A collection of the cluster takes so many bytes now, and may take so many.
    pub fn takes(&self, collection: Collection, bytes: u64, bound: u64) {
        let count = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        if let Some((taken, most)) = self.budgets.get(&collection) {
            taken.set(count(bytes));
            most.set(count(bound));
        }
    }

    /// A decision has ended.
    pub fn decided(&self, outcome: Outcome) {
        let [placed, rejected, failed] = &self.outcomes;
        match outcome {
            Outcome::Placed => placed.inc(),
            Outcome::Rejected => rejected.inc(),
            Outcome::Failed => failed.inc(),
        };
    }

    /// A plan of moves was due.
    pub fn balanced(&self, outcome: BalanceOutcome) {
        let [planned, nothing, failed] = &self.balanced;
        match outcome {
            BalanceOutcome::Planned => planned.inc(),
            BalanceOutcome::NothingToMove => nothing.inc(),
            BalanceOutcome::Failed => failed.inc(),
        };
    }

    /// A decision that found no host lost so many hosts for this reason.
    pub fn rejected(&self, reason: &str, hosts: u64) {
        let labels = self.bounded(reason);
        self.rejections.get_or_create(&labels).inc_by(hosts);
    }

    /// A decision has found no host, mostly for this reason.
    pub fn rejected_for(&self, reason: &str) {
        let labels = self.bounded(reason);
        self.causes.get_or_create(&labels).inc();
    }

    /// The labels of a reason; of one too many, those of all others.
    fn bounded(&self, reason: &str) -> Rejected {
        let mut known = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        let reason: Arc<str> = match known.get(reason) {
            Some(known) => known.clone(),
            None if known.len() < REASONS => reason.into(),
            None => OTHER_REASONS.into(),
        };
        known.insert(reason.clone());
        Rejected {
            cluster: self.cluster.clone(),
            reason,
        }
    }

    /// A reservation has ended.
    pub fn reservation_ended(&self, how: ReservationEnd) {
        let [confirmed, expired, released, lost] = &self.ended;
        match how {
            ReservationEnd::Confirmed => confirmed.inc(),
            ReservationEnd::Expired => expired.inc(),
            ReservationEnd::Released => released.inc(),
            ReservationEnd::HostLost => lost.inc(),
        };
    }

    /// A move of a plan has become something else.
    pub fn moved(&self, change: MoveChange) {
        count(&self.moves, change);
    }

    /// A restart that the server planned by itself has become something else.
    pub fn restarted(&self, change: MoveChange) {
        count(&self.restarts, change);
    }

    /// For so many VMs whose hosts are down or in error the server finds no other host.
    pub fn restarts_stuck(&self, vms: usize) {
        self.stuck.set(i64::try_from(vms).unwrap_or(i64::MAX));
    }

    /// A request was decided with a need that no filter of the policy checks.
    pub fn unheeded(&self, need: &Arc<str>) {
        let mut needs = self.needs.lock().unwrap_or_else(PoisonError::into_inner);
        needs.insert(need.clone());
        drop(needs);
        let labels = Unheeded {
            cluster: self.cluster.clone(),
            need: need.clone(),
        };
        self.unheeded.get_or_create(&labels).inc();
    }

    /// A request has begun to wait for its turn.
    pub fn wait_begins(&self) {
        self.waiting.inc();
    }

    /// A request has its turn, or waits no longer.
    pub fn wait_ends(&self, waited: Duration) {
        self.waiting.dec();
        self.wait.observe(waited.as_secs_f64());
    }

    /// A chain has run.
    pub fn chain_took(&self, took: Duration) {
        self.chain.observe(took.as_secs_f64());
    }

    /// How much the cluster holds now.
    pub fn holds(&self, hosts: usize, vms: usize, reservations: usize) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.hosts.set(count(hosts));
        self.vms.set(count(vms));
        self.reservations.set(count(reservations));
    }
}

/// Count what moves have become, by counters in the order of [`MoveChange::ALL`].
fn count(counters: &[Counter; 5], change: MoveChange) {
    let [begun, confirmed, expired, cancelled, stale] = counters;
    match change {
        MoveChange::Begun => begun.inc(),
        MoveChange::Confirmed => confirmed.inc(),
        MoveChange::Expired => expired.inc(),
        MoveChange::Cancelled => cancelled.inc(),
        MoveChange::Stale => stale.inc(),
    };
}
