//! Power budget of a rack: a host is left out if its rack would draw more than it may
//! with the VMs on it.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use placewright_sdk::prelude::*;

#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
    #[table("cluster/attribute.racks")]
    racks: Rows<Rack>,
}

/// A VM to be placed.
#[derive(Row)]
struct Vm {
    cpu: Millicores,
}

#[derive(Row)]
struct Rack {
    name: Option<Text>,
    /// Watts that it may draw.
    budget: Option<i64>,
    /// Watts that it was measured to draw.
    measured: Option<i64>,
}

#[derive(Row)]
struct Host {
    #[column("attribute.rack")]
    rack: Option<Text>,
    /// Watts that it draws with nothing to do, and with all CPUs busy.
    #[column("attribute.idle-watts")]
    idle: Option<i64>,
    #[column("attribute.full-watts")]
    full: Option<i64>,
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
    /// What a rack draws already: as much as its hosts would if their VMs used all that
    /// they were promised; or what was measured, and beside it what pending VMs may use.
    #[setting(default = "promised", choices = ["promised", "measured"])]
    count: Text,
    /// Share of a budget that is kept back.
    #[setting(default = 0.05, range = 0.0..=1.0, measure = "fraction")]
    kept_back: f64,
    /// Watts that a host always draws of which they are not known.
    #[setting(default = 500, least = 0)]
    assumed_watts: i64,
    /// Whether hosts are left out whose rack or budget is not known.
    #[setting(default = false)]
    require_budget: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is in a rack without a known power budget
    NoBudget,
    /// is in a rack that would draw too much power
    TooMuchPower,
    /// is in a rack that would draw too much power with what is pending
    #[reason(passing)]
    TooMuchPowerWhilePending,
}

impl Host {
    /// Milliwatts at so much CPU, rounded up: whole, so that sums are exact.
    fn draw(&self, cpu: i64, assumed_watts: i64) -> i64 {
        let (Some(idle), Some(full)) = (self.idle, self.full) else {
            return assumed_watts.saturating_mul(1000);
        };
        let (cpu, total) = (i128::from(cpu), i128::from(self.total.0));
        let span = i128::from(full.saturating_sub(idle).max(0)) * 1000;
        let used = match total {
            1.. if cpu < total => (span * cpu.max(0) + total - 1) / total,
            _ => span,
        };
        idle.saturating_mul(1000)
            .saturating_add(i64::try_from(used).unwrap_or(i64::MAX))
    }
}

/// What a rack draws, in milliwatts, without pending VMs and with them.
#[derive(Clone, Copy, Default)]
struct Draw {
    running: i64,
    pending: i64,
}

struct RackPower;

impl WholeTable for RackPower {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
}

impl TableFilter for RackPower {
    fn keep(
        request: &Request,
        hosts: &Rows<Host>,
        settings: &Settings,
    ) -> Result<Vec<Verdict<Reason>>, Problem> {
        let assumed = settings.assumed_watts;
        let mut draws: BTreeMap<Text, Draw> = BTreeMap::new();
        for host in hosts {
            let running = host.draw(host.committed.0, assumed);
            let pending = host.draw(host.committed.0 + host.pending.0, assumed) - running;
            if let Some(rack) = host.rack {
                let draw = draws.entry(rack).or_default();
                draw.running = draw.running.saturating_add(running);
                draw.pending = draw.pending.saturating_add(pending);
            }
        }
        let mut budgets: BTreeMap<Text, i64> = BTreeMap::new();
        for rack in &request.racks {
            let (Some(name), Some(budget)) = (rack.name, rack.budget) else {
                continue;
            };
            if let (Some(watts), "measured", Some(draw)) =
                (rack.measured, &*settings.count, draws.get_mut(&name))
            {
                draw.running = watts.saturating_mul(1000);
            }
            let may_draw = budget as f64 * 1000.0 * (1.0 - settings.kept_back);
            budgets.insert(name, may_draw as i64);
        }
        let verdict = |host: Host| {
            let rack = host.rack.as_ref();
            let known = rack.and_then(|rack| Some((draws.get(rack)?, *budgets.get(rack)?)));
            let Some((draw, budget)) = known else {
                return Verdict::keep_if(!settings.require_budget, Reason::NoBudget);
            };
            let runs = |member| host.current.iter().any(|row| row.member == member);
            let new = (0..).zip(&request.vms).filter(|(member, _)| !runs(*member));
            let new: i64 = new.map(|(_, vm)| vm.cpu.0).sum();
            let used = host.committed.0 + host.pending.0;
            let more = host.draw(used + new, assumed) - host.draw(used, assumed);
            let running = draw.running.saturating_add(more);
            // Who draws nothing more is not to blame for what is drawn.
            Verdict::keep_if(more <= 0 || running <= budget, Reason::TooMuchPower).and(|| {
                let all = running.saturating_add(draw.pending);
                Verdict::keep_if(more <= 0 || all <= budget, Reason::TooMuchPowerWhilePending)
            })
        };
        Ok(hosts.iter().map(verdict).collect())
    }
}

placewright_sdk::export!(RackPower: table_filter);

#[cfg(test)]
mod tests;
