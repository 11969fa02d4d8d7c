//! `placewright explain`: why there, why not there, and what if the policy were
//! another.

use std::fmt::Write;

use clap::Args;
use placewright::chain::RemovalShown;
use placewright::policy::Policy;
use placewright::questions::{Change, Comparison, Difference, Fate, Situation, Standing, Why};
use serde::Serialize;

use super::explained::{self, Extent};
use super::failure::{Answer, Failure};
use super::output::{self, Format};
use super::questions::About;

/// Tell why a VM goes where it goes, and why it does not go to another host.
///
/// Decides again, by the same chain on a copy of the cluster, and changes nothing. With --host the
/// answer is about that host: every unit that keeps the VM off it, or how much worse it is than the
/// chosen one and through which cost. With --without or --factor the decision is shown beside the
/// one that another policy would make.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  placewright explain --cluster cluster.toml --policy even.toml --vm web-1
  placewright explain --cluster cluster.toml --policy even.toml --vm vm.toml --host h1
  placewright explain --cluster cluster.toml --policy even.toml --vm vm.toml --without affinity
  placewright explain --cluster cluster.toml --policy even.toml --vm web-1 --host h2 --factor affinity=2.5

Exit code 1: the VM finds no host. See placewright --help for the others.")]
pub struct Explain {
    /// The VM: the id of one of the cluster, or the document of one that is to be placed
    #[arg(long, value_name = "ID|FILE")]
    vm: String,
    /// The host that is asked about
    #[arg(long, value_name = "ID")]
    host: Option<String>,
    /// Suppose that this entry of the policy, or this unit, is not asked. May be given again
    #[arg(long, value_name = "ENTRY")]
    without: Vec<String>,
    /// Suppose that this cost entry has another factor. May be given again
    #[arg(long, value_name = "ENTRY=FACTOR", value_parser = factor)]
    factor: Vec<(String, f64)>,
    #[command(flatten)]
    about: About,
}

fn factor(text: &str) -> Result<(String, f64), String> {
    let (entry, factor) = text
        .rsplit_once('=')
        .ok_or("write an entry of the policy, = and its factor, for example affinity=2.5")?;
    match factor.trim().parse::<f64>() {
        Ok(factor) if factor.is_finite() => Ok((entry.trim().to_owned(), factor)),
        _ => Err(format!("\"{factor}\" is no finite number")),
    }
}

/// The answer about one host, before and after a change.
#[derive(Serialize)]
struct Both {
    before: Why,
    after: Why,
}

/// The answer to what would be otherwise, as programs read it.
#[derive(Serialize)]
struct Changed<'a> {
    without: &'a [String],
    factors: &'a [(String, f64)],
    #[serde(flatten)]
    comparison: Comparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Both>,
}

impl Explain {
    /// Ask and print.
    pub fn run(self) -> Result<Answer, Failure> {
        let asked = self.about.read()?;
        let request = asked.request(&self.vm)?;
        let situation = asked.situation();
        let change = Change {
            without: self.without,
            factors: self.factor,
        };
        let format = self.about.format;
        if !change.is_empty() {
            let comparison = situation
                .compare(&request, &change)
                .map_err(Failure::question)?;
            let answer = Answer::yes_if(comparison.chosen_after.is_some());
            let changed = change.of(asked.policy()).map_err(Failure::input)?.into();
            let after = Situation {
                policy: &changed,
                ..situation
            };
            let ask = |situation: &Situation<'_>, host: &str| {
                situation.why(&request, host).map_err(Failure::question)
            };
            let why = match &self.host {
                Some(host) => Some(Both {
                    before: ask(&situation, host)?,
                    after: ask(&after, host)?,
                }),
                None => None,
            };
            let changed = Changed {
                without: &change.without,
                factors: &change.factors,
                comparison,
                why,
            };
            match format {
                Format::Json => output::print_json(&changed)?,
                Format::Table => output::print(&changed_text(&changed, asked.policy()))?,
            }
            return Ok(answer);
        }
        if let Some(host) = &self.host {
            let why = situation.why(&request, host).map_err(Failure::question)?;
            match format {
                Format::Json => output::print_json(&why)?,
                Format::Table => output::print(&why_text(&why, asked.policy().stages.len()))?,
            }
            return Ok(Answer::yes_if(why.chosen.is_some()));
        }
        let (decision, explanation) = situation.decide(&request).map_err(Failure::question)?;
        match format {
            Format::Json => output::print_json(&explanation)?,
            Format::Table => output::print(&explained::text(&explanation, Extent::Whole))?,
        }
        Ok(Answer::yes_if(decision.host.is_some()))
    }
}

fn changed_text(changed: &Changed<'_>, policy: &Policy) -> String {
    let comparison = &changed.comparison;
    let without = changed
        .without
        .iter()
        .map(|entry| format!("without {entry}"));
    let factors = changed.factors.iter();
    let factors = factors.map(|(entry, factor)| {
        let costs = policy.stages.iter().flat_map(|stage| &stage.costs);
        let known = costs.into_iter().find(|cost| *cost.name == **entry);
        let instead = known.map_or(String::new(), |cost| {
            format!(" instead of {}", output::number(cost.factor))
        });
        format!("{entry} times {}{instead}", output::number(*factor))
    });
    let supposed: Vec<String> = without.chain(factors).collect();
    let mut table = output::table(&["host", "as it is", &supposed.join(", ")]);
    for host in &comparison.hosts {
        let fate = |fate: &Fate, chosen: bool| match chosen {
            true => output::strong(format!("{} <- chosen", fate_text(fate))),
            false => fate_text(fate).into(),
        };
        let is = |chosen: &Option<std::sync::Arc<str>>| *chosen == Some(host.host.clone());
        table.add_row([
            host.host.to_string().into(),
            fate(&host.before, is(&comparison.chosen_before)),
            fate(&host.after, is(&comparison.chosen_after)),
        ]);
    }
    let mut text = output::shown(&table);
    let name = |host: &Option<std::sync::Arc<str>>| match host {
        Some(host) => format!("host {host}"),
        None => "no host".to_owned(),
    };
    let (before, after) = (
        name(&comparison.chosen_before),
        name(&comparison.chosen_after),
    );
    let _ = match comparison.differs() {
        true => write!(text, "\n\nThe choice would be {after} instead of {before}."),
        false => write!(text, "\n\nThe choice stays: {before}."),
    };
    if let Some(why) = &changed.why {
        let _ = write!(
            text,
            "\n\nAs it is: {}",
            why_text(&why.before, policy.stages.len())
        );
        let _ = write!(
            text,
            "\n\n{}: {}",
            supposed.join(", "),
            why_text(&why.after, policy.stages.len())
        );
    }
    text
}

fn fate_text(fate: &Fate) -> String {
    match fate {
        Fate::NotAsked { reason } => reason.clone(),
        Fate::Removed { filter, reason } => format!("{filter}: {reason}"),
        Fate::Left {
            sums,
            stage,
            passed_over,
        } => {
            let sums: Vec<String> = sums.iter().map(|sum| output::number(*sum)).collect();
            let cost = match sums.is_empty() {
                true => "left".to_owned(),
                false => format!("cost {}", sums.join(" / ")),
            };
            match passed_over {
                true => format!("{cost}, and not among the best of stage {stage}"),
                false => cost,
            }
        }
    }
}

/// The answer about one host, as text.
fn why_text(why: &Why, stages: usize) -> String {
    let (vms, host) = (why.vms.join(", "), &why.host);
    let chosen = why.chosen.as_deref().unwrap_or("no host");
    match &why.standing {
        Standing::Chosen { tied: 0 | 1 } => {
            format!("{vms} goes to {host}: no other host is as good.")
        }
        Standing::Chosen { tied } => {
            format!("{vms} goes to {host}, one of {tied} hosts with the same costs.")
        }
        Standing::NotAsked { reason } => {
            format!("{vms} does not go to {host}: no unit was asked, since host {host} {reason}.")
        }
        Standing::Removed { by } => removed_text(why, by),
        Standing::Costlier {
            stage,
            tier,
            by,
            through,
            differences,
        } => {
            let mut place = String::new();
            if stages > 1 {
                let _ = write!(place, " in stage {stage}");
            }
            if differences
                .iter()
                .any(|difference| difference.tier != *tier)
            {
                let _ = write!(place, " in tier {tier}");
            }
            if let Some(entry) = through {
                let _ = write!(place, ", most of it through {entry}");
            }
            let by = output::number(*by);
            let mut text = format!("{vms} goes to {chosen}: {host} costs {by} more{place}.\n\n");
            text.push_str(&output::shown(&differences_table(
                differences,
                host,
                chosen,
            )));
            text
        }
        Standing::Tied { rule } => format!(
            "{vms} goes to {chosen}: {host} has the same costs, and the tie rule ({}) has told them apart.",
            rule.join(", ")
        ),
        Standing::NotPreferred => {
            format!("{vms} goes to {chosen}: the request prefers other hosts than {host}.")
        }
        Standing::NotDrawn {
            group,
            share,
            drawn_from,
        } => {
            let share = output::number(*share);
            let drawn = match drawn_from {
                Some(group) => format!("{chosen} was drawn from group {group}"),
                None => "no candidate had a chance".to_owned(),
            };
            format!(
                "{vms} does not go to {host}, which has a chance of {share} in group {group}: {drawn}."
            )
        }
    }
}

fn removed_text(why: &Why, by: &[RemovalShown]) -> String {
    let mut text = format!("{} cannot go to {}:\n\n", why.vms.join(", "), why.host);
    let mut table = output::table(&["removed by", "because it", "what the unit saw"]);
    for (number, removal) in by.iter().enumerate() {
        let filter = match number {
            0 => removal.filter.to_string(),
            _ => format!("{} (as well)", removal.filter),
        };
        let (because, saw) = (explained::because(removal), explained::values(removal));
        table.add_row([filter, because, saw]);
    }
    text.push_str(&output::shown(&table));
    if !why.facts.is_empty() {
        let _ = write!(
            text,
            "\n\n{}",
            output::shown(&explained::facts_table(&why.facts))
        );
    }
    let _ = match &why.chosen {
        Some(chosen) => write!(text, "\n\nChosen: {chosen}"),
        None => write!(text, "\n\nChosen: none"),
    };
    text
}

/// What each entry says of the host and of the chosen one.
fn differences_table(differences: &[Difference], host: &str, chosen: &str) -> comfy_table::Table {
    let of = |what: &str| format!(">{what} of {host} / {chosen}");
    let (raw, scaled, weighted) = (of("raw"), of("scaled"), of("weighted"));
    let mut table = output::table(&["cost of", &raw, &scaled, &weighted, ">difference"]);
    for difference in differences {
        let both =
            |here: f64, there: f64| format!("{} / {}", output::number(here), output::number(there));
        table.add_row([
            difference.name.to_string(),
            both(difference.raw, difference.raw_chosen),
            both(difference.scaled, difference.scaled_chosen),
            both(difference.weighted, difference.weighted_chosen),
            output::number(difference.by),
        ]);
    }
    table
}
