//! Score rounds: a threshold is lowered round by round, and in the first round in
//! which candidates score more, all of these are kept, as equals.
//!
//! So hosts that are about as good as each other stay together, and what is asked
//! next decides between them. A score is minus the cost.

#![forbid(unsafe_code)]

mod rounds;

use placewright_sdk::prelude::*;

use rounds::Round;

#[derive(Settings)]
struct Settings {
    /// How many rounds there are. If there is one, its threshold is the last.
    #[setting(default = 10, range = 1..=1000)]
    steps: i64,
    /// The threshold of the first round: scores must be above.
    #[setting(default = 80)]
    initial: f64,
    /// The threshold of the last round; if no score is above, no host is left.
    #[setting(name = "final", default = -10)]
    last: f64,
}

/// A host that is left.
#[derive(Row)]
struct Candidate {
    cost: f64,
}

impl Candidate {
    fn passes(&self, round: &Round) -> bool {
        let score = -self.cost;
        score > round.threshold
    }
}

/// What is read.
#[derive(Request)]
struct Stage {
    candidates: Rows<Candidate>,
}

impl Stage {
    /// The first round that any candidate passes: the best one does, if any.
    fn deciding_round(&self, settings: &Settings) -> Option<Round> {
        let costs = self.candidates.iter().map(|candidate| candidate.cost);
        let best = Candidate {
            cost: costs.fold(f64::INFINITY, f64::min),
        };
        rounds::of(settings).find(|round| best.passes(round))
    }
}

struct ScoreRounds;

impl Selection for ScoreRounds {
    type Request = Stage;
    type Settings = Settings;

    /// It looks at nothing but costs, so what a selection before it did would be
    /// lost.
    const POSITION: Position = Position::First;

    fn refine(stage: &Stage, settings: &Settings) -> Result<Groups, Problem> {
        let Some(round) = stage.deciding_round(settings) else {
            return Ok(Groups::default());
        };
        let candidates = stage.candidates.numbered();
        let passing = candidates.filter(|(_, candidate)| candidate.passes(&round));
        Ok(Groups::only(passing.map(|(row, _)| row)))
    }
}

impl Explain for ScoreRounds {
    type Request = Stage;
    type Settings = Settings;

    /// The thresholds of all rounds; the round that decided, and its threshold, if
    /// any did.
    fn explain(stage: &Stage, settings: &Settings) -> Result<Vec<Fact>, Problem> {
        let all = rounds::of(settings);
        let all = all
            .map(|Round { number, threshold }| Fact::new(format!("threshold.{number}"), threshold));
        let deciding = stage.deciding_round(settings).map(|round| {
            [
                Fact::new("round", round.number),
                Fact::new("threshold", round.threshold),
            ]
        });
        Ok(all.chain(deciding.into_iter().flatten()).collect())
    }
}

impl CheckSettings for ScoreRounds {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        if settings.initial < settings.last {
            return Err("the initial threshold must not be below the final one".into());
        }
        Ok(())
    }
}

placewright_sdk::export!(ScoreRounds: selection, explain, settings);

#[cfg(test)]
mod tests;
