//! VM leases: keeps the hosts that can take the lease of the VM. Two hosts that
//! both think that they run a VM cannot both hold its lease.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the VM to be placed.
#[derive(Row)]
struct Vm {
    /// Id of the storage domain that holds its lease.
    #[column("attribute.lease", gate)]
    domain: Option<Text>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("leases")]
    leases: Rows<Lease>,
}

/// A storage domain of which the host can take leases, once it has joined it.
#[derive(Row)]
struct Lease {
    domain: Text,
    acquired: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// cannot take the VM's lease on its storage domain
    NotReady,
}

struct VmLeases;

impl RowWise for VmLeases {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Option<Text>;

    fn prepare(vm: &Vm, (): &()) -> Result<Option<Text>, Problem> {
        Ok(vm.domain.clone())
    }
}

impl RowFilter for VmLeases {
    fn keep(domain: &Option<Text>, host: &Host) -> Verdict<Reason> {
        let ready = |domain: &Text| {
            let mut leases = host.leases.iter();
            leases.any(|lease| lease.domain == *domain && lease.acquired)
        };
        Verdict::keep_if(domain.as_ref().is_none_or(ready), Reason::NotReady)
    }
}

placewright_sdk::export!(
    VmLeases: filter,
    aliases = ["VM leases ready", "b454ae40-f767-45b1-949a-7e5bd04d83ab"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(domain: Option<&str>, leases: &[(&str, bool)]) -> Verdict<Reason> {
        let row = |&(domain, acquired): &(&str, bool)| Lease {
            domain: domain.into(),
            acquired,
        };
        let host = Host {
            leases: leases.iter().map(row).collect(),
        };
        VmLeases::keep(&domain.map(Text::from), &host)
    }

    #[test]
    fn the_host_must_have_joined_the_domain_of_the_lease() {
        let not_ready = Verdict::Remove(Reason::NotReady);
        assert_eq!(keep(Some("a"), &[("b", false), ("a", true)]), Verdict::Keep);
        assert_eq!(keep(Some("a"), &[("b", true), ("a", false)]), not_ready);
        assert_eq!(keep(Some("a"), &[("b", true)]), not_ready);
        assert_eq!(keep(Some("a"), &[]), not_ready);
    }

    #[test]
    fn a_vm_without_a_lease_runs_anywhere() {
        assert_eq!(keep(None, &[]), Verdict::Keep);
    }
}
