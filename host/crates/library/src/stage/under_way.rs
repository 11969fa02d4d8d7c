//! Candidates that are being staged now, with the steps so far.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::{Instant, SystemTime};

use serde::Serialize;

use super::{Source, Staging, Step, StepReport};
use placewright_engine::unit::{Digest, Unit};
use placewright_model::{Rfc3339, seconds_since_1970};
use placewright_sync::Mutex;

/// A candidate that is being staged.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct UnitStaging {
    /// How many candidates had been staged before it since the server began.
    #[cfg_attr(feature = "openapi", schema(example = 3))]
    pub number: u64,
    /// Where it came from.
    pub source: Source,
    /// The digest of its bytes.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c"))]
    pub digest: Digest,
    /// The name that it gives itself, once it could be asked.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "memory"))]
    pub name: Option<String>,
    /// Its version, as it says.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "1.2.0"))]
    pub version: Option<String>,
    /// When the first step began.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub time: Rfc3339,
    /// How long it has taken so far, in microseconds.
    #[cfg_attr(feature = "openapi", schema(example = 1850))]
    pub took_us: u64,
    /// The steps that were taken, in order.
    pub steps: Vec<StepReport>,
    /// The step that is being taken; null between two of them.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub step: Option<Step>,
}

/// What is being staged, for whoever looks on. Reading it waits for no step.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnderWay(Arc<Mutex<Candidates>>);

#[derive(Debug, Default)]
struct Candidates {
    next: u64,
    by_number: BTreeMap<u64, (Instant, UnitStaging)>,
}

impl UnderWay {
    /// Show a candidate until the answer is dropped.
    pub(crate) fn show(&self, staging: &mut Staging, now: SystemTime) -> Shown {
        let mut candidates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = candidates.next;
        candidates.next += 1;
        let shown = UnitStaging {
            number,
            source: staging.source.clone(),
            digest: staging.digest,
            name: staging.name.clone(),
            version: staging.version.clone(),
            time: Rfc3339(seconds_since_1970(now)),
            took_us: 0,
            steps: Vec::new(),
            step: None,
        };
        let begun = (Instant::now(), shown);
        candidates.by_number.insert(number, begun);
        drop(candidates);
        let place = Place {
            under_way: self.clone(),
            number,
        };
        staging.progress = Progress(Some(place.clone()));
        Shown(place)
    }

    /// All of them, in the order in which they began.
    pub(crate) fn list(&self) -> Vec<UnitStaging> {
        let candidates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let candidates = candidates.by_number.values();
        candidates
            .map(|(begun, shown)| UnitStaging {
                took_us: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
                ..shown.clone()
            })
            .collect()
    }
}

/// Where one candidate is shown.
#[derive(Clone)]
struct Place {
    under_way: UnderWay,
    number: u64,
}

impl Place {
    fn change(&self, change: impl FnOnce(&mut UnitStaging)) {
        let candidates = &self.under_way.0;
        let mut candidates = candidates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, shown)) = candidates.by_number.get_mut(&self.number) {
            change(shown);
        }
    }
}

/// A candidate is shown as long as this is there.
#[must_use]
pub(crate) struct Shown(Place);

impl Drop for Shown {
    fn drop(&mut self) {
        let candidates = &self.0.under_way.0;
        let mut candidates = candidates.lock().unwrap_or_else(PoisonError::into_inner);
        candidates.by_number.remove(&self.0.number);
    }
}

/// What a staging tells of its steps while they are taken, if somebody may look on.
#[derive(Clone, Default)]
pub(crate) struct Progress(Option<Place>);

impl Progress {
    pub(super) fn begins(&self, step: Step) {
        self.change(|shown| shown.step = Some(step));
    }

    pub(super) fn ended(&self, report: &StepReport) {
        self.change(|shown| {
            shown.step = None;
            shown.steps.push(report.clone());
        });
    }

    pub(super) fn named_as(&self, unit: &Unit) {
        self.change(|shown| {
            shown.name = Some(unit.name().to_owned());
            shown.version = Some(unit.description().version.clone());
        });
    }

    fn change(&self, change: impl FnOnce(&mut UnitStaging)) {
        if let Some(place) = &self.0 {
            place.change(change);
        }
    }
}

/// What became of a candidate does not depend on who looked on.
impl PartialEq for Progress {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0.as_ref().map(|place| place.number);
        f.debug_tuple("Progress").field(&number).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_is_shown_step_by_step_until_it_is_staged() {
        let under_way = UnderWay::default();
        let mut staging = Staging::new(Source::Kept, Digest::of(b"a"));
        let now = SystemTime::UNIX_EPOCH;
        let shown = under_way.show(&mut staging, now);
        let mut other = Staging::new(Source::Embedded, Digest::of(b"b"));
        let other_shown = under_way.show(&mut other, now);
        staging.step(Step::Signature, || {
            let seen = under_way.list();
            assert_eq!(seen.len(), 2);
            assert_eq!((seen[0].step, seen[1].step), (Some(Step::Signature), None));
            Ok(((), Some("not signed".to_owned())))
        });
        staging.skip(Step::Compile, "it is loaded already");
        staging.step::<()>(Step::Probes, || {
            assert_eq!(under_way.list()[0].steps.len(), 2);
            Err("no".to_owned())
        });
        let seen = under_way.list();
        assert_eq!((&seen[0].steps, seen[0].step), (&staging.steps, None));
        assert_eq!((seen[0].number, seen[1].number), (0, 1));
        drop(shown);
        assert_eq!(under_way.list()[0].number, 1);
        // What is told later is told to nobody.
        staging.skip(Step::InForce, "it is over");
        drop(other_shown);
        assert_eq!(under_way.list(), []);
    }
}
