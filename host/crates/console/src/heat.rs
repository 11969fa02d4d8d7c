//! The map of hosts: a cell for each, in blocks by group, in rows by zone.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use maud::{Markup, html};
use serde_json::json;

use crate::ask::Ask;
use crate::format;
use crate::hosts::colour::BANDS;
use crate::hosts::table::states;
use crate::hosts::{Colour, Fleet, HostRow, Scale};
use crate::url::{self, Pairs, of_cluster};

/// The width of the map in its own units.
const WIDTH: usize = 1080;
/// Cells beside each other in a block of a group.
const COLUMNS: usize = 5;
/// A map of more hosts than this refreshes its cells without the page around them.
const REFRESHES_CELLS: usize = 1000;
/// The side of a cell, by up to how many hosts there are: few hosts fill the map as well.
const CELLS: [(usize, usize); 3] = [(150, 24), (600, 16), (2500, 11)];
/// The side of a cell where there are more.
const SMALLEST: usize = 8;
/// The share from which a cell is marked as full.
const FULL: f64 = 0.97;
/// Letters of a zone's name that are shown beside its blocks, and of a group's above its block.
const ZONE: usize = 14;
const GROUP: usize = 9;
/// The width of a letter of these names.
const LETTER: usize = 6;

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
pub(crate) fn map(ask: &Ask, cluster: &str, fleet: &Fleet, wanted: &[&HostRow]) -> Markup {
    let colour = &fleet.colour;
    let scale = Scale::of(colour, wanted);
    let (zones, height, grid) = laid_out(wanted, fleet.grouping.is_zoned);
    let drawing = Drawing::of(&zones, grid, (colour, &scale));
    let path = of_cluster(cluster, &["hosts"]);
    let is_live = !matches!(colour, Colour::Cost(_));
    let cells = is_live.then(|| of_cluster(cluster, &["map"]));
    // After an event the page around a small map is refreshed just as fast.
    let is_large = wanted.len() > REFRESHES_CELLS;
    let chosen = ask.param("host").unwrap_or_default();
    let hosts = drawing.places.iter().zip(&drawing.texts);
    let hosts: Vec<_> = hosts
        .map(|((id, x, y), text)| json!([id, x, y, text]))
        .collect();
    let data = json!({
        "cell": grid.cell, "step": grid.step, "path": path, "chosen": chosen, "hosts": hosts,
        "cells": cells, "large": is_large, "bands": drawing.bands, "panel": of_cluster(cluster, &["panel"]), "layout": drawing.layout(), "scale": scale_words(colour, &scale).concat(),
    });
    let label = format!(
        "Map of {}, coloured by {}. The table below has the same.",
        format::things(wanted.len(), "host", "hosts"),
        colour.text()
    );
    html! {
        (legend(&ask.query, fleet, wanted, &scale))
        pw-heat-map data-map=(data.to_string()) {
            svg.heat viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label=(label) {
                @for zone in &zones {
                    @if !zone.name.is_empty() {
                        text.zone x="0" y=(zone.y + grid.cell / 2 + 4) { (format::cut(zone.name, ZONE - 1)) }
                    }
                    @for block in &zone.blocks {
                        @if !block.name.is_empty() {
                            text x=(block.x) y=(block.y - 4) { (format::cut(block.name, GROUP)) }
                        }
                    }
                }
                @for (class, d) in drawing.paths() { path class=(class) d=(d) {} }
            }
        }
    }
}

/// What changes on a map while its cells stay in place.
pub(crate) struct Cells {
    /// A digest of the hosts of the map, their states, and the places of their cells.
    pub(crate) layout: String,
    /// The ends of the scale in words: with others, the legend is another in more than its counts.
    pub(crate) scale: String,
    /// A sign for each cell, in the order of the map's hosts: its band, `f` for one of the highest
    /// band that is full, and `x` for one without a colour.
    pub(crate) bands: String,
    /// The text of each cell (its value, or the host's state), in the same order.
    pub(crate) texts: Vec<String>,
    pub(crate) legend: Markup,
}

/// The cells of the map as they are now.
pub(crate) fn cells(query: &Pairs, fleet: &Fleet, wanted: &[&HostRow]) -> Cells {
    let scale = Scale::of(&fleet.colour, wanted);
    let (zones, _, grid) = laid_out(wanted, fleet.grouping.is_zoned);
    let drawing = Drawing::of(&zones, grid, (&fleet.colour, &scale));
    Cells {
        layout: drawing.layout(),
        scale: scale_words(&fleet.colour, &scale).concat(),
        legend: legend(query, fleet, wanted, &scale),
        bands: drawing.bands,
        texts: drawing.texts,
    }
}

/// Put zones below each other, and the blocks of each beside each other; gives the height, too.
fn laid_out<'h>(wanted: &[&'h HostRow], is_zoned: bool) -> (Vec<Zone<'h>>, usize, Grid) {
    let cell = CELLS.iter().find(|(hosts, _)| wanted.len() <= *hosts);
    let cell = cell.map_or(SMALLEST, |(_, cell)| *cell);
    let grid = Grid {
        cell,
        step: cell + 2,
    };
    let mut by_zone: BTreeMap<&str, BTreeMap<&str, Vec<&HostRow>>> = BTreeMap::new();
    let mut hosts: Vec<&HostRow> = wanted.to_vec();
    hosts.sort_by(|a, b| a.id.cmp(&b.id));
    for host in hosts {
        let zone = host.zone.as_deref().filter(|_| is_zoned);
        let zone = by_zone.entry(zone.unwrap_or_default());
        let group = host.group.as_deref().unwrap_or_default();
        zone.or_default().entry(group).or_default().push(host);
    }
    // Room for the longest name of a zone.
    let letters = by_zone.keys().map(|name| name.chars().count().min(ZONE));
    let left = match letters.max().unwrap_or(0) {
        0 => 0,
        letters => (letters * LETTER + 10).max(34),
    };
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
    outlines: [String; BANDS],
    /// A sign for each cell: see [`Cells::bands`].
    bands: String,
    /// Of hosts that take no VMs, or of which the share is not known.
    blank: String,
    full: String,
    marks: String,
    /// The id of each host, and the left and upper edge of its cell.
    places: Vec<(&'h str, usize, usize)>,
    /// The state of each host.
    states: Vec<&'h str>,
    /// The text of each cell: its value, or the host's state.
    texts: Vec<String>,
}

impl<'h> Drawing<'h> {
    fn of(zones: &[Zone<'h>], grid: Grid, by: (&Colour, &Scale)) -> Self {
        let mut drawing = Self::default();
        for block in zones.iter().flat_map(|zone| &zone.blocks) {
            for (number, host) in block.hosts.iter().enumerate() {
                let x = block.x + number % block.columns * grid.step;
                let y = block.y + number / block.columns * grid.step;
                drawing.add(host, (x, y), grid.cell, by);
            }
        }
        drawing
    }

    fn add(
        &mut self,
        host: &'h HostRow,
        (x, y): (usize, usize),
        cell: usize,
        (colour, scale): (&Colour, &Scale),
    ) {
        let square = |path: &mut String| path.push_str(&format!("M{x} {y}h{cell}v{cell}h-{cell}z"));
        let text = match (&*host.state, host.value(colour)) {
            ("up", Some(value)) => {
                let band = scale.band(value);
                square(&mut self.outlines[band]);
                let is_full = matches!(colour, Colour::Share(_)) && value > FULL;
                self.bands.push(match u8::try_from(band) {
                    Ok(band) if !is_full => char::from(b'0' + band),
                    _ => 'f',
                });
                if is_full {
                    let half = cell / 2;
                    self.full
                        .push_str(&format!("M{} {y}h{half}v{half}z", x + cell - half));
                }
                host.written(colour)
            }
            ("up", None) => {
                square(&mut self.blank);
                self.bands.push('x');
                if host.is_removed {
                    // A dot in the middle.
                    let (left, middle) = (x + cell / 2 - 1, y + cell / 2);
                    self.marks.push_str(&format!("M{left} {middle}h2"));
                }
                host.written(colour)
            }
            (state, _) => {
                square(&mut self.blank);
                self.bands.push('x');
                self.mark(state, (x, y), cell);
                state.to_owned()
            }
        };
        self.places.push((&host.id, x, y));
        self.states.push(&host.state);
        self.texts.push(text);
    }

    /// The class and the outline of each path, in the order in which they are drawn.
    fn paths(&self) -> Vec<(String, &str)> {
        let bands = self.outlines.iter().enumerate();
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

    /// A digest of the hosts, their states, and the places of their cells.
    fn layout(&self) -> String {
        let mut hasher = DefaultHasher::new();
        (&self.places, &self.states).hash(&mut hasher);
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

/// The least value of each band, in words.
fn scale_words(colour: &Colour, scale: &Scale) -> Vec<String> {
    let greatest = scale.ends().map(|(_, greatest)| greatest);
    let bands = scale.bands().iter().chain(&greatest);
    let words = bands.map(|least| match colour {
        // The unit of measure stands beside the scale.
        Colour::Share(_) => format::number(least * 100.0, 0),
        _ => colour.unit().written(*least),
    });
    words.collect()
}

/// The scale, with its ends, the unit of measure, and how many hosts are in each band.
fn legend(query: &Pairs, fleet: &Fleet, wanted: &[&HostRow], scale: &Scale) -> Markup {
    let colour = &fleet.colour;
    let mut counts = [0; BANDS];
    let (mut unknown, mut removed) = (0, 0);
    for host in wanted.iter().filter(|host| host.state == "up") {
        match host.value(colour) {
            Some(value) => counts[scale.band(value)] += 1,
            None if host.is_removed => removed += 1,
            None => unknown += 1,
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let is_share = matches!(colour, Colour::Share(_));
    let words = scale_words(colour, scale);
    html! {
        div.legend id="legend" {
            span.small.soft.scale {
                (colour.text()) @if is_share { ", %" } @else { ", " (colour.unit().name()) }
                @if let Some((least, greatest)) = scale.ends() {
                    br; b { @if least < greatest { (colour.unit().written(least)) " to " (colour.unit().written(greatest)) }
                        @else { (colour.unit().written(least)) " everywhere" } }
                }
            }
            ol class=[(!is_share).then_some("wide")] {
                @for (number, least) in words.iter().take(scale.bands().len()).enumerate() {
                    li title={ (format::len(counts[number])) " hosts from " (least) @if is_share { " %" } } {
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
            @if is_share { span.key { svg viewBox="0 0 12 12" aria-hidden="true" { rect.c6 width="12" height="12" rx="1.5" {} path.over d="M6 0h6v6z" {} } "full, over 97 %" } }
            @if removed > 0 { span.key { svg viewBox="0 0 12 12" aria-hidden="true" { rect.cx x="1" y="1" width="10" height="10" {} path.mark d="M5 6h2" {} } (format::len(removed)) " removed by the policy" } }
            @if unknown > 0 { span.key { svg viewBox="0 0 12 12" aria-hidden="true" { rect.cx x="1" y="1" width="10" height="10" {} } (format::len(unknown)) " without a value" } }
            @for (word, count) in states(fleet) {
                a.key href=(url::with(query, "state", word, &["page"])) { (crate::parts::host_state(word)) " " (count) }
            }
            @if query.iter().any(|(name, _)| name == "state") {
                a.key href=(url::with(query, "state", "", &["page"])) { "all states" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::colour::Share;
    use crate::hosts::fleet::Grouping;

    /// Hosts as they are read, coloured by promised CPU.
    fn fleet(hosts: Vec<HostRow>) -> Fleet {
        Fleet {
            hosts,
            attributes: Vec::new(),
            numbers: Vec::new(),
            grouping: Grouping::default(),
            colour: Colour::Share(Share::Cpu),
            costs: None,
            wrong: Vec::new(),
            unknown: Vec::new(),
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
        let colour = Colour::Share(Share::Cpu);
        let scale = Scale::of(&colour, &wanted);
        let (zones, height, grid) = laid_out(&wanted, true);
        assert_eq!(zones.len(), 3);
        let drawing = Drawing::of(&zones, grid, (&colour, &scale));
        let mut places: Vec<_> = drawing.places.iter().map(|it| (it.1, it.2)).collect();
        assert_eq!(places.len(), 3000);
        let inside = |(x, y): &(usize, usize)| *x + 8 <= WIDTH && *y + 8 <= height;
        assert!(places.iter().all(inside));
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 3000);
        // By rack alone there is one row of all racks.
        let (zones, _, _) = laid_out(&wanted, false);
        assert_eq!((zones.len(), zones[0].blocks.len()), (1, 40));
    }

    #[test]
    fn the_fewer_hosts_there_are_the_larger_are_their_cells() {
        let side = |hosts: usize| {
            let hosts = vec![HostRow::default(); hosts];
            let wanted: Vec<&HostRow> = hosts.iter().collect();
            laid_out(&wanted, false).2.cell
        };
        assert_eq!([60, 500, 2000, 5000].map(side), [24, 16, 11, 8]);
    }

    #[test]
    fn names_of_zones_have_room_beside_their_cells() {
        let host = HostRow {
            zone: Some("eu-central-1a".to_owned()),
            ..HostRow::default()
        };
        let (zones, _, _) = laid_out(&[&host], true);
        assert!(zones[0].blocks[0].x >= 13 * LETTER);
    }

    #[test]
    fn a_removed_host_has_a_blank_cell_with_a_dot_and_says_what_removes_it() {
        let host = HostRow {
            state: "up".to_owned(),
            told: Some("removed by cpu: has too little".to_owned()),
            is_removed: true,
            ..HostRow::default()
        };
        let mut fleet = fleet(Vec::new());
        fleet.colour = Colour::Cost(crate::hosts::colour::Shape {
            policy: None,
            cpu: "2".to_owned(),
            memory: "8 GiB".to_owned(),
        });
        let cells = cells(&Pairs::new(), &fleet, &[&host]);
        assert_eq!(cells.texts, ["removed by cpu: has too little"]);
        assert_eq!(cells.bands, "x");
        let (zones, _, grid) = laid_out(&[&host], true);
        let scale = Scale::of(&fleet.colour, &[&host]);
        let drawing = Drawing::of(&zones, grid, (&fleet.colour, &scale));
        assert!(drawing.marks.contains("h2"), "{}", drawing.marks);
        assert!(drawing.blank.starts_with('M'), "{}", drawing.blank);
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
        let fleet = fleet(Vec::new());
        let [empty, full, other] =
            [empty, full, other].map(|it| cells(&Pairs::new(), &fleet, &[&it]));
        assert_eq!(empty.layout, full.layout);
        assert_ne!(empty.layout, other.layout);
        assert_eq!(
            (empty.texts, full.texts),
            (vec!["0 %".to_owned()], vec!["100 %".to_owned()])
        );
        assert_eq!((&*empty.bands, &*full.bands), ("0", "f"));
        let mut down = host("h1", 0.0);
        down.state = "down".to_owned();
        assert_ne!(cells(&Pairs::new(), &fleet, &[&down]).layout, empty.layout);
    }
}
