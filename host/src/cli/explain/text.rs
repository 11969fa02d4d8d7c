//! Answers to why and why not, for people.

use std::fmt::Write;
use std::sync::Arc;

use placewright_chain::RemovalShown;
use placewright_policy::Policy;
use placewright_scheduler::questions::{Difference, Fate, Standing, Way, Why};

use super::super::{explained, output};
use super::Changed;

/// A decision before and after a change, as text.
pub(super) fn changed_text(changed: &Changed<'_>, policy: &Policy) -> String {
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
        let is = |chosen: &Option<Arc<str>>| *chosen == Some(host.host.clone());
        table.add_row([
            host.host.to_string().into(),
            fate(&host.before, is(&comparison.chosen_before)),
            fate(&host.after, is(&comparison.chosen_after)),
        ]);
    }
    let mut text = output::shown(&table);
    let name = |host: &Option<Arc<str>>| match host {
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
            ..
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
pub(super) fn why_text(why: &Why, stages: usize) -> String {
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
            let text = format!(
                "{vms} does not go to {host}: no unit was asked, since host {host} {reason}."
            );
            text + &ways_text(&why.ways, host)
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
            "{vms} goes to {chosen}: {host} has the same costs, and the tie rule ({}) has decided between them.",
            rule.join(", ")
        ),
        Standing::RefusedByQuota { because } => format!(
            "{vms} goes nowhere, since no host was looked for: {because}. Host {host} would have been left."
        ),
        Standing::NotPreferred => {
            format!("{vms} goes to {chosen}: the request prefers other hosts than {host}.")
        }
        Standing::NotDrawn {
            group,
            share,
            drawn_from,
            ..
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
    text.push_str(&ways_text(&why.ways, &why.host));
    text
}

/// What would let a host through, a line each.
fn ways_text(ways: &[Way], host: &str) -> String {
    if ways.is_empty() {
        return String::new();
    }
    let mut text = format!("\n\nThe filters would let {host} through if");
    for way in ways {
        let chosen = match way.chosen {
            true => format!("; then {host} would be chosen"),
            false => String::new(),
        };
        let _ = write!(text, "\n- {}{chosen}", way.sentence);
    }
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
