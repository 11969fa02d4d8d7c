//! Staying with the pod that the tenant is bound to.

use placewright_sdk::prelude::*;

use crate::scope::Scope;
use crate::{Member, Settings};

/// What is read to choose: the pods are those that all filters kept.
#[derive(Request)]
pub struct Candidates {
    pub request: Asked,
    pub members: Rows<Member>,
    #[table("hosts")]
    pub pods: Rows<Pod>,
}

/// What is read of the request.
#[derive(Row)]
pub struct Asked {
    pub zone: Option<Text>,
}

/// What is read of a pod.
#[derive(Row)]
pub struct Pod {
    #[table("bindings")]
    pub bindings: Rows<Bound>,
}

/// A binding of the request's tenant to the pod.
#[derive(Row)]
pub struct Bound {
    pub row: i64,
    pub zone: Option<Text>,
    pub tag: Option<Text>,
    pub start: Seconds,
    pub end: Option<Seconds>,
}

impl Candidates {
    /// Their row numbers.
    pub fn all(&self) -> impl Iterator<Item = u32> {
        self.pods.numbered().map(|(number, _)| number)
    }
}

/// The candidate that the tenant is bound to. If there are several, the one that
/// it has been bound to for longest; of bindings that began at once the one that
/// was written first.
pub fn bound_pod(request: &Candidates, settings: &Settings) -> Option<u32> {
    let scope = Scope::of_request(request.request.zone.as_ref(), &request.members, settings);
    let in_scope =
        |bound: &Bound| bound.end.is_none() && scope.has(bound.zone.as_ref(), bound.tag.as_ref());
    let mut oldest = None;
    for (number, pod) in request.pods.numbered() {
        let bound = pod.bindings.iter().filter(in_scope);
        let first = bound.map(|bound| (bound.start, bound.row, number)).min();
        oldest = [oldest, first].into_iter().flatten().min();
    }
    oldest.map(|(_, _, number)| number)
}
