//! What hosts have promised now, and what they will have promised once the moves of a plan that are
//! still open are confirmed.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use super::Now;
use crate::format::{len, percent, things};
use crate::hosts::fleet::HostRow;
use crate::parts::{Measure, host_link};
use crate::value::{count, text};

/// Hosts that are shown at once; the others unfold.
const SHOWN: usize = 15;

/// What open moves add to a host, and take from it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Change {
    vms: i64,
    /// In cores.
    cpu: f64,
    /// In bytes.
    memory: f64,
}

/// The changes that open moves make, by host, but for those that cannot be made any more. Of a move
/// that is begun the place is reserved already where it goes to: only the host that it leaves changes yet.
fn changes<'p>(moves: &'p [Value], now: &Now) -> BTreeMap<&'p str, Change> {
    let mut changes = BTreeMap::<&str, Change>::new();
    for step in moves {
        let (leaves, arrives) = match text(step, "state") {
            "planned" | "expired" => (true, true),
            "begun" => (true, false),
            _ => continue,
        };
        let known = now.vms.known.get(text(step, "vm"));
        let is_gone = known.is_none() && now.vms.is_whole;
        if is_gone || now.doomed.contains_key(&count(step, "step")) {
            continue;
        }
        let known = known.cloned().unwrap_or_default();
        let (cpu, memory) = (
            known.cpu.unwrap_or_default(),
            known.memory.unwrap_or_default(),
        );
        let mut add = |host: Option<&'p str>, sign: i64| {
            // A VM that runs nowhere is started by its move.
            let Some(host) = host else { return };
            let change = changes.entry(host).or_default();
            change.vms += sign;
            change.cpu += sign as f64 * cpu;
            change.memory += sign as f64 * memory;
        };
        if leaves {
            add(step["from"].as_str(), -1);
        }
        if arrives {
            add(step["to"].as_str(), 1);
        }
    }
    changes
}

/// Shares of what may be promised, before and after.
#[derive(Debug, Clone, Copy)]
struct Pair {
    before: f64,
    after: f64,
}

impl Pair {
    fn of(measure: Measure, change: f64) -> Self {
        // Rounding of sums never makes a host less than empty.
        let committed = (measure.committed + change).max(-measure.reserved);
        let after = Measure {
            committed,
            ..measure
        };
        Self {
            before: measure.share(),
            after: after.share(),
        }
    }

    fn difference(self) -> f64 {
        (self.after - self.before).abs()
    }

    fn bar(self, what: &str) -> Markup {
        let wide = |share: f64| format!("{:.1}", (share * 100.0).clamp(0.0, 100.0));
        let mark = format!("{:.1}", (self.after * 100.0).clamp(0.0, 100.0) - 1.0);
        let (before, after) = (percent(self.before), percent(self.after));
        html! {
            span.meas.change {
                svg viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label={ (what) " promised: " (before) " now, " (after) " afterwards" } {
                    rect.f-track y="2" width="100" height="8" {}
                    rect.f-com y="2" width=(wide(self.before)) height="8" {}
                    rect.f-after x=(mark) width="2" height="12" {}
                }
                span.num { (before) " → " b { (after) } }
            }
        }
    }
}

struct Row<'h> {
    host: &'h HostRow,
    change: Change,
    cpu: Pair,
    memory: Pair,
}

/// The hosts that open moves change, the most changed ones first; nothing where no move is open.
pub(super) fn section(cluster: &str, (moves, now): (&[Value], &Now), hosts: &[HostRow]) -> Markup {
    let changes = changes(moves, now);
    let mut rows: Vec<Row<'_>> = hosts
        .iter()
        .filter_map(|host| {
            let change = *changes.get(host.id.as_str())?;
            Some(Row {
                host,
                change,
                cpu: Pair::of(host.cpu, change.cpu),
                memory: Pair::of(host.memory, change.memory),
            })
        })
        .collect();
    if rows.is_empty() {
        return html! {};
    }
    let most = |row: &Row<'_>| row.cpu.difference().max(row.memory.difference());
    rows.sort_by(|a, b| most(b).total_cmp(&most(a)));
    let (shown, folded) = rows.split_at(rows.len().min(SHOWN));
    html! {
        section.panel aria-labelledby="before-after" {
            header { h2 id="before-after" { "Hosts before and after" } span.small.dim { "of what they may promise" } }
            div.in { p.small { (spread(&rows)) } }
            (table(cluster, shown))
            @if !folded.is_empty() {
                details.in { summary { (things(folded.len(), "more host", "more hosts")) ", which change less" } (table(cluster, folded)) }
            }
        }
    }
}

/// How full the fullest and the emptiest of the hosts are, before and after.
fn spread(rows: &[Row<'_>]) -> String {
    let between = |shares: &dyn Fn(&Row<'_>) -> f64| {
        let all = || rows.iter().map(shares);
        let (least, most) = (
            all().fold(f64::INFINITY, f64::min),
            all().fold(f64::NEG_INFINITY, f64::max),
        );
        match percent(least) == percent(most) {
            true => percent(most),
            false => format!("{} to {}", percent(least), percent(most)),
        }
    };
    format!(
        "{} promised now {} of CPU and {} of memory, afterwards {} and {}.",
        match rows.len() {
            1 => "The one host that changes has".to_owned(),
            number => format!("The {} hosts that change have", len(number)),
        },
        between(&|row| row.cpu.before),
        between(&|row| row.memory.before),
        between(&|row| row.cpu.after),
        between(&|row| row.memory.after),
    )
}

fn table(cluster: &str, rows: &[Row<'_>]) -> Markup {
    html! {
        div.scroll { table.small.before-after {
            caption.vh { "What hosts have promised before and after the moves" }
            thead { tr {
                th scope="col" { "Host" } th.num scope="col" { "VMs" } th scope="col" { "CPU" } th scope="col" { "Memory" }
            } }
            tbody { @for row in rows { tr {
                th.row scope="row" { (host_link(cluster, Some(&row.host.id))) }
                td.num.nowrap {
                    @let before = row.host.vms + row.host.pending;
                    (len(before)) " → " b { (len(before.saturating_add_signed(isize::try_from(row.change.vms).unwrap_or_default()))) }
                }
                td { (row.cpu.bar("CPU")) }
                td { (row.memory.bar("memory")) }
            } } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::{Vm, Vms};
    use crate::standing::NotUp;

    fn now() -> Now {
        let known = [("a", 2.0), ("b", 1.0), ("c", 4.0)].map(|(id, cpu)| {
            let vm = Vm {
                host: Some("h1".to_owned()),
                cpu: Some(cpu),
                memory: Some(cpu * 10.0),
            };
            (id.to_owned(), vm)
        });
        Now {
            vms: Vms {
                known: known.into(),
                is_whole: true,
            },
            not_up: NotUp::default(),
            doomed: BTreeMap::new(),
        }
    }

    fn step(vm: &str, from: Option<&str>, to: &str, state: &str) -> Value {
        json!({"vm": vm, "from": from, "to": to, "state": state})
    }

    #[test]
    fn a_move_that_waits_changes_both_hosts_and_one_that_is_begun_the_host_that_it_leaves() {
        let moves = [
            step("a", Some("h1"), "h2", "planned"),
            step("b", Some("h1"), "h3", "begun"),
            step("c", Some("h3"), "h2", "confirmed"),
            step("c", Some("h3"), "h2", "stale"),
            step("gone", Some("h1"), "h2", "expired"),
        ];
        let changed = |vms, cpu| Change {
            vms,
            cpu,
            memory: cpu * 10.0,
        };
        // One that is gone changes nothing.
        let expected = [("h1", changed(-2, -3.0)), ("h2", changed(1, 2.0))];
        assert_eq!(changes(&moves, &now()), BTreeMap::from(expected));
    }

    #[test]
    fn a_move_that_cannot_be_made_any_more_changes_nothing() {
        let mut moves = [step("a", Some("h1"), "h2", "planned")];
        moves[0]["step"] = json!(1);
        let mut now = now();
        now.doomed.insert(1, "h2 is in maintenance".to_owned());
        assert_eq!(changes(&moves, &now), BTreeMap::new());
    }

    #[test]
    fn a_vm_that_passes_through_a_host_does_not_change_it() {
        let moves = [
            step("a", Some("h1"), "h2", "planned"),
            step("a", Some("h2"), "h3", "planned"),
            step("b", None, "h1", "planned"),
        ];
        let changes = changes(&moves, &now());
        assert_eq!(changes["h2"], Change::default());
        assert_eq!((changes["h1"].vms, changes["h1"].cpu), (0, -1.0));
        assert_eq!(changes["h3"].cpu, 2.0);
    }

    fn host(id: &str, committed: f64, reserved: f64) -> HostRow {
        let measure = |scale: f64| Measure {
            committed: committed * scale,
            reserved: reserved * scale,
            used: None,
            promisable: 10.0 * scale,
            total: 10.0 * scale,
        };
        HostRow {
            id: id.to_owned(),
            vms: 3,
            cpu: measure(1.0),
            memory: measure(10.0),
            ..HostRow::default()
        }
    }

    #[test]
    fn the_most_changed_host_is_first_and_the_spread_is_told() {
        let moves = [
            step("c", Some("h1"), "h2", "planned"),
            step("b", Some("h3"), "h2", "planned"),
        ];
        let hosts = [
            host("h1", 9.0, 0.0),
            host("h2", 1.0, 1.0),
            host("h3", 5.0, 0.0),
            host("h4", 5.0, 0.0),
        ];
        let shown = section("c", (&moves, &now()), &hosts).into_string();
        let told = "The 3 hosts that change have promised now 20 % to 90 % of CPU and 20 % to 90 % of memory, \
                    afterwards 40 % to 70 % and 40 % to 70 %.";
        assert!(shown.contains(told), "{shown}");
        assert!(
            shown.contains("CPU promised: 90 % now, 50 % afterwards"),
            "{shown}"
        );
        let at = |host: &str| shown.find(&format!(">{host}<")).unwrap_or(usize::MAX);
        assert!(at("h2") < at("h1") && at("h1") < at("h3"), "{shown}");
        assert_eq!(at("h4"), usize::MAX, "{shown}");
    }

    #[test]
    fn nothing_is_shown_where_no_move_is_open() {
        let moves = [step("a", Some("h1"), "h2", "confirmed")];
        let shown = section("c", (&moves, &now()), &[host("h1", 1.0, 0.0)]);
        assert_eq!(shown.into_string(), "");
    }
}
