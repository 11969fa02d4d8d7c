//! The revisions of a policy: who, when, and what changed.

use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use super::{Above, changes, head, tabs};
use crate::ask::Ask;
use crate::format::{Moment, cut, things};
use crate::page::{self, Area, Page};
use crate::parts::{self, ago, empty};
use crate::url::segment;
use crate::value::text;
use placewright_document::Word;
use placewright_http::{Permission, Problem};

/// Revisions that are shown.
pub(super) const MOST: usize = 50;
/// Lines of a document that are compared.
const LINES: usize = 2000;

/// The page of the revisions.
pub(super) async fn show(
    ask: &Ask,
    name: &str,
    policy: &Value,
    above: Above<'_>,
) -> Result<Response, Problem> {
    let path = format!("/v1/policies/{}/history", segment(name));
    let revisions = ask.list(&path, MOST).await?;
    let clusters = ask.list("/v1/clusters", 1000).await?;
    let deciding = clusters
        .iter()
        .filter(|it| text(&it["settings"], "policy") == name);
    let deciding: Vec<&str> = deciding.map(|it| text(it, "name")).collect();
    let may =
        policy["origin"] == "api" && ask.caller.must(Permission::AuthorPolicies, None).is_ok();
    let main = html! {
        (head(ask, (name, policy), &deciding, None, above.copy))
        (tabs(&format!("/policies/{}", segment(name)), "history"))
        (above.told)
        @if policy["origin"] == "api" && !may {
            p.small.dim { "To try one of them, or make it the newest, needs the role " (Permission::AuthorPolicies.least_role().word()) "." }
        }
        @if revisions.is_empty() { (empty("No revision is kept", html! { "It comes with the program." })) }
        @for (place, revision) in revisions.iter().enumerate() {
            @let before = revisions.get(place + 1);
            (one(name, policy, revision, before, may))
        }
        div.acts { (parts::copies(&parts::curl("GET", &path, None), Some(&parts::command(&["policy", "history", name])))) }
    };
    let page = Page {
        title: format!("History of {name}"),
        area: Area::Policies,
        cluster: None,
        main,
        // What is being entered is not to go.
        live: if above.copy.is_some() { "" } else { "policy" },
        script: None,
    };
    page::shown_as(ask, page, above.status).await
}

fn one(name: &str, policy: &Value, revision: &Value, before: Option<&Value>, may: bool) -> Markup {
    let number = revision["revision"].as_u64().unwrap_or_default();
    let is_newest = policy["revision"] == revision["revision"];
    let lines = before.map(|before| difference(text(before, "text"), text(revision, "text")));
    let changed = lines
        .as_ref()
        .map(|lines| lines.iter().filter(|(sign, _)| *sign != ' ').count());
    html! {
        section.panel aria-label={ "Revision " (number) } {
            header {
                h2 { "Revision " (number) @if is_newest { " " span.chip { "in force" } } }
                span.small.soft { (cut(text(revision, "by"), 40)) @if let Some(at) = Moment::of(&revision["at"]) { " " (ago(at)) } }
                @if may && !is_newest {
                    form action={ "/policies/" (segment(name)) } method="post" {
                        input type="hidden" name="revision" value=(policy["revision"]);
                        input type="hidden" name="view" value="document";
                        textarea.hidden name="text" aria-label="The document" { "\n" (text(revision, "text")) }
                        button.btn type="submit" name="deed" value="try" { "Try it" }
                        " "
                        button.btn type="submit" name="deed" value="save" { "Make it the newest" }
                    }
                }
            }
            div.in {
                @match (&lines, changed) {
                    (Some(lines), Some(changed)) => {
                        @let words = before.and_then(|before| changes::between(text(before, "text"), text(revision, "text"))).unwrap_or_default();
                        @if !words.is_empty() { (super::told_changes(&words)) }
                        p.small.soft { (things(changed, "line differs", "lines differ")) " from the revision before." }
                        (told(lines))
                    }
                    _ => { details { summary.small { "The document" } pre.code tabindex="0" { (text(revision, "text")) } } }
                }
            }
        }
    }
}

/// The lines that differ between two documents, with what stands around them.
pub(super) fn shown(before: &str, after: &str) -> Markup {
    told(&difference(before, after))
}

fn told(lines: &[(char, &str)]) -> Markup {
    html! {
        pre.code.diff tabindex="0" { @for (sign, line) in around(lines) {
            @match sign {
                '+' => { ins { "+ " (line) "\n" } }
                '-' => { del { "- " (line) "\n" } }
                '…' => { span.dim { "  …\n" } }
                _ => { span.dim { "  " (line) "\n" } }
            }
        } }
    }
}

/// Lines of both texts in order: '-' of the first alone, '+' of the second alone, ' ' of both.
fn difference<'t>(before: &'t str, after: &'t str) -> Vec<(char, &'t str)> {
    let before: Vec<&str> = before.lines().take(LINES).collect();
    let after: Vec<&str> = after.lines().take(LINES).collect();
    // From each place on, how many lines both have in common at most.
    let wide = after.len() + 1;
    let mut common = vec![0_u32; (before.len() + 1) * wide];
    for a in (0..before.len()).rev() {
        for b in (0..after.len()).rev() {
            common[a * wide + b] = match before[a] == after[b] {
                true => common[(a + 1) * wide + b + 1] + 1,
                false => common[(a + 1) * wide + b].max(common[a * wide + b + 1]),
            };
        }
    }
    let (mut a, mut b, mut lines) = (0, 0, Vec::new());
    while a < before.len() || b < after.len() {
        if a < before.len() && b < after.len() && before[a] == after[b] {
            lines.push((' ', before[a]));
            (a, b) = (a + 1, b + 1);
        } else if b == after.len()
            || (a < before.len() && common[(a + 1) * wide + b] >= common[a * wide + b + 1])
        {
            lines.push(('-', before[a]));
            a += 1;
        } else {
            lines.push(('+', after[b]));
            b += 1;
        }
    }
    lines
}

/// The lines that differ, with two lines around them.
fn around<'t>(lines: &[(char, &'t str)]) -> Vec<(char, &'t str)> {
    let near = |place: usize| {
        let from = place.saturating_sub(2);
        lines[from..lines.len().min(place + 3)]
            .iter()
            .any(|(sign, _)| *sign != ' ')
    };
    let mut shown: Vec<(char, &str)> = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        if near(place) {
            shown.push(*line);
        } else if shown.last().is_none_or(|(sign, _)| *sign != '…') {
            shown.push(('…', ""));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_are_told_with_what_stands_around_them() {
        let (before, after) = ("a\nb\nc\nd\ne\nf\ng", "a\nb\nc\nd\nE\nf\ng\nh");
        let lines = difference(before, after);
        let told: String = lines
            .iter()
            .map(|(sign, line)| format!("{sign}{line}"))
            .collect();
        assert_eq!(told, " a b c d-e+E f g+h");
        let told: String = around(&lines)
            .iter()
            .map(|(sign, line)| format!("{sign}{line}"))
            .collect();
        assert_eq!(told, "… c d-e+E f g+h");
        assert!(difference("x", "x").iter().all(|(sign, _)| *sign == ' '));
        assert_eq!(difference("", "x"), [('+', "x")]);
    }
}
