//! Leaves out hosts of which a much greater share of the memory is promised than of the
//! emptiest host.
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
    /// The share of its memory that is promised: 0 to 1, or more where more was promised
    /// than there is.
    fn promised(&self) -> f64 {
        if self.total <= Bytes(0) {
            return 1.0;
        }
        (self.committed + self.pending).0 as f64 / self.total.0 as f64
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
        let promised = |host: Host| host.promised();
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

placewright_sdk::export!(EvenMemory: table_filter);

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

    #[test]
    fn what_a_host_may_hold_depends_on_the_emptiest_one() {
        let hosts = [2, 6, 7].map(|gib| host(Bytes::gib(gib)));
        let hosts = hosts.into_iter().collect();
        let settings = Settings::defaults().expect("all settings have defaults");
        let verdicts = EvenMemory::keep(&request(Bytes::gib(1)), &hosts, &settings);
        let fuller = Verdict::Remove(Reason::MuchFuller);
        assert_eq!(verdicts, Ok(vec![Verdict::Keep, Verdict::Keep, fuller]));
    }

    #[test]
    fn a_vm_that_takes_nothing_more_may_stay_on_a_host_that_is_much_fuller() {
        let settings = Settings::defaults().expect("all settings have defaults");
        let verdicts = |has| {
            let own = Current {
                member: 0,
                memory: Bytes::gib(has),
            };
            let mut full = host(Bytes::gib(14));
            full.current = [own].into_iter().collect();
            let hosts = [full, host(Bytes(0))].into_iter().collect();
            EvenMemory::keep(&request(Bytes::gib(8)), &hosts, &settings)
        };
        assert_eq!(verdicts(8), Ok(vec![Verdict::Keep, Verdict::Keep]));
        let fuller = Verdict::Remove(Reason::MuchFuller);
        assert_eq!(verdicts(7), Ok(vec![fuller, Verdict::Keep]));
    }
}
