//! The hosts of a decision against the entries of its policy.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use crate::ask::Ask;
use crate::format::{self, cost, cut, things};
use crate::parts::{host_link, sign};
use crate::url;
use crate::value::{self, items, text};
use placewright_http::Problem;

/// Remaining hosts that are shown at first, and removed ones.
const ROWS: usize = 15;

/// What an explanation says, host by host.
pub(crate) struct Matrix<'e> {
    pub(crate) explanation: &'e Value,
    /// The names of cost entries, in policy order.
    pub(crate) entries: Vec<&'e str>,
    /// Hosts that were left: the least cost first, or the greatest chance where that decides.
    pub(crate) left: Vec<Row<'e>>,
    pub(crate) removed: Vec<Row<'e>>,
    pub(crate) unasked: Vec<(&'e str, &'e str)>,
    /// Where the VM went, if the decision comes out differently now that it is made again.
    pub(crate) then: Option<Then<'e>>,
    /// The policy that it is made again by, if it is another one than decided, or as it is now.
    pub(crate) by: Option<&'e str>,
    by_chance: bool,
    /// The chance of each host, where selections decide.
    chances: BTreeMap<&'e str, Chance<'e>>,
}

/// The chance of a host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chance<'e> {
    /// The group of candidates that it is in, the best being 1.
    pub(crate) group: usize,
    /// Its share in that group, a fraction of 1.
    pub(crate) share: f64,
    /// The unit that gave it none, if one did.
    pub(crate) none_by: Option<&'e str>,
}

/// What a decision was that comes out differently now: the host, if it found one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Then<'e>(pub(crate) Option<&'e str>);

/// One host.
pub(crate) struct Row<'e> {
    pub(crate) host: &'e str,
    /// By the entry: raw, scaled, weighted.
    pub(crate) costs: BTreeMap<&'e str, [f64; 3]>,
    /// Tier by tier.
    pub(crate) sums: Vec<f64>,
    pub(crate) removed: Option<&'e Value>,
    passed_over: bool,
}

impl Row<'_> {
    /// The costs that decide, tier by tier.
    pub(crate) fn costs_shown(&self) -> String {
        let sums: Vec<String> = self.sums.iter().map(|sum| cost(*sum)).collect();
        sums.join(" / ")
    }

    /// By how much it is dearer in the first tier in which they differ; 0 if they do in none.
    pub(crate) fn dearer_than(&self, other: &Self) -> f64 {
        let mut tiers = self.sums.iter().zip(&other.sums);
        // Infinite ones are equal, too.
        let first = tiers.find(|(here, there)| here != there);
        first.map_or(0.0, |(here, there)| here - there)
    }
}

impl<'e> Matrix<'e> {
    /// Put the stages of an explanation together: of each host the last one that it came to.
    pub(crate) fn of(explanation: &'e Value) -> Self {
        let mut rows: BTreeMap<&str, Row<'_>> = BTreeMap::new();
        let mut entries: Vec<&str> = Vec::new();
        for stage in items(explanation, "stages") {
            for shown in items(stage, "hosts") {
                let row = rows.entry(text(shown, "host")).or_insert_with(|| Row {
                    host: text(shown, "host"),
                    costs: BTreeMap::new(),
                    sums: Vec::new(),
                    removed: None,
                    passed_over: false,
                });
                for given in items(shown, "costs") {
                    let name = text(given, "name");
                    if !entries.contains(&name) {
                        entries.push(name);
                    }
                    let values = ["raw", "scaled", "weighted"].map(|it| value::cost(&given[it]));
                    row.costs.insert(name, values);
                }
                let sums = items(shown, "sums");
                if !sums.is_empty() {
                    row.sums = sums.iter().map(value::cost).collect();
                }
                row.passed_over |= shown["passed-over"] == true;
                if shown["removed"].is_object() {
                    row.removed = Some(&shown["removed"]);
                }
            }
        }
        let chosen = text(explanation, "chosen");
        let (mut left, removed): (Vec<Row<'_>>, Vec<Row<'_>>) =
            rows.into_values().partition(|row| row.removed.is_none());
        left.sort_by(|a, b| {
            let by_sums = a.sums.iter().zip(&b.sums).map(|(a, b)| a.total_cmp(b));
            let by_sums = by_sums.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
            (a.host != chosen)
                .cmp(&(b.host != chosen))
                .then(a.passed_over.cmp(&b.passed_over))
                .then(by_sums)
        });
        let unasked = items(explanation, "not-considered").iter();
        Self {
            explanation,
            entries,
            left,
            removed,
            unasked: unasked
                .map(|it| (text(it, "host"), text(it, "reason")))
                .collect(),
            then: None,
            by: None,
            by_chance: false,
            chances: chances(explanation),
        }
    }

    /// The same of a decision as it was recorded: chance decided where it has shares.
    pub(crate) fn of_decision(explanation: &'e Value, decision: &'e Value) -> Self {
        let groups = items(decision, "shares");
        let mut matrix = Self::compared(explanation, decision);
        matrix.by_chance = !groups.is_empty();
        if matrix.by_chance && matrix.chances.is_empty() {
            matrix.chances = of_groups(groups);
        }
        matrix.in_order_of_chances()
    }

    /// The same of a decision made again by a policy: chance decides where that has selections.
    pub(crate) fn by_policy(explanation: &'e Value, decision: &'e Value, policy: &'e str) -> Self {
        let mut matrix = Self::compared(explanation, decision);
        matrix.by = Some(policy);
        matrix.by_chance = !matrix.chances.is_empty();
        matrix.in_order_of_chances()
    }

    /// The hosts of an explanation, beside the host that the decision recorded.
    fn compared(explanation: &'e Value, decision: &'e Value) -> Self {
        let host = decision["host"].as_str();
        Self {
            then: (explanation["chosen"].as_str() != host).then_some(Then(host)),
            ..Self::of(explanation)
        }
    }

    fn in_order_of_chances(mut self) -> Self {
        if self.by_chance {
            let chances = &self.chances;
            let of = |row: &Row<'_>| chances.get(row.host).copied();
            self.left.sort_by(|a, b| match (of(a), of(b)) {
                (Some(a), Some(b)) => (a.group.cmp(&b.group)).then(b.share.total_cmp(&a.share)),
                (a, b) => b.is_some().cmp(&a.is_some()),
            });
        }
        self
    }

    /// The chances of the group of candidates that a host is in, the greatest first.
    pub(crate) fn chances_beside(&self, host: &str) -> Vec<f64> {
        let Some(group) = self.chance(host).map(|chance| chance.group) else {
            return Vec::new();
        };
        let same = self.chances.values();
        let same = same.filter(|it| it.group == group && it.share > 0.0);
        let mut shares: Vec<f64> = same.map(|it| it.share).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        shares
    }

    /// The chance of a host, where chance decides.
    pub(crate) fn chance(&self, host: &str) -> Option<Chance<'e>> {
        self.chances.get(host).copied().filter(|_| self.by_chance)
    }

    /// How many groups of candidates chance chose from.
    fn groups(&self) -> usize {
        let groups = self.chances.values().map(|chance| chance.group);
        groups.max().unwrap_or_default()
    }

    /// Whether costs were asked for.
    fn has_costs(&self) -> bool {
        self.left.iter().any(|row| !row.sums.is_empty())
    }

    /// How many hosts were left, removed, and not considered.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        (self.left.len(), self.removed.len(), self.unasked.len())
    }

    pub(crate) fn is_by_chance(&self) -> bool {
        self.by_chance
    }

    pub(crate) fn chosen(&self) -> Option<&Row<'e>> {
        let chosen = self.explanation["chosen"].as_str()?;
        self.left.iter().find(|row| row.host == chosen)
    }

    /// Whether it is the host where the VM went, and would not go now.
    pub(crate) fn is_then(&self, host: &str) -> bool {
        self.then == Some(Then(Some(host)))
    }

    /// What stands beside the chosen host.
    fn mark(&self) -> &'static str {
        match (self.then, self.by) {
            (None, _) => "chosen",
            (Some(_), None) => "now",
            (Some(_), Some(_)) => "by this policy",
        }
    }

    /// The costs of a host, tier by tier, if there are costs.
    pub(crate) fn costs_of(&self, host: &str) -> Option<String> {
        let row = self.left.iter().find(|row| row.host == host)?;
        (!row.sums.is_empty()).then(|| row.costs_shown())
    }

    /// Whether costs of one tier decide.
    pub(crate) fn has_one_tier(&self) -> bool {
        self.left.iter().all(|row| row.sums.len() <= 1)
    }

    /// The host that came next, and by how much it is dearer.
    pub(crate) fn next_best(&self) -> Option<(&'e str, f64)> {
        let chosen = self.chosen()?;
        let next = self.left.iter().find(|row| row.host != chosen.host)?;
        Some((next.host, next.dearer_than(chosen)))
    }

    /// The factor of an entry, as far as costs tell it.
    pub(crate) fn factor(&self, entry: &str) -> Option<f64> {
        self.left.iter().find_map(|row| {
            let [_, scaled, weighted] = row.costs.get(entry)?;
            (*scaled != 0.0 && weighted.is_finite()).then(|| weighted / scaled)
        })
    }
}

/// The chances that the selections of the last stage gave.
fn chances(explanation: &Value) -> BTreeMap<&str, Chance<'_>> {
    let stage = items(explanation, "stages").last();
    let selections = stage.map_or(&[][..], |stage| items(stage, "selections"));
    let Some(last) = selections.last() else {
        return BTreeMap::new();
    };
    let mut chances = of_groups(items(last, "groups"));
    for (host, chance) in &mut chances {
        if chance.share <= 0.0 {
            let mut all = selections.iter();
            let none_by = all.find(|selection| {
                let groups = of_groups(items(selection, "groups"));
                groups.get(host).is_none_or(|it| it.share <= 0.0)
            });
            chance.none_by = none_by.map(|selection| text(selection, "unit"));
        }
    }
    chances
}

/// The chances in groups of candidates, the best first.
fn of_groups(groups: &[Value]) -> BTreeMap<&str, Chance<'_>> {
    let mut chances = BTreeMap::new();
    for (number, group) in (1..).zip(groups) {
        for candidate in group.as_array().into_iter().flatten() {
            let chance = Chance {
                group: number,
                share: candidate["share"].as_f64().unwrap_or_default(),
                none_by: None,
            };
            chances.insert(text(candidate, "host"), chance);
        }
    }
    chances
}

/// What the values of costs are called in the address, as the entry gives them and on the way to the sum.
const VALUES: [&str; 3] = ["raw", "scaled", "weighted"];

/// That the address asks for nothing of the table that there is not.
///
/// # Errors
/// If it does.
pub(crate) fn check_words(ask: &Ask) -> Result<(), Problem> {
    ask.one_of("values", &VALUES)?;
    ask.one_of("rows", &["all"])?;
    ask.one_of("columns", &["all"]).map(drop)
}

/// The table.
pub(crate) fn panel(ask: &Ask, cluster: &str, matrix: &Matrix<'_>) -> Markup {
    let wanted = VALUES.iter().position(|it| ask.param("values") == Some(it));
    let which = wanted.unwrap_or(VALUES.len() - 1);
    let filter = ask.param("filter").unwrap_or_default().to_lowercase();
    let fits = |row: &&Row<'_>| {
        let reason = row.removed.map_or("", |it| text(it, "reason"));
        filter.is_empty()
            || row.host.to_lowercase().contains(&filter)
            || reason.to_lowercase().contains(&filter)
    };
    let is_zero = |entry: &&&str| {
        matrix
            .left
            .iter()
            .all(|row| row.costs.get(**entry).is_none_or(|it| it[2] == 0.0))
    };
    let all_columns = ask.param("columns") == Some("all");
    let zero: Vec<&str> = matrix.entries.iter().filter(is_zero).copied().collect();
    let entries: Vec<&str> = matrix
        .entries
        .iter()
        .filter(|it| all_columns || !is_zero(it))
        .copied()
        .collect();
    // Each with its place among all, whatever is shown of them.
    let numbered = matrix.left.iter().enumerate();
    let mut left: Vec<(usize, &Row<'_>)> = numbered.filter(|(_, row)| fits(row)).collect();
    let sorted = ask.param("sort").filter(|it| matrix.entries.contains(it));
    if let Some(entry) = sorted {
        let of = |row: &Row<'_>| row.costs.get(entry).map_or(f64::INFINITY, |it| it[which]);
        left.sort_by(|a, b| of(a.1).total_cmp(&of(b.1)));
    }
    let unasked = matrix.unasked.iter();
    let unasked: Vec<&(&str, &str)> = unasked
        .filter(|(host, reason)| {
            let has = |text: &str| text.to_lowercase().contains(&filter);
            has(host) || has(reason)
        })
        .collect();
    let removed: Vec<&Row<'_>> = matrix.removed.iter().filter(fits).collect();
    let rows = if ask.param("rows") == Some("all") {
        usize::MAX
    } else {
        ROWS
    };
    let has_cost = matrix.has_costs() || !matrix.by_chance;
    let has_last = matrix.has_costs() || matrix.by_chance;
    let wide = entries.len() + 2 + usize::from(has_cost) + usize::from(has_last);
    let scale = scale(matrix, &entries, which);
    let asked = ask.param("host");
    html! {
        section.panel aria-label="Hosts and entries" {
            header {
                span.seg role="group" aria-label="Values" {
                    @for (number, word) in VALUES.iter().enumerate() {
                        a href=(url::with(&ask.query, "values", word, &[])) aria-current=[(number == which).then_some("true")] data-key=(&word[..1]) { (word) }
                    }
                }
                form.bar.grow method="get" data-auto {
                    @for (name, value) in &ask.query { @if name != "filter" { input type="hidden" name=(name) value=(value); } }
                    input.field type="search" name="filter" value=(ask.param("filter").unwrap_or_default()) aria-label="Filter hosts or reasons" placeholder="Filter hosts or reasons";
                    button.btn.without-script type="submit" { "Show" }
                }
                @if !zero.is_empty() && !all_columns {
                    span.small.dim { (zero.join(", ")) " cost all hosts 0 · "
                        a href=(url::with(&ask.query, "columns", "all", &[])) { "show" } }
                }
            }
            div.scroll { table.mx {
                caption.vh { "Remaining hosts by cost, removed hosts, hosts that were not considered" }
                thead { tr {
                    th.num scope="col" { span.vh { "Place" } }
                    th scope="col" { "Host" }
                    @for entry in &entries {
                        th.num scope="col" aria-sort=[(sorted == Some(entry)).then_some("ascending")] {
                            a href=(url::with(&ask.query, "sort", entry, &[])) { (cut(entry, 40)) }
                            @if let Some(factor) = matrix.factor(entry) { br; span.dim { "factor " (format::factor(factor)) } }
                        }
                    }
                    @let in_order = url::with(&ask.query, "sort", "", &[]);
                    @if matrix.by_chance {
                        @if has_cost { th.num scope="col" { "Cost" } }
                        th.num scope="col" aria-sort=[sorted.is_none().then_some("descending")] { a href=(in_order) { "Share" } }
                    } @else {
                        th.num scope="col" aria-sort=[sorted.is_none().then_some("ascending")] { a href=(in_order) { "Cost" } }
                        @if has_last { th.num scope="col" { "to least" } }
                    }
                } }
                tbody {
                    tr.group { td colspan=(wide) {
                        @if left.len() < matrix.left.len() { (format::len(left.len())) " of " }
                        (things(matrix.left.len(), "host", "hosts")) " remaining"
                        @match sorted {
                            Some(entry) => { ", by " (cut(entry, 40)) }
                            None if matrix.by_chance && matrix.groups() > 1 => ", best group first, then by share",
                            None if matrix.by_chance => ", greatest share first",
                            None if matrix.has_costs() => ", least cost first",
                            None => {}
                        }
                    } }
                    @for (number, row) in left.iter().take(rows) {
                        (left_row(ask, cluster, matrix, row, (*number, &entries, which, scale), asked))
                    }
                    @if left.len() > rows { tr { td {} td colspan=(wide - 1) {
                        a href=(url::with(&ask.query, "rows", "all", &[])) { (left.len() - rows) " more" } } } }
                    @if !removed.is_empty() {
                        tr.group { td colspan=(wide) {
                            @if removed.len() < matrix.removed.len() { (format::len(removed.len())) " of " }
                            (things(matrix.removed.len(), "host", "hosts")) " removed"
                        } }
                        @for row in removed.iter().take(rows) { (removed_row(ask, cluster, (row, matrix.is_then(row.host)), wide, asked)) }
                        @if removed.len() > rows { tr { td {} td colspan=(wide - 1) {
                            a href=(url::with(&ask.query, "rows", "all", &[])) { (removed.len() - rows) " more" } } } }
                    }
                    @if !unasked.is_empty() {
                        tr.group { td colspan=(wide) {
                            @if unasked.len() < matrix.unasked.len() { (format::len(unasked.len())) " of " }
                            (things(matrix.unasked.len(), "host", "hosts")) " not considered"
                        } }
                        @for (host, reason) in unasked.iter().take(rows) { tr {
                            td.off { (sign("maint")) } th.row scope="row" { (host_link(cluster, Some(host))) }
                            td.why colspan=(wide - 2) { (cut(reason, 160)) }
                        } }
                        @if unasked.len() > rows { tr { td {} td colspan=(wide - 1) {
                            a href=(url::with(&ask.query, "rows", "all", &[])) { (unasked.len() - rows) " more" } } } }
                    }
                }
            } }
        }
    }
}

/// The greatest value of all columns, which fills a bar.
fn scale(matrix: &Matrix<'_>, entries: &[&str], which: usize) -> f64 {
    let rows = matrix.left.iter();
    let values = rows.flat_map(|row| entries.iter().filter_map(|entry| row.costs.get(entry)));
    let sizes = values.map(|it| it[which].abs()).filter(|it| it.is_finite());
    sizes.fold(f64::MIN_POSITIVE, f64::max)
}

fn left_row(
    ask: &Ask,
    cluster: &str,
    matrix: &Matrix<'_>,
    row: &Row<'_>,
    (number, entries, which, scale): (usize, &[&str], usize, f64),
    asked: Option<&str>,
) -> Markup {
    let chosen = matrix.chosen();
    let is_chosen = chosen.is_some_and(|chosen| chosen.host == row.host);
    let more = chosen.map(|chosen| row.dearer_than(chosen));
    html! {
        tr.best[is_chosen].sel[asked == Some(row.host)] {
            td.num.dim.small { (number + 1) }
            th.row scope="row" {
                (host_link(cluster, Some(row.host)))
                @if is_chosen { " " b.acc.small { (matrix.mark()) } }
                @else { @if matrix.is_then(row.host) { " " b.warn.small { "then" } } " " (why_link(ask, row.host)) }
            }
            @for entry in entries {
                @match row.costs.get(entry) {
                    Some(values) => {
                        @let value = values[which];
                        td.num title={ "raw " (format::number(values[0], 6)) " · scaled " (cost(values[1])) " · weighted " (cost(values[2])) } {
                            @if which == 2 { svg.bar-c viewBox="0 0 44 10" aria-hidden="true" {
                                rect class=(if is_chosen { "f-acc" } else { "f-com" }) width=(format!("{:.1}", (value.abs() / scale * 44.0).min(44.0))) height="10" rx="2" {}
                            } }
                            span.dim[value == 0.0] { @if which == 0 { (format::number(value, 3)) } @else { (cost(value)) } }
                        }
                    }
                    None => { td.num.dim { "–" } }
                }
            }
            @if matrix.has_costs() || !matrix.by_chance {
                td.num { @if row.sums.is_empty() { span.dim { "–" } } @else { b { (row.costs_shown()) } } }
            }
            @if matrix.by_chance { td.num { (share_cell(matrix, row.host)) } }
            @else if matrix.has_costs() { td.num.dim.small { @match more {
                Some(0.0) | None => { @if is_chosen { "least" } @else { "0" } }
                Some(more) => { (if more > 0.0 { "+" } else { "" }) (cost(more)) }
            } } }
        }
    }
}

/// The share of a host, with its group where there are several.
fn share_cell(matrix: &Matrix<'_>, host: &str) -> Markup {
    html! { @match matrix.chance(host) {
        Some(chance) => {
            b { (format::percent(chance.share)) }
            @if matrix.groups() > 1 { span.small.dim { " in group " (chance.group) } }
        }
        None => span.dim { "–" },
    } }
}

fn removed_row(
    ask: &Ask,
    cluster: &str,
    (row, is_then): (&Row<'_>, bool),
    wide: usize,
    asked: Option<&str>,
) -> Markup {
    let by = row.removed.unwrap_or(&Value::Null);
    html! {
        tr.sel[asked == Some(row.host)] {
            td.bad { (sign("bad")) }
            th.row scope="row" { (host_link(cluster, Some(row.host))) @if is_then { " " b.warn.small { "then" } } " " (why_link(ask, row.host)) }
            td.why colspan=(wide - 2) {
                b { (cut(text(by, "filter"), 60)) } " " (cut(text(by, "reason"), 160))
                @if by["passing"] == true { " " span.dim { "passing: waiting may help" } }
            }
        }
    }
}

fn why_link(ask: &Ask, host: &str) -> Markup {
    html! { a.small.soft.ask-why href={ (url::with(&ask.query, "host", host, &[])) "#why" } aria-label={ "Why not " (host) "?" } { "why not?" } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Three hosts: a selection excluded one of them, and the draw fell on the one with the smaller share.
    fn drawn() -> (Value, Value) {
        let groups = json!([[
            {"host": "a", "share": 0.0}, {"host": "b", "share": 0.25}, {"host": "c", "share": 0.75},
        ]]);
        let first = json!([[
            {"host": "a", "share": 0.5}, {"host": "b", "share": 0.25}, {"host": "c", "share": 0.25},
        ]]);
        let explanation = json!({"chosen": "b", "stages": [{
            "hosts": [{"host": "a"}, {"host": "b"}, {"host": "c"}],
            "selections": [
                {"name": "first", "unit": "even", "groups": first},
                {"name": "second", "unit": "by-quota", "groups": groups},
            ],
        }]});
        let decision = json!({"host": "b", "shares": groups});
        (explanation, decision)
    }

    #[test]
    fn where_chance_decides_hosts_stand_by_their_share() {
        let (explanation, decision) = drawn();
        let matrix = Matrix::of_decision(&explanation, &decision);
        let hosts: Vec<&str> = matrix.left.iter().map(|row| row.host).collect();
        assert_eq!(hosts, ["c", "b", "a"]);
        assert_eq!(matrix.next_best().map(|(host, _)| host), Some("c"));
        let chance = |host| matrix.chance(host).map(|it| (it.share, it.none_by));
        assert_eq!(chance("c"), Some((0.75, None)));
        assert_eq!(chance("a"), Some((0.0, Some("by-quota"))));
        assert_eq!(chance("x"), None);
        assert!(!matrix.has_costs());
        assert!(
            share_cell(&matrix, "c").into_string().contains("75 %"),
            "it is shown"
        );
    }

    #[test]
    fn the_best_group_comes_first_and_costs_decide_where_no_selection_does() {
        let (explanation, mut decision) = drawn();
        let mut explanation = explanation;
        explanation["stages"][0]["selections"] = json!([]);
        decision["shares"] = json!([[{"host": "b", "share": 1.0}], [{"host": "a", "share": 0.4}, {"host": "c", "share": 0.6}]]);
        let matrix = Matrix::of_decision(&explanation, &decision);
        let hosts: Vec<&str> = matrix.left.iter().map(|row| row.host).collect();
        assert_eq!(hosts, ["b", "c", "a"]);
        assert_eq!(matrix.groups(), 2);
        // Costs that are recorded without shares decide.
        let by_cost = json!({"chosen": "a", "stages": [{"hosts": [
            {"host": "b", "sums": [2.0]}, {"host": "a", "sums": [1.0]},
        ]}]});
        let decision = json!({"host": "a", "shares": []});
        let matrix = Matrix::of_decision(&by_cost, &decision);
        assert!(matrix.has_costs() && !matrix.is_by_chance());
        assert_eq!(matrix.chance("a"), None);
        assert_eq!(matrix.left[0].host, "a");
    }
}
