//! A few pods and one tenant, to be told what happens.

use crate::keeping::{self, Bound};
use crate::rebinding::{self, Placement, Tenant, rebinding};
use crate::*;

pub struct Cloud {
    pub pods: Vec<Pod>,
    /// Of the tenant.
    pub bindings: Vec<Binding>,
    /// Are requests made for the tenant?
    pub tenant: bool,
    pub settings: Settings,
}

/// Zone, tags (`key=value`, separated by commas) and whether the other filters keep
/// it.
pub struct Pod {
    pub id: &'static str,
    zone: &'static str,
    tags: &'static str,
    pub fit: bool,
}

impl Pod {
    pub fn new(id: &'static str, zone: &'static str, tags: &'static str) -> Self {
        Self {
            id,
            zone,
            tags,
            fit: true,
        }
    }
}

pub fn settings() -> Settings {
    let key = |key: &str| AffinityKey { key: key.into() };
    Settings {
        by_zone: true,
        by_tag: true,
        affinity_keys: vec![key("resource"), key("class")].into(),
    }
}

pub fn active(pod: &str, zone: &str, tag: &str, start: i64) -> Binding {
    Binding {
        host: pod.into(),
        zone: (!zone.is_empty()).then(|| zone.into()),
        tag: Some(tag.into()),
        start: Seconds(start),
        end: None,
    }
}

pub fn ended(pod: &str, zone: &str, tag: &str, start: i64, end: i64) -> Binding {
    Binding {
        end: Some(Seconds(end)),
        ..active(pod, zone, tag, start)
    }
}

/// `key=value,key=value`
fn tags(tags: &str) -> Rows<Tag> {
    let pairs = tags.split(',').filter_map(|tag| tag.split_once('='));
    let tag = |(key, value): (&str, &str)| Tag {
        key: key.into(),
        value: value.into(),
    };
    pairs.map(tag).collect()
}

fn members(specs: &str) -> Rows<Member> {
    let specs = tags(specs);
    vec![Member { specs }].into()
}

impl Cloud {
    pub fn of<const N: usize>(pods: [Pod; N]) -> Self {
        Self {
            pods: pods.into(),
            bindings: Vec::new(),
            tenant: true,
            settings: settings(),
        }
    }

    pub fn pod(&mut self, id: &str) -> &mut Pod {
        let mut pods = self.pods.iter_mut();
        pods.find(|pod| pod.id == id).expect("it is one of them")
    }

    /// The pods that the filters keep, those of zone and tag where the policy has
    /// them.
    fn kept(&self, zone: Option<&str>, specs: &str) -> Vec<&Pod> {
        let in_zone =
            |pod: &&Pod| !self.settings.by_zone || zone.is_none_or(|zone| zone == pod.zone);
        let wanted = resource_groups::Wanted::of(&tags(specs), &self.settings.affinity_keys);
        let tagged = |pod: &&Pod| !self.settings.by_tag || wanted.is_offered_by(&tags(pod.tags));
        let pods = self.pods.iter().filter(in_zone).filter(tagged);
        pods.filter(|pod| pod.fit).collect()
    }

    /// What the selection reads.
    pub fn candidates(&self, zone: Option<&str>, specs: &str) -> Candidates {
        let pod = |pod: &Pod| keeping::Pod {
            bindings: self.bound(pod).collect(),
        };
        Candidates {
            request: keeping::Asked {
                zone: zone.map(Text::from),
            },
            members: members(specs),
            pods: self.kept(zone, specs).into_iter().map(pod).collect(),
        }
    }

    fn bound(&self, pod: &Pod) -> impl Iterator<Item = Bound> {
        let bindings = (0..).zip(&self.bindings);
        let here = bindings.filter(|(_, binding)| binding.host == pod.id);
        here.map(|(row, binding)| Bound {
            row,
            zone: binding.zone.clone(),
            tag: binding.tag.clone(),
            start: binding.start,
            end: binding.end,
        })
    }

    /// Makes a request; of pods that are equally good the first is chosen.
    pub fn request(&mut self, now: i64, zone: Option<&str>, specs: &str) -> Option<&'static str> {
        let bound = keeping::bound_pod(&self.candidates(zone, specs), &self.settings);
        let number = bound.unwrap_or(0) as usize;
        let pod = self.kept(zone, specs).get(number).map(|pod| pod.id)?;
        self.write(&self.placement(now, zone, specs, pod));
        Some(pod)
    }

    /// Binds the tenant by hand.
    pub fn bind(&mut self, now: i64, pod: &str) {
        let mut placement = self.placement(now, None, "", pod);
        placement.request.forced = true;
        self.write(&placement);
    }

    /// What the effects part reads once this pod was chosen.
    pub fn placement(&self, now: i64, zone: Option<&str>, specs: &str, id: &str) -> Placement {
        let bindings = self.bindings.clone().into();
        let mut pods = self.pods.iter();
        let chosen = pods.find(|pod| pod.id == id).expect("it is one of them");
        Placement {
            request: rebinding::Asked {
                now: Seconds(now),
                zone: zone.map(Text::from),
                forced: false,
            },
            members: members(specs),
            tenant: self.tenant.then_some(Tenant { bindings }),
            pod: rebinding::Pod {
                id: chosen.id.into(),
                zone: (!chosen.zone.is_empty()).then(|| chosen.zone.into()),
                tags: tags(chosen.tags),
            },
        }
    }

    fn write(&mut self, placement: &Placement) {
        let Some(change) = rebinding(placement, &self.settings) else {
            return;
        };
        for (row, binding) in change.ended {
            self.bindings[row as usize] = binding;
        }
        self.bindings.push(change.begun);
    }
}
