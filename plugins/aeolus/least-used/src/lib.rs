//! Least used: as equal shares, but an account gets the less, the more of its
//! instances run already.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;
use shares::accounts::{Running, running};
use shares::{Candidates, Standing, Weight, Weights};

#[derive(Request)]
struct Request {
    candidates: Rows<Standing>,
    hosts: Rows<Host>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    id: Text,
    listed: i64,
    #[column("attribute.account")]
    account: Option<Text>,
    #[column("attribute.running")]
    running: Option<i64>,
    #[column("vms.count")]
    vms: i64,
    #[column("vms.pending")]
    pending: i64,
}

impl Host {
    fn account(&self) -> &Text {
        self.account.as_ref().unwrap_or(&self.id)
    }

    fn running(&self) -> Running {
        Running {
            elsewhere: self.running,
            here: self.vms,
            pending: self.pending,
        }
    }
}

#[derive(Settings)]
struct Settings {
    /// Weights of accounts, 1 for those that are not named: of twice the weight, an
    /// account may run twice as many instances and counts as equally used.
    weights: Rows<Weight>,
}

/// What is left of an account's weight when so many of its instances run.
fn unused(weight: f64, running: i64) -> f64 {
    if weight == 0.0 {
        return 0.0;
    }
    weight / (1.0 + running as f64 / weight)
}

struct LeastUsed;

impl Selection for LeastUsed {
    type Request = Request;
    type Settings = Settings;
    const POSITION: Position = Position::First;

    fn refine(request: &Request, settings: &Settings) -> Result<Groups, Problem> {
        let weights = Weights::of(&settings.weights).map_err(Problem::Refused)?;
        let candidates = Candidates::read(&request.candidates, &request.hosts, |host| host.listed);
        let shared = weights.share_out(candidates, Host::account, |weight, hosts| {
            unused(weight, running(hosts.iter().map(|host| host.running())))
        });
        Ok(shared.answer())
    }
}

impl CheckSettings for LeastUsed {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        Weights::of(&settings.weights).map(drop)
    }
}

placewright_sdk::export!(LeastUsed: selection, settings);

#[cfg(test)]
mod tests;
