//! Our figures beside the published ones.

use serde::Serialize;

use super::published::Published;
use super::replay::{GpuReport, POINTS};
use super::study::Study;

/// One policy under one list of pods at one point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Line {
    /// The list of pods.
    pub workload: String,
    /// The policy, by its published name.
    pub policy: String,
    /// How much of the cluster's GPUs had been asked for, in percent.
    pub arrived_pct: u32,
    /// How much of them was allocated, in percent: the mean of all seeds.
    pub mean: f64,
    /// The standard deviation, of one less than there are seeds; 0 for one seed.
    pub deviation: f64,
    /// How many seeds.
    pub runs: usize,
    /// The published mean, if any.
    pub published_mean: Option<f64>,
    /// The published standard deviation, if any.
    pub published_deviation: Option<f64>,
    /// Our mean less the published one.
    pub difference: Option<f64>,
}

/// The whole table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Comparison {
    /// By list, policy and point, in the order of the study.
    pub lines: Vec<Line>,
    /// How many pods were decided on.
    pub decisions: u64,
}

impl Comparison {
    /// The reports of a study, in its order, beside what was published.
    pub fn new(study: &Study, reports: &[GpuReport], published: &Published) -> Self {
        let jobs = study.jobs();
        let mut lines = Vec::new();
        for (list, (workload, _)) in study.lists.iter().enumerate() {
            for (policy, (policy_name, _)) in study.policies.iter().enumerate() {
                let of_both = || {
                    let with_jobs = jobs.iter().zip(reports);
                    let of_both =
                        with_jobs.filter(|(job, _)| (job.list, job.policy) == (list, policy));
                    of_both.map(|(_, report)| report)
                };
                for arrived_pct in POINTS {
                    let at = |report: &GpuReport| {
                        let mut points = report.points.iter();
                        let point = points.find(|point| point.arrived_pct == arrived_pct);
                        point.map(|point| point.allocated_pct)
                    };
                    let allocated: Vec<f64> = of_both().filter_map(at).collect();
                    if allocated.is_empty() {
                        continue;
                    }
                    let (mean, deviation) = statistics(&allocated);
                    let known = published.of(workload, policy_name, arrived_pct);
                    lines.push(Line {
                        workload: workload.clone(),
                        policy: policy_name.clone(),
                        arrived_pct,
                        mean: rounded(mean),
                        deviation: rounded(deviation),
                        runs: allocated.len(),
                        published_mean: known.map(|(mean, _)| mean),
                        published_deviation: known.map(|(_, deviation)| deviation),
                        difference: known.map(|(published, _)| rounded(mean - published)),
                    });
                }
            }
        }
        Self {
            lines,
            decisions: reports.iter().map(|report| report.arrivals).sum(),
        }
    }
}

/// Mean and standard deviation of a sample.
fn statistics(sample: &[f64]) -> (f64, f64) {
    let count = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / count;
    let squares: f64 = sample.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// With two decimals, as published.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(statistics(&[1.0, 2.0, 3.0]), (2.0, 1.0));
        assert_eq!(statistics(&[5.0]), (5.0, 0.0));
    }
}
