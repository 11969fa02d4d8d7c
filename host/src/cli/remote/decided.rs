//! What was decided: of a VM, or of each VM of a batch.

use std::fmt::Write as _;

use serde_json::Value;

use super::shown;
use crate::cli::output;

/// The answer to a placement, a move or a batch.
pub(super) struct Decided<'a> {
    body: &'a Value,
    /// Of a batch, each decision by itself.
    decisions: Vec<&'a Value>,
}

impl<'a> Decided<'a> {
    pub(super) fn of(body: &'a Value) -> Self {
        let decisions = match body["decisions"].as_array() {
            Some(decisions) => decisions.iter().collect(),
            None => vec![body],
        };
        Self { body, decisions }
    }

    /// Whether every VM found a host.
    pub(super) fn finds_all_a_host(&self) -> bool {
        let mut decisions = self.decisions.iter();
        decisions.all(|it| it["host"].is_string()) && self.without_decision().next().is_none()
    }

    /// VMs of a batch on which nothing was decided, and why.
    fn without_decision(&self) -> impl Iterator<Item = (String, String)> {
        let list = |key: &str| self.body[key].as_array().into_iter().flatten();
        let failed = list("failed").map(|it| {
            let because = shown::cell(&it["because"]);
            (shown::cell(&it["vms"]), because)
        });
        let ended_early = shown::cell(&self.body["ended-early"]);
        let undecided = list("undecided").map(move |vm| {
            let because = format!("not decided: {ended_early}");
            (shown::cell(vm), because)
        });
        let without_turn = list("without-turn").map(|vm| {
            let because = "the policy's order gives it no turn".to_owned();
            (shown::cell(vm), because)
        });
        failed.chain(undecided).chain(without_turn)
    }

    /// One row for each decision: where its VMs go, and why the other hosts do not take them; then
    /// the VMs on which nothing was decided.
    pub(super) fn shown(&self, is_dry: bool) -> String {
        let mut table = output::table(&[">decision", "VM", "host", "why"]);
        for decision in &self.decisions {
            table.add_row(row(decision));
        }
        for (vms, because) in self.without_decision() {
            let none = output::strong("none");
            table.add_row(["".into(), vms.into(), none, because.into()]);
        }
        let mut text = output::shown(&table);
        if self.body["reserved"] == false && self.body["decisions"].is_array() && !is_dry {
            let _ = write!(text, "\n\n{}", output::unreserved(self.finds_all_a_host()));
        }
        text
    }
}

fn row(decision: &Value) -> [comfy_table::Cell; 4] {
    let host = match &decision["host"] {
        Value::String(host) => output::strong(shown::plain(host)),
        _ => output::strong("none"),
    };
    let mut why = Vec::new();
    let considered = decision["considered"].as_u64().unwrap_or(0);
    let costs = decision["costs"].as_array().into_iter().flatten();
    let costs: Vec<String> = costs
        .filter_map(Value::as_f64)
        .map(output::number)
        .collect();
    let because = &decision["refused-by-quota"]["because"];
    why.push(match decision["host"].is_string() {
        false if because.is_string() => shown::cell(because),
        true if costs.is_empty() => format!("{considered} hosts considered"),
        true => format!("{considered} hosts considered, cost {}", costs.join(" / ")),
        false => output::nobody_left(usize::try_from(considered).unwrap_or(usize::MAX)),
    });
    let removals = decision["removed"].as_array().into_iter().flatten();
    why.extend(removals.map(removed));
    for kind in ["unheeded", "warnings"] {
        let sentences = decision[kind].as_array().into_iter().flatten();
        why.extend(sentences.map(|it| format!("warning: {}", shown::cell(it))));
    }
    [
        shown::cell(&decision["number"]).into(),
        shown::cell(&decision["vms"]).into(),
        host,
        why.join("; ").into(),
    ]
}

/// `memory: has too little memory: 3 hosts (h1, h2, h3)`
fn removed(removed: &Value) -> String {
    let hosts = removed["hosts"].as_u64().unwrap_or(0);
    let names = shown::cell(&removed["names"]);
    let names = if names.is_empty() {
        names
    } else {
        format!(" ({names})")
    };
    format!(
        "{} {}: {}{}{names}",
        hosts,
        if hosts == 1 { "host" } else { "hosts" },
        shown::cell(&removed["reason"]),
        if removed["passing"] == true {
            " (for now)"
        } else {
            ""
        },
    )
}
