//! What was done with one candidate, step by step.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::ReplayReport;
use super::under_way::Progress;
use placewright_engine::unit::{Digest, Unit};
use placewright_model::cut;

/// Where a candidate came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = UnitSource))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Source {
    /// A file of the watched folder.
    File {
        /// Where it is; not told to tokens that are for some clusters.
        #[cfg_attr(feature = "openapi", schema(value_type = String, required = false, example = "/var/lib/placewright/units/memory.wasm"))]
        path: PathBuf,
    },
    /// Someone handed it in.
    Upload {
        /// Who; not told to others whose tokens are for some clusters.
        #[cfg_attr(feature = "openapi", schema(required = false, example = "ci"))]
        by: String,
    },
    /// It was in force before, and is read from the stored versions: its file is gone, or what
    /// was in its place is not trusted any more.
    Kept,
    /// Somebody went back to it.
    Rollback,
    /// It was in force when it was pinned; its file has another unit now, or is gone.
    Pin,
    /// It comes with the program.
    Embedded,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path } => write!(f, "{}", path.display()),
            Self::Upload { by } => write!(f, "the upload by {by}"),
            Self::Kept => f.write_str("the stored versions"),
            Self::Rollback => f.write_str("a rollback"),
            Self::Pin => f.write_str("a pin"),
            Self::Embedded => f.write_str("the program"),
        }
    }
}

/// A step on the way into force, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StagingStep))]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Is it signed as it must be?
    Signature,
    /// Size, imports, exports and version of the contract.
    Contract,
    /// Into code.
    Compile,
    /// Who is it, and is what it says of itself right?
    Describe,
    /// Does it keep to what it says of itself?
    Probes,
    /// Are all policies that use it still valid?
    Policies,
    /// How would recorded decisions have come out?
    Trial,
    /// The next generation, with it.
    InForce,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Signature => "signature",
            Self::Contract => "contract",
            Self::Compile => "compile",
            Self::Describe => "describe",
            Self::Probes => "probes",
            Self::Policies => "policies",
            Self::Trial => "trial",
            Self::InForce => "in force",
        })
    }
}

/// A step that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StagingStepReport))]
#[serde(rename_all = "kebab-case")]
pub struct StepReport {
    /// Which.
    pub step: Step,
    /// What came out.
    #[serde(flatten)]
    pub outcome: StepOutcome,
    /// How long it took, in microseconds.
    #[serde(alias = "took_us")]
    #[cfg_attr(feature = "openapi", schema(example = 1850))]
    pub took_us: u64,
}

/// What came out of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StagingStepOutcome))]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum StepOutcome {
    /// It went well.
    Passed {
        /// What is worth knowing of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = String, example = "it was checked with 4 made-up tables"))]
        note: Option<String>,
    },
    /// It did not have to be taken.
    Skipped {
        /// Why not.
        #[cfg_attr(feature = "openapi", schema(example = "it imports nothing"))]
        why: String,
    },
    /// The candidate is refused for it.
    Failed {
        /// What is wrong.
        #[cfg_attr(feature = "openapi", schema(example = "it imports nothing"))]
        why: String,
    },
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StagingOutcome))]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum Outcome {
    /// It is in force.
    InForce {
        /// What was in force under its name before.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required = true, example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c"))]
        replaced: Option<Digest>,
        /// The number of the first generation with it.
        #[cfg_attr(feature = "openapi", schema(example = 12))]
        generation: u64,
    },
    /// Nothing of its name is in force any more.
    Removed {
        /// The number of the first generation without it.
        #[cfg_attr(feature = "openapi", schema(example = 12))]
        generation: u64,
    },
    /// It was in force already.
    Unchanged,
    /// There is nothing wrong with it, and it is not in force.
    Held {
        /// Why not.
        #[cfg_attr(
            feature = "openapi",
            schema(example = "a policy would not be valid with it")
        )]
        why: String,
    },
    /// It is refused, and what was in force is in force.
    Refused {
        /// The step that failed.
        step: Step,
        /// What is wrong.
        #[cfg_attr(
            feature = "openapi",
            schema(example = "a policy would not be valid with it")
        )]
        why: String,
    },
}

/// What was done with one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Staging {
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
    /// The steps that were taken, in order.
    pub steps: Vec<StepReport>,
    /// What recorded decisions would have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = ReplayReport))]
    pub replay: Option<ReplayReport>,
    /// What became of it.
    pub outcome: Outcome,
    /// Whether what it was refused for may pass without anybody's doing.
    #[serde(skip)]
    pub(crate) may_pass: bool,
    /// The trusted key that has signed it, if one has.
    #[serde(skip)]
    pub(crate) signer: Option<String>,
    /// Who asked for it; None for what nobody asks for, as a file that was found.
    #[serde(skip)]
    pub(crate) by: Option<String>,
    /// Whether it comes into force even if policies cannot run with it.
    #[serde(skip)]
    pub(crate) overrides_policies: bool,
    /// Shows its steps to other threads while they are being taken.
    #[serde(skip)]
    pub(super) progress: Progress,
}

/// What a step says of itself when it goes well.
pub(crate) type Note = Option<String>;

impl Staging {
    pub(crate) fn new(source: Source, digest: Digest) -> Self {
        Self {
            source,
            digest,
            name: None,
            version: None,
            steps: Vec::new(),
            replay: None,
            outcome: Outcome::Unchanged,
            may_pass: false,
            signer: None,
            by: None,
            overrides_policies: false,
            progress: Progress::default(),
        }
    }

    /// The same, as what somebody asks for.
    pub(crate) fn asked_by(self, by: &str) -> Self {
        Self {
            by: Some(by.to_owned()),
            ..self
        }
    }

    pub(crate) fn named_as(&mut self, unit: &Unit) {
        self.name = Some(unit.name().to_owned());
        self.version = Some(unit.description().version.clone());
        self.progress.named_as(unit);
    }

    /// Take a step. None if it failed, with which the candidate is refused.
    pub(crate) fn step<T>(
        &mut self,
        step: Step,
        take: impl FnOnce() -> Result<(T, Note), String>,
    ) -> Option<T> {
        let begun = Instant::now();
        self.progress.begins(step);
        let (value, outcome) = match take() {
            Ok((value, note)) => {
                let note = note.map(cut);
                (Some(value), StepOutcome::Passed { note })
            }
            Err(why) => {
                let why = cut(why);
                self.outcome = Outcome::Refused {
                    step,
                    why: why.clone(),
                };
                (None, StepOutcome::Failed { why })
            }
        };
        let took_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.push(StepReport {
            step,
            outcome,
            took_us,
        });
        value
    }

    /// Refuse it at that step.
    pub(crate) fn refuse(&mut self, step: Step, why: String) {
        // What fails gives nothing.
        let _: Option<()> = self.step(step, || Err(why));
    }

    fn push(&mut self, report: StepReport) {
        self.progress.ended(&report);
        self.steps.push(report);
    }

    pub(crate) fn skip(&mut self, step: Step, why: &str) {
        self.push(StepReport {
            step,
            outcome: StepOutcome::Skipped {
                why: why.to_owned(),
            },
            took_us: 0,
        });
    }

    /// Whether it was refused.
    pub fn is_refused(&self) -> bool {
        matches!(self.outcome, Outcome::Refused { .. })
    }

    /// How long all of its steps took.
    pub fn took(&self) -> Duration {
        self.steps
            .iter()
            .map(|step| Duration::from_micros(step.took_us))
            .sum()
    }
}

impl Outcome {
    /// The same with sentences of bounded length, as they are kept.
    #[must_use]
    pub fn cut(self) -> Self {
        match self {
            Self::Held { why } => Self::Held { why: cut(why) },
            Self::Refused { step, why } => Self::Refused {
                step,
                why: cut(why),
            },
            other => other,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InForce {
                replaced: Some(old),
                generation,
            } => write!(
                f,
                "in force from generation {generation} on, in place of {}",
                old.short()
            ),
            Self::InForce { generation, .. } => {
                write!(f, "in force from generation {generation} on")
            }
            Self::Removed { generation } => {
                write!(f, "not in force any more from generation {generation} on")
            }
            Self::Unchanged => f.write_str("in force already"),
            Self::Held { why } => write!(f, "not in force: {why}"),
            Self::Refused { step, why } => write!(f, "refused at the step \"{step}\": {why}"),
        }
    }
}

/// What came out in one line, and a line for each step.
impl fmt::Display for Staging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name} ")?;
        }
        let digest = self.digest.short();
        writeln!(f, "{digest} from {}: {}", self.source, self.outcome)?;
        for report in &self.steps {
            let took = Duration::from_micros(report.took_us);
            let step = report.step.to_string();
            write!(f, "  {step:<10} {:>9.1?}  ", took)?;
            match &report.outcome {
                StepOutcome::Passed { note: None } => writeln!(f, "passed")?,
                StepOutcome::Passed { note: Some(note) } => writeln!(f, "passed: {note}")?,
                StepOutcome::Skipped { why } => writeln!(f, "skipped: {why}")?,
                StepOutcome::Failed { why } => writeln!(f, "FAILED: {why}")?,
            }
        }
        Ok(())
    }
}
