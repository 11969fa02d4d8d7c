//! Prefers hosts that would come closest to the mean of all hosts, by the share of their
//! memory that is promised.
//!
//! Each answer depends on the other hosts, so all are looked at together. A rule that looks
//! at one host at a time is better written row-wise: it is asked again only about hosts that
//! have changed.

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    memory: Bytes,
}

/// All VMs that are to be placed together on one host, usually one.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host: these columns and no others. `placewright columns` lists all.
#[derive(Row)]
struct Host {
    #[column("memory.total")]
    total: Bytes,
    /// Promised to the VMs that run here.
    #[column("memory.committed")]
    committed: Bytes,
    /// Promised to the VMs that have a place reserved here.
    #[column("memory.pending")]
    pending: Bytes,
    /// Those of the VMs that run here already. What they have is promised to them.
    #[table("current")]
    current: Rows<Current>,
}

/// A VM to be placed that runs on the host now.
#[derive(Row)]
struct Current {
    /// Which of the VMs.
    member: i64,
    memory: Bytes,
}

impl Host {
    /// The share of its memory that is promised, with so much more: 0 to 1, also where more
    /// was promised than there is.
    fn promised(&self, more: Bytes) -> f64 {
        if self.total <= Bytes(0) {
            return 1.0;
        }
        let promised = self.committed + self.pending + more;
        (promised.0 as f64 / self.total.0 as f64).clamp(0.0, 1.0)
    }

    /// What the VMs take of it: what each asks for, less what it has here if it runs here.
    fn takes(&self, vms: &Rows<Vm>) -> Bytes {
        let has = |vm: i64| -> Bytes {
            let here = self.current.iter().filter(|row| row.member == vm);
            here.map(|row| row.memory).sum()
        };
        let vms = (0..).zip(vms);
        vms.map(|(number, vm)| (vm.memory - has(number)).max(Bytes(0)))
            .sum()
    }
}

struct EvenMemory;

impl WholeTable for EvenMemory {
    type Request = Request;
    type Host = Host;
    type Settings = ();
    type Reason = ();
}

impl TableCost for EvenMemory {
    const RANGE: Option<(f64, f64)> = Some((0.0, 1.0));

    /// How far from the mean of now the host would be; lower is better.
    fn cost(request: &Request, hosts: &Rows<Host>, (): &()) -> Result<Vec<f64>, Problem> {
        let mut shares: Vec<f64> = hosts.iter().map(|host| host.promised(Bytes(0))).collect();
        // Added up in order of size: a sum of floats depends on the order, and the order of
        // hosts must not matter.
        shares.sort_by(f64::total_cmp);
        let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        let cost = |host: Host| (host.promised(host.takes(&request.vms)) - mean).abs();
        Ok(hosts.iter().map(cost).collect())
    }
}

placewright_sdk::export!(EvenMemory: table_cost_function);

#[cfg(test)]
mod tests {
    use super::*;

    /// A host of 16 GiB.
    fn host(committed: Bytes) -> Host {
        Host {
            total: Bytes::gib(16),
            committed,
            pending: Bytes(0),
            current: Rows::default(),
        }
    }

    #[test]
    fn a_host_costs_how_far_from_the_mean_it_would_be() {
        let hosts = [host(Bytes::gib(4)), host(Bytes::gib(12))];
        let hosts = hosts.into_iter().collect();
        let vm = Vm {
            memory: Bytes::gib(2),
        };
        let request = Request {
            vms: [vm].into_iter().collect(),
        };
        // The mean is 8 of 16 GiB; they would have 6 and 14.
        let costs = EvenMemory::cost(&request, &hosts, &());
        assert_eq!(costs, Ok(vec![0.125, 0.375]));
    }
}
