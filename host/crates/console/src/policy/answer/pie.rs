//! Where chance decides: the shares of the candidates of one request, as a pie.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use maud::{Markup, html};
use serde_json::Value;

use super::points;
use crate::format::{cut, percent};
use crate::parts::host_link;
use crate::value::{number, text};

/// Slices with a colour of their own; the rest is one more.
const SLICES: usize = 5;

/// The shares of the first group: the others are drawn from only if it is empty.
fn first(groups: &Value) -> BTreeMap<&str, f64> {
    let group = groups[0].as_array().into_iter().flatten();
    group
        .map(|it| (text(it, "host"), number(it, "share")))
        .collect()
}

/// The pie of the draft, with what was decided as a ring around it, and the same as a table.
pub(super) fn shares(cluster: &str, shares: &Value) -> Markup {
    let (before, after) = (first(&shares["before"]), first(&shares["after"]));
    let mut hosts: Vec<&str> = before.keys().chain(after.keys()).copied().collect();
    hosts.sort_unstable();
    hosts.dedup();
    let share = |of: &BTreeMap<&str, f64>, host: &str| of.get(host).copied().unwrap_or_default();
    hosts.sort_by(|a, b| share(&after, b).total_cmp(&share(&after, a)));
    let slices = |of: &BTreeMap<&str, f64>| -> Vec<f64> {
        let mut slices: Vec<f64> = hosts
            .iter()
            .take(SLICES)
            .map(|host| share(of, host))
            .collect();
        slices.push(hosts.iter().skip(SLICES).map(|host| share(of, host)).sum());
        slices
    };
    let decision = shares["decision"].to_string();
    html! {
        div {
            h3 { "Chances of decision " (decision) ": the pie is the draft, the ring what decided" }
            div.pie-row {
                svg.pie viewBox="-110 -110 220 220" role="img" aria-label="Shares of chance; the table beside has the same" {
                    @for (number, path) in arcs(&slices(&after), 0.0, 84.0).iter().enumerate() { path class={ "k" (number + 1) } d=(path) {} }
                    @for (number, path) in arcs(&slices(&before), 92.0, 104.0).iter().enumerate() { path class={ "k" (number + 1) } d=(path) {} }
                }
                table.flat {
                    thead { tr { th scope="col" { "Host" } th.num scope="col" { "As decided" } th.num scope="col" { "Draft" } th.num scope="col" { "Change" } th.num scope="col" { "Of 1,000" } } }
                    tbody { @for (place, host) in hosts.iter().enumerate().take(40) {
                        @let (was, is) = (share(&before, host), share(&after, host));
                        tr {
                            th.row scope="row" { span class={ "swatch k" (place.min(SLICES) + 1) } {} (host_link(cluster, Some(host))) }
                            td.num { (percent(was)) } td.num { b { (percent(is)) } } td.num { (points(was, is)) }
                            td.num { (format!("{:.0}", is * 1000.0)) }
                        }
                    } }
                }
            }
            @if hosts.len() > SLICES + 1 { p.small.dim { "The last slice is of " (hosts.len() - SLICES) " hosts, from " (cut(hosts[SLICES], 40)) " on." } }
        }
    }
}

/// The paths of slices between two radii, clockwise from the top.
fn arcs(shares: &[f64], inner: f64, outer: f64) -> Vec<String> {
    let all: f64 = shares.iter().sum();
    let mut from = 0.0;
    let point = |turn: f64, radius: f64| {
        let (sin, cos) = (turn * TAU).sin_cos();
        format!("{:.2} {:.2}", sin * radius, -cos * radius)
    };
    let paths = shares.iter().map(|share| {
        let part = if all > 0.0 { share / all } else { 0.0 };
        if part <= 0.0 {
            return String::new();
        }
        // A whole turn would end where it begins.
        let to = from + part.min(0.9999);
        let large = i32::from(part > 0.5);
        let path = format!(
            "M{} L{} A{outer} {outer} 0 {large} 1 {} L{} A{inner} {inner} 0 {large} 0 {}Z",
            point(from, inner),
            point(from, outer),
            point(to, outer),
            point(to, inner),
            point(from, inner)
        );
        from += part;
        path
    });
    paths.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_go_round_once_and_empty_ones_are_left_out() {
        let paths = arcs(&[0.5, 0.0, 0.5], 0.0, 10.0);
        assert!(paths[0].contains("A10 10 0 0 1 0.00 10.00"), "{}", paths[0]);
        assert_eq!(paths[1], "");
        assert!(
            paths[2].starts_with("M0.00 0.00")
                || paths[2].starts_with("M0.00 -0.00")
                || paths[2].starts_with("M-0.00"),
            "{}",
            paths[2]
        );
        assert!(arcs(&[1.0], 0.0, 10.0)[0].contains(" 1 1 "), "a large arc");
        assert_eq!(arcs(&[0.0], 0.0, 10.0), [String::new()]);
    }
}
