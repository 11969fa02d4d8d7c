//! Groups of candidates by score, as Conductor kept them: a candidate may stand in
//! several, with another score in each.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The score of the group in which all candidates begin.
const DEFAULT: i64 = -100_000;
/// The score of the group of those who failed too often.
const FAILED: i64 = -10_000_000;

/// The groups by their score. A candidate is known by its place among all.
pub struct Groups(BTreeMap<Reverse<i64>, Scores>);

/// The scores of a group's candidates, by their places.
type Scores = BTreeMap<usize, f64>;

fn clamped(score: f64) -> f64 {
    score.clamp(-100.0, 100.0)
}

impl Groups {
    /// The default group with so many candidates.
    pub fn new(candidates: usize) -> Self {
        let scores = (0..candidates).map(|place| (place, 0.0)).collect();
        Self(BTreeMap::from([(Reverse(DEFAULT), scores)]))
    }

    /// Adds to the scores in every group.
    pub fn add(&mut self, points: impl Fn(usize) -> f64) {
        for (place, score) in self.0.values_mut().flatten() {
            *score = clamped(*score + points(*place));
        }
    }

    /// Adds to the scores in the default group.
    pub fn add_in_default(&mut self, points: impl Fn(usize) -> f64) {
        for (place, score) in self.0.get_mut(&Reverse(DEFAULT)).into_iter().flatten() {
            *score = clamped(*score + points(*place));
        }
    }

    /// Adds a group of those in the default group of whom it holds; they stay there
    /// too. An empty group is not added.
    pub fn add_group(&mut self, score: i64, holds: impl Fn(usize) -> bool) {
        let of_default = self.0.get(&Reverse(DEFAULT)).into_iter().flatten();
        let members = of_default.filter(|(place, _)| holds(**place));
        let scores: Scores = members.map(|(place, _)| (*place, 0.0)).collect();
        if !scores.is_empty() {
            self.0.insert(Reverse(score), scores);
        }
    }

    /// Takes those of whom it holds out of all groups and puts them in one of their
    /// own, the last, be it empty or not.
    pub fn fail(&mut self, holds: impl Fn(usize) -> bool) {
        let mut failed = Scores::new();
        for group in self.0.values_mut() {
            for (place, _) in group.extract_if(.., |place, _| holds(*place)) {
                failed.insert(place, 0.0);
            }
        }
        self.0.insert(Reverse(FAILED), failed);
    }

    /// The groups, best first.
    pub fn best_first(&self) -> impl Iterator<Item = Group<'_>> {
        let groups = self.0.iter();
        groups.map(|(Reverse(score), scores)| Group {
            score: *score,
            scores,
        })
    }
}

/// One group.
pub struct Group<'a> {
    score: i64,
    scores: &'a Scores,
}

impl Group<'_> {
    pub fn score(&self) -> i64 {
        self.score
    }

    pub fn len(&self) -> i64 {
        self.scores.len() as i64
    }

    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// Places with their weights, from 1 to 201: nobody is without chance.
    pub fn weights(&self) -> impl Iterator<Item = (usize, f64)> {
        let scores = self.scores.iter();
        scores.map(|(place, score)| (*place, score + 101.0))
    }

    /// Places with their shares of chance.
    pub fn chances(&self) -> impl Iterator<Item = (usize, f64)> {
        let sum: f64 = self.weights().map(|(_, weight)| weight).sum();
        self.weights()
            .map(move |(place, weight)| (place, weight / sum))
    }
}
