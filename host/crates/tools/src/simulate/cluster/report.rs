//! What came out of the replay of a cluster, in figures.

use std::time::Duration;

use serde::Serialize;

use crate::simulate::report::as_seconds;
use crate::simulate::{Balanced, CallTime, Point, Reused, UnitUsed};

/// The figures of a replay. Field for field what `--format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterReport {
    /// The name of the cluster.
    pub cluster: String,
    /// The policy that decided.
    pub policy: String,
    /// The units that it called.
    pub units: Vec<UnitUsed>,
    /// How many events there were.
    pub events: usize,
    /// The second of the first event.
    pub from: i64,
    /// The second of the last event.
    pub to: i64,
    /// Whether hosts reported load and free memory as if VMs used what they were promised.
    pub statistics: bool,
    /// VMs that got a host when they asked for one.
    pub placed: u64,
    /// VMs that got none.
    pub refused: u64,
    /// What these asked for, in millicores.
    pub refused_millicores: i64,
    /// What these asked for, in bytes.
    pub refused_memory_bytes: i64,
    /// Why, each reason with its requests; most first.
    pub refused_by: Vec<Refused>,
    /// VMs that left a host for another one.
    pub moved: Moved,
    /// Hosts that failed, and what became of their VMs.
    pub failures: Failures,
    /// Hosts at the start.
    pub hosts: u32,
    /// Hosts at the end.
    pub end_hosts: u32,
    /// The most hosts that had a VM at once.
    pub peak_used_hosts: u32,
    /// Hosts that had a VM on average over time.
    pub mean_used_hosts: f64,
    /// Hosts that have a VM at the end.
    pub end_used_hosts: u32,
    /// How often a host lost its last VM.
    pub hosts_emptied: u64,
    /// VMs at the start.
    pub vms: u32,
    /// The most VMs that ran at once.
    pub peak_vms: u32,
    /// VMs that run at the end.
    pub end_vms: u32,
    /// The most of the cluster's CPU that was promised at once, in percent.
    pub peak_cpu_pct: f64,
    /// The same on average over time.
    pub mean_cpu_pct: f64,
    /// The most of the cluster's memory that was promised at once, in percent.
    pub peak_memory_pct: f64,
    /// The same on average over time.
    pub mean_memory_pct: f64,
    /// How much of the CPU of hosts with a VM was promised, on average over time, in percent.
    pub packed_cpu_pct: f64,
    /// How much of the memory of hosts with a VM was promised, likewise.
    pub packed_memory_pct: f64,
    /// What the passes of the balance unit came to, if there were to be any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balanced>,
    /// FNV-1a, 64 bits, of all decisions.
    pub decision_fnv1a64: String,
    /// The greatest load in each of many short intervals.
    pub series: Vec<Series>,
    /// Wall time of the replay.
    #[serde(serialize_with = "as_seconds", rename = "seconds")]
    pub time: Duration,
    /// Decisions per second of wall time, passes of the balance unit apart: these have seconds of
    /// their own.
    pub decisions_per_second: f64,
    /// What each call of the chain took.
    pub calls: Vec<CallTime>,
    /// What keeping units' answers has brought; none if they were not kept.
    pub reuse: Option<Reused>,
}

/// Why requests got no host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Refused {
    /// The entry of the policy that removed most hosts; `state` or `request` where that did; a
    /// word where there was no decision.
    pub by: String,
    /// Why it did: completes "host ...", or says why there was no decision.
    pub reason: String,
    /// How many requests.
    pub requests: u64,
}

/// VMs that left a host for another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Moved {
    /// As they asked for a place again.
    pub requests: u64,
    /// As the balance unit proposed it.
    pub balance: u64,
    /// As their hosts had failed.
    pub restarts: u64,
    /// As their hosts were taken out.
    pub evacuations: u64,
}

impl Moved {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.requests + self.balance + self.restarts + self.evacuations
    }
}

/// Hosts that failed, and what became of their VMs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Failures {
    /// How often a host failed.
    pub hosts: u64,
    /// How many VMs ran there then.
    pub vms: u64,
    /// How many VMs are on hosts that are down or in error at the end.
    pub end_vms: u32,
    /// VMs that were on a host that was taken out and found no other one: they are gone.
    pub gone: u64,
    /// Seconds for which VMs did not run because their hosts were down or in error, of all VMs
    /// together.
    pub lost_vm_seconds: f64,
}

/// The greatest load in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Series {
    /// The second at which the interval ends.
    pub time: i64,
    /// Hosts with a VM.
    pub used_hosts: u32,
    /// VMs that run.
    pub vms: u32,
    /// Millicores that are promised.
    pub promised_millicores: i64,
    /// Bytes that are promised.
    pub promised_memory_bytes: i64,
}

impl From<&Point> for Series {
    fn from(point: &Point) -> Self {
        Self {
            time: point.time,
            used_hosts: point.usage.hosts,
            vms: point.usage.load.vms,
            promised_millicores: point.usage.load.cpu,
            promised_memory_bytes: point.usage.load.memory,
        }
    }
}
