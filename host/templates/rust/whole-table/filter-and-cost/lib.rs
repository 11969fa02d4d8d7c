//! Leaves out hosts of which a much greater share of the memory is promised than of the
//! emptiest host, and prefers those that would come closest to the mean.
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

/// What the admin of a cluster may set.
#[derive(Settings)]
struct Settings {
    /// How much fuller than the emptiest host a host may be, as a share of its memory.
    #[setting(default = 0.25, least = 0.0, measure = "fraction")]
    tolerance: f64,
}

/// Why a host is left out: each completes the sentence "host h1 ...".
#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is much fuller than the emptiest host
    MuchFuller,
}

struct EvenMemory;

impl WholeTable for EvenMemory {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
}

impl TableFilter for EvenMemory {
    fn keep(
        request: &Request,
        hosts: &Rows<Host>,
        settings: &Settings,
    ) -> Result<Vec<Verdict<Reason>>, Problem> {
        let promised = |host: Host| host.promised(Bytes(0));
        let least = hosts.iter().map(promised).fold(f64::INFINITY, f64::min);
        let verdict = |host: Host| {
            // Who takes nothing more may stay, however full the host is.
            let stays = host.takes(&request.vms) == Bytes(0);
            let fits = stays || promised(host) - least <= settings.tolerance;
            Verdict::keep_if(fits, Reason::MuchFuller)
        };
        Ok(hosts.iter().map(verdict).collect())
    }
}

impl TableCost for EvenMemory {
    const RANGE: Option<(f64, f64)> = Some((0.0, 1.0));

    /// How far from the mean of now the host would be; lower is better.
    fn cost(request: &Request, hosts: &Rows<Host>, _: &Settings) -> Result<Vec<f64>, Problem> {
        let mut shares: Vec<f64> = hosts.iter().map(|host| host.promised(Bytes(0))).collect();
        // Added up in order of size: a sum of floats depends on the order, and the order of
        // hosts must not matter.
        shares.sort_by(f64::total_cmp);
        let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        let cost = |host: Host| (host.promised(host.takes(&request.vms)) - mean).abs();
        Ok(hosts.iter().map(cost).collect())
    }
}

placewright_sdk::export!(EvenMemory: table_filter, table_cost_function);

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

    /// One VM of that memory.
    fn request(memory: Bytes) -> Request {
        Request {
            vms: [Vm { memory }].into_iter().collect(),
        }
    }

    fn settings() -> Settings {
        Settings::defaults().expect("all settings have defaults")
    }

    #[test]
    fn what_a_host_may_hold_depends_on_the_emptiest_one() {
        let hosts = [2, 6, 7].map(|gib| host(Bytes::gib(gib)));
        let hosts = hosts.into_iter().collect();
        let verdicts = EvenMemory::keep(&request(Bytes::gib(1)), &hosts, &settings());
        let fuller = Verdict::Remove(Reason::MuchFuller);
        assert_eq!(verdicts, Ok(vec![Verdict::Keep, Verdict::Keep, fuller]));
    }

    #[test]
    fn a_vm_that_takes_nothing_more_may_stay_on_a_host_that_is_much_fuller() {
        let own = |gib| Current {
            member: 0,
            memory: Bytes::gib(gib),
        };
        let verdicts = |has| {
            let mut full = host(Bytes::gib(14));
            full.current = [own(has)].into_iter().collect();
            let hosts = [full, host(Bytes(0))].into_iter().collect();
            EvenMemory::keep(&request(Bytes::gib(8)), &hosts, &settings())
        };
        assert_eq!(verdicts(8), Ok(vec![Verdict::Keep, Verdict::Keep]));
        let fuller = Verdict::Remove(Reason::MuchFuller);
        assert_eq!(verdicts(7), Ok(vec![fuller, Verdict::Keep]));
    }

    #[test]
    fn a_host_costs_how_far_from_the_mean_it_would_be() {
        let hosts = [host(Bytes::gib(4)), host(Bytes::gib(12))];
        let hosts = hosts.into_iter().collect();
        // The mean is 8 of 16 GiB; they would have 6 and 14.
        let costs = EvenMemory::cost(&request(Bytes::gib(2)), &hosts, &settings());
        assert_eq!(costs, Ok(vec![0.125, 0.375]));
    }
}
