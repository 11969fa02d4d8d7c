//! What policies are called where every name is there once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::catalogue::{Catalogue, POLICIES};
use super::policy::Said;
use super::site::Site;
use placewright_deployment::PolicyRecord;
use placewright_http::Caller;

/// A policy that is shown to a caller.
pub(crate) struct Shown {
    pub record: Arc<PolicyRecord>,
    pub said: Arc<Said>,
    /// What it is called in oVirt.
    pub name: String,
}

/// The policies that a caller is shown: those of the engine first, the others by their names
/// here. A policy is called as its document says, unless another is called so: then by its name
/// here, or after it.
pub(crate) fn policies(site: &Site, caller: &Caller, catalogue: &Catalogue) -> Vec<Shown> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<Shown> = site
        .deployment
        .all_policies()
        .into_iter()
        .map(|record| {
            let said = site.said(&record, catalogue);
            *names.entry(said.name.clone()).or_default() += 1;
            Shown {
                name: said.name.clone(),
                record,
                said,
            }
        })
        .collect();
    let of_engine = |shown: &Shown| {
        POLICIES
            .iter()
            .position(|(key, ..)| **key == *shown.record.name)
    };
    for shown in &mut all {
        let is_alone = names.get(&shown.name) == Some(&1);
        if !is_alone && of_engine(shown).is_none() {
            let key = shown.record.name.to_string();
            shown.name = match names.contains_key(&key) {
                true => format!("placewright-{key}"),
                false => key,
            };
        }
    }
    // Names are given among all, so that they are the same for every caller.
    all.retain(|shown| caller.sees_policy(&site.deployment, &shown.record));
    all.sort_by_key(|shown| of_engine(shown).unwrap_or(usize::MAX));
    all
}

/// The name here of a new policy: as near to that in oVirt as names here may be, and not taken.
pub(crate) fn key(site: &Site, name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain = name.chars().map(|c| if fits(c) { c } else { '-' });
    let plain: String = plain.take(48).collect();
    let plain = match plain.trim_start_matches('.') {
        "" => "policy",
        plain => plain,
    };
    let is_free = |key: &String| site.deployment.policy(key).is_err();
    let numbered = (2u64..).map(|number| format!("{plain}-{number}"));
    std::iter::once(plain.to_owned())
        .chain(numbered)
        .find(is_free)
        .unwrap_or_default()
}
