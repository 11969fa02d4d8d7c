//! Cluster in maintenance: starts highly available VMs only.
//!
//! It reads nothing of hosts: one answer holds for all of them. It belongs in the
//! policy that a cluster gets while it is maintained.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the VM to be placed.
#[derive(Row)]
struct Vm {
    ha: bool,
    running: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is in a cluster in maintenance, where only highly available VMs are started
    InMaintenance,
}

struct ClusterInMaintenance;

impl RowWise for ClusterInMaintenance {
    type Request = Vm;
    type Host = ();
    type Settings = ();
    type Reason = Reason;
    /// May the VM be placed?
    type Need = bool;

    fn prepare(vm: &Vm, (): &()) -> Result<bool, Problem> {
        Ok(vm.ha || vm.running)
    }
}

impl RowFilter for ClusterInMaintenance {
    fn keep(allowed: &bool, (): &()) -> Verdict<Reason> {
        Verdict::keep_if(*allowed, Reason::InMaintenance)
    }
}

placewright_sdk::export!(
    ClusterInMaintenance: filter,
    aliases = ["ClusterInMaintenance", "0bd8fef9-bcb4-4250-9998-410f01608d9b"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(ha: bool, running: bool) -> Verdict<Reason> {
        let vm = Vm { ha, running };
        let allowed = ClusterInMaintenance::prepare(&vm, &()).expect("nothing is refused");
        ClusterInMaintenance::keep(&allowed, &())
    }

    #[test]
    fn only_highly_available_vms_are_started() {
        assert_eq!(keep(true, false), Verdict::Keep);
        assert_eq!(keep(false, false), Verdict::Remove(Reason::InMaintenance));
    }

    #[test]
    fn vms_that_run_may_be_moved() {
        assert_eq!(keep(false, true), Verdict::Keep);
    }
}
