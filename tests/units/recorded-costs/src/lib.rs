//! A unit for tests of what becomes of costs: those of hosts are recorded in its
//! settings.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of a host.
#[derive(Row)]
struct Host {
    id: Text,
}

/// A cost of a host.
#[derive(Row)]
struct Record {
    /// Id of the host.
    host: Text,
    /// What it costs.
    cost: f64,
}

#[derive(Settings)]
struct Settings {
    /// What hosts cost. Several costs of one host add up; one without any costs
    /// nothing.
    records: Rows<Record>,
}

struct RecordedCosts;

impl RowWise for RecordedCosts {
    type Request = ();
    type Host = Host;
    type Settings = Settings;
    type Reason = ();
    type Need = Vec<Record>;

    fn prepare((): &(), settings: &Settings) -> Result<Vec<Record>, Problem> {
        Ok(settings.records.iter().collect())
    }
}

impl RowCost for RecordedCosts {
    fn cost(records: &Vec<Record>, host: &Host) -> f64 {
        let own = records.iter().filter(|record| record.host == host.id);
        own.fold(0.0, |sum, record| sum + record.cost)
    }
}

placewright_sdk::export!(RecordedCosts: cost_function);
