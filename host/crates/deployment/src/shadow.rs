//! Candidates that run beside units in force, in all clusters that use them, until they
//! are promoted or discarded.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use serde::Serialize;

use super::cluster::ShadowReport;
use super::{Deployment, DeploymentError, EventKind, News, Reply};
use placewright_engine::unit::Digest;
use placewright_library::actor::Actor;
use placewright_library::stage::{Candidate, Staging};
use placewright_sync::MutexGuard;

/// A candidate that runs beside a unit.
#[derive(Debug, Clone)]
pub(super) struct Shadowing {
    candidate: Candidate,
    digest: Digest,
    clusters: Vec<Arc<str>>,
}

/// How a candidate has judged what was decided.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[schema(as = Shadow)]
pub struct ShadowShown {
    /// Name of the unit.
    #[schema(example = "memory")]
    pub unit: String,
    /// Digest of the candidate.
    #[schema(example = "9f2c41d07a3be85b6c1d4f90aa27e3518b64c0f2de91735a48cb06f17d3e259c")]
    pub digest: String,
    /// By the names of the clusters that use the unit.
    pub clusters: BTreeMap<String, ShadowReport>,
}

impl Deployment {
    fn shadows(&self) -> MutexGuard<'_, BTreeMap<String, Shadowing>> {
        self.shadows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Let a candidate judge every so many decisions of the clusters that use the unit
    /// of its name. The staging says what was found out about it alone; if it was not
    /// let in, nothing begins.
    ///
    /// # Errors
    /// If no cluster uses the unit, or a policy cannot run with the candidate.
    pub fn begin_shadow(
        &self,
        candidate: &Candidate,
        by: impl Into<Actor>,
        every: u64,
    ) -> Result<Staging, DeploymentError> {
        let by = by.into();
        let (staging, unit) = self.library.admit(candidate, by.name());
        let Some(unit) = unit else {
            return Ok(staging);
        };
        let name = unit.name().to_owned();
        let clusters = self.clusters();
        let users: Vec<_> = clusters.iter().filter(|it| it.uses(&name)).collect();
        if users.is_empty() {
            return Err(DeploymentError::Refused(format!(
                "no cluster uses unit \"{name}\": there is nothing that it could judge"
            )));
        }
        let in_force = self.in_force();
        let generation = Arc::new(in_force.generation.with(unit.clone()));
        let mut rules = Vec::new();
        for cluster in &users {
            rules.push(self.rule_of(&cluster.settings(), &cluster.schema(), &generation)?);
        }
        // All at once, or each would have to wait for those before.
        let number = in_force.number;
        let begun = users.iter().zip(rules).map(|(cluster, rule)| {
            let (name, generation) = (name.clone(), generation.clone());
            cluster.turn_as(by.clone(), move |state| {
                if state.in_force_number() != number {
                    let why = "units or policies have changed meanwhile: begin again";
                    return Err(DeploymentError::Refused(why.to_owned()));
                }
                state.begin_shadow(name, rule.policy, &generation, every)
            })
        });
        let begun: Vec<_> = begun.collect();
        let begun: Vec<_> = begun.into_iter().map(Reply::wait).collect();
        if let Some(error) = begun.into_iter().find_map(Result::err) {
            for cluster in users {
                let name = name.clone();
                drop(cluster.whenever(move |state| {
                    state.end_shadow(&name);
                    Ok(())
                }));
            }
            return Err(error);
        }
        let shadowing = Shadowing {
            candidate: candidate.clone(),
            digest: unit.digest(),
            clusters: users.iter().map(|cluster| cluster.name().clone()).collect(),
        };
        self.shadows().insert(name.clone(), shadowing);
        self.tell_shadow(
            EventKind::ShadowBegan,
            &name,
            "a candidate judges what is decided",
            Some(by.name()),
        );
        Ok(staging)
    }

    /// What the candidate for that unit has come to so far.
    ///
    /// # Errors
    /// If there is none.
    pub fn shadow(&self, unit: &str) -> Result<ShadowShown, DeploymentError> {
        let shadowing = self.shadowing(unit)?;
        let reports = shadowing.clusters.iter().filter_map(|name| {
            let cluster = self.cluster(name).ok()?;
            let of = unit.to_owned();
            let report = cluster.read(move |state| Ok(state.shadow_report(&of)));
            Some((name, report))
        });
        let reports: Vec<_> = reports.collect();
        let mut clusters = BTreeMap::new();
        for (name, report) in reports {
            clusters.extend(report.wait()?.map(|report| (name.to_string(), report)));
        }
        Ok(ShadowShown {
            unit: unit.to_owned(),
            digest: shadowing.digest.to_string(),
            clusters,
        })
    }

    fn shadowing(&self, unit: &str) -> Result<Shadowing, DeploymentError> {
        let shadows = self.shadows();
        let known = shadows.keys().map(String::as_str);
        let found = shadows.get(unit).cloned();
        found.ok_or_else(|| DeploymentError::unknown("candidate for unit", unit, known))
    }

    /// End the candidate for that unit.
    ///
    /// # Errors
    /// If there is none.
    pub fn discard_shadow(&self, unit: &str, by: &str) -> Result<(), DeploymentError> {
        self.end_shadow(unit)?;
        self.tell_shadow(
            EventKind::ShadowDiscarded,
            unit,
            "the candidate was discarded",
            Some(by),
        );
        Ok(())
    }

    fn end_shadow(&self, unit: &str) -> Result<Shadowing, DeploymentError> {
        let shadowing = self.shadowing(unit)?;
        for name in &shadowing.clusters {
            if let Ok(cluster) = self.cluster(name) {
                let of = unit.to_owned();
                // At its next turn, which nobody waits for.
                drop(cluster.whenever(move |state| {
                    state.end_shadow(&of);
                    Ok(())
                }));
            }
        }
        self.shadows().remove(unit);
        Ok(shadowing)
    }

    /// End the candidates that are not trusted any more.
    pub(super) fn end_distrusted_shadows(&self) {
        let all: Vec<_> = self.shadows().clone().into_iter().collect();
        for (unit, shadowing) in all {
            let Err(why) = self.library.still_admits(&shadowing.candidate) else {
                continue;
            };
            let message = match self.end_shadow(&unit) {
                Ok(_) => format!("the candidate is no longer trusted and was discarded: {why}"),
                // It judges and decides nothing, and cannot be promoted.
                Err(error) => format!(
                    "the candidate is no longer trusted ({why}) but could not be discarded: {error}"
                ),
            };
            self.tell_shadow(EventKind::ShadowDiscarded, &unit, &message, None);
        }
    }

    /// Stage the candidate for that unit as if it had been handed in now. It ends as
    /// one, if it comes into force.
    ///
    /// # Errors
    /// If there is none.
    pub fn promote_shadow(
        &self,
        unit: &str,
        by: impl Into<Actor>,
    ) -> Result<Staging, DeploymentError> {
        let by = by.into();
        let shadowing = self.shadowing(unit)?;
        let staging = self.library.upload(&shadowing.candidate, by.clone());
        let in_force = self.library.current().get(unit).map(|unit| unit.digest());
        if in_force == Some(shadowing.digest) {
            self.end_shadow(unit)?;
            let message = "the candidate is in force";
            self.tell_shadow(EventKind::ShadowPromoted, unit, message, Some(by.name()));
        }
        Ok(staging)
    }

    fn tell_shadow(&self, kind: EventKind, unit: &str, message: &str, by: Option<&str>) {
        self.tell(News {
            kind,
            unit: Some(unit.into()),
            by: by.map(Arc::from),
            message: message.to_owned(),
            ..News::default()
        });
    }
}
