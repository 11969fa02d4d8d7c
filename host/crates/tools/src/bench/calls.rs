//! What a call costs, and each host in it: in instructions, in time, in memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::load::nanoseconds;
use super::subject::{self, BenchQuestionError, Question};
use super::{Loaded, Quartiles};
use placewright_engine::contract::Part;
use placewright_engine::generation::Generation;
use placewright_engine::unit::{Fault, Instance, Unit};
use placewright_inventory::Inventory;
use placewright_library::probe::MadeUp;
use placewright_model::Request;
use placewright_policy::Policy;

/// So many rounds are measured at least, however long they take.
const LEAST_ROUNDS: usize = 5;
/// More say nothing more.
const MOST_ROUNDS: usize = 400;
/// A round takes so long at least, so that the clock does not matter.
const ROUND: Duration = Duration::from_micros(200);
/// Made-up requests that a unit may refuse before it is given up.
const SEEDS: u64 = 8;

/// What is measured of calls.
#[derive(Debug, Clone)]
pub struct Calls {
    /// How many hosts a call is about, for each series of calls; a call about none is
    /// measured besides.
    pub hosts: Vec<usize>,
    /// What made-up tables are made from.
    pub seed: u64,
    /// How long calls are timed, all together.
    pub time: Duration,
}

/// A cluster that a judge is asked about in place of made-up hosts.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The hosts.
    pub inventory: &'a Inventory,
    /// The VMs that are to be placed.
    pub request: &'a Request,
}

/// Calls of one part about so many hosts, by each version that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What each version costs; None for one without that part.
    pub costs: Vec<Option<CallCost>>,
    /// Of two: time of the second for each of the first, round by round.
    pub ratio: Option<Quartiles>,
}

/// What a call of a part costs. Times are in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CallCost {
    /// Which part.
    pub part: Part,
    /// Hosts, or candidates, in its tables; 0 also for a part that reads none.
    pub hosts: usize,
    /// Instructions of a call in a warm instance, as fuel counts them: memory that is
    /// copied or filled in bulk counts one for each byte, though it takes less time.
    pub instructions: Option<u64>,
    /// Instructions for each host, on top of a call about none.
    pub instructions_per_host: Option<f64>,
    /// Time of a call in a warm instance.
    pub time_ns: Option<Quartiles>,
    /// Time for each host, on top of a call about none.
    pub time_per_host_ns: Option<f64>,
    /// Bytes of the instance's memory after its first call.
    pub memory_bytes: usize,
    /// The same after all calls; more than that is kept from call to call.
    pub memory_after_bytes: usize,
    /// How many calls that were.
    pub calls: usize,
    /// Why there is no answer, if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether the unit refused what it was asked, which is no failure of it.
    pub refused: bool,
}

/// One version that takes part in a series.
struct Runs<'a> {
    unit: &'a Unit,
    question: Question,
    instance: Option<Instance>,
    cost: CallCost,
    /// Calls in each round.
    calls: usize,
    rounds: Vec<f64>,
}

impl Calls {
    /// Measure the calls of every part of each of these versions of a unit, one or two.
    /// With a situation, its judge is asked about that cluster, by the policy and with
    /// the units that stand beside it. `progress` is told how many series are done, of
    /// how many.
    ///
    /// # Errors
    /// If the policy cannot run on the cluster.
    pub fn measure(
        &self,
        versions: &[&Loaded],
        rules: &[(Arc<Policy>, &Generation)],
        situation: Option<Situation<'_>>,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Vec<Series>, BenchQuestionError> {
        let mut plans = Vec::new();
        for part in Part::ALL {
            let asked = part != Part::Unit && part != Part::Settings;
            if asked && versions.iter().any(|version| version.timed.has(part)) {
                let counts = std::iter::once(&0).chain(&self.hosts);
                plans.extend(counts.map(|hosts| (part, *hosts)));
            }
        }
        let of = plans.len();
        let each = self.time / u32::try_from(of.max(1)).unwrap_or(u32::MAX);
        let mut measured: Vec<Series> = Vec::with_capacity(of);
        for (done, (part, hosts)) in plans.into_iter().enumerate() {
            progress(done, of);
            let mut runs = Vec::with_capacity(versions.len());
            for (number, version) in versions.iter().enumerate() {
                let given = situation.filter(|_| part == Part::Judge && hosts > 0);
                runs.push(match (given, rules.get(number)) {
                    _ if !version.timed.has(part) => None,
                    (Some(given), Some((policy, generation))) => subject::of_cluster(
                        &version.timed,
                        policy.clone(),
                        generation,
                        given.inventory,
                        given.request,
                    )?
                    .map(|question| Runs::new(version, part, Ok(question))),
                    _ => Some(Runs::new(version, part, self.made_up(version, part, hosts))),
                });
            }
            let series = run(runs, each);
            // Where there can be but so many hosts, more make no other call.
            if !measured.iter().any(|known| known.is_about(&series)) {
                measured.push(series);
            }
        }
        progress(of, of);
        per_host(&mut measured);
        Ok(measured)
    }

    /// Tables that the unit accepts, if there are any.
    fn made_up(&self, version: &Loaded, part: Part, hosts: usize) -> Result<Question, String> {
        let unit = &version.counted;
        let mut refused = String::new();
        for number in 0..SEEDS {
            let made_up = MadeUp::new(unit, part, hosts, self.seed.wrapping_add(number))?;
            let mut instance = unit.instantiate(part).map_err(|it| it.to_string())?;
            match made_up.ask(unit, &mut instance) {
                Err(fault) if fault.is_refusal() => refused = fault.cause.to_string(),
                _ => return Ok(Question::MadeUp(Box::new(made_up))),
            }
        }
        Err(format!("it refuses what is made up: {refused}"))
    }
}

impl Series {
    /// Whether both are about the same part and as many hosts.
    fn is_about(&self, other: &Self) -> bool {
        let about = |series: &Self| -> Vec<_> {
            let costs = series.costs.iter().flatten();
            costs.map(|cost| (cost.part, cost.hosts)).collect()
        };
        about(self) == about(other)
    }
}

impl<'a> Runs<'a> {
    /// Ask the question first where instructions are counted.
    fn new(version: &'a Loaded, part: Part, question: Result<Question, String>) -> Self {
        let mut cost = CallCost {
            part,
            hosts: 0,
            instructions: None,
            instructions_per_host: None,
            time_ns: None,
            time_per_host_ns: None,
            memory_bytes: 0,
            memory_after_bytes: 0,
            calls: 0,
            failure: None,
            refused: false,
        };
        let (question, refused) = match question {
            Ok(question) => (question, None),
            Err(why) => {
                let nothing = Question::OfCluster {
                    call: Default::default(),
                    hosts: 0,
                };
                (nothing, Some(why))
            }
        };
        cost.hosts = question.hosts();
        cost.refused = refused.is_some();
        cost.failure = refused;
        let mut runs = Self {
            unit: &version.timed,
            question,
            instance: None,
            cost,
            calls: 1,
            rounds: Vec::new(),
        };
        if runs.cost.failure.is_none()
            && let Err(fault) = runs.begin(version)
        {
            runs.fail(&fault);
        }
        runs
    }

    fn begin(&mut self, version: &Loaded) -> Result<(), Fault> {
        let part = self.cost.part;
        let mut counted = version.counted.instantiate(part)?;
        // What an instance does once, in its first call, is not counted.
        for _ in 0..2 {
            self.question.ask(&version.counted, &mut counted)?;
            self.cost.instructions = Some(counted.fuel_used());
        }
        let mut instance = self.unit.instantiate(part)?;
        self.question.ask(self.unit, &mut instance)?;
        self.cost.memory_bytes = instance.memory();
        let begun = Instant::now();
        self.question.ask(self.unit, &mut instance)?;
        let once = begun.elapsed().as_nanos().max(1);
        self.calls = usize::try_from(ROUND.as_nanos() / once).unwrap_or(1).max(1);
        self.cost.calls = 2;
        self.instance = Some(instance);
        Ok(())
    }

    fn fail(&mut self, fault: &Fault) {
        self.cost.failure = Some(fault.to_string());
        self.cost.refused = fault.is_refusal();
        self.instance = None;
    }

    /// One round: nanoseconds for a call.
    fn round(&mut self) -> Option<f64> {
        let instance = self.instance.as_mut()?;
        let begun = Instant::now();
        for _ in 0..self.calls {
            if let Err(fault) = self.question.ask(self.unit, instance) {
                self.fail(&fault);
                return None;
            }
        }
        let each = nanoseconds(begun) / self.calls as f64;
        self.cost.calls += self.calls;
        self.rounds.push(each);
        Some(each)
    }

    fn cost(mut self) -> CallCost {
        let memory = self.instance.as_ref().map_or(0, Instance::memory);
        self.cost.memory_after_bytes = memory;
        self.cost.time_ns = Quartiles::of(self.rounds);
        self.cost
    }
}

/// Let the versions take turns until the time is up.
fn run(mut runs: Vec<Option<Runs<'_>>>, time: Duration) -> Series {
    let begun = Instant::now();
    let mut ratios = Vec::new();
    for number in 0..MOST_ROUNDS {
        if number >= LEAST_ROUNDS && begun.elapsed() >= time {
            break;
        }
        let rounds: Vec<Option<f64>> = runs
            .iter_mut()
            .map(|runs| runs.as_mut().and_then(Runs::round))
            .collect();
        match rounds[..] {
            [Some(one), Some(other)] if one > 0.0 => ratios.push(other / one),
            _ if rounds.iter().all(Option::is_none) => break,
            _ => {}
        }
    }
    Series {
        costs: runs.into_iter().map(|it| it.map(Runs::cost)).collect(),
        ratio: Quartiles::of(ratios),
    }
}

/// What each host costs on top of the call about none.
fn per_host(measured: &mut [Series]) {
    let costs = |series: &Series, version: usize| series.costs.get(version).cloned().flatten();
    let versions = measured.first().map_or(0, |series| series.costs.len());
    for version in 0..versions {
        let all = measured.iter().filter_map(|series| costs(series, version));
        let bases: Vec<CallCost> = all.filter(|cost| cost.hosts == 0).collect();
        for series in measured.iter_mut() {
            let Some(Some(cost)) = series.costs.get_mut(version) else {
                continue;
            };
            let base = bases.iter().find(|base| base.part == cost.part);
            let Some(base) = base.filter(|_| cost.hosts > 0) else {
                continue;
            };
            let hosts = cost.hosts as f64;
            if let (Some(base), Some(all)) = (base.instructions, cost.instructions) {
                cost.instructions_per_host = Some(all.saturating_sub(base) as f64 / hosts);
            }
            if let (Some(base), Some(all)) = (base.time_ns, cost.time_ns) {
                let more = (all.median - base.median).max(0.0);
                cost.time_per_host_ns = Some(more / hosts);
            }
        }
    }
}
