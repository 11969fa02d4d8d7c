//! The load of a fleet over time, in as many points as a picture can show.

use super::tally::Usage;

/// How many points a timeline has: about one per pixel of a plot.
const POINTS: i64 = 800;

/// One point of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The second at which the interval ends.
    pub time: i64,
    /// The greatest of each figure in the interval.
    pub usage: Usage,
}

/// The greatest load in each of many short intervals of equal length.
#[derive(Debug, Clone)]
pub struct Timeline {
    points: Vec<Point>,
    interval: i64,
    /// When the interval at hand ends.
    end: i64,
    to: i64,
    reached: Usage,
}

impl Timeline {
    /// A timeline from `from` to `to`.
    pub(super) fn new(from: i64, to: i64) -> Self {
        let length = (to - from).max(1);
        let interval = length / POINTS + i64::from(length % POINTS != 0);
        Self {
            points: Vec::new(),
            interval,
            end: from + interval,
            to,
            reached: Usage::default(),
        }
    }

    /// Time goes on to `time`, until when the load is `now`.
    pub(super) fn advance(&mut self, time: i64, now: Usage) {
        while self.end <= time && self.end - self.interval < self.to {
            self.points.push(Point {
                time: self.end,
                usage: self.reached,
            });
            self.reached = now;
            self.end += self.interval;
        }
    }

    /// The replay has ended: what is left of the last interval is a point, too.
    pub(super) fn finish(&mut self) {
        if self.end - self.interval < self.to {
            self.points.push(Point {
                time: self.to,
                usage: self.reached,
            });
            self.end += self.interval;
        }
    }

    /// The load has become `now`.
    pub(super) fn reached(&mut self, now: Usage) {
        self.reached = self.reached.max(now);
    }

    /// The points, in order of time.
    pub fn points(&self) -> &[Point] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(hosts: u32) -> Usage {
        Usage {
            hosts,
            ..Usage::default()
        }
    }

    #[test]
    fn each_point_is_the_greatest_of_its_interval() {
        let mut timeline = Timeline::new(0, 4 * POINTS);
        timeline.reached(usage(3));
        timeline.reached(usage(1));
        timeline.advance(9, usage(1));
        timeline.reached(usage(2));
        timeline.advance(12, usage(2));
        let points: Vec<_> = timeline
            .points()
            .iter()
            .map(|p| (p.time, p.usage.hosts))
            .collect();
        assert_eq!(points, [(4, 3), (8, 1), (12, 2)]);
    }

    #[test]
    fn there_are_no_more_points_than_asked_for() {
        let mut timeline = Timeline::new(-1, 1_200_000);
        timeline.advance(7_000_000, usage(1));
        assert!(timeline.points().len() as i64 <= POINTS);
        assert!(
            timeline
                .points()
                .last()
                .is_some_and(|point| point.time >= 1_200_000)
        );
    }
}
