//! Pod maintenance: leaves out pods that an operator has marked as under
//! maintenance.
//!
//! A mark is not the state `maintenance`: the pod and what runs in it stay in
//! service, only new requests go elsewhere.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of a pod.
#[derive(Row)]
struct Pod {
    #[column("attribute.maintenance")]
    maintenance: Option<bool>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is under maintenance
    Maintenance,
}

struct PodMaintenance;

impl RowWise for PodMaintenance {
    type Request = ();
    type Host = Pod;
    type Settings = ();
    type Reason = Reason;
    type Need = ();

    fn prepare((): &(), (): &()) -> Result<(), Problem> {
        Ok(())
    }
}

impl RowFilter for PodMaintenance {
    fn keep((): &(), pod: &Pod) -> Verdict<Reason> {
        Verdict::keep_if(pod.maintenance != Some(true), Reason::Maintenance)
    }
}

placewright_sdk::export!(PodMaintenance: filter);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pods_that_are_marked_are_left_out() {
        let keep = |maintenance| PodMaintenance::keep(&(), &Pod { maintenance });
        assert_eq!(keep(Some(true)), Verdict::Remove(Reason::Maintenance));
        assert_eq!(keep(Some(false)), Verdict::Keep);
        assert_eq!(keep(None), Verdict::Keep);
    }
}
