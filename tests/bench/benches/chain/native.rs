//! The same units, compiled into this program.

use placewright_chain::Runner;
use placewright_engine::contract::Call;
use placewright_sdk::contract::{Answers, Tables};
use placewright_sdk::native::{self, NativeUnit};

/// The native units with the tables that the chain's units were sent.
pub(crate) struct Twin {
    calls: Vec<(&'static dyn NativeUnit, Answers, native::Call)>,
}

impl Twin {
    /// The twin of the runner's last decision.
    pub(crate) fn new(runner: &Runner) -> Self {
        let calls = runner.calls().map(|(unit, call)| {
            let twin = match unit.name() {
                "memory" => memory_unit::native_unit(),
                "cpu" | "cpu-in-python" | "cpu-in-javascript" => cpu_unit::native_unit(),
                "affinity" => affinity_unit::native_unit(),
                "even-distribution" => even_distribution_unit::native_unit(),
                "power-saving" => power_saving_unit::native_unit(),
                "memory-spreading" => memory_spreading_unit::native_unit(),
                "memory-room" => memory_room_unit::native_unit(),
                "placement-keys" => placement_keys_unit::native_unit(),
                "customer-keys" => customer_keys_unit::native_unit(),
                other => panic!("no twin of {other}"),
            };
            let want = twin.describe().judge.expect("the unit judges").answers;
            (twin, want, native::Call::new(tables(call)))
        });
        Self {
            calls: calls.collect(),
        }
    }

    /// Unit by unit, over the hosts that each was asked about; how many costs were
    /// given.
    pub(crate) fn judge_all(&self) -> usize {
        let calls = self.calls.iter();
        calls
            .filter_map(|(unit, want, call)| unit.judge(*want, call).ok())
            .map(|judgement| judgement.costs.len())
            .sum()
    }

    /// Unit by unit over all hosts, both answers; costs are added; the best host by
    /// cost, then by number.
    pub(crate) fn best(&self) -> Option<usize> {
        self.best_scaled("none")
    }

    /// The same, with costs brought to a scale that is made of the hosts that are left.
    pub(crate) fn best_scaled(&self, scaling: &str) -> Option<usize> {
        let mut sums: Vec<f64> = Vec::new();
        let mut kept: Vec<bool> = Vec::new();
        let mut all_costs: Vec<Vec<f64>> = Vec::new();
        for (unit, want, call) in &self.calls {
            let judgement = unit.judge(*want, call).ok()?;
            let rows = judgement.costs.len().max(judgement.verdicts.len());
            if rows < kept.len() {
                // It looks at all hosts at once, and was asked about those that are left.
                let mut costs = judgement.costs.into_iter();
                let cost = |kept: &bool| match kept {
                    true => costs.next().unwrap_or(0.0),
                    false => 0.0,
                };
                all_costs.push(kept.iter().map(cost).collect());
                continue;
            }
            sums.resize(rows, 0.0);
            kept.resize(rows, true);
            for (kept, verdict) in kept.iter_mut().zip(&judgement.verdicts) {
                *kept &= *verdict == 0;
            }
            all_costs.push(judgement.costs);
        }
        for mut costs in all_costs {
            scale(scaling, &mut costs, &kept);
            for (sum, cost) in sums.iter_mut().zip(&costs) {
                *sum += cost;
            }
        }
        let mut best: Option<usize> = None;
        for (row, sum) in sums.iter().enumerate() {
            if kept[row] && best.is_none_or(|best| *sum < sums[best]) {
                best = Some(row);
            }
        }
        best
    }
}

fn scale(scaling: &str, costs: &mut [f64], kept: &[bool]) {
    let of_kept = costs.iter().zip(kept).filter(|(_, kept)| **kept);
    match scaling {
        "min-max" => {
            let bounds = (f64::INFINITY, f64::NEG_INFINITY);
            let (least, greatest) = of_kept.fold(bounds, |(least, greatest), (cost, _)| {
                (least.min(*cost), greatest.max(*cost))
            });
            let width = greatest - least;
            for cost in costs {
                *cost = match width > 0.0 {
                    true => (*cost - least) / width,
                    false => 0.0,
                };
            }
        }
        "rank" => {
            let mut sorted: Vec<f64> = of_kept.map(|(cost, _)| *cost).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            for cost in costs {
                *cost = sorted.partition_point(|other| other < cost) as f64;
            }
        }
        _ => {}
    }
}

fn tables(call: &Call) -> Tables {
    Tables {
        rows: call.rows.clone(),
        integers: call.integers.clone(),
        numbers: call.numbers.clone(),
        absent_integers: call.absent_integers.clone(),
        absent_numbers: call.absent_numbers.clone(),
        texts: call.texts.iter().map(|text| text.to_string()).collect(),
    }
}
