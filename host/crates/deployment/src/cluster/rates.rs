//! How many decisions a cluster has made in each minute of the last hour.

use std::collections::VecDeque;
use std::sync::PoisonError;

use placewright_model::Rfc3339;
use placewright_records::telemetry::Outcome;
use placewright_sync::Mutex;
use serde::Serialize;

/// Minutes that are counted.
const MINUTES: i64 = 60;

/// Decisions of a cluster, minute by minute, but for those that were only tried. They are counted
/// from the start of the server on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterRates {
    /// The last 60 minutes, the oldest first; the last one is under way.
    pub minutes: Vec<MinuteOfDecisions>,
}

/// How many decisions a cluster made in a minute, by how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct MinuteOfDecisions {
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub time: Rfc3339,
    /// Decisions that found a host.
    #[schema(example = 14)]
    pub placed: u64,
    /// Decisions that found none.
    #[schema(example = 1)]
    pub rejected: u64,
    /// Requests on which nothing was decided, as a unit failed or the time was up.
    #[schema(example = 0)]
    pub failed: u64,
}

impl MinuteOfDecisions {
    fn new(minute: i64) -> Self {
        Self {
            time: Rfc3339(minute.saturating_mul(60)),
            placed: 0,
            rejected: 0,
            failed: 0,
        }
    }
}

/// What is counted.
#[derive(Debug, Default)]
pub(super) struct Rates {
    /// Minutes in which there was a decision, with their numbers, the oldest first.
    minutes: Mutex<VecDeque<(i64, MinuteOfDecisions)>>,
}

impl Rates {
    /// A decision has ended in the second `now`.
    pub(super) fn decided(&self, now: i64, outcome: Outcome) {
        let mut minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that goes back stands still here.
        let last = minutes.back().map_or(i64::MIN, |(minute, _)| *minute);
        let minute = now.div_euclid(60).max(last);
        if minute != last {
            minutes.push_back((minute, MinuteOfDecisions::new(minute)));
        }
        let oldest = minute.saturating_sub(MINUTES);
        while minutes.front().is_some_and(|(minute, _)| *minute <= oldest) {
            minutes.pop_front();
        }
        if let Some((_, counted)) = minutes.back_mut() {
            match outcome {
                Outcome::Placed => counted.placed += 1,
                Outcome::Rejected => counted.rejected += 1,
                Outcome::Failed => counted.failed += 1,
            }
        }
    }

    /// The hour up to the second `now`.
    pub(super) fn last_hour(&self, now: i64) -> ClusterRates {
        let minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        let last = minutes.back().map_or(i64::MIN, |(minute, _)| *minute);
        let last = now.div_euclid(60).max(last);
        let first = last.saturating_sub(MINUTES - 1);
        let mut counted = minutes
            .iter()
            .filter(|(minute, _)| *minute >= first)
            .peekable();
        let minutes = (first..=last).map(|number| {
            let of_minute = counted.next_if(|(minute, _)| *minute == number);
            of_minute.map_or_else(|| MinuteOfDecisions::new(number), |(_, counted)| *counted)
        });
        ClusterRates {
            minutes: minutes.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_told_minute_by_minute_whether_something_was_decided_or_not() {
        let rates = Rates::default();
        let begin = 1_000_020;
        for (after, outcome) in [
            (0, Outcome::Placed),
            (59, Outcome::Placed),
            (60, Outcome::Rejected),
            (600, Outcome::Failed),
            // The clock went back.
            (0, Outcome::Placed),
        ] {
            rates.decided(begin + after, outcome);
        }
        let hour = rates.last_hour(begin + 659).minutes;
        assert_eq!(hour.len(), 60);
        let told: Vec<_> = hour
            .iter()
            .filter(|it| it.placed + it.rejected + it.failed > 0)
            .map(|it| (it.time.0 - begin, it.placed, it.rejected, it.failed))
            .collect();
        assert_eq!(told, [(0, 2, 0, 0), (60, 0, 1, 0), (600, 1, 0, 1)]);
        assert_eq!(hour[59].time.0, begin + 600);
        let later = rates.last_hour(begin + 3600).minutes;
        assert_eq!(later[0].rejected, 1);
        assert_eq!(rates.last_hour(begin + 7200).minutes[59].placed, 0);
    }

    #[test]
    fn no_more_than_an_hour_takes_room() {
        let rates = Rates::default();
        for minute in 0..1000 {
            rates.decided(minute * 60, Outcome::Placed);
        }
        assert_eq!(rates.minutes.lock().unwrap().len(), 60);
    }
}
