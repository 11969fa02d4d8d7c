//! The steps that concern a unit alone.

use std::sync::Arc;
use std::time::Duration;

use super::{Staging, Step};
use crate::engine::Engine;
use crate::library::probe::{self, Outcome};
use crate::library::trust::Trust;
use crate::library::verdicts::Verdicts;
use crate::unit::Unit;

/// Decides what the tables of probes hold: the same for every admission, so that a
/// unit that was let in once is let in again.
const SEED: u64 = 0;

/// Bytes that want to become a unit.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The component.
    pub bytes: Arc<[u8]>,
    /// The signature, if there is one.
    pub signature: Option<Arc<[u8]>>,
}

/// Takes the steps that concern a unit alone.
#[derive(Debug)]
pub struct Admission {
    engine: Engine,
    trust: Trust,
    probing: Duration,
    verdicts: Verdicts,
}

impl Admission {
    /// Let units into this engine that are trusted. No claim of a unit is begun to be
    /// tried when it has been probed for `probing`.
    pub fn new(engine: Engine, trust: Trust, probing: Duration) -> Self {
        Self {
            engine,
            trust,
            probing,
            verdicts: Verdicts::default(),
        }
    }

    /// The engine that units are compiled for.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether the candidate passes what needs no compiling: if it does not, it may
    /// not have been written to its end yet.
    pub fn is_whole(&self, candidate: &Candidate) -> bool {
        let signature = candidate.signature.as_deref();
        let limits = self.engine.limits();
        self.trust.inspect(&candidate.bytes, limits).is_ok()
            && self.trust.signed(&candidate.bytes, signature).is_ok()
    }

    /// Take all the steps. None if it is refused, which the staging then says.
    ///
    /// `known` gives a unit with that digest that was let in before. A unit that was
    /// `accepted` once was signed then: its signature is not kept.
    pub(in crate::library) fn admit(
        &self,
        candidate: &Candidate,
        accepted: bool,
        known: Option<Arc<Unit>>,
        staging: &mut Staging,
    ) -> Option<Arc<Unit>> {
        if accepted {
            staging.skip(Step::Signature, "it was checked when it was first accepted");
        } else {
            let signature = candidate.signature.as_deref();
            staging.step(Step::Signature, || {
                let signed = self.trust.signed(&candidate.bytes, signature);
                signed
                    .map(|signed| ((), Some(signed.to_string())))
                    .map_err(|error| error.to_string())
            })?;
        }
        let inspected = staging.step(Step::Contract, || {
            let inspected = self.trust.inspect(&candidate.bytes, self.engine.limits());
            inspected
                .map(|inspected| (inspected, None))
                .map_err(|error| error.to_string())
        })?;
        if let Some(unit) = known {
            staging.named_as(&unit);
            staging.skip(Step::Compile, "it is loaded already");
            return Some(unit);
        }
        let compiled = staging.step(Step::Compile, || {
            let compiled = inspected.compile(&self.engine);
            compiled
                .map(|compiled| (compiled, None))
                .map_err(|error| error.to_string())
        })?;
        let source = staging.source.to_string();
        let unit = staging.step(Step::Describe, || {
            let unit = compiled.describe(&source);
            unit.map(|unit| (unit, None))
                .map_err(|error| error.to_string())
        })?;
        staging.named_as(&unit);
        self.probe(&unit, staging)?;
        Some(unit)
    }

    fn probe(&self, unit: &Unit, staging: &mut Staging) -> Option<()> {
        if self.verdicts.passed(&self.engine, unit.digest()) {
            staging.skip(Step::Probes, "it has passed them before");
            return Some(());
        }
        staging.step(Step::Probes, || {
            let report = probe::probe_within(unit, SEED, self.probing);
            if let Some(failed) = report.failed().next()
                && let Outcome::Failed { why } = &failed.outcome
            {
                let (part, claim) = (failed.part, failed.claim);
                let sentence = format!("it does not hold that its {part} {claim}: {why}");
                return Err(sentence);
            }
            let claims = report.steps.len();
            if report.is_complete() {
                self.verdicts.keep(&self.engine, unit.digest());
                return Ok(((), Some(format!("{claims} claims"))));
            }
            let untried = report.steps.iter();
            let untried = untried.filter(|step| step.outcome == Outcome::OutOfTime);
            let note = format!(
                "{} of {claims} claims; there was no time for the others, which `placewright unit check` tries",
                claims - untried.count()
            );
            Ok(((), Some(note)))
        })
    }
}
