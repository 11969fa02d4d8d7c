//! Which policies, units and clusters exist, so that lists of events and audit records link to no
//! others: the object of an event may be deleted by now, or was refused and never existed.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::ask::Ask;
use crate::value::text;

/// Clusters, policies and units that are looked at.
const MOST: usize = 10_000;
/// How long units are waited for: their list waits while a candidate is tried, and what happens
/// meanwhile is shown.
const PATIENCE: Duration = Duration::from_millis(300);

/// What there is.
#[derive(Debug, Default)]
pub(crate) struct Known {
    clusters: Names,
    policies: Names,
    units: Names,
}

/// Names; None: they are not known, and everything may be there.
type Names = Option<BTreeSet<String>>;

impl Known {
    /// What there is of what `told` names.
    pub(crate) async fn of(ask: &Ask, told: &[Value]) -> Self {
        let names = |key: &str| told.iter().any(|it| it[key].is_string());
        let mut known = Self::default();
        if names("cluster") {
            known.clusters = listed(ask, "/v1/clusters").await;
        }
        if names("policy") {
            known.policies = listed(ask, "/v1/policies").await;
        }
        if names("unit") {
            let units = tokio::time::timeout(PATIENCE, listed(ask, "/v1/units")).await;
            known.units = units.ok().flatten();
        }
        known
    }

    /// Whether that cluster may be there.
    pub(crate) fn has_cluster(&self, name: &str) -> bool {
        has(&self.clusters, name)
    }

    /// Whether that policy may be there.
    pub(crate) fn has_policy(&self, name: &str) -> bool {
        has(&self.policies, name)
    }

    /// Whether that unit may be there.
    pub(crate) fn has_unit(&self, name: &str) -> bool {
        has(&self.units, name)
    }
}

fn has(names: &Names, name: &str) -> bool {
    names.as_ref().is_none_or(|names| names.contains(name))
}

async fn listed(ask: &Ask, path: &str) -> Names {
    let listed = ask.list(path, MOST).await.ok()?;
    // Of a list that is cut, the rest is not known.
    let is_whole = listed.len() < MOST;
    let names = listed.iter().map(|it| text(it, "name").to_owned());
    is_whole.then(|| names.collect())
}

#[cfg(test)]
impl Known {
    /// There are these clusters, policies and units, and no others.
    pub(crate) fn only(clusters: &[&str], policies: &[&str], units: &[&str]) -> Self {
        let names = |names: &[&str]| Some(names.iter().map(|it| (*it).to_owned()).collect());
        Self {
            clusters: names(clusters),
            policies: names(policies),
            units: names(units),
        }
    }
}
