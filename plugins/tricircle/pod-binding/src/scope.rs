//! The bindings that a request is about.

use placewright_sdk::prelude::*;
use resource_groups::Wanted;

use crate::{Member, Settings};

/// Which of a tenant's bindings a request is about: those in its zone and for the
/// kinds of resources that it asks for. None = any will do. An absent zone or tag
/// is an empty one.
pub struct Scope {
    zone: Option<String>,
    tags: Option<Vec<String>>,
}

impl Scope {
    /// Of a request for which the policy chose a pod. Where the policy does not
    /// filter by zone or by tag, or no zone is asked for, any will do.
    pub fn of_request(zone: Option<&Text>, members: &Rows<Member>, settings: &Settings) -> Self {
        let wanted = wanted(members, settings);
        Self {
            zone: zone.filter(|_| settings.by_zone).map(Text::to_string),
            tags: (settings.by_tag).then(|| wanted.iter().flat_map(Wanted::written).collect()),
        }
    }

    /// Of a pod that an administrator chose: the zone and the tag are the pod's.
    pub fn of_pod(zone: Option<&Text>, tag: &str) -> Self {
        Self {
            zone: Some(zone.map_or("", Text::as_str).to_owned()),
            tags: Some(vec![tag.to_owned()]),
        }
    }

    /// Is a binding with this zone and tag among them?
    pub fn has(&self, zone: Option<&Text>, tag: Option<&Text>) -> bool {
        let (zone, tag) = (zone.map_or("", Text::as_str), tag.map_or("", Text::as_str));
        self.zone.as_ref().is_none_or(|one| one == zone)
            && (self.tags.as_ref()).is_none_or(|any| any.iter().any(|one| one == tag))
    }
}

/// What each member asks for.
pub fn wanted(members: &Rows<Member>, settings: &Settings) -> Vec<Wanted> {
    let keys = &settings.affinity_keys;
    let wanted = members.iter().map(|member| Wanted::of(&member.specs, keys));
    wanted.collect()
}
