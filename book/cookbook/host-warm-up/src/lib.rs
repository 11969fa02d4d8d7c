//! Warm-up of new hosts: for some time after it was added, a host takes only as large
//! a part of its CPU as that time has passed, and no VM that must not fail.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

#[derive(Request)]
struct Request {
    request: Now,
    #[table("members")]
    vms: Rows<Vm>,
}

#[derive(Row)]
struct Now {
    now: Seconds,
}

/// A VM to be placed.
#[derive(Row)]
struct Vm {
    cpu: Millicores,
    ha: bool,
}

#[derive(Row)]
struct Host {
    created: Option<Seconds>,
    #[column("cpu.total")]
    total: Millicores,
    #[column("cpu.committed")]
    committed: Millicores,
    #[column("cpu.pending")]
    pending: Millicores,
    #[table("current")]
    current: Rows<Current>,
}

/// A member that runs on the host now.
#[derive(Row)]
struct Current {
    member: i64,
}

#[derive(Settings)]
struct Settings {
    /// How long after it was added a host is new.
    #[setting(default = "24 h", least = 0)]
    period: Seconds,
    /// Whether new hosts take highly available VMs.
    #[setting(default = false)]
    allow_ha: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is too new for a highly available VM
    NotForHa,
    /// is new and takes no more VMs yet
    TooMuch,
    /// is new and takes no more VMs while places on it are reserved
    #[reason(passing)]
    TooMuchWhilePending,
}

struct Need {
    now: i64,
    period: i64,
    allow_ha: bool,
    vms: Vec<Vm>,
}

impl Need {
    /// When the host may have promised so much CPU.
    fn ready(&self, host: &Host, created: i64, cpu: i64) -> i64 {
        let (cpu, total) = (i128::from(cpu), i128::from(host.total.0));
        let part = match total {
            1.. if cpu < total => (cpu * i128::from(self.period) + total - 1) / total,
            _ => i128::from(self.period),
        };
        created.saturating_add(i64::try_from(part.max(0)).unwrap_or(i64::MAX))
    }

    /// The verdict, and the last second at which it holds.
    fn verdict(&self, host: &Host) -> (Verdict<Reason>, i64) {
        let runs = |member| host.current.iter().any(|row| row.member == member);
        let new = (0..).zip(&self.vms).filter(|(member, _)| !runs(*member));
        let new: Vec<&Vm> = new.map(|(_, vm)| vm).collect();
        let Some(created) = host.created.filter(|_| !new.is_empty()) else {
            return (Verdict::Keep, FOR_GOOD);
        };
        let cpu = host.committed.0 + new.iter().map(|vm| vm.cpu.0).sum::<i64>();
        let old = created.0.saturating_add(self.period);
        let ha = !self.allow_ha && new.iter().any(|vm| vm.ha);
        let steps = [
            (if ha { old } else { i64::MIN }, Reason::NotForHa),
            (self.ready(host, created.0, cpu), Reason::TooMuch),
            (
                self.ready(host, created.0, cpu + host.pending.0),
                Reason::TooMuchWhilePending,
            ),
        ];
        for (ends, reason) in steps {
            if self.now < ends {
                return (Verdict::Remove(reason), ends - 1);
            }
        }
        (Verdict::Keep, FOR_GOOD)
    }
}

struct HostWarmUp;

impl RowWise for HostWarmUp {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            now: request.request.now.0,
            period: settings.period.0,
            allow_ha: settings.allow_ha,
            vms: request.vms.iter().collect(),
        })
    }

    fn until(need: &Need, host: &Host) -> i64 {
        need.verdict(host).1
    }
}

impl RowFilter for HostWarmUp {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        need.verdict(host).0
    }
}

placewright_sdk::export!(HostWarmUp: filter);

#[cfg(test)]
mod tests;
