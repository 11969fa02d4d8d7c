//! Conductor strategies: provider selection as the program Aeolus Conductor had it,
//! which differs from its description (`equal-shares` and what follows it).
//!
//! Here is what is read and answered; the strategies are in `strategies`, what they
//! work on in `groups`.

#![forbid(unsafe_code)]

mod groups;
mod strategies;

use placewright_sdk::prelude::*;
use shares::{Candidate, Candidates, Standing};

use groups::Groups as Scored;
use strategies::{AccountScore, PriorityMember, Program, Strategy};

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
    #[table("costs")]
    costs: Rows<Amount>,
}

/// A launch that failed.
#[derive(Row)]
struct Failure {
    time: Seconds,
}

/// What one instance of the deployment would cost, in millionths, if that is known.
#[derive(Row)]
struct Amount {
    amount: Option<i64>,
}

impl Host {
    fn account(&self) -> &Text {
        self.account.as_ref().unwrap_or(&self.id)
    }

    fn failures_from(&self, from: i64) -> usize {
        let failures = self.failures.iter();
        failures.filter(|failure| failure.time.0 >= from).count()
    }

    /// The mean price of an instance; unknown if one is.
    fn price(&self) -> Option<f64> {
        let prices = self
            .costs
            .iter()
            .map(|cost| Some(cost.amount? as f64 / 1e6));
        let sum = prices.sum::<Option<f64>>()?;
        (!self.costs.is_empty()).then(|| sum / self.costs.len() as f64)
    }
}

#[derive(Settings)]
struct Settings {
    /// The strategies in the order in which they are applied.
    strategies: Rows<Strategy>,
    /// Scores of accounts for the strategy weighting, 0 for those that are not named.
    account_scores: Rows<AccountScore>,
    /// The accounts of priority groups for the strategy strict_order.
    priority_groups: Rows<PriorityMember>,
}

/// The candidates, and the groups that the strategies make of them.
fn apply(
    request: &Request,
    settings: &Settings,
) -> Result<(Vec<Candidate<Host>>, Scored), Problem> {
    let program = Program::of(settings).map_err(Problem::Refused)?;
    let candidates = Candidates::read(&request.candidates, &request.hosts, |host| host.listed);
    let candidates = candidates.into_list();
    let hosts: Vec<&Host> = candidates.iter().map(|it| &it.host).collect();
    let groups = program.apply(&hosts, request.request.now.0);
    Ok((candidates, groups))
}

struct ConductorStrategies;

impl Selection for ConductorStrategies {
    type Request = Request;
    type Settings = Settings;
    const POSITION: Position = Position::First;

    /// The best group with anybody in it: nobody is without chance there, so none of
    /// the others can matter, and a candidate may stand in several.
    fn refine(request: &Request, settings: &Settings) -> Result<Groups, Problem> {
        let (candidates, groups) = apply(request, settings)?;
        let best = groups.best_first().find(|group| !group.is_empty());
        let share = |(place, share): (usize, f64)| Share {
            candidate: candidates[place].row,
            share,
        };
        let best = best.map(|group| group.chances().map(share).collect());
        Ok(Groups(best.into_iter().collect()))
    }
}

impl Explain for ConductorStrategies {
    type Request = Request;
    type Settings = Settings;

    /// All groups, best first: how many candidates are in it, and the weight and the
    /// chance of each.
    fn explain(request: &Request, settings: &Settings) -> Result<Vec<Fact>, Problem> {
        let (candidates, groups) = apply(request, settings)?;
        let mut facts = Vec::new();
        for group in groups.best_first() {
            let name = |what: &str| format!("{what} in group {}", group.score());
            facts.push(Fact::new(name("candidates"), group.len()));
            for ((place, weight), (_, chance)) in group.weights().zip(group.chances()) {
                let row = candidates[place].row;
                facts.push(Fact::new(name("weight"), weight).about("hosts", row));
                facts.push(Fact::new(name("chance"), chance).about("hosts", row));
            }
        }
        Ok(facts)
    }
}

impl CheckSettings for ConductorStrategies {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        Program::of(settings).map(drop)
    }
}

placewright_sdk::export!(ConductorStrategies: selection, explain, settings);

#[cfg(test)]
mod tests;
