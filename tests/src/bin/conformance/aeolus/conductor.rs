//! Cases of kind `conductor`: the groups that the program's strategies make, with
//! weights and chances, and the group that is drawn from.
//!
//! A match may stand in several groups there, so the selection answers with the group
//! that is drawn from; the explanation tells of all.

use std::collections::{BTreeMap, BTreeSet};

use placewright_chain::FactShown;
use placewright_inventory::Inventory;
use placewright_model::{Host, Value};
use placewright_scheduler::Decision;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::cluster;
use super::differences::Differences;
use super::nullable::nullable;
use crate::units::Units;
use crate::vectors::read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "id")]
    _id: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(rename = "family")]
    _family: IgnoredAny,
    #[serde(rename = "in")]
    input: Input,
    out: Answer,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    now: i64,
    accounts: Vec<Account>,
    matches: Vec<Match>,
    pool: Pool,
    strategies: Vec<Strategy>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Account {
    id: String,
    failures: Vec<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Match {
    account: String,
    prices: Vec<Option<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pool {
    account_scores: BTreeMap<String, i64>,
    priority_groups: Vec<PriorityGroup>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriorityGroup {
    score: i64,
    accounts: Vec<String>,
}

/// A strategy: a row of the unit's setting, under other names.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all(serialize = "kebab-case"))]
struct Strategy {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    penalty_percentage: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_period_minutes: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_count_hard_limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    impact: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    groups: Vec<Group>,
    #[serde(deserialize_with = "nullable")]
    draw_group: Option<usize>,
}

/// A group, best first: accounts in the order of matches, and a weight and a chance for
/// each.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    score: i64,
    accounts: Vec<String>,
    weights: Vec<f64>,
    p: Vec<f64>,
}

/// Run a case.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(value: &serde_json::Value, units: &Units) -> Result<Differences, String> {
    let case = Case::read(value)?;
    let mut scheduler = units.scheduler(case.cluster()?, &case.input.policy()?)?;
    let decision = scheduler
        .place(cluster::request(case.input.now, None, Some(0.0)))
        .map_err(|error| error.to_string())?;
    let explanation = scheduler.explain(decision.number);
    let explanation = explanation.map_err(|error| error.to_string())?;
    let facts = explanation.stages.iter().flat_map(|stage| &stage.facts);
    let groups = case.input.groups(facts)?;
    let mut differences = Differences::default();
    case.out.compare_groups(&groups, &mut differences);
    case.compare_draw_group(&decision, &mut differences);
    Ok(differences)
}

impl Case {
    /// Read a case, and check what must go together in it.
    fn read(value: &serde_json::Value) -> Result<Self, String> {
        let case: Self = read(value)?;
        let mut ids = BTreeSet::new();
        for (number, account) in case.input.accounts.iter().enumerate() {
            if !ids.insert(&account.id) {
                let id = &account.id;
                return Err(format!("field in.accounts[{number}].id: a second \"{id}\""));
            }
        }
        for (number, group) in case.out.groups.iter().enumerate() {
            let (accounts, weights) = (group.accounts.len(), group.weights.len());
            if weights != accounts || group.p.len() != accounts {
                return Err(format!(
                    "field out.groups[{number}]: {accounts} accounts, {weights} weights, {} p",
                    group.p.len()
                ));
            }
        }
        Ok(case)
    }

    fn cluster(&self) -> Result<Inventory, String> {
        let matches = self.input.matches.iter().enumerate();
        let hosts: Vec<Host> = matches
            .map(|(number, entry)| self.input.host(number, entry))
            .collect::<Result<_, _>>()?;
        cluster::of(hosts.into_iter())
    }

    /// The shares must be those of the group that is to be drawn from.
    fn compare_draw_group(&self, decision: &Decision, differences: &mut Differences) {
        let drawn = decision.shares.iter().map(|group| {
            let accounts = group.iter().map(|(host, _)| self.input.account_of(host));
            accounts.collect()
        });
        let drawn: Vec<Vec<&str>> = drawn.collect();
        let Some(number) = self.out.draw_group else {
            differences.compare("accounts drawn from", &Vec::new(), &drawn);
            return;
        };
        let Some(expected) = self.out.groups.get(number) else {
            differences.add("draw_group", number.to_string(), "fewer groups");
            return;
        };
        let accounts: Vec<&str> = expected.accounts.iter().map(String::as_str).collect();
        let is_same = drawn == [accounts.as_slice()];
        differences.compare("accounts drawn from", &vec![accounts], &drawn);
        if is_same {
            let shares = decision.shares.iter().flatten();
            for ((host, got), p) in shares.zip(&expected.p) {
                let what = format!("p of match {host} in the group drawn from");
                differences.compare_number(&what, *p, *got);
            }
        }
    }
}

impl Input {
    /// A match as a host, called by its number: matches have no ids.
    fn host(&self, number: usize, entry: &Match) -> Result<Host, String> {
        let mut accounts = self.accounts.iter();
        let account = accounts
            .find(|account| account.id == entry.account)
            .ok_or_else(|| {
                let account = &entry.account;
                format!("field in.matches[{number}].account: no account \"{account}\"")
            })?;
        let amount = |price: &Option<f64>| price.map(millionths).transpose();
        let amounts: Vec<Option<i64>> =
            entry
                .prices
                .iter()
                .map(amount)
                .collect::<Result<_, _>>()
                .map_err(|why| format!("field in.matches[{number}].prices: {why}"))?;
        let amounts = amounts.into_iter();
        let (id, failures) = (number.to_string(), &account.failures);
        Ok(cluster::host(&id, &account.id, failures, amounts))
    }

    fn account_of(&self, host: &str) -> &str {
        let number = host.parse::<usize>().ok();
        let entry = number.and_then(|number| self.matches.get(number));
        entry.map_or("none", |entry| &entry.account)
    }

    /// The policy document of the strategies and what the pool is set to.
    fn policy(&self) -> Result<String, String> {
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct Document<'a> {
            tie_rule: [&'static str; 1],
            selections: [Selection<'a>; 1],
        }
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct Selection<'a> {
            unit: &'static str,
            on_failure: &'static str,
            settings: Settings<'a>,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct Settings<'a> {
            strategies: &'a [Strategy],
            account_scores: Vec<Scored<'a>>,
            priority_groups: Vec<Scored<'a>>,
        }
        #[derive(Serialize)]
        struct Scored<'a> {
            score: i64,
            account: &'a str,
        }
        let Pool {
            account_scores,
            priority_groups,
        } = &self.pool;
        let scored = |score: i64, account| Scored { score, account };
        let scores = account_scores.iter();
        let members = priority_groups.iter().flat_map(|group| {
            let accounts = group.accounts.iter();
            accounts.map(|account| scored(group.score, account))
        });
        let document = Document {
            tie_rule: ["id"],
            selections: [Selection {
                unit: "conductor-strategies",
                on_failure: "fail",
                settings: Settings {
                    strategies: &self.strategies,
                    account_scores: scores
                        .map(|(account, score)| scored(*score, account))
                        .collect(),
                    priority_groups: members.collect(),
                },
            }],
        };
        toml::to_string(&document).map_err(|error| error.to_string())
    }

    /// The groups that an explanation tells of: each is said to be there, and then the
    /// weight and the chance of each candidate in it.
    fn groups<'f>(&self, facts: impl Iterator<Item = &'f FactShown>) -> Result<Vec<Group>, String> {
        let mut groups: Vec<Group> = Vec::new();
        for fact in facts {
            let unknown = || {
                format!(
                    "the explanation has the fact \"{}\" in this place",
                    fact.name
                )
            };
            let (what, score) = fact.name.split_once(" in group ").ok_or_else(unknown)?;
            let score: i64 = score.parse().map_err(|_| unknown())?;
            if what == "candidates" {
                groups.push(Group {
                    score,
                    ..Group::default()
                });
                continue;
            }
            let group = groups.last_mut().filter(|group| group.score == score);
            let group = group.ok_or_else(unknown)?;
            let (Some((_, host)), Value::Number(number)) = (&fact.about, &fact.value) else {
                return Err(unknown());
            };
            match what {
                "weight" => {
                    group.accounts.push(self.account_of(host).to_owned());
                    group.weights.push(*number);
                }
                "chance" => group.p.push(*number),
                _ => return Err(unknown()),
            }
        }
        Ok(groups)
    }
}

/// A price as the whole number of millionths that hosts have.
fn millionths(price: f64) -> Result<i64, String> {
    let amount = (price * 1e6).round();
    if amount / 1e6 != price || amount.abs() > 1e15 {
        return Err(format!("{price} is no whole number of millionths"));
    }
    Ok(amount as i64)
}

impl Answer {
    fn compare_groups(&self, got: &[Group], differences: &mut Differences) {
        let names = |groups: &[Group]| -> Vec<(i64, Vec<String>)> {
            let groups = groups.iter();
            groups
                .map(|group| (group.score, group.accounts.clone()))
                .collect()
        };
        let (expected_names, got_names) = (names(&self.groups), names(got));
        differences.compare("groups", &expected_names, &got_names);
        if expected_names != got_names {
            return;
        }
        for (expected, got) in self.groups.iter().zip(got) {
            let score = expected.score;
            for (place, account) in expected.accounts.iter().enumerate() {
                for (what, expected, got) in [
                    ("weight", &expected.weights, &got.weights),
                    ("p", &expected.p, &got.p),
                ] {
                    let what = format!("{what} of {account} in group {score}");
                    let number = |list: &[f64]| list.get(place).copied().unwrap_or(f64::NAN);
                    differences.compare_number(&what, number(expected), number(got));
                }
            }
        }
    }
}
