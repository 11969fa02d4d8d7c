//! A filter that removes one host, and costs that grow with the distance from one.

use placewright_sdk::prelude::*;

use crate::{Parts, Settings};

/// What is read of a host.
#[derive(Row)]
pub struct Host {
    id: Text,
    listed: i64,
}

#[derive(Reason)]
pub enum Reason {
    /// is to be left out
    Unwanted,
}

pub struct Need {
    without: Option<Text>,
    near: i64,
}

impl RowWise for Parts {
    type Request = ();
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare((): &(), settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            without: settings.without.clone(),
            near: settings.near,
        })
    }
}

impl RowFilter for Parts {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        Verdict::keep_if(need.without.as_ref() != Some(&host.id), Reason::Unwanted)
    }
}

impl RowCost for Parts {
    fn cost(need: &Need, host: &Host) -> f64 {
        (host.listed - need.near).abs() as f64
    }
}
