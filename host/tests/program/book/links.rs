//! Links between pages, and the summary.

use std::collections::BTreeSet;

use super::page::Page;
use super::pages;

/// What stands between `](` and `)`.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split("](").skip(1);
    after.filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// The anchors of a page's headings, as code hosts and the book make them.
fn anchors(page: &Page) -> BTreeSet<String> {
    let prose = page.prose();
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let text = line.trim_start_matches('#').trim().to_lowercase();
        let kept = text
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_to_pages_and_headings_that_are_there() {
    let all = Page::all();
    let mut problems = Vec::new();
    let mut links = 0;
    for page in &all {
        let prose = page.prose();
        for target in targets(&prose).filter(|it| !it.contains("://")) {
            links += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => page.path.clone(),
                file => page.path.parent().unwrap().join(file),
            };
            let path = path.canonicalize().unwrap_or(path);
            let found = all
                .iter()
                .find(|it| it.path.canonicalize().unwrap() == path);
            let is_there =
                found.is_some_and(|found| anchor.is_empty() || anchors(found).contains(anchor));
            if !is_there {
                problems.push(format!("{}: {target}", page.name()));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(links > 20, "the book has links");
}

#[test]
fn the_summary_lists_every_page_once() {
    let all = Page::all();
    let summary = all.iter().find(|it| it.name() == "SUMMARY.md").unwrap();
    let listed: Vec<&str> = targets(&summary.text).collect();
    let once: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(listed.len(), once.len(), "a page is listed twice");
    let names: Vec<String> = all.iter().map(Page::name).collect();
    let there: BTreeSet<&str> = (names.iter().map(String::as_str))
        .filter(|name| *name != "SUMMARY.md")
        .collect();
    assert_eq!(once, there, "in {}", pages().display());
}
