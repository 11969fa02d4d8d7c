//! An explanation as a table: every host, who removed it and why, or what it cost.

use std::fmt::Write;
use std::sync::Arc;

use comfy_table::{Cell, Table};
use placewright::chain::{Explanation, HostShown, RemovalShown, StageShown};

use super::output;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Every host.
    Whole,
    /// So many hosts that were left, best first, and one host of each reason.
    Best(usize),
}

/// Digits of a digest that tell units apart for people.
const DIGITS: usize = 12;

/// The explanation as text.
pub fn text(explanation: &Explanation, extent: Extent) -> String {
    let mut text = String::new();
    for stage in &explanation.stages {
        if explanation.stages.len() > 1 {
            let _ = writeln!(text, "Stage {}", stage.name);
        }
        let _ = writeln!(
            text,
            "{}\n",
            stage_text(stage, explanation.chosen.as_ref(), extent)
        );
        text.push_str(&selections_text(stage, extent));
        text.push_str(&facts_text(stage, extent));
    }
    text.push_str(&not_considered(explanation, extent));
    for (entry, fault) in &explanation.left_out {
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
    let tied = match explanation.tied {
        0 | 1 => String::new(),
        tied => format!(" of {tied} with the same costs"),
    };
    let chosen = explanation.chosen.as_deref().unwrap_or("none");
    let _ = writeln!(text, "Chosen: {chosen}{tied}");
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

fn not_considered(explanation: &Explanation, extent: Extent) -> String {
    let hosts = &explanation.not_considered;
    match extent {
        Extent::Best(_) if !hosts.is_empty() => {
            format!("{} hosts were not asked about\n", hosts.len())
        }
        Extent::Best(_) => String::new(),
        Extent::Whole => {
            let lines = hosts.iter();
            lines
                .map(|host| format!("Not asked about: host {} {}\n", host.host, host.reason))
                .collect()
        }
    }
}

/// What each selection made of the candidates: its groups, best first.
fn selections_text(stage: &StageShown, extent: Extent) -> String {
    let mut text = String::new();
    for selection in &stage.selections {
        let _ = writeln!(text, "After {}:", selection.name);
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
            let _ = writeln!(text, "  group {}: {members}{more}", number + 1);
        }
    }
    text
}

/// What the units work out, where everything is shown.
fn facts_text(stage: &StageShown, extent: Extent) -> String {
    if stage.facts.is_empty() || extent != Extent::Whole {
        return String::new();
    }
    let mut table = output::table(&["entry", "about", "what", "value"]);
    for fact in &stage.facts {
        let about = fact.about.as_ref();
        table.add_row([
            fact.entry.to_string(),
            about.map_or(String::new(), |(table, row)| format!("{table} {row}")),
            fact.name.clone(),
            fact.value.to_string(),
        ]);
    }
    format!("{}\n\n", output::shown(&table))
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
    if !left.is_empty() {
        parts.push(left_text(stage, &left, chosen, extent));
    }
    if !removed.is_empty() {
        parts.push(match extent {
            Extent::Whole => output::shown(&removed_table(&removed)),
            Extent::Best(_) => output::shown(&reasons_table(&removed)),
        });
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

fn because(removal: &RemovalShown) -> String {
    match removal.passing {
        true => format!("{} (for now)", removal.reason),
        false => removal.reason.clone(),
    }
}

fn values(removal: &RemovalShown) -> String {
    let values: Vec<String> = removal
        .values
        .iter()
        .map(|value| {
            let of = match &*value.table {
                "hosts" => String::new(),
                "members" => "VM ".to_owned(),
                table => format!("{table} "),
            };
            format!("{of}{} {}", value.column, value.value)
        })
        .collect();
    values.join(", ")
}
