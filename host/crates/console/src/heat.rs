//! The map of hosts: a cell for each, in blocks by group, in rows by zone.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use maud::{Markup, html};
use serde::Serialize;
use serde_json::json;

use crate::ask::Ask;
use crate::format::{self, percent};
use crate::hosts::table::states;
use crate::hosts::{Colour, Fleet, HostRow};
use crate::url::{self, of_cluster};

/// The width of the map in its own units.
const WIDTH: usize = 1080;
/// Cells beside each other in a block of a group.
const COLUMNS: usize = 5;
/// A map of more hosts than this refreshes its cells without the page around them.
const REFRESHES_CELLS: usize = 1000;
/// From so many hosts on, cells are smaller.
const MANY: usize = 2500;
/// The least share of each band, in percent.
const BANDS: [usize; 7] = [0, 15, 30, 45, 60, 75, 90];
/// The share from which a cell is marked as full.
const FULL: f64 = 0.97;

fn band(share: f64) -> usize {
    let percent = share * 100.0;
    BANDS
        .iter()
        .rposition(|least| percent >= *least as f64)
        .unwrap_or(0)
}

/// Hosts of one group.
struct Block<'h> {
    name: &'h str,
    hosts: Vec<&'h HostRow>,
    x: usize,
    y: usize,
    columns: usize,
}

/// A zone with its blocks.
struct Zone<'h> {
    name: &'h str,
    y: usize,
    blocks: Vec<Block<'h>>,
}

/// How large cells and what is between them are.
#[derive(Clone, Copy)]
struct Grid {
    cell: usize,
    step: usize,
}

/// The map with its legend.
pub(crate) fn map(
    ask: &Ask,
    cluster: &str,
    fleet: &Fleet,
    wanted: &[&HostRow],
    colour: Colour,
) -> Markup {
    let (zones, height, grid) = laid_out(wanted);
    let drawing = Drawing::of(&zones, grid, colour);
    let path = of_cluster(cluster, &["hosts"]);
    // The page around a small map is refreshed just as fast.
    let cells = (wanted.len() > REFRESHES_CELLS).then(|| of_cluster(cluster, &["map"]));
    let chosen = ask.param("host").unwrap_or_default();
    let hosts = drawing.places.iter().zip(&drawing.texts);
    let hosts: Vec<_> = hosts
        .map(|((id, x, y), text)| json!([id, x, y, text]))
        .collect();
    let data = json!({
        "cell": grid.cell, "step": grid.step, "path": path, "chosen": chosen, "hosts": hosts,
        "cells": cells, "layout": drawing.layout(),
    });
    let label = format!(
        "Map of {}, coloured by {}. The table below has the same.",
        format::things(wanted.len(), "host", "hosts"),
        colour.text()
    );
    html! {
        (legend(ask, fleet, wanted, colour))
        pw-heat-map data-map=(data.to_string()) data-measured[matches!(colour, Colour::CpuUsed | Colour::MemoryUsed)] {
            svg.heat viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label=(label) {
                @for zone in &zones {
                    @if !zone.name.is_empty() {
                        text.zone x="0" y=(zone.y + 10) { (format::cut(zone.name, 12)) }
                    }
                    @for block in &zone.blocks {
                        @if !block.name.is_empty() {
                            text x=(block.x) y=(block.y - 4) { (format::cut(block.name, 9)) }
                        }
                    }
                }
                @for (class, d) in drawing.paths() { path class=(class) d=(d) {} }
            }
        }
    }
}

/// What changes on a map while its cells stay in place.
#[derive(Debug, Serialize)]
pub(crate) struct Cells {
    /// A digest of the hosts of the map and the places of their cells.
    layout: String,
    /// The outline of each path, by the path's class.
    paths: BTreeMap<String, String>,
    /// The text of each cell (a share, or the host's state), in the order of the map's hosts.
    texts: Vec<String>,
}

/// The cells of the map as they are now.
pub(crate) fn cells(wanted: &[&HostRow], colour: Colour) -> Cells {
    let (zones, _, grid) = laid_out(wanted);
    let drawing = Drawing::of(&zones, grid, colour);
    let paths = drawing.paths().into_iter();
    Cells {
        layout: drawing.layout(),
        paths: paths.map(|(class, d)| (class, d.to_owned())).collect(),
        texts: drawing.texts,
    }
}

/// Put zones below each other, and the blocks of each beside each other; gives the height, too.
fn laid_out<'h>(wanted: &[&'h HostRow]) -> (Vec<Zone<'h>>, usize, Grid) {
    let cell = if wanted.len() > MANY { 8 } else { 11 };
    let grid = Grid {
        cell,
        step: cell + 2,
    };
    let mut by_zone: BTreeMap<&str, BTreeMap<&str, Vec<&HostRow>>> = BTreeMap::new();
    let mut hosts: Vec<&HostRow> = wanted.to_vec();
    hosts.sort_by(|a, b| a.id.cmp(&b.id));
    for host in hosts {
        let zone = by_zone.entry(host.zone.as_deref().unwrap_or_default());
        let group = host.group.as_deref().unwrap_or_default();
        zone.or_default().entry(group).or_default().push(host);
    }
    let is_zoned = by_zone.keys().any(|name| !name.is_empty());
    let left = if is_zoned { 34 } else { 0 };
    let mut y = 0;
    let mut zones = Vec::new();
    for (name, groups) in by_zone {
        let is_grouped = groups.keys().any(|name| !name.is_empty());
        let top = y;
        let head = if is_grouped { 16 } else { 2 };
        let (mut x, mut line, mut blocks) = (left, y + head, Vec::new());
        let mut lowest = line;
        for (group, hosts) in groups {
            let columns = match is_grouped {
                true => COLUMNS,
                false => (WIDTH - left) / grid.step,
            };
            let wide = columns.min(hosts.len()) * grid.step;
            if x + wide > WIDTH && x > left {
                (x, line) = (left, lowest + 8 + head);
            }
            let block = Block {
                name: group,
                x,
                y: line,
                columns,
                hosts,
            };
            lowest = lowest.max(line + block.hosts.len().div_ceil(columns) * grid.step);
            x += COLUMNS.max(wide.div_ceil(grid.step)) * grid.step + 8;
            blocks.push(block);
        }
        y = lowest + 10;
        zones.push(Zone {
            name,
            y: top + head,
            blocks,
        });
    }
    (zones, y.max(grid.step), grid)
}

/// What is drawn: a path for each kind of cell, so that thousands of cells are a dozen elements.
#[derive(Default)]
struct Drawing<'h> {
    bands: [String; 7],
    /// Of hosts that take no VMs, or of which the share is not known.
    blank: String,
    full: String,
    marks: String,
    /// The id of each host, and the left and upper edge of its cell.
    places: Vec<(&'h str, usize, usize)>,
    /// The text of each cell: a share, or the host's state.
    texts: Vec<String>,
}

impl<'h> Drawing<'h> {
    fn of(zones: &[Zone<'h>], grid: Grid, colour: Colour) -> Self {
        let mut drawing = Self::default();
        for block in zones.iter().flat_map(|zone| &zone.blocks) {
            for (number, host) in block.hosts.iter().enumerate() {
                let x = block.x + number % block.columns * grid.step;
                let y = block.y + number / block.columns * grid.step;
                drawing.add(host, (x, y), grid.cell, colour);
            }
        }
        drawing
    }

    fn add(&mut self, host: &'h HostRow, (x, y): (usize, usize), cell: usize, colour: Colour) {
        let share = host.share(colour);
        let square = |path: &mut String| path.push_str(&format!("M{x} {y}h{cell}v{cell}h-{cell}z"));
        let text = match (&*host.state, share) {
            ("up", Some(share)) => {
                square(&mut self.bands[band(share)]);
                if share > FULL {
                    let half = cell / 2;
                    self.full
                        .push_str(&format!("M{} {y}h{half}v{half}z", x + cell - half));
                }
                percent(share)
            }
            ("up", None) => {
                square(&mut self.blank);
                "not measured".to_owned()
            }
            (state, _) => {
                square(&mut self.blank);
                self.mark(state, (x, y), cell);
                state.to_owned()
            }
        };
        self.places.push((&host.id, x, y));
        self.texts.push(text);
    }

    /// The class and the outline of each path, in the order in which they are drawn.
    fn paths(&self) -> Vec<(String, &str)> {
        let bands = self.bands.iter().enumerate();
        let mut paths: Vec<_> = bands
            .map(|(number, d)| (format!("c{number}"), d.as_str()))
            .collect();
        let others = [
            ("cx", &self.blank),
            ("over", &self.full),
            ("mark", &self.marks),
        ];
        paths.extend(others.map(|(class, d)| (class.to_owned(), d.as_str())));
        paths
    }

    /// A digest of the hosts and the places of their cells.
    fn layout(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.places.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// The sign of a state in a cell.
    fn mark(&mut self, state: &str, (x, y): (usize, usize), cell: usize) {
        let (left, right, top, low) = (x + 3, x + cell - 3, y + 3, y + cell - 3);
        let middle = x + cell / 2;
        self.marks.push_str(&match state {
            "maintenance" => format!("M{left} {low}L{right} {top}"),
            "down" => format!("M{left} {low}L{right} {top}M{left} {top}L{right} {low}"),
            _ => format!("M{middle} {}V{}M{middle} {low}v1", y + 2, low - 1),
        });
    }
}

/// The bands, with how many hosts are in each: filters when they are clicked.
fn legend(ask: &Ask, fleet: &Fleet, wanted: &[&HostRow], colour: Colour) -> Markup {
    let mut counts = [0; 7];
    for host in wanted.iter().filter(|host| host.state == "up") {
        if let Some(share) = host.share(colour) {
            counts[band(share)] += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    html! {
        div.legend {
            span.small.soft { (colour.text()) ", %" }
            ol {
                @for (number, least) in BANDS.iter().enumerate() {
                    li title={ (format::len(counts[number])) " hosts from " (least) " %" } {
                        svg viewBox="0 0 44 22" preserveAspectRatio="none" aria-hidden="true" {
                            @let height = (counts[number] * 14).div_ceil(most);
                            rect.f-track x="0" y="0" width="44" height="14" {}
                            rect.f-com x="0" y=(14 - height) width="44" height=(height) {}
                            rect class={ "c" (number) } x="0" y="16" width="44" height="6" {}
                        }
                        span { (least) } span.dim { (format::len(counts[number])) }
                    }
                }
            }
            span.key { svg viewBox="0 0 12 12" aria-hidden="true" { rect.c6 width="12" height="12" rx="1.5" {} path.over d="M6 0h6v6z" {} } "full, over 97 %" }
            @for (word, count) in states(fleet) {
                a.key href=(url::with(&ask.query, "state", word, &["page"])) { (crate::parts::host_state(word)) " " (count) }
            }
            @if ask.param("state").is_some() {
                a.key href=(url::with(&ask.query, "state", "", &["page"])) { "all states" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_in_the_band_of_the_greatest_bound_below_it() {
        for (share, expected) in [
            (0.0, 0),
            (0.149, 0),
            (0.15, 1),
            (0.6, 4),
            (0.9, 6),
            (1.4, 6),
        ] {
            assert_eq!(band(share), expected, "{share}");
        }
    }

    #[test]
    fn every_host_has_a_cell_of_its_own_inside_the_map() {
        let hosts: Vec<HostRow> = (0..3000)
            .map(|number| HostRow {
                id: format!("h{number:04}"),
                state: "up".to_owned(),
                zone: Some(format!("z{}", number % 3)),
                group: Some(format!("r{}", number % 40)),
                ..HostRow::default()
            })
            .collect();
        let wanted: Vec<&HostRow> = hosts.iter().collect();
        let (zones, height, grid) = laid_out(&wanted);
        let drawing = Drawing::of(&zones, grid, Colour::Cpu);
        let mut places: Vec<_> = drawing.places.iter().map(|it| (it.1, it.2)).collect();
        assert_eq!(places.len(), 3000);
        let inside = |(x, y): &(usize, usize)| *x + 8 <= WIDTH && *y + 8 <= height;
        assert!(places.iter().all(inside));
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 3000);
    }

    #[test]
    fn a_map_has_another_layout_where_other_hosts_are_on_it_and_not_where_they_are_fuller() {
        let host = |id: &str, committed: f64| {
            let mut host = HostRow {
                id: id.to_owned(),
                state: "up".to_owned(),
                ..HostRow::default()
            };
            (host.cpu.committed, host.cpu.promisable) = (committed, 10.0);
            host
        };
        let (empty, full, other) = (host("h1", 0.0), host("h1", 10.0), host("h2", 0.0));
        let [empty, full, other] = [empty, full, other].map(|it| cells(&[&it], Colour::Cpu));
        assert_eq!(empty.layout, full.layout);
        assert_ne!(empty.layout, other.layout);
        assert_eq!(
            (empty.texts, full.texts),
            (vec!["0 %".to_owned()], vec!["100 %".to_owned()])
        );
        assert_eq!(empty.paths["c0"], full.paths["c6"]);
        assert!(empty.paths["over"].is_empty() && !full.paths["over"].is_empty());
    }
}
