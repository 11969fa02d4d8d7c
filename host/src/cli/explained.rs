//! An explanation as a table: every host, who removed it and why, or what it cost.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use comfy_table::{Cell, Table};
use placewright_chain::{
    Explanation, FactShown, HostShown, LeftOutShown, RemovalShown, StageShown,
};
use placewright_model::Value;

use super::output;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Every host.
    Whole,
    /// So many hosts that were left, best first, and one host of each reason.
    Best(usize),
}

/// Digits of a digest that tell units apart for people.
const DIGITS: usize = 12;

/// The explanation as text.
pub(super) fn text(explanation: &Explanation, extent: Extent) -> String {
    let mut text = String::new();
    for stage in &explanation.stages {
        if explanation.stages.len() > 1 {
            let _ = writeln!(text, "Stage {}", stage.name);
        }
        let shown = stage_text(stage, explanation.chosen.as_ref(), extent);
        let _ = writeln!(text, "{shown}\n");
    }
    text.push_str(&not_considered(explanation, extent));
    for LeftOutShown { entry, fault } in &explanation.left_out {
        let _ = writeln!(text, "Left out: {entry}: {fault}");
    }
    let units: Vec<String> = explanation
        .units
        .iter()
        .map(|unit| {
            let digest: String = unit.digest.chars().take(DIGITS).collect();
            format!("{} {} ({digest})", unit.name, unit.version)
        })
        .collect();
    let _ = writeln!(text, "Chosen: {}", chosen_text(explanation));
    let _ = writeln!(
        text,
        "Policy: {}, draw {}, inventory version {}",
        explanation.policy,
        output::number(explanation.draw),
        explanation.inventory_version
    );
    text.push_str(&output::list("Units:", &units));
    text
}

/// Who was chosen, and from whom.
fn chosen_text(explanation: &Explanation) -> String {
    let selections = explanation.stages.last().map(|stage| &stage.selections);
    let groups = selections
        .and_then(|selections| selections.last())
        .map(|it| &it.groups);
    if let Some(because) = &explanation.refused {
        return format!("none, since no host was looked for: {because}");
    }
    let Some(chosen) = &explanation.chosen else {
        return match groups.is_some_and(|groups| groups.iter().any(|group| !group.is_empty())) {
            true => "none, since no candidate has a chance".to_owned(),
            false => "none".to_owned(),
        };
    };
    let mut shares = (1..)
        .zip(groups.into_iter().flatten())
        .flat_map(|(number, group)| {
            let members = group.iter();
            members.map(move |member| (number, member))
        });
    let drawn: Option<(usize, _)> = shares.find(|(_, member)| member.host == *chosen);
    match (drawn, explanation.tied) {
        (Some((group, member)), _) => {
            let share = output::number(member.share);
            format!("{chosen}, drawn from group {group} with a chance of {share}")
        }
        (None, 0 | 1) => chosen.to_string(),
        (None, tied) => format!("{chosen} of {tied} with the same costs"),
    }
}

fn not_considered(explanation: &Explanation, extent: Extent) -> String {
    let hosts = &explanation.not_considered;
    match extent {
        Extent::Best(_) if !hosts.is_empty() => {
            format!("{} hosts were not asked about\n", hosts.len())
        }
        Extent::Best(_) => String::new(),
        Extent::Whole => {
            let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for host in hosts {
                reasons.entry(&host.reason).or_default().push(&host.host);
            }
            let lines = reasons.into_iter().map(|(reason, hosts)| match &hosts[..] {
                [host] => format!("Not asked about: host {host} {reason}\n"),
                hosts => format!(
                    "Not asked about: {} hosts, of which each {reason}: {}\n",
                    hosts.len(),
                    output::some_of(hosts)
                ),
            });
            lines.collect()
        }
    }
}

/// What each selection made of the candidates: its groups, best first.
fn selections_text(stage: &StageShown, extent: Extent) -> String {
    let mut lines = Vec::new();
    for selection in &stage.selections {
        lines.push(format!("After {}:", selection.name));
        if selection.groups.is_empty() {
            lines.push("  no host is left".to_owned());
        }
        for (number, group) in selection.groups.iter().enumerate() {
            let shown = match extent {
                Extent::Whole => group.len(),
                Extent::Best(hosts) => group.len().min(hosts),
            };
            let members = group[..shown]
                .iter()
                .map(|member| format!("{} {}", member.host, output::number(member.share)));
            let more = match group.len() - shown {
                0 => String::new(),
                more => format!(" ... and {more} more"),
            };
            let members = members.collect::<Vec<_>>().join(", ");
            lines.push(format!("  group {}: {members}{more}", number + 1));
        }
    }
    lines.join("\n")
}

/// What the units work out.
pub(super) fn facts_table(facts: &[FactShown]) -> Table {
    let mut table = output::table(&["entry", "about", "what", "value"]);
    for fact in facts {
        let about = fact.about.as_ref();
        table.add_row([
            fact.entry.to_string(),
            about.map_or(String::new(), |(table, row)| format!("{table} {row}")),
            fact.name.clone(),
            match &fact.value {
                Value::Number(number) => output::number(*number),
                value => value.to_string(),
            },
        ]);
    }
    table
}

fn stage_text(stage: &StageShown, chosen: Option<&Arc<str>>, extent: Extent) -> String {
    let (mut left, removed): (Vec<&HostShown>, Vec<&HostShown>) =
        stage.hosts.iter().partition(|host| host.removed.is_none());
    let is_chosen = |host: &HostShown| chosen == Some(&host.host);
    // Hosts of equal costs: the chosen one first, the others by their ids.
    left.sort_by(|a, b| {
        let sums = a.sums.iter().zip(&b.sums).map(|(a, b)| a.total_cmp(b));
        let by_sums = sums.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
        by_sums.then(is_chosen(b).cmp(&is_chosen(a)))
    });
    let mut parts = Vec::new();
    // Where selections are not about costs, their groups tell who is left.
    let has_groups = !stage.selections.is_empty() && stage.tiers.is_empty();
    if !left.is_empty() && !has_groups {
        parts.push(left_text(stage, &left, chosen, extent));
    }
    if !removed.is_empty() {
        parts.push(match extent {
            Extent::Whole => output::shown(&removed_table(&removed)),
            Extent::Best(_) => output::shown(&reasons_table(&removed)),
        });
    }
    if !stage.selections.is_empty() {
        parts.push(selections_text(stage, extent));
    }
    if !stage.facts.is_empty() && extent == Extent::Whole {
        parts.push(output::shown(&facts_table(&stage.facts)));
    }
    parts.join("\n\n")
}

fn left_text(
    stage: &StageShown,
    left: &[&HostShown],
    chosen: Option<&Arc<str>>,
    extent: Extent,
) -> String {
    let shown = match extent {
        Extent::Whole => left.len(),
        Extent::Best(hosts) => left.len().min(hosts),
    };
    let mut text = output::shown(&costs_table(stage, &left[..shown], chosen));
    if shown < left.len() {
        let more = left.len() - shown;
        let hosts = if more == 1 { "host" } else { "hosts" };
        let _ = write!(text, "\n... and {more} more {hosts} that were left");
    }
    text
}

/// One line per host and entry: raw, scaled and weighted cost, and the sum.
fn costs_table(stage: &StageShown, left: &[&HostShown], chosen: Option<&Arc<str>>) -> Table {
    let mut table = output::table(&["host", "cost of", ">raw", ">scaled", ">weighted", ">sum"]);
    for host in left {
        let name = match chosen == Some(&host.host) {
            true => output::strong(format!("{} <- chosen", host.host)),
            false => Cell::new(&host.host),
        };
        let sums: Vec<String> = host.sums.iter().map(|sum| output::number(*sum)).collect();
        let mut sum = sums.join(" / ");
        if stage.tiers.len() > 1 {
            sum.insert_str(0, "tiers ");
        }
        if host.costs.is_empty() {
            table.add_row([
                name,
                "nothing".into(),
                "".into(),
                "".into(),
                "".into(),
                sum.into(),
            ]);
            continue;
        }
        let mut name = Some(name);
        for cost in &host.costs {
            let number = |cost| Cell::new(output::number(cost));
            table.add_row([
                name.take().unwrap_or_else(|| "".into()),
                Cell::new(&cost.name),
                number(cost.raw),
                number(cost.scaled),
                number(cost.weighted),
                Cell::new(std::mem::take(&mut sum)),
            ]);
        }
    }
    table
}

/// One line per host that was removed.
fn removed_table(removed: &[&HostShown]) -> Table {
    let mut table = output::table(&["host", "removed by", "because it", "what the unit saw"]);
    for host in removed {
        if let Some(removal) = &host.removed {
            table.add_row([
                host.host.to_string(),
                removal.filter.to_string(),
                because(removal),
                values(removal),
            ]);
        }
    }
    table
}

/// One line per reason, with one host as an example.
fn reasons_table(removed: &[&HostShown]) -> Table {
    let mut table = output::table(&["removed by", "because it", ">hosts", "what the unit saw"]);
    let mut reasons: Vec<(&RemovalShown, &HostShown, usize)> = Vec::new();
    for host in removed {
        let Some(removal) = &host.removed else {
            continue;
        };
        let same =
            |known: &RemovalShown| known.filter == removal.filter && known.reason == removal.reason;
        match reasons.iter_mut().find(|(known, _, _)| same(known)) {
            Some((_, _, hosts)) => *hosts += 1,
            None => reasons.push((removal, host, 1)),
        }
    }
    for (removal, host, hosts) in reasons {
        table.add_row([
            removal.filter.to_string(),
            because(removal),
            hosts.to_string(),
            format!("for example {}: {}", host.host, values(removal)),
        ]);
    }
    table
}

/// The reason, and whether it passes.
pub(super) fn because(removal: &RemovalShown) -> String {
    match removal.passing {
        true => format!("{} (for now)", removal.reason),
        false => removal.reason.clone(),
    }
}

/// What the unit saw.
pub(super) fn values(removal: &RemovalShown) -> String {
    let values: Vec<String> = removal
        .values
        .iter()
        .map(|value| {
            let of = match &*value.table {
                "hosts" => String::new(),
                "members" => "VM ".to_owned(),
                "settings" => "setting ".to_owned(),
                table => format!("{table} "),
            };
            format!("{of}{} {}", value.column, value.value)
        })
        .collect();
    values.join(", ")
}

#[cfg(test)]
mod tests {
    use placewright_chain::{SelectionShown, ShareShown};

    use super::*;

    fn drawn(groups: &[&[(&str, f64)]], chosen: Option<&str>) -> String {
        let member = |(host, share): &(&str, f64)| ShareShown {
            host: (*host).into(),
            share: *share,
        };
        let selection = SelectionShown {
            name: "equal".into(),
            unit: "equal-shares".to_owned(),
            groups: groups
                .iter()
                .map(|group| group.iter().map(member).collect())
                .collect(),
        };
        let stage = StageShown {
            name: "main".into(),
            tiers: Vec::new(),
            hosts: Vec::new(),
            selections: vec![selection],
            facts: Vec::new(),
        };
        let explanation = Explanation {
            refused: None,
            policy: "test".into(),
            cluster: "test".into(),
            inventory_version: 1,
            draw: 0.5,
            units: Vec::new(),
            chosen: chosen.map(Into::into),
            tied: 2,
            not_considered: Vec::new(),
            stages: vec![stage],
            left_out: Vec::new(),
        };
        text(&explanation, Extent::Whole)
    }

    #[test]
    fn a_host_that_was_drawn_is_told_with_its_group_and_its_chance() {
        let text = drawn(&[&[("a", 0.0)], &[("b", 0.25), ("c", 0.75)]], Some("c"));
        assert!(
            text.starts_with(
                "After equal:\n  group 1: a 0\n  group 2: b 0.2500, c 0.7500\n\n\
                 Chosen: c, drawn from group 2 with a chance of 0.7500\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn candidates_without_a_chance_are_told_from_there_being_none() {
        let chanceless = drawn(&[&[("a", 0.0)]], None);
        assert!(chanceless.contains("Chosen: none, since no candidate has a chance\n"));
        let empty = drawn(&[], None);
        assert!(empty.contains("  no host is left\n"), "{empty}");
        assert!(empty.contains("Chosen: none\n"), "{empty}");
    }
}
