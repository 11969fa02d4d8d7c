//! Migration domain: keeps a VM on the hosts that it may be moved among.
//!
//! A host that names no domain is in the one that has the name of its cluster. So a
//! VM that names its cluster stays in it, and an operator may divide a cluster
//! further, where VMs cannot be moved from all its hosts to all others.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the VM to be placed.
#[derive(Row)]
struct Vm {
    #[column("attribute.migration-domain", gate)]
    domain: Option<Text>,
}

/// What is read of the cluster.
#[derive(Row)]
struct Cluster {
    name: Text,
}

#[derive(Request)]
struct Request {
    #[table("members")]
    vm: Vm,
    cluster: Cluster,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("attribute.migration-domain")]
    domain: Option<Text>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is not in the domain that the VM may be moved in
    AnotherDomain,
}

/// The VM's domain, and that of hosts that name none.
struct Need {
    domain: Option<Text>,
    cluster: Text,
}

struct MigrationDomain;

impl RowWise for MigrationDomain {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, (): &()) -> Result<Need, Problem> {
        Ok(Need {
            domain: request.vm.domain.clone(),
            cluster: request.cluster.name.clone(),
        })
    }
}

impl RowFilter for MigrationDomain {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let of_host = host.domain.as_ref().unwrap_or(&need.cluster);
        let same = (need.domain.as_ref()).is_none_or(|domain| domain == of_host);
        Verdict::keep_if(same, Reason::AnotherDomain)
    }
}

placewright_sdk::export!(
    MigrationDomain: filter,
    aliases = ["Migration Domain"]
);

#[cfg(test)]
mod tests {
    use super::*;

    /// In the cluster north.
    fn keep(of_vm: Option<&str>, of_host: Option<&str>) -> Verdict<Reason> {
        let request = Request {
            vm: Vm {
                domain: of_vm.map(Text::from),
            },
            cluster: Cluster {
                name: "north".into(),
            },
        };
        let need = MigrationDomain::prepare(&request, &()).expect("nothing is refused");
        let host = Host {
            domain: of_host.map(Text::from),
        };
        MigrationDomain::keep(&need, &host)
    }

    const ANOTHER: Verdict<Reason> = Verdict::Remove(Reason::AnotherDomain);

    #[test]
    fn a_vm_stays_in_its_cluster() {
        assert_eq!(keep(Some("north"), None), Verdict::Keep);
        assert_eq!(keep(Some("south"), None), ANOTHER);
    }

    #[test]
    fn a_cluster_may_be_divided_into_domains() {
        assert_eq!(keep(Some("row-1"), Some("row-1")), Verdict::Keep);
        assert_eq!(keep(Some("row-1"), Some("row-2")), ANOTHER);
        assert_eq!(keep(Some("north"), Some("row-1")), ANOTHER);
    }

    #[test]
    fn a_vm_without_a_domain_runs_anywhere() {
        assert_eq!(keep(None, Some("row-1")), Verdict::Keep);
    }
}
