//! Quotas: how much a tenant may hold, in one cluster or in all together.

mod ledger;

pub(crate) use ledger::{ClusterLedger, Ledger};

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::revisions::GoneRevisions;
use super::{Deployment, DeploymentError, EventKind, News, Who, check_name};
use placewright_library::actor::Actor;
use placewright_model::Holding;
use placewright_model::budget::{Collection, Full};
use placewright_records::telemetry::{QuotaAmount, QuotaLevel};
use placewright_scheduler::{QuotaLimits, QuotaRefusal, QuotaResource};
use placewright_store::{Change, Saved};

/// Where the store has them: this, and the name.
const KEY: &str = "quota ";

/// Quotas count CPU and GPUs in thousandths of a core and of a GPU.
const THOUSANDTHS: f64 = 1000.0;

/// Bytes of a tenant's name at most.
const LONGEST_TENANT: usize = placewright_document::LONGEST_ID;

/// How much a tenant may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quota {
    /// The tenant, as VMs name it.
    pub tenant: Arc<str>,
    /// The cluster in which it is limited; None: in all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Arc<str>>,
    /// What it may hold there at most.
    pub limits: QuotaLimits,
}

/// A quota as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuotaRecord {
    /// What it is called.
    pub name: Arc<str>,
    /// Counts up with every change.
    pub revision: u64,
    /// When it was changed last, in seconds since 1970-01-01 UTC.
    pub at: i64,
    /// Who changed it last.
    pub by: String,
    /// What it says.
    #[serde(flatten)]
    pub quota: Quota,
}

impl Quota {
    fn check(&self) -> Result<(), DeploymentError> {
        let refused = |sentence: String| Err(DeploymentError::Refused(sentence));
        let length = self.tenant.len();
        if !(1..=LONGEST_TENANT).contains(&length) {
            return refused(format!(
                "\"tenant\" must have 1 to {LONGEST_TENANT} bytes, not {length}"
            ));
        }
        if self.tenant.contains(char::is_control) {
            return refused("\"tenant\" is one line without control characters".to_owned());
        }
        match self.limits.is_none() {
            true => refused(
                "\"limits\" must have at least one of \"cpu\", \"memory\", \"gpus\" and \"vms\""
                    .to_owned(),
            ),
            false => Ok(()),
        }
    }

    fn told(&self) -> String {
        match &self.cluster {
            Some(cluster) => format!("tenant \"{}\" in cluster \"{cluster}\"", self.tenant),
            None => format!("tenant \"{}\" in all clusters together", self.tenant),
        }
    }
}

impl QuotaRecord {
    fn refusal(&self, amounts: (Holding, Holding), exceeded: Vec<QuotaResource>) -> QuotaRefusal {
        let quota = &self.quota;
        let of = (
            self.name.clone(),
            quota.tenant.clone(),
            quota.cluster.clone(),
        );
        QuotaRefusal::new(of, quota.limits, amounts, exceeded)
    }

    fn kept(&self) -> Change {
        Change::Setting {
            key: format!("{KEY}{}", self.name),
            body: serde_json::to_string(self).unwrap_or_default(),
        }
    }
}

impl Ledger {
    /// The quotas that were stored; and a sentence for each that cannot be read.
    pub(super) fn restored(saved: &Saved) -> (Self, Vec<String>) {
        let (ledger, mut problems) = (Self::default(), Vec::new());
        for (key, body) in &saved.settings {
            let Some(name) = key.strip_prefix(KEY) else {
                continue;
            };
            match serde_json::from_str::<QuotaRecord>(body) {
                Ok(record) => ledger.put(Arc::new(record)),
                Err(error) => {
                    problems.push(format!(
                        "cannot read from the store quota \"{name}\": {error}"
                    ));
                }
            }
        }
        (ledger, problems)
    }
}

/// A quota, and what is held under it.
pub type QuotaUse = (Arc<QuotaRecord>, Holding);

impl Deployment {
    /// All quotas, by name, each with what is held under it.
    pub fn quotas(&self) -> Vec<QuotaUse> {
        self.ledger.all()
    }

    /// The quota of that name, with what is held under it.
    ///
    /// # Errors
    /// If there is none.
    pub fn quota(&self, name: &str) -> Result<QuotaUse, DeploymentError> {
        match self.ledger.find(name) {
            Some(record) => Ok(self.with_use(record)),
            None => {
                let all = self.ledger.all();
                let known = all.iter().map(|(record, _)| &*record.name);
                Err(DeploymentError::unknown("quota", name, known))
            }
        }
    }

    /// Every quota with what its tenant holds, sorted by name, for metrics.
    pub fn quota_levels(&self) -> Vec<QuotaLevel> {
        let quotas = self.ledger.all().into_iter();
        quotas.map(|(record, used)| level(&record, used)).collect()
    }

    fn with_use(&self, record: Arc<QuotaRecord>) -> QuotaUse {
        let used = self.ledger.used(&record.quota);
        (record, used)
    }

    /// Make a quota, or put another one in its place. What is held already stays, also where that
    /// is more than it allows. Gives whether it is new. One that is as it was keeps its revision.
    ///
    /// # Errors
    /// If it has another revision than that one by now, if one is given; if something is wrong
    /// with it, another one limits the same tenant in the same place, or there are too many.
    pub fn put_quota(
        &self,
        name: &str,
        quota: Quota,
        revision: Option<u64>,
        by: impl Into<Actor>,
    ) -> Result<(bool, QuotaUse), DeploymentError> {
        let by = by.into();
        let _control = self.control();
        by.must()?;
        check_name(name)?;
        let before = self.ledger.find(name);
        check_revision(name, before.as_deref(), revision)?;
        quota.check()?;
        if let Some(cluster) = &quota.cluster
            && let Err(DeploymentError::Unknown { nearest, .. }) = self.cluster(cluster)
        {
            let meant = nearest.map_or(String::new(), |it| format!(" (did you mean \"{it}\"?)"));
            return Err(DeploymentError::Refused(format!(
                "there is no cluster \"{cluster}\"{meant}"
            )));
        }
        if let Some(other) = self.ledger.in_place_of(&quota)
            && *other.name != *name
        {
            return Err(DeploymentError::Limited {
                quota: other.name.clone(),
                what: quota.told(),
            });
        }
        if let Some(known) = before.as_ref().filter(|known| known.quota == quota) {
            return Ok((false, self.with_use(known.clone())));
        }
        if before.is_none() {
            let (collection, wanted) = (Collection::Quotas, self.ledger.count() as u64 + 1);
            let bound = collection.bound();
            if wanted > bound {
                return Err(DeploymentError::Full(Full {
                    collection,
                    of: None,
                    wanted,
                    bound,
                }));
            }
        }
        let known = before.as_ref().map(|it| it.revision);
        let record = Arc::new(QuotaRecord {
            name: name.into(),
            revision: known.unwrap_or(self.gone().quota) + 1,
            at: self.now(),
            by: by.name().to_string(),
            quota,
        });
        self.store.commit(vec![record.kept()])?;
        self.ledger.put(record.clone());
        self.tell_quota(EventKind::QuotaChanged, &record, by.name());
        Ok((before.is_none(), self.with_use(record)))
    }

    /// Change a quota as `change` says.
    ///
    /// # Errors
    /// If there is none of that name, or as for [`Deployment::put_quota`].
    pub fn change_quota(
        &self,
        name: &str,
        change: impl FnOnce(&mut Quota),
        revision: Option<u64>,
        by: impl Into<Actor>,
    ) -> Result<QuotaUse, DeploymentError> {
        let (record, _) = self.quota(name)?;
        check_revision(name, Some(&record), revision)?;
        let mut quota = record.quota.clone();
        change(&mut quota);
        // Somebody else may have changed it since.
        let (_, changed) = self.put_quota(name, quota, Some(record.revision), by)?;
        Ok(changed)
    }

    /// Remove a quota.
    ///
    /// # Errors
    /// If there is none of that name, it has another revision than that one by now, if one is
    /// given, or its end cannot be stored.
    pub fn remove_quota(
        &self,
        name: &str,
        revision: Option<u64>,
        by: impl Into<Actor>,
    ) -> Result<Arc<QuotaRecord>, DeploymentError> {
        let by = by.into();
        let _control = self.control();
        by.must()?;
        let (record, _) = self.quota(name)?;
        check_revision(name, Some(&record), revision)?;
        let removal = Change::RemoveSetting {
            key: format!("{KEY}{name}"),
        };
        let gone = GoneRevisions {
            quota: record.revision,
            ..GoneRevisions::default()
        };
        self.remove(removal, gone)?;
        self.ledger.remove(name);
        self.telemetry.quota_refusals.forget(&record.name);
        self.tell_quota(EventKind::QuotaRemoved, &record, by.name());
        Ok(record)
    }

    fn tell_quota(&self, kind: EventKind, record: &QuotaRecord, by: Who<'_>) {
        let (name, told) = (&record.name, record.quota.told());
        let message = match kind {
            EventKind::QuotaRemoved => format!("quota \"{name}\" of {told} was removed"),
            _ => format!(
                "quota \"{name}\" of {told} has revision {}",
                record.revision
            ),
        };
        self.tell(News {
            kind,
            cluster: record.quota.cluster.clone(),
            by: Some(by.into()),
            message,
            ..News::default()
        });
    }
}

fn level(record: &QuotaRecord, used: Holding) -> QuotaLevel {
    let limits = record.quota.limits;
    let amount = |used: i128, limit: Option<i64>, one: f64| QuotaAmount {
        used: used as f64 / one,
        limit: limit.map(|limit| limit as f64 / one),
    };
    QuotaLevel {
        quota: record.name.clone(),
        tenant: record.quota.tenant.clone(),
        cluster: record.quota.cluster.clone(),
        cpu: amount(used.cpu, limits.cpu, THOUSANDTHS),
        memory: amount(used.memory, limits.memory, 1.0),
        gpus: amount(used.gpus, limits.gpus, THOUSANDTHS),
        vms: amount(used.vms, limits.vms, 1.0),
    }
}

fn check_revision(
    name: &str,
    record: Option<&QuotaRecord>,
    given: Option<u64>,
) -> Result<(), DeploymentError> {
    let current = record.map_or(0, |record| record.revision);
    match given {
        Some(given) if given != current => Err(DeploymentError::Revision {
            what: format!("quota \"{name}\""),
            given,
            current,
        }),
        _ => Ok(()),
    }
}
