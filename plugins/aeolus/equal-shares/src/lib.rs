//! Equal shares: each account gets a share of chance by its weight, and its hosts
//! divide it equally.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;
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
}

impl Host {
    fn account(&self) -> &Text {
        self.account.as_ref().unwrap_or(&self.id)
    }
}

#[derive(Settings)]
struct Settings {
    /// Weights of accounts, 1 for those that are not named.
    weights: Rows<Weight>,
}

struct EqualShares;

impl Selection for EqualShares {
    type Request = Request;
    type Settings = Settings;
    const POSITION: Position = Position::First;

    fn refine(request: &Request, settings: &Settings) -> Result<Groups, Problem> {
        let weights = Weights::of(&settings.weights).map_err(Problem::Refused)?;
        let candidates = Candidates::read(&request.candidates, &request.hosts, |host| host.listed);
        let shared = weights.share_out(candidates, Host::account, |weight, _| weight);
        Ok(shared.answer())
    }
}

impl CheckSettings for EqualShares {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        Weights::of(&settings.weights).map(drop)
    }
}

placewright_sdk::export!(EqualShares: selection, settings, aliases = ["round-robin"]);

#[cfg(test)]
mod tests;
