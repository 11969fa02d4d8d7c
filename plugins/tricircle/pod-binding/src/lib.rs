//! Pod binding: a tenant stays in the pod that it is bound to for as long as that
//! pod can serve it, so that what belongs together is created together.
//!
//! Two parts share one idea, the bindings in the `scope` of a request. `keeping`, a
//! selection, takes the pod that one of them is to, if it is still a candidate.
//! `rebinding`, which speaks of effects, ends them all and begins a new one when
//! another pod was chosen. Rows are only added and ended: the tenant's table is its
//! history.

#![forbid(unsafe_code)]

mod keeping;
mod rebinding;
mod scope;

use placewright_sdk::prelude::*;
use resource_groups::{AffinityKey, Tag, check_keys};

use keeping::Candidates;
use rebinding::{Binding, Placement};

/// What is read of each VM or volume to be placed: VMs and volumes are treated
/// alike.
#[derive(Row)]
struct Member {
    #[table("specs")]
    specs: Rows<Tag>,
}

#[derive(Settings)]
struct Settings {
    /// Whether a tenant has a binding for each availability zone: true where the
    /// policy filters by zone.
    #[setting(default = true)]
    by_zone: bool,
    /// Whether a tenant has a binding for each kind of resource: true where the
    /// policy filters by resource affinity.
    #[setting(default = true)]
    by_tag: bool,
    /// The keys that stand for kinds of resources; without any, every request is an
    /// ordinary one.
    affinity_keys: Rows<AffinityKey>,
}

struct PodBinding;

impl Selection for PodBinding {
    type Request = Candidates;
    type Settings = Settings;
    /// Whom it passes on stand in one group, whatever groups there were.
    const POSITION: Position = Position::First;

    fn refine(request: &Candidates, settings: &Settings) -> Result<Groups, Problem> {
        Ok(match keeping::bound_pod(request, settings) {
            Some(pod) => Groups::only([pod]),
            None => Groups::only(request.all()),
        })
    }
}

impl Effects for PodBinding {
    type Request = Placement;
    type Settings = Settings;
    type Writes = Binding;

    fn placed(request: &Placement, settings: &Settings) -> Result<Changes<Binding>, Problem> {
        let mut changes = Changes::new();
        if let Some(rebinding) = rebinding::rebinding(request, settings) {
            for (row, binding) in rebinding.ended {
                changes.set(TENANT, row, binding);
            }
            changes.append(TENANT, rebinding.begun);
        }
        Ok(changes)
    }
}

/// The only row of `tenant`.
const TENANT: u32 = 0;

impl CheckSettings for PodBinding {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        check_keys(&settings.affinity_keys)
    }
}

placewright_sdk::export!(PodBinding: selection, effects, settings);

#[cfg(test)]
mod tests;
