//! Candidates, in groups and with shares that a runtime could show a part.

use super::random::Random;
use super::sample::{self, Variety};
use super::tables::{Cell, Row};
use super::values::Character;
use placewright_engine::contract::TableRead;
use placewright_model::Value;

/// The hosts that a stage has left, row for row as in `hosts`.
pub(super) const TABLE: &str = "candidates";

/// How many groups there are at most.
const GROUPS: usize = 3;

/// A candidate's group and its share there.
type Standing = (usize, f64);

/// The rows of the table.
pub(super) fn rows(read: &TableRead, variety: Variety, random: &mut Random) -> Vec<Row> {
    let standings = match variety.grouped && random.happens(0.5) {
        true => later(variety.hosts, random),
        false => at_first(variety.hosts),
    };
    let standings = standings.into_iter().enumerate();
    standings
        .map(|(number, standing)| Row {
            parent: 0,
            cells: cells(read, number, standing, variety, random),
        })
        .collect()
}

/// Before any selection: one group of equal shares.
fn at_first(candidates: usize) -> Vec<Standing> {
    vec![(0, 1.0 / candidates.max(1) as f64); candidates]
}

/// After others: groups, of which some are without chance.
fn later(candidates: usize, random: &mut Random) -> Vec<Standing> {
    let groups = 1 + random.below(GROUPS);
    let mut weight_of: Vec<(usize, f64)> = Vec::with_capacity(candidates);
    let mut sums = vec![0.0; groups];
    let dead: Vec<bool> = (0..groups).map(|_| random.happens(0.2)).collect();
    for _ in 0..candidates {
        let group = random.below(groups);
        let weight = if dead[group] { 0.0 } else { random.share() };
        sums[group] += weight;
        weight_of.push((group, weight));
    }
    let share = |(group, weight): (usize, f64)| match sums[group] > 0.0 {
        true => (group, weight / sums[group]),
        false => (group, 0.0),
    };
    weight_of.into_iter().map(share).collect()
}

fn cells(
    read: &TableRead,
    number: usize,
    (group, share): Standing,
    variety: Variety,
    random: &mut Random,
) -> Vec<Cell> {
    let row = Character::of(TABLE, number, random);
    let columns = read.columns.iter();
    columns
        .map(|column| match column.column.as_str() {
            "group" => Some(Value::Integer(group as i64)),
            "share" => Some(Value::Number(share)),
            _ => sample::cell(TABLE, column, None, &row, variety, random),
        })
        .collect()
}
