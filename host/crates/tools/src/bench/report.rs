//! All that was measured.

use serde::Serialize;

use super::{CallCost, LimitShown, LoadCost, Loaded, Quartiles, Series, TraceCost};
use placewright_engine::contract::Part;

/// What was measured of a unit, or of two versions of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// Version by version.
    pub units: Vec<UnitCost>,
    /// Of two versions: the second beside the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Compared>,
}

/// What one version costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct UnitCost {
    /// Where it came from.
    pub source: String,
    /// Its name.
    pub unit: String,
    /// Its version, as it says.
    pub version: String,
    /// The digest of its component.
    pub digest: String,
    /// What it takes to have it.
    pub load: LoadCost,
    /// What its calls cost.
    pub calls: Vec<CallCost>,
    /// What it was asked on a trace; none if it decides nothing there.
    pub trace: Option<TraceCost>,
    /// How near it comes to the limits in force.
    pub limits: Vec<LimitShown>,
}

/// The second of two versions beside the first, in the same calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Compared {
    /// Which part.
    pub part: Part,
    /// Hosts in each call.
    pub hosts: usize,
    /// Instructions of the second for each of the first.
    pub instructions: Option<f64>,
    /// Time of the second for each of the first, round by round.
    pub time: Option<Quartiles>,
}

impl Report {
    /// What was measured of these versions. `traces` has an entry for each.
    pub fn new(versions: &[&Loaded], series: &[Series], traces: Vec<Option<TraceCost>>) -> Self {
        let units = versions.iter().enumerate().zip(traces);
        let units = units.map(|((number, version), trace)| {
            let of_version = series.iter().filter_map(|it| it.costs.get(number));
            UnitCost::new(version, of_version.flatten().cloned().collect(), trace)
        });
        Self {
            units: units.collect(),
            compared: series.iter().filter_map(Compared::new).collect(),
        }
    }

    /// Whether every version answers every call and keeps to every limit.
    pub fn is_within_limits(&self) -> bool {
        self.units.iter().all(|unit| {
            let answers = |cost: &CallCost| cost.failure.is_none() || cost.refused;
            unit.limits.iter().all(|limit| limit.kept) && unit.calls.iter().all(answers)
        })
    }
}

impl UnitCost {
    fn new(version: &Loaded, calls: Vec<CallCost>, trace: Option<TraceCost>) -> Self {
        let unit = &version.timed;
        Self {
            source: version.source.clone(),
            unit: unit.name().to_owned(),
            version: unit.description().version.clone(),
            digest: unit.digest().to_string(),
            load: version.cost.clone(),
            limits: LimitShown::all(&version.cost, &calls),
            calls,
            trace,
        }
    }
}

impl Compared {
    fn new(series: &Series) -> Option<Self> {
        let [Some(one), Some(other)] = &series.costs[..] else {
            return None;
        };
        let instructions = one.instructions.zip(other.instructions);
        let instructions = instructions.filter(|(one, _)| *one > 0);
        Some(Self {
            part: one.part,
            hosts: one.hosts,
            instructions: instructions.map(|(one, other)| other as f64 / one as f64),
            time: series.ratio,
        })
    }
}
