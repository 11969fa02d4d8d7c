//! Weights: a policy with the one cost, and what each host costs.

use std::collections::BTreeMap;

use placewright::chain::HostShown;
use serde::Deserialize;
use toml::Table;

use super::asking;
use super::document::{Document, Entry};
use super::input::Input;
use super::outcome::Outcome;
use super::vector::{UnitNamed, Vector};
use crate::units::Units;

/// How a weight of oVirt is had here: a unit under its id, scaled as oVirt's unit scales
/// by itself.
struct Weight {
    id: &'static str,
    scaling: &'static str,
    /// What is added to our costs: oVirt counts ranks from 1.
    counts_from: f64,
    /// Parameters of oVirt that are settings, each with the setting of the engine that
    /// stands in for it.
    parameters: &'static [(&'static str, &'static str)],
    settings: &'static [(&'static str, bool)],
    /// Whether the load of a vCPU is assumed that was not measured.
    assumes_load: bool,
}

const PLAIN: Weight = Weight {
    id: "",
    scaling: "none",
    counts_from: 0.0,
    parameters: &[],
    settings: &[],
    assumes_load: false,
};

/// Of the parameters with no setting of the engine beside them, absent means none.
const WEIGHTS: &[Weight] = &[
    // OptimalForCpuEvenDistribution.
    Weight {
        id: "7db4ab05-81ab-42e8-868a-aee2df483edb",
        scaling: "stretch",
        parameters: &[("VCpuToPhysicalCpuRatio", "")],
        assumes_load: true,
        ..PLAIN
    },
    // OptimalForMemoryEvenDistribution.
    Weight {
        id: "4134247a-9c58-4b9a-8593-530bb9e37c59",
        ..PLAIN
    },
    // OptimalForEvenGuestDistribution.
    Weight {
        id: "3ba8c988-f779-42c0-90ce-caa8243edee7",
        parameters: &[("SpmVmGrace", "SpmVmGraceForEvenGuestDistribute")],
        ..PLAIN
    },
    // OptimalForHaReservation.
    Weight {
        id: "7f262d70-6cac-11e3-981f-0800200c9a66",
        parameters: &[("ScaleDown", "ScaleDownForHaReservation")],
        ..PLAIN
    },
    // Fit VM to single host NUMA node.
    Weight {
        id: "f58c1cb9-d91f-48a6-a196-c6d22fb10c4e",
        ..PLAIN
    },
    // OptimalForCpuPowerSaving.
    Weight {
        id: "736999d0-1023-46a4-9a75-1316ed50e15b",
        scaling: "stretch",
        parameters: &[("HighUtilization", "")],
        assumes_load: true,
        ..PLAIN
    },
    // OptimalForMemoryPowerSaving.
    Weight {
        id: "9dfe6086-646d-43b8-8eef-4d94de8472c8",
        parameters: &[
            ("MaxFreeMemoryForOverUtilized", ""),
            ("MinFreeMemoryForUnderUtilized", ""),
        ],
        ..PLAIN
    },
    // PreferredHosts.
    Weight {
        id: "591cdb81-ba67-45b4-9642-e28f61a97d57",
        ..PLAIN
    },
    // VmAffinityGroups.
    Weight {
        id: "84e6ddee-ab0d-42dd-82f0-c297779db567",
        scaling: "rank",
        counts_from: 1.0,
        settings: &[("vms", true), ("hosts", false)],
        ..PLAIN
    },
    // VmToHostsAffinityGroups.
    Weight {
        id: "427aed70-dae3-48ba-8fe9-a902a9d563c8",
        scaling: "rank",
        counts_from: 1.0,
        settings: &[("vms", false), ("hosts", true)],
        ..PLAIN
    },
    // CPU for high performance VMs.
    Weight {
        id: "71931e14-f0e6-4f91-a7c8-d494a26e3a09",
        scaling: "stretch",
        ..PLAIN
    },
    // CPU and NUMA pinning compatibility.
    Weight {
        id: "1b14ac11-20e9-4593-a149-2eb83c60a330",
        ..PLAIN
    },
];

/// The worst weight of oVirt's scales, which is not to be set here.
const WORST: f64 = 1000.0;

/// What is expected of a weight: the lower, the better.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    scores: Option<BTreeMap<String, f64>>,
    /// The one host of the lowest.
    best: Option<String>,
    #[serde(default)]
    equal: Vec<[String; 2]>,
    /// The first strictly below the second.
    #[serde(default)]
    less: Vec<[String; 2]>,
    #[serde(default)]
    nonzero: Vec<String>,
    /// As worked out from the rule.
    scores_by_formula: Option<BTreeMap<String, f64>>,
}

impl Expect {
    /// All hosts that are named.
    fn named(&self) -> impl Iterator<Item = &String> {
        let scores = [&self.scores, &self.scores_by_formula].into_iter().flatten();
        let pairs = [&self.equal, &self.less].into_iter().flatten().flatten();
        let one_by_one = self.best.iter().chain(&self.nonzero);
        scores.flat_map(BTreeMap::keys).chain(pairs).chain(one_by_one)
    }
}

/// Run a vector.
///
/// # Errors
/// Why it cannot be run.
pub fn run(unit: &UnitNamed, vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Expect = vector.expect()?;
    let mut input: Input = vector.input()?;
    if let Some(stranger) = expect.named().find(|id| input.hosts.iter().all(|it| it.id != **id)) {
        return Err(format!("field expect: host {stranger} is not among input.hosts"));
    }
    let id = unit.alias()?;
    let weight = WEIGHTS.iter().find(|weight| weight.id == id);
    let weight = weight.ok_or_else(|| format!("field unit.id: no weight {id} is known"))?;
    add_overhead(&mut input);
    let policy = Document {
        costs: vec![weight.entry(&input)?],
        ..Document::default()
    };
    let explanation = asking::explain(&input, &policy, units)?;
    let scores = weight.scores(&asking::stage(&explanation)?.hosts)?;
    Ok(expect.compared_with(&scores))
}

/// A VM needs what it takes beside its own memory as well.
fn add_overhead(input: &mut Input) {
    let overhead = input.vm_overhead_mb.unwrap_or(0);
    for vm in &mut input.vms {
        vm.mem_mb = vm.mem_mb.map(|memory| memory.saturating_add(overhead));
    }
}

impl Weight {
    fn entry(&self, input: &Input) -> Result<Entry, String> {
        let mut settings = input.settings(self.parameters);
        let fixed = self.settings.iter();
        settings.extend(fixed.map(|(name, on)| ((*name).to_owned(), (*on).into())));
        if self.assumes_load {
            assume_load(input, &mut settings)?;
        }
        only(input, "MaxSchedulerWeight", WORST)?;
        Ok(Entry {
            scaling: Some(self.scaling),
            ..Entry::new(self.id, settings)
        })
    }

    /// The score of each host.
    fn scores(&self, hosts: &[HostShown]) -> Result<BTreeMap<String, f64>, String> {
        let score = |host: &HostShown| match host.costs.as_slice() {
            [cost] => Ok((host.host.to_string(), cost.scaled + self.counts_from)),
            costs => Err(format!("host {} has {} costs, not one", host.host, costs.len())),
        };
        hosts.iter().map(score).collect()
    }
}

/// Managing a pool of storage counts as one vCPU of which no load was measured.
fn assume_load(input: &Input, settings: &mut Table) -> Result<(), String> {
    only(input, "SpmVCpuConsumption", 1.0)?;
    if let Some(load) = input.config_number("VcpuConsumptionPercentage")? {
        settings.insert("assumed-load".to_owned(), load.into());
    }
    let threads = input.cluster.threads_as_cores.unwrap_or(false);
    settings.insert("count-threads-as-cores".to_owned(), threads.into());
    Ok(())
}

/// Check a setting of oVirt's engine that has one value here.
///
/// # Errors
/// If it has another one.
pub fn only(input: &Input, name: &str, value: f64) -> Result<(), String> {
    match input.config_number(name)? {
        Some(other) if other != value => Err(format!(
            "field input.config.{name}: is {other}, and always {value} here"
        )),
        _ => Ok(()),
    }
}

impl Expect {
    fn compared_with(&self, scores: &BTreeMap<String, f64>) -> Outcome {
        let mut outcome = Outcome::default();
        let of = |host: &str| scores.get(host).copied().unwrap_or(f64::NAN);
        let both = |[one, other]: &[String; 2]| format!("{one}: {}, {other}: {}", of(one), of(other));
        if let Some(expected) = &self.scores {
            self.compare_scores(expected, scores, &mut outcome);
        }
        if let Some(best) = &self.best {
            let got = best_of(scores);
            outcome.check("host of the lowest score", got == [best.as_str()], best.clone(), got.join(", "));
        }
        for pair in &self.equal {
            let same = of(&pair[0]) == of(&pair[1]);
            outcome.check("scores", same, "equal ones".to_owned(), both(pair));
        }
        for pair in &self.less {
            let less = of(&pair[0]) < of(&pair[1]);
            outcome.check("scores", less, "the first one lower".to_owned(), both(pair));
        }
        for host in &self.nonzero {
            let what = format!("score of {host}");
            outcome.check(&what, of(host) != 0.0, "any but 0".to_owned(), "0".to_owned());
        }
        for (host, expected) in self.scores_by_formula.iter().flatten() {
            let (what, got) = (format!("score of {host}"), of(host));
            outcome.check_worked_out(&what, got == *expected, expected.to_string(), got.to_string());
        }
        outcome
    }

    /// A unit that says nothing about any host there costs nothing anywhere here.
    fn compare_scores(
        &self,
        expected: &BTreeMap<String, f64>,
        scores: &BTreeMap<String, f64>,
        outcome: &mut Outcome,
    ) {
        if expected.is_empty() {
            let none = scores.values().all(|score| *score == 0.0);
            outcome.check("scores", none, "none".to_owned(), format!("{scores:?}"));
        }
        for (host, expected) in expected {
            let got = scores.get(host).copied().unwrap_or(f64::NAN);
            outcome.compare(&format!("score of {host}"), expected, &got);
        }
    }
}

fn best_of(scores: &BTreeMap<String, f64>) -> Vec<&str> {
    let lowest = scores.values().copied().fold(f64::INFINITY, f64::min);
    let best = scores.iter().filter(|(_, score)| **score == lowest);
    best.map(|(host, _)| host.as_str()).collect()
}
