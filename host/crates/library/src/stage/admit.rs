//! The steps that concern a unit alone.

use std::sync::Arc;
use std::time::Duration;

use super::{Source, Staging, Step};
use crate::probe::{self, Outcome, Report};
use crate::signature::Signed;
use crate::trust::Trust;
use crate::verdicts::Verdicts;
use placewright_engine::Engine;
use placewright_engine::contract::Part;
use placewright_engine::unit::{Digest, Inspected, LoadError, Unit};
use placewright_sync::ArcSwap;

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
    trust: ArcSwap<Trust>,
    probing: Duration,
    verdicts: Verdicts,
}

impl Admission {
    /// Let units into this engine that are trusted. No claim of a unit is begun to be
    /// tried when it has been probed for `probing`.
    pub fn new(engine: Engine, trust: Trust, probing: Duration) -> Self {
        Self {
            engine,
            trust: ArcSwap::from_pointee(trust),
            probing,
            verdicts: Verdicts::default(),
        }
    }

    /// What is trusted now.
    pub fn trust(&self) -> Arc<Trust> {
        self.trust.load_full()
    }

    /// Trust others from now on, which was checked. It is asked of what comes from now on.
    pub(crate) fn set_trust(&self, trust: Trust) {
        self.trust.store(Arc::new(trust));
    }

    /// Whether the candidate would be let in as far as trust is concerned.
    ///
    /// # Errors
    /// Why not, in a sentence.
    pub fn still_admits(&self, candidate: &Candidate) -> Result<(), String> {
        let signature = candidate.signature.as_deref();
        let trust = self.trust();
        trust
            .still_admits(&candidate.bytes, signature, self.engine.limits())
            .map_err(|error| error.to_string())
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
        let trust = self.trust.load_full();
        trust.inspect(&candidate.bytes, limits).is_ok()
            && trust.signed(&candidate.bytes, signature).is_ok()
    }

    /// Take all the steps. None if it is refused, which the staging then says.
    ///
    /// `known` gives a unit with that digest that was let in before.
    pub(crate) fn admit(
        &self,
        candidate: &Candidate,
        known: Option<Arc<Unit>>,
        staging: &mut Staging,
    ) -> Option<Arc<Unit>> {
        let inspected = self.inspect(candidate, staging)?;
        if let Some(unit) = known {
            staging.named_as(&unit);
            staging.skip(Step::Compile, "it is loaded already");
            return Some(unit);
        }
        let unit = self.describe(inspected, staging)?;
        self.probe(&unit, staging)?;
        Some(unit)
    }

    /// Take all the steps to see how they go, and let nothing in. Every claim is tried, in
    /// `counting`, an engine that limits calls by fuel, so that it comes out the same on
    /// every machine; `seed` decides what the tables hold.
    pub fn examine(
        &self,
        candidate: &Candidate,
        source: Source,
        counting: &Engine,
        seed: u64,
    ) -> Examination {
        let digest = Digest::of(&candidate.bytes);
        let mut staging = Staging::new(source, digest);
        let report = self.probed_in(candidate, counting, seed, &mut staging);
        if !staging.is_refused() {
            let why = "this was a trial run".to_owned();
            staging.outcome = super::Outcome::Held { why };
        }
        Examination { staging, report }
    }

    /// None if it is refused before it could be probed.
    fn probed_in(
        &self,
        candidate: &Candidate,
        counting: &Engine,
        seed: u64,
        staging: &mut Staging,
    ) -> Option<Report> {
        let inspected = self.inspect(candidate, staging)?;
        self.describe(inspected, staging)?;
        let mut report = None;
        staging.step(Step::Probes, || {
            let source = "the component";
            let unit = Unit::load(counting, &candidate.bytes, source);
            let unit = unit.map_err(|error| error.error.to_string())?;
            let verdict = probed(report.insert(probe::probe(&unit, seed)));
            verdict.map(|note| ((), Some(note)))
        });
        report
    }

    /// Is it signed, and of the right form?
    fn inspect(&self, candidate: &Candidate, staging: &mut Staging) -> Option<Inspected> {
        let trust = self.trust();
        let signature = candidate.signature.as_deref();
        let signed = staging.step(Step::Signature, || {
            let signed = trust.signed(&candidate.bytes, signature);
            signed
                .map(|signed| {
                    let note = signed.to_string();
                    (signed, Some(note))
                })
                .map_err(|error| error.to_string())
        })?;
        staging.signer = match signed {
            Signed::By(signer) => Some(signer),
            Signed::No | Signed::Unchecked => None,
        };
        staging.step(Step::Contract, || {
            let inspected = trust.inspect(&candidate.bytes, self.engine.limits());
            inspected
                .map(|inspected| {
                    let note = inspected.to_string();
                    (inspected, Some(note))
                })
                .map_err(|error| error.to_string())
        })
    }

    /// Into code, and who is it?
    fn describe(&self, inspected: Inspected, staging: &mut Staging) -> Option<Arc<Unit>> {
        let mut may_pass = false;
        let compiled = staging.step(Step::Compile, || {
            let compiled = inspected.compile(&self.engine);
            compiled.map(|compiled| (compiled, None)).map_err(|error| {
                may_pass = matches!(&error, LoadError::Compile(error) if error.may_pass());
                error.to_string()
            })
        });
        staging.may_pass = may_pass;
        let compiled = compiled?;
        let source = staging.source.to_string();
        let unit = staging.step(Step::Describe, || {
            let unit = compiled.describe(&source);
            unit.map(|unit| {
                let note = described(&unit);
                (unit, Some(note))
            })
            .map_err(|error| error.to_string())
        })?;
        staging.named_as(&unit);
        Some(unit)
    }

    fn probe(&self, unit: &Unit, staging: &mut Staging) -> Option<()> {
        if self.verdicts.passed(&self.engine, unit.digest()) {
            staging.skip(Step::Probes, "it has passed them before");
            return Some(());
        }
        staging.step(Step::Probes, || {
            let report = probe::probe_within(unit, SEED, self.probing);
            let note = probed(&report)?;
            if report.is_complete() {
                self.verdicts.keep(&self.engine, unit.digest());
            }
            Ok(((), Some(note)))
        })
    }
}

/// What became of a candidate that was only looked at.
#[derive(Debug)]
pub struct Examination {
    /// The steps and what came out.
    pub staging: Staging,
    /// What the probes found, if it came so far.
    pub report: Option<Report>,
}

/// Who it is and what it can do.
fn described(unit: &Unit) -> String {
    let parts = unit.exports().into_iter().filter(|it| *it != Part::Unit);
    let parts: Vec<String> = parts.map(|part| part.to_string()).collect();
    let version = &unit.description().version;
    format!("{} {version}: {}", unit.name(), parts.join(", "))
}

/// What is worth knowing of probes that went well.
///
/// # Errors
/// The first claim that does not hold.
fn probed(report: &Report) -> Result<String, String> {
    if let Some(failed) = report.failed().next()
        && let Outcome::Failed { why } = &failed.outcome
    {
        let (part, claim) = (failed.part, failed.claim);
        return Err(format!(
            "tried out, the unit does not keep to what it must: its {part} {claim}: {why}"
        ));
    }
    let claims = report.steps.len();
    if report.is_complete() {
        return Ok(format!("{claims} claims"));
    }
    let untried = report.steps.iter();
    let untried = untried.filter(|step| step.outcome == Outcome::OutOfTime);
    Ok(format!(
        "{} of {claims} claims; there was no time for the others, which `placewright unit check` tries",
        claims - untried.count()
    ))
}
