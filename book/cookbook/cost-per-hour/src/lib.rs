//! Cost per hour: a host costs what the VMs' share of it costs in an hour, or what it
//! costs to have it in use at all; a VM may have a limit.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// A VM to be placed.
#[derive(Row)]
struct Vm {
    cpu: Millicores,
    memory: Bytes,
    /// The most that its share of a host may cost in an hour.
    #[column("attribute.price-limit")]
    limit: Option<f64>,
}

#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

#[derive(Row)]
struct Host {
    /// Of the whole host, in an hour.
    #[column("attribute.price")]
    price: Option<f64>,
    #[column("cpu.total")]
    cpu: Millicores,
    #[column("memory.total")]
    memory: Bytes,
    #[column("vms.count")]
    vms: i64,
    #[column("vms.pending")]
    vms_pending: i64,
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
    /// What counts: the VMs' share of the host's price, or the whole price of a host
    /// that nobody else uses and nothing of one that is in use anyway.
    #[setting(default = "share", choices = ["share", "first-use"])]
    count: Text,
    /// Price of hosts of which none is known. If not set, they are the worst, and
    /// take no VM with a limit.
    #[setting(least = 0)]
    assumed_price: Option<f64>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has no known price
    NoPrice,
    /// costs more in an hour than the VM may
    TooDear,
}

struct Need {
    /// CPU, memory and limit of each VM.
    vms: Vec<Vm>,
    cpu: Millicores,
    memory: Bytes,
    by_share: bool,
    assumed_price: Option<f64>,
}

impl Need {
    fn price(&self, host: &Host) -> Option<f64> {
        host.price.or(self.assumed_price)
    }
}

impl Host {
    /// The greater of both shares; all of the host, if it has none.
    fn share(&self, cpu: Millicores, memory: Bytes) -> f64 {
        let share = |need: i64, total: i64| match total {
            1.. => need as f64 / total as f64,
            _ => 1.0,
        };
        share(cpu.0, self.cpu.0).max(share(memory.0, self.memory.0))
    }

    /// Whether others than the VMs in question run there or have a place.
    fn is_in_use(&self) -> bool {
        self.vms + self.vms_pending > self.current.len() as i64
    }
}

struct CostPerHour;

impl RowWise for CostPerHour {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        Ok(Need {
            cpu: request.vms.iter().map(|vm| vm.cpu).sum(),
            memory: request.vms.iter().map(|vm| vm.memory).sum(),
            vms: request.vms.iter().collect(),
            by_share: settings.count == "share",
            assumed_price: settings.assumed_price,
        })
    }
}

impl RowFilter for CostPerHour {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let price = need.price(host);
        for vm in &need.vms {
            let Some(limit) = vm.limit else { continue };
            let Some(price) = price else {
                return Verdict::Remove(Reason::NoPrice);
            };
            if price * host.share(vm.cpu, vm.memory) > limit {
                return Verdict::Remove(Reason::TooDear);
            }
        }
        Verdict::Keep
    }
}

impl RowCost for CostPerHour {
    fn cost(need: &Need, host: &Host) -> f64 {
        match need.price(host) {
            None => f64::INFINITY,
            Some(price) if need.by_share => price * host.share(need.cpu, need.memory),
            Some(price) => match host.is_in_use() {
                true => 0.0,
                false => price,
            },
        }
    }
}

placewright_sdk::export!(CostPerHour: filter, cost_function);

#[cfg(test)]
mod tests;
