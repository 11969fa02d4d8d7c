//! The clusters of the overview: how each fares, sorted and filtered.

use std::cmp::Ordering;

use maud::{Markup, html};
use serde_json::Value;

use super::needs::Need;
use crate::ask::Ask;
use crate::format::{self, Moment, things};
use crate::parts::{ago, empty, measure_key, sorted_head, state};
use crate::url::{of_cluster, segment};
use crate::value::{count, items, measure, text};
use placewright_http::Problem;

/// The period that rates cover, in seconds.
const HOUR: i64 = 3600;
/// So many clusters are looked over without a filter.
const FEW: usize = 5;

/// A cluster, and what the page says of it.
pub(super) struct Line {
    pub(super) cluster: Value,
    pub(super) sums: Option<Value>,
    pub(super) rates: Option<Value>,
}

impl Line {
    pub(super) fn name(&self) -> &str {
        text(&self.cluster, "name")
    }

    pub(super) fn sum(&self, what: &str, name: &str) -> usize {
        self.sums
            .as_ref()
            .map_or(0, |sums| count(&sums[what], name))
    }
}

/// By what clusters are sorted; descending with a `-` before it. They come by name.
const ORDERS: [&str; 8] = [
    "state",
    "name",
    "vms",
    "cpu",
    "memory",
    "policy",
    "decisions",
    "waiting",
];

/// The words of the filter by state.
const STANDINGS: [&str; 2] = ["needs", "healthy"];

/// That the order and the state that are asked for are among those that there are.
///
/// # Errors
/// If one is not.
pub(super) fn check_order(ask: &Ask) -> Result<(), Problem> {
    let descending = ORDERS.map(|order| format!("-{order}"));
    let mut all = ORDERS.to_vec();
    all.extend(descending.iter().map(String::as_str));
    ask.one_of("sort", &all)?;
    ask.one_of("state", &STANDINGS).map(drop)
}

/// How bad a cluster fares, worst first.
fn rank(name: &str, needs: &[Need]) -> (u8, u8) {
    let of_it = || needs.iter().filter(|need| need.is_of(name));
    let worst = of_it().map(|need| need.rank).min().unwrap_or(u8::MAX);
    (u8::from(!of_it().any(|need| need.stops_all)), worst)
}

fn decisions(line: &Line) -> usize {
    let minutes = line.rates.iter().flat_map(|rates| items(rates, "minutes"));
    minutes
        .map(|minute| count(minute, "placed") + count(minute, "rejected"))
        .sum()
}

fn compared(by: &str, a: &Line, b: &Line, needs: &[Need]) -> Ordering {
    let share = |line: &Line, what: &str| {
        let sums = line.sums.as_ref();
        sums.map_or(-1.0, |sums| measure(&sums[what]).share())
    };
    let counted = |line: &Line, what: &str| count(&line.cluster["counted"], what);
    match by {
        "state" => rank(a.name(), needs).cmp(&rank(b.name(), needs)),
        "vms" => counted(a, "vms").cmp(&counted(b, "vms")),
        "cpu" | "memory" => share(a, by).total_cmp(&share(b, by)),
        "policy" => {
            let policy = |line: &Line| text(&line.cluster["settings"], "policy").to_owned();
            policy(a).cmp(&policy(b))
        }
        "decisions" => decisions(a).cmp(&decisions(b)),
        "waiting" => count(&a.cluster, "waiting").cmp(&count(&b.cluster, "waiting")),
        _ => by_name(a.name(), b.name()),
    }
}

/// Names in the order of a dictionary: without regard to case, and then as they are written.
fn by_name(a: &str, b: &str) -> Ordering {
    let lowered = a.to_lowercase().cmp(&b.to_lowercase());
    lowered.then_with(|| a.cmp(b))
}

/// The clusters that the page asks for, in its order.
fn wanted<'l>(ask: &Ask, lines: &'l [Line], needs: &[Need]) -> Vec<&'l Line> {
    let part = ask.param("filter").unwrap_or_default().to_lowercase();
    let standing = ask.param("state");
    let lines = lines.iter().filter(|line| {
        let is_needed = needs.iter().any(|need| need.is_of(line.name()));
        line.name().to_lowercase().contains(&part)
            && standing.is_none_or(|standing| is_needed == (standing == "needs"))
    });
    let mut lines: Vec<&Line> = lines.collect();
    let sorted = ask.param("sort").unwrap_or_default();
    let (by, descends) = match sorted.strip_prefix('-') {
        Some(by) => (by, true),
        None => (sorted, false),
    };
    lines.sort_by(|a, b| {
        let order = compared(by, a, b, needs);
        let order = if descends { order.reverse() } else { order };
        order.then_with(|| by_name(a.name(), b.name()))
    });
    lines
}

/// The panel of all clusters, or of those that the page asks for.
pub(super) fn panel(ask: &Ask, lines: &[Line], needs: &[Need]) -> Markup {
    let since = ask.console.since;
    let wanted = wanted(ask, lines, needs);
    let sorted = ask.param("sort").unwrap_or("name");
    let head = |name, title, is_number| sorted_head(ask, sorted, name, title, is_number);
    let is_filtered = ask.param("filter").is_some() || ask.param("state").is_some();
    html! {
        section.panel aria-labelledby="clusters" {
            header {
                h2 id="clusters" { "Clusters" @if is_filtered { " " span.dim { (wanted.len()) " of " (lines.len()) } } }
                span.bar { (measure_key()) span.small.dim { "of what may be promised" } }
            }
            @if lines.len() > FEW || is_filtered { (filter(ask)) }
            @if wanted.is_empty() {
                div.in { (empty("No cluster matches", html! { a href="/" { "Clear the filter" } })) }
            } @else {
                div.scroll { table {
                    thead { tr {
                        (head("state", "State", false))
                        (head("name", "Cluster", false))
                        (head("vms", "VMs", true))
                        (head("cpu", "CPU", false))
                        (head("memory", "Memory", false))
                        (head("policy", "Policy", false))
                        (head("decisions", "Decisions in the last hour", false))
                        (head("waiting", "Waiting", true))
                    } }
                    tbody { @for line in &wanted { (cluster(line, needs, since)) } }
                } }
            }
        }
    }
}

fn filter(ask: &Ask) -> Markup {
    let standing = ask.param("state");
    html! {
        form.in.bar action="/" method="get" data-auto {
            input.field type="search" name="filter" value=(ask.param("filter").unwrap_or_default()) aria-label="Filter" placeholder="Name";
            select.field name="state" aria-label="State" {
                option value="" { "all" }
                option value="needs" selected[standing == Some("needs")] { "needs somebody" }
                option value="healthy" selected[standing == Some("healthy")] { "healthy" }
            }
            @if let Some(sort) = ask.param("sort") { input type="hidden" name="sort" value=(sort); }
            button.btn.without-script type="submit" { "Show" }
        }
    }
}

/// Reasons that stand beside the state of a cluster; all stand in the list of needs.
pub(super) const REASONS: usize = 4;

/// How a cluster fares, with the reasons, the worst first.
fn health(name: &str, needs: &[Need]) -> Markup {
    let needs: Vec<&Need> = needs.iter().filter(|need| need.is_of(name)).collect();
    let is_broken = needs.iter().any(|need| need.stops_all);
    html! {
        @match needs.first().map(|need| need.rank) {
            Some(_) if is_broken => (state("bad", "bad", "Decides nothing")),
            Some(0) => (state("bad", "bad", "Degraded")),
            Some(1) => (state("warn", "warn", "Degraded")),
            Some(_) => (state("acc", "pend", "Waits for you")),
            None => (state("ok", "ok", "Healthy")),
        }
        @if !needs.is_empty() { ul.reasons {
            @for need in needs.iter().take(REASONS) { li { a href=(need.path) { (need.brief) } } }
            @if needs.len() > REASONS { li { a href="#needs" { "and " (needs.len() - REASONS) " more" } } }
        } }
    }
}

fn cluster(line: &Line, needs: &[Need], since: Moment) -> Markup {
    let name = line.name();
    let counted = &line.cluster["counted"];
    let up = line.sum("hosts", "up");
    let hosts = count(counted, "hosts");
    let settings = &line.cluster["settings"];
    let policy = text(settings, "policy");
    html! {
        tr.tall {
            td { (health(name, needs)) }
            td {
                a href=(of_cluster(name, &[])) { b { (name) } }
                span.sub { (things(hosts, "host", "hosts")) @if up < hosts { ", " (hosts - up) " not up" } }
            }
            td.num { (format::len(count(counted, "vms"))) span.sub { (format::len(count(counted, "pending"))) " reserved" } }
            @match &line.sums {
                Some(sums) => {
                    td { (measure(&sums["cpu"]).bar("CPU")) }
                    td { (measure(&sums["memory"]).bar("Memory")) }
                }
                None => { td colspan="2" { span.dim { "not known" } } }
            }
            td {
                @if policy.is_empty() { span.dim { "none" } } @else {
                    a.text href={ "/policies/" (segment(policy)) } { (policy) }
                    span.sub { @match line.cluster["policy-revision"].as_u64() {
                        Some(0) => "of the program", Some(revision) => { "revision " (revision) } None => "",
                    } }
                }
            }
            td { @match &line.rates {
                Some(rates) => (decided(items(rates, "minutes"), since)),
                None => span.dim { "not known" },
            } }
            td.num { (format::len(count(&line.cluster, "waiting"))) }
        }
    }
}

/// A bar for each minute: decisions that found a host, and above them those that found none.
fn decided(minutes: &[Value], since: Moment) -> Markup {
    // They are counted from the start of the server on.
    let is_young = Moment::now().0.saturating_sub(since.0) < HOUR;
    let of = |minute: &Value| {
        let without = count(minute, "rejected");
        (count(minute, "placed") + without, without)
    };
    let failed: usize = minutes.iter().map(|it| count(it, "failed")).sum();
    let (mut all, mut without, mut most) = (0, 0, 1);
    for (total, in_vain) in minutes.iter().map(of) {
        (all, without, most) = (all + total, without + in_vain, most.max(total));
    }
    let high = |number: usize| number as f64 * 20.0 / most as f64;
    html! {
        svg.minutes viewBox="0 0 180 20" width="180" height="20" preserveAspectRatio="none" aria-hidden="true" {
            @for (place, (total, in_vain)) in minutes.iter().map(of).enumerate() {
                @if total > 0 {
                    @let (top, bad) = (20.0 - high(total), high(in_vain));
                    rect.f-com x=(place * 3) y=(format!("{top:.1}")) width="2" height=(format!("{:.1}", high(total))) {}
                    @if in_vain > 0 { rect.f-bad x=(place * 3) y=(format!("{top:.1}")) width="2" height=(format!("{bad:.1}")) {} }
                }
            }
        }
        span.sub { (things(all, "decision", "decisions")) @if without > 0 { ", " span.bad { (format::len(without)) " without a host" } }
            @if failed > 0 { ", " span.bad { (things(failed, "request", "requests")) " not decided" } }
            @if is_young { " since the server started " (ago(since)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_without_regard_to_case() {
        let mut names = ["Zeta", "alpha", "beta", "Alpha"];
        names.sort_by(|a, b| by_name(a, b));
        assert_eq!(names, ["Alpha", "alpha", "beta", "Zeta"]);
    }
}
