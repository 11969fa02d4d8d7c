//! Cases of kind `stack`: who is valid, the groups that a stack makes of them, every
//! chance, and who is drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use placewright_inventory::Inventory;
use placewright_model::Host;
use placewright_scheduler::{Decision, Scheduler};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::cluster;
use super::differences::Differences;
use super::nullable::nullable;
use super::policy::{self, Entry};
use crate::units::Units;
use crate::vectors::read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    #[serde(rename = "id")]
    _id: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(rename = "family")]
    _family: String,
    #[serde(rename = "in")]
    input: Input,
    #[serde(rename = "out")]
    _out: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    now: i64,
    instances: u32,
    accounts: BTreeMap<String, Account>,
    matches: Vec<Match>,
    #[serde(deserialize_with = "nullable")]
    pool_policy: Option<Vec<Entry>>,
    default_policy: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Account {
    #[serde(deserialize_with = "nullable")]
    priority: Option<i64>,
    running: u32,
    #[serde(deserialize_with = "nullable")]
    quota: Option<u32>,
    failures: Vec<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Match {
    id: String,
    account: String,
    image_pushed: bool,
    costs: Vec<Option<i64>>,
}

/// The part of a case that says what is expected.
#[derive(Deserialize)]
struct Expected<T> {
    out: T,
}

/// What is expected of a stack that can be run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    valid: Vec<String>,
    groups: Vec<Vec<String>>,
    p: BTreeMap<String, f64>,
    #[serde(deserialize_with = "nullable")]
    draw_group: Option<usize>,
    draws: Vec<(f64, Option<String>)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    error: Error,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Error {
    BaseNotFirst,
}

/// Run a case.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(value: &Value, units: &Units) -> Result<Differences, String> {
    let case = Case::read(value)?;
    if value.pointer("/out/error").is_some() {
        let Expected { out } = read(value)?;
        let Refused { error } = out;
        return match error {
            Error::BaseNotFirst => case.is_refused_for_its_base(units),
        };
    }
    let answer = Answer::read(value)?;
    let mut differences = Differences::default();
    let mut scheduler = case.scheduler(units)?;
    let decision = case.place(&mut scheduler, Some(0.0))?;
    let valid = case.valid(&scheduler, &decision)?;
    differences.compare("valid", &answer.valid, &valid);
    answer.compare_groups(&decision, &mut differences);
    for (draw, winner) in &answer.draws {
        let decision = case.place(&mut scheduler, Some(*draw))?;
        let host = decision.host.as_ref().map(|host| host.to_string());
        differences.compare(&format!("draw {draw}"), winner, &host);
    }
    if answer.draw_group.is_none() {
        let host = decision.host.as_ref().map(|host| host.to_string());
        differences.compare("any draw", &None, &host);
    }
    Ok(differences)
}

impl Case {
    /// Read a case, and check what must go together in it.
    ///
    /// # Errors
    /// The field that is wrong, and what is wrong with it.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let case: Self = read(value)?;
        let mut ids = BTreeSet::new();
        for (number, entry) in case.input.matches.iter().enumerate() {
            let wrong = |field: &str, why: String| {
                Err(format!("field in.matches[{number}].{field}: {why}"))
            };
            if !ids.insert(&entry.id) {
                return wrong("id", format!("a second match \"{}\"", entry.id));
            }
            if !case.input.accounts.contains_key(&entry.account) {
                return wrong("account", format!("no account \"{}\"", entry.account));
            }
            if entry.costs.len() != case.input.instances as usize {
                let (costs, instances) = (entry.costs.len(), case.input.instances);
                return wrong("costs", format!("{costs} for {instances} instances"));
            }
        }
        Ok(case)
    }

    /// The pool's stack, else the default one.
    fn stack(&self) -> &[Entry] {
        let Input {
            pool_policy,
            default_policy,
            ..
        } = &self.input;
        pool_policy.as_ref().unwrap_or(default_policy)
    }

    fn cluster(&self) -> Result<Inventory, String> {
        cluster::of(self.input.matches.iter().filter_map(|entry| {
            let account = self.input.accounts.get(&entry.account)?;
            Some(entry.host(account))
        }))
    }

    /// A scheduler of the matches under the stack.
    ///
    /// # Errors
    /// If the stack makes no policy, or the matches no cluster.
    pub(super) fn scheduler(&self, units: &Units) -> Result<Scheduler, String> {
        let policy = policy::document(self.stack())?;
        units.scheduler(self.cluster()?, &policy)
    }

    /// Where the deployment would go.
    ///
    /// # Errors
    /// If there is no decision.
    pub(super) fn place(
        &self,
        scheduler: &mut Scheduler,
        draw: Option<f64>,
    ) -> Result<Arc<Decision>, String> {
        let request = cluster::request(self.input.now, Some(self.input.instances), draw);
        scheduler.place(request).map_err(|error| error.to_string())
    }

    /// The matches that no filter removed. No selection removes one.
    fn valid(&self, scheduler: &Scheduler, decision: &Decision) -> Result<Vec<String>, String> {
        let explanation = scheduler.explain(decision.number);
        let explanation = explanation.map_err(|error| error.to_string())?;
        let shown = explanation.stages.iter().flat_map(|stage| &stage.hosts);
        let left: BTreeSet<&str> = shown
            .filter(|host| host.removed.is_none())
            .map(|host| &*host.host)
            .collect();
        let ids = self.input.matches.iter().map(|entry| &entry.id);
        Ok(ids
            .filter(|id| left.contains(id.as_str()))
            .cloned()
            .collect())
    }

    /// The policy is refused, and would not be without the bases that are not first.
    fn is_refused_for_its_base(&self, units: &Units) -> Result<Differences, String> {
        let cluster = self.cluster()?;
        let check = |stack: &[Entry]| units.policy(&policy::document(stack)?, cluster.schema());
        let mut differences = Differences::default();
        let expected = "refused, for its base is not first";
        if check(self.stack()).is_ok() {
            differences.add("policy", expected, "accepted");
        } else if let Err(why) = check(&policy::without_misplaced_bases(self.stack())) {
            differences.add(
                "policy",
                expected,
                format!("refused for something else: {why}"),
            );
        }
        Ok(differences)
    }
}

impl Match {
    fn host(&self, account: &Account) -> Host {
        let costs = self.costs.iter().copied();
        let mut host = cluster::host(&self.id, &self.account, &account.failures, costs)
            .with("attribute.running", i64::from(account.running))
            .with("attribute.image-pushed", self.image_pushed);
        if let Some(quota) = account.quota {
            host = host.with("attribute.quota", i64::from(quota));
        }
        if let Some(priority) = account.priority {
            host = host.with("attribute.priority", priority);
        }
        host
    }
}

impl Answer {
    /// Read what is expected of a case.
    ///
    /// # Errors
    /// The field that is wrong, and what is wrong with it.
    pub(super) fn read(case: &Value) -> Result<Self, String> {
        let Expected { out } = read(case)?;
        Ok(out)
    }

    /// The matches of the group that is drawn from, each with its chance.
    pub(super) fn chances(&self) -> impl Iterator<Item = (&str, f64)> {
        let group = self.draw_group.and_then(|group| self.groups.get(group));
        let ids = group.into_iter().flatten();
        ids.map(|id| (id.as_str(), self.p.get(id).copied().unwrap_or(0.0)))
    }

    /// Compare groups, chances, and the group that is drawn from.
    fn compare_groups(&self, decision: &Decision, differences: &mut Differences) {
        let shares = &decision.shares;
        let groups: Vec<Vec<String>> = shares
            .iter()
            .map(|group| group.iter().map(|(id, _)| id.to_string()).collect())
            .collect();
        differences.compare("groups", &self.groups, &groups);
        let live = |(_, share): &(_, f64)| *share > 0.0;
        let draw_group = shares.iter().position(|group| group.iter().any(live));
        differences.compare("draw_group", &self.draw_group, &draw_group);
        let mut chances: BTreeMap<&str, f64> = shares
            .iter()
            .flatten()
            .map(|(id, share)| (&**id, *share))
            .collect();
        for (id, expected) in &self.p {
            match chances.remove(id.as_str()) {
                Some(got) => differences.compare_number(&format!("p of {id}"), *expected, got),
                None => differences.add(&format!("p of {id}"), expected.to_string(), "none"),
            }
        }
        for (id, got) in chances {
            differences.add(&format!("p of {id}"), "none", got.to_string());
        }
    }
}
