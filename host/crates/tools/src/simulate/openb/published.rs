//! What was published.

use std::path::Path;

use super::super::trace::{Row, Rows, TraceError, open};

const PERCENT: &str = "a number from 0 to 100, percent";

/// The published figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Published {
    figures: Vec<Figure>,
}

#[derive(Debug, Clone, PartialEq)]
struct Figure {
    workload: String,
    policy: String,
    arrived_pct: u32,
    mean: f64,
    deviation: f64,
}

impl Published {
    /// Read them from a file `published-results.csv`, plain or gzip.
    ///
    /// # Errors
    /// If it cannot be read, or is no such table.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        Self::parse(Rows::new(&path.display().to_string(), open(path)?)?)
    }

    pub(super) fn parse(mut rows: Rows) -> Result<Self, TraceError> {
        let names = [
            "workload",
            "policy",
            "arrived_pct",
            "gpu_alloc_pct_mean",
            "gpu_alloc_pct_sd",
        ];
        let columns = names.map(|name| rows.column(name));
        let [
            Some(workload),
            Some(policy),
            Some(arrived),
            Some(mean),
            Some(deviation),
        ] = columns
        else {
            let wanted = "workload,policy,arrived_pct,gpu_alloc_pct_mean,gpu_alloc_pct_sd";
            return Err(rows.other_table("table of published results", wanted));
        };
        let mut figures = Vec::new();
        while let Some(row) = rows.next()? {
            let point = row.integer(arrived, 0, 1000, "a whole number from 0 to 1000, percent")?;
            figures.push(Figure {
                workload: row.text(workload).to_owned(),
                policy: row.text(policy).to_owned(),
                arrived_pct: u32::try_from(point).unwrap_or(0),
                mean: percent(&row, mean)?,
                deviation: percent(&row, deviation)?,
            });
        }
        Ok(Self { figures })
    }

    /// Mean and standard deviation of how much was allocated, in percent.
    pub fn of(&self, workload: &str, policy: &str, arrived_pct: u32) -> Option<(f64, f64)> {
        let figure = self.figures.iter().find(|figure| {
            figure.workload == workload
                && figure.policy == policy
                && figure.arrived_pct == arrived_pct
        })?;
        Some((figure.mean, figure.deviation))
    }
}

fn percent(row: &Row<'_>, column: usize) -> Result<f64, TraceError> {
    let number: Option<f64> = row.text(column).parse().ok();
    number
        .filter(|number| (0.0..=100.0).contains(number))
        .ok_or_else(|| row.bad_field(column, PERCENT))
}
