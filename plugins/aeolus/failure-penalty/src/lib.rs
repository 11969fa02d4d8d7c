//! Failure penalty: an account loses some of its chance for each launch that failed
//! on it lately.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;
use shares::accounts::places_by_account;
use shares::{Candidate, Candidates, Standing, Unit};

#[derive(Request)]
struct Request {
    request: Now,
    candidates: Rows<Standing>,
    hosts: Rows<Host>,
}

#[derive(Row)]
struct Now {
    now: Seconds,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    id: Text,
    listed: i64,
    #[column("attribute.account")]
    account: Option<Text>,
    /// Those of the account: each of its hosts has the same.
    #[table("failures")]
    failures: Rows<Failure>,
}

/// A launch that failed.
#[derive(Row)]
struct Failure {
    time: Seconds,
}

impl Host {
    fn account(&self) -> &Text {
        self.account.as_ref().unwrap_or(&self.id)
    }
}

#[derive(Settings)]
struct Settings {
    /// What is taken off for each failure.
    #[setting(default = 5, least = 0, measure = "percent")]
    percent: f64,
    /// How long a failure counts.
    #[setting(default = "6 h", least = 0)]
    period: Seconds,
    /// What the percentage is of: points of the whole chance of a group, or relative to
    /// the account's own share.
    #[setting(default = "points", choices = ["points", "relative"])]
    unit: Text,
}

/// What failures cost.
struct Penalty {
    /// The seconds in which they count, both ends included.
    from: i64,
    now: i64,
    percent: f64,
    unit: Unit,
}

impl Penalty {
    fn new(now: Seconds, settings: &Settings) -> Self {
        Self {
            from: now.0.saturating_sub(settings.period.0),
            now: now.0,
            percent: settings.percent,
            unit: Unit::named(&settings.unit),
        }
    }

    fn failures(&self, host: &Host) -> usize {
        let counts = |it: &Failure| (self.from..=self.now).contains(&it.time.0);
        host.failures.iter().filter(counts).count()
    }

    /// What is left of an account's share of a group, as a part of it.
    fn left(&self, share: f64, failures: usize) -> f64 {
        let fine = self.percent / 100.0 * failures as f64;
        match self.unit {
            Unit::Points if share > 0.0 => (share - fine).max(0.0) / share,
            Unit::Points => 0.0,
            Unit::Relative => (1.0 - fine).max(0.0),
        }
    }

    /// The shares of a group after it.
    fn fined(&self, group: &[Candidate<Host>]) -> Vec<f64> {
        let mut shares: Vec<f64> = group.iter().map(|it| it.share).collect();
        for (_, places) in places_by_account(group.iter().map(|it| it.host.account())) {
            let of_account = || places.iter().map(|place| &group[*place]);
            let share = of_account().map(|it| it.share).sum();
            let failures = of_account().map(|it| self.failures(&it.host)).max();
            let left = self.left(share, failures.unwrap_or(0));
            for place in &places {
                shares[*place] *= left;
            }
        }
        shares
    }
}

struct FailurePenalty;

impl Selection for FailurePenalty {
    type Request = Request;
    type Settings = Settings;

    fn refine(request: &Request, settings: &Settings) -> Result<Groups, Problem> {
        let penalty = Penalty::new(request.request.now, settings);
        let candidates = Candidates::read(&request.candidates, &request.hosts, |host| host.listed);
        Ok(candidates.changed(|group| penalty.fined(group)).answer())
    }
}

placewright_sdk::export!(FailurePenalty: selection, aliases = ["penalty-for-failure"]);

#[cfg(test)]
mod tests;
