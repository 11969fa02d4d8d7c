//! What a choice does to the tenant's bindings.

use placewright_sdk::prelude::*;
use resource_groups::Tag;

use crate::scope::{Scope, wanted};
use crate::{Member, Settings};

/// What is read once a pod was chosen.
#[derive(Request)]
pub struct Placement {
    pub request: Asked,
    pub members: Rows<Member>,
    /// None: the request is made for nobody, and binds nobody.
    pub tenant: Option<Tenant>,
    #[table("hosts")]
    pub pod: Pod,
}

/// What is read of the request.
#[derive(Row)]
pub struct Asked {
    pub now: Seconds,
    pub zone: Option<Text>,
    /// Whether an administrator chose the pod.
    pub forced: bool,
}

/// What is read of the tenant.
#[derive(Row)]
pub struct Tenant {
    #[table("bindings")]
    pub bindings: Rows<Binding>,
}

/// What is read of the pod that was chosen.
#[derive(Row)]
pub struct Pod {
    pub id: Text,
    pub zone: Option<Text>,
    #[table("tags")]
    pub tags: Rows<Tag>,
}

/// That a tenant was bound to a pod for some time; since then if it has no end.
#[derive(Row, Written, Clone, Debug, PartialEq)]
#[written(table = "bindings", scope = "tenant", moment = "decided")]
pub struct Binding {
    pub host: Text,
    /// Zone and tag are the pod's at that time.
    pub zone: Option<Text>,
    pub tag: Option<Text>,
    pub start: Seconds,
    pub end: Option<Seconds>,
}

/// What changes.
pub struct Rebinding {
    /// With their row numbers in the tenant's table.
    pub ended: Vec<(u32, Binding)>,
    pub begun: Binding,
}

/// None if the tenant is bound to the pod already. Otherwise all bindings in scope
/// end: none of their pods could serve the request, or the administrator decided
/// against them.
pub fn rebinding(request: &Placement, settings: &Settings) -> Option<Rebinding> {
    let Placement {
        request: asked,
        pod,
        ..
    } = request;
    let tag = tag_of(pod, &request.members, settings);
    let scope = if asked.forced {
        Scope::of_pod(pod.zone.as_ref(), &tag)
    } else {
        Scope::of_request(asked.zone.as_ref(), &request.members, settings)
    };
    let in_scope = |binding: &Binding| {
        binding.end.is_none() && scope.has(binding.zone.as_ref(), binding.tag.as_ref())
    };
    let bindings = &request.tenant.as_ref()?.bindings;
    let mut ended: Vec<_> = (0..)
        .zip(bindings)
        .filter(|(_, row)| in_scope(row))
        .collect();
    if ended.iter().any(|(_, binding)| binding.host == pod.id) {
        return None;
    }
    for (_, binding) in &mut ended {
        binding.end = Some(asked.now);
    }
    Some(Rebinding {
        ended,
        begun: Binding {
            host: pod.id.clone(),
            zone: pod.zone.clone(),
            tag: Some(tag.into()),
            start: asked.now,
            end: None,
        },
    })
}

/// The tag of the group that the pod serves; of several tags one that was asked for,
/// if any was, or else the first.
fn tag_of(pod: &Pod, members: &Rows<Member>, settings: &Settings) -> String {
    let wanted = wanted(members, settings);
    let is_wanted = |tag: &Tag| wanted.iter().any(|wanted| wanted.has(tag));
    let tag = pod.tags.iter().find(is_wanted).or_else(|| pod.tags.get(0));
    tag.map(|tag| tag.written()).unwrap_or_default()
}
