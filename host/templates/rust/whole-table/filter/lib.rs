//! Leaves out hosts of which a much greater share of the memory is promised than of the
//! emptiest host.
//!
//! Each answer depends on the other hosts, so all are looked at together. A rule that looks
//! at one host at a time is better written row-wise: it is asked again only about hosts that
//! have changed.

use placewright_sdk::prelude::*;

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
    type Request = ();
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
}

impl TableFilter for EvenMemory {
    fn keep(
        (): &(),
        hosts: &Rows<Host>,
        settings: &Settings,
    ) -> Result<Vec<Verdict<Reason>>, Problem> {
        let promised: Vec<f64> = hosts.iter().map(|host| host.promised()).collect();
        let least = promised.iter().copied().fold(f64::INFINITY, f64::min);
        let verdict =
            |share: f64| Verdict::keep_if(share - least <= settings.tolerance, Reason::MuchFuller);
        Ok(promised.into_iter().map(verdict).collect())
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
        }
    }

    #[test]
    fn what_a_host_may_hold_depends_on_the_emptiest_one() {
        let hosts = [2, 6, 7].map(|gib| host(Bytes::gib(gib)));
        let hosts = hosts.into_iter().collect();
        let settings = Settings::defaults().expect("all settings have defaults");
        let verdicts = EvenMemory::keep(&(), &hosts, &settings);
        let fuller = Verdict::Remove(Reason::MuchFuller);
        assert_eq!(verdicts, Ok(vec![Verdict::Keep, Verdict::Keep, fuller]));
    }
}
