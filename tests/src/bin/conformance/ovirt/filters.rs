//! Filters: a policy with the one filter, and which hosts it removes.

use placewright_chain::HostShown;
use serde::Deserialize;
use toml::{Table, Value};

use super::asking;
use super::document::{Document, Entry};
use super::input::{Input, MemoryRule};
use super::outcome::{Ids, Outcome};
use super::vector::{UnitNamed, Vector};
use crate::units::Units;

/// So much memory may be promised, in percent, where the limit of promises is not
/// asked about.
const ANY_AMOUNT: f64 = 1_000_000.0;

/// What is expected of a filter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Exactly these stay.
    hosts: Option<Ids>,
    /// These stay.
    includes: Option<Ids>,
    /// These do not stay.
    excludes: Option<Ids>,
    host_count: Option<usize>,
    /// Exactly these stay, as worked out from the rule.
    hosts_by_rule: Option<Ids>,
    /// For these there is a reason why they do not stay.
    messages_for: Option<Ids>,
    message_host_count: Option<usize>,
    /// Whether the one host stays.
    fits: Option<bool>,
}

impl Expect {
    /// All hosts that are expected among the candidates.
    fn named(&self) -> impl Iterator<Item = &String> {
        let sets = [
            &self.hosts,
            &self.includes,
            &self.hosts_by_rule,
            &self.messages_for,
        ];
        sets.into_iter().flatten().flatten()
    }
}

/// Run a vector.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(unit: &UnitNamed, vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Expect = vector.expect()?;
    let mut input: Input = vector.input()?;
    if let Some(stranger) = expect
        .named()
        .find(|id| input.hosts.iter().all(|it| it.id != **id))
    {
        return Err(format!(
            "field expect: host {stranger} is not among input.hosts"
        ));
    }
    if let Some(rule) = input.rule {
        alone(rule, &mut input);
    }
    let policy = Document::of_filter(filter(unit, &input)?);
    let explanation = asking::explain(&input, &policy, units)?;
    compare(&expect, &asking::stage(&explanation)?.hosts)
}

/// The filter as an entry of a policy, with the settings of the vector.
fn filter(unit: &UnitNamed, input: &Input) -> Result<Entry, String> {
    let mut filter = Entry::new(unit.alias()?, Table::new());
    let settings = &mut filter.settings;
    let threads = input.cluster.threads_as_cores.unwrap_or(false);
    match unit.name.as_str() {
        "CPU" => {
            settings.insert("require-topology".to_owned(), true.into());
            settings.insert("count-threads-as-cores".to_owned(), threads.into());
        }
        "CPUOverloaded" => {
            *settings = input.settings(&[
                ("HighUtilization", "HighUtilizationForScheduling"),
                (
                    "CpuOverCommitDurationMinutes",
                    "CpuOverCommitDurationMinutes",
                ),
            ]);
            settings.insert("count-threads-as-cores".to_owned(), threads.into());
            if let Some(load) = input.assumed_load()? {
                settings.insert("assumed-load".to_owned(), load.into());
            }
        }
        "Memory" => *settings = memory(input),
        "Network" => {
            let name = "OnlyRequiredNetworksMandatoryForVdsSelection";
            let only = input.config_boolean(name)?.unwrap_or(false);
            settings.insert("only-required".to_owned(), only.into());
        }
        "Swap" => {
            let percentage = "BlockMigrationOnSwapUsagePercentage";
            *settings = input.settings(&[("MaximumAllowedSwapUsage", percentage)]);
            filter.enabled = input.config_boolean("EnableSwapCheck")?;
        }
        "VmAffinityGroups" => *settings = affinity(true, false),
        "VmToHostsAffinityGroups" => *settings = affinity(false, true),
        _ => {}
    }
    Ok(filter)
}

fn affinity(vms: bool, hosts: bool) -> Table {
    let settings = [("vms", vms), ("hosts", hosts)];
    Table::from_iter(settings.map(|(name, on)| (name.to_owned(), Value::Boolean(on))))
}

/// The overheads that the vector gives in the place of those that follow from a VM's
/// size. VMs that run are given with theirs.
fn memory(input: &Input) -> Table {
    let mut settings = Table::new();
    settings.insert("placed-overhead".to_owned(), false.into());
    settings.insert("require-measured".to_owned(), input.rule.is_none().into());
    if let Some(overhead) = input.vm_static_overhead_mb {
        let overhead = overhead.saturating_mul(1 << 20);
        settings.insert("overhead".to_owned(), overhead.into());
        settings.insert("overhead-share".to_owned(), 0.0.into());
        settings.insert("overhead-per-vcpu".to_owned(), 0.into());
        settings.insert("overhead-per-io-thread".to_owned(), 0.into());
    }
    settings
}

/// Ask about one of the two rules of the Memory filter: the other one is always kept.
fn alone(rule: MemoryRule, input: &mut Input) {
    for host in &mut input.hosts {
        match rule {
            MemoryRule::Physical => {
                host.mem_pending_mb = input.pending_physical_mb;
                host.mem_overcommit_percent = Some(ANY_AMOUNT);
            }
            MemoryRule::Overcommit => host.mem_free_mb = None,
        }
    }
}

fn compare(expect: &Expect, hosts: &[HostShown]) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    let id = |host: &&HostShown| host.host.to_string();
    let kept: Ids = (hosts
        .iter()
        .filter(|host| host.removed.is_none())
        .map(|it| id(&it)))
    .collect();
    let removed = hosts.iter().filter(|host| host.removed.is_some());
    let removed: Ids = removed.map(|host| id(&host)).collect();
    let reasons = reasons(hosts);
    if let Some(expected) = &expect.hosts {
        outcome.compare_set("hosts that stay", expected, &kept, &reasons);
    }
    if let Some(expected) = &expect.includes {
        let got = &kept & expected;
        outcome.compare_set("of these, hosts that stay", expected, &got, &reasons);
    }
    if let Some(expected) = &expect.excludes {
        let got = expected - &kept;
        outcome.compare_set("of these, hosts that do not stay", expected, &got, &reasons);
    }
    if let Some(expected) = expect.host_count {
        outcome.compare("number of hosts that stay", &expected, &kept.len());
    }
    if let Some(expected) = &expect.hosts_by_rule {
        outcome.compare_worked_out("hosts that stay", expected, &kept, &reasons);
    }
    if let Some(expected) = &expect.messages_for {
        let got = &removed & expected;
        outcome.compare_set("hosts with a reason", expected, &got, &reasons);
    }
    if let Some(expected) = expect.message_host_count {
        outcome.compare("number of hosts with a reason", &expected, &removed.len());
    }
    if let Some(expected) = expect.fits {
        let [host] = hosts else {
            return Err(format!(
                "field expect.fits: there are {} hosts, not one",
                hosts.len()
            ));
        };
        let got = host.removed.is_none();
        let shown = format!("{got}{reasons}");
        outcome.check(
            "whether the host stays",
            expected == got,
            expected.to_string(),
            shown,
        );
    }
    Ok(outcome)
}

/// Why hosts were removed, to be added to what came out.
fn reasons(hosts: &[HostShown]) -> String {
    let reasons = hosts.iter().filter_map(|host| {
        let removed = host.removed.as_ref()?;
        Some(format!("; {} {}", host.host, removed.reason))
    });
    reasons.collect()
}
