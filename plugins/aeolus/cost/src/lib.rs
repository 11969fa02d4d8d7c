//! Cost: hosts on which the deployment would cost less come first, or get larger
//! shares of chance.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;
use shares::preference::{Preference, Settings};
use shares::{Candidates, Standing};

#[derive(Request)]
struct Request {
    candidates: Rows<Standing>,
    hosts: Rows<Host>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    listed: i64,
    #[table("costs")]
    costs: Rows<Amount>,
}

/// What one instance of the deployment would cost, if that is known.
#[derive(Row)]
struct Amount {
    amount: Option<i64>,
}

impl Host {
    /// What the deployment would cost; unknown if it is so of any of its instances.
    fn total(&self) -> Option<i64> {
        let mut amounts = self.costs.iter().map(|cost| cost.amount);
        let first = amounts.next()??;
        amounts.try_fold(first, |sum, amount| Some(sum.saturating_add(amount?)))
    }
}

struct Cost;

impl Selection for Cost {
    type Request = Request;
    type Settings = Settings;

    fn refine(request: &Request, settings: &Settings) -> Result<Groups, Problem> {
        let preference = Preference::of(settings).map_err(Problem::Refused)?;
        let candidates = Candidates::read(&request.candidates, &request.hosts, |host| host.listed);
        let cheapness = |host: &Host| host.total().map(i64::saturating_neg);
        Ok(preference.apply(candidates, cheapness).answer())
    }
}

impl CheckSettings for Cost {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        Preference::of(settings).map(drop)
    }
}

placewright_sdk::export!(Cost: selection, settings);

#[cfg(test)]
mod tests;
