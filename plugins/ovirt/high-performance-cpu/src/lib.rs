//! High-performance CPU: VMs that are made for performance, or tied to what a host has,
//! cost more where their virtual CPUs do not fit the sockets, cores and threads of the
//! host; and those that want CPUs for themselves cost the more, the more sockets and
//! cores they would lie in.

#![forbid(unsafe_code)]

use numa_fit::exclusive::{Lot, Wish, allot, sockets_and_cores};
use numa_fit::nodes::{NodeOfHost, VmNode};
use numa_fit::pinning::Pinning;
use numa_fit::topology::{CpuOfHost, HeldPin, PinOnHost, Topology, VmOnHost};
use placewright_sdk::prelude::*;

/// What is read of a VM to be placed.
#[derive(Row)]
struct Vm {
    #[column("type")]
    made_for: Option<Text>,
    sockets: i64,
    cores: i64,
    threads: i64,
    pinning: Option<Text>,
    #[column("attribute.cpu-passthrough")]
    passthrough: Option<bool>,
    #[table("pins")]
    pins: Rows<Pin>,
    #[table("numa-nodes")]
    nodes: Rows<VmNode>,
}

/// A vCPU that is pinned.
#[derive(Row)]
struct Pin {}

impl Vm {
    /// Does it matter to the VM how the host's CPUs are laid out?
    fn is_particular(&self, wish: Option<&Wish>) -> bool {
        self.made_for.as_deref() == Some("high-performance")
            || self.passthrough == Some(true)
            || wish.is_some()
            || !self.pins.is_empty()
            || self.nodes.iter().any(|node| !node.host_nodes.is_empty())
    }

    fn wish(&self) -> Option<Wish> {
        let pinning = Pinning::named(self.pinning.as_deref())?;
        let wish = Wish::of(pinning, self.sockets, self.cores, self.threads)?;
        Some(wish.on(&self.nodes))
    }
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("cpu.sockets")]
    sockets: Option<i64>,
    #[column("cpu.cores")]
    cores: Option<i64>,
    #[column("cpu.threads")]
    threads: Option<i64>,
    #[table("cpus")]
    cpus: Rows<CpuOfHost>,
    #[table("vms")]
    vms: Rows<VmOnHost>,
    #[table("numa-nodes")]
    nodes: Rows<NodeOfHost>,
    #[table("current")]
    current: Rows<Current>,
}

/// The VM where it runs on the host now, and the CPUs that it holds there.
#[derive(Row)]
struct Current {
    holds: bool,
    vcpus: i64,
    exclusive: bool,
    #[table("pins")]
    pins: Rows<PinOnHost>,
}

impl Host {
    /// The CPUs that the VM is pinned to where it runs here.
    fn held(&self) -> Vec<HeldPin> {
        let here = self.current.iter().filter(|row| row.holds);
        let pins = here.flat_map(|row| {
            let pin = |pin: PinOnHost| HeldPin {
                cpu: pin.cpu,
                exclusive: row.exclusive,
            };
            row.pins.iter().map(pin).collect::<Vec<_>>()
        });
        pins.collect()
    }

    /// Does the VM run here with as many CPUs for itself?
    fn has_as_many(&self, wish: &Wish) -> bool {
        let vcpus = wish.sockets.saturating_mul(wish.cores);
        let vcpus = vcpus.saturating_mul(wish.threads);
        let mut here = self.current.iter();
        here.any(|row| row.holds && row.exclusive && row.vcpus >= vcpus)
    }
}

/// What a VM asks of the CPUs of a host.
struct Need {
    sockets: i64,
    cores: i64,
    threads: i64,
    /// CPUs that it wants for itself.
    wish: Option<Wish>,
}

impl Need {
    /// Has the host as many sockets, its sockets as many cores, its cores as many
    /// threads?
    fn fits(&self, host: &Host) -> Option<bool> {
        let sockets = host.sockets?;
        let cores = host.cores?.checked_div(sockets)?;
        let threads = host.threads?.checked_div(host.cores?)?;
        Some(self.sockets <= sockets && self.cores <= cores && self.threads <= threads)
    }
}

const FITS: f64 = 1.0;
const DOES_NOT_FIT: f64 = 1000.0;

/// How many more cores are as bad as another socket.
const SOCKET: usize = 1000;

struct HighPerformanceCpu;

impl RowWise for HighPerformanceCpu {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = ();
    type Need = Option<Need>;

    fn prepare(vm: &Vm, (): &()) -> Result<Option<Need>, Problem> {
        let wish = vm.wish();
        Ok(vm.is_particular(wish.as_ref()).then_some(Need {
            sockets: vm.sockets,
            cores: vm.cores,
            threads: vm.threads,
            wish,
        }))
    }
}

impl RowCost for HighPerformanceCpu {
    /// +infinity where the CPUs that a VM wants for itself are not to be had.
    fn cost(need: &Option<Need>, host: &Host) -> f64 {
        let Some(need) = need else {
            return FITS;
        };
        if let Some(wish) = &need.wish
            && let Some(cost) = cost_of_own_cpus(wish, host)
        {
            return cost;
        }
        match need.fits(host) {
            Some(true) => FITS,
            _ => DOES_NOT_FIT,
        }
    }
}

/// What the VM holds there is its own to be given out anew. None where the host's threads are
/// not known, or those of which the VM holds as many as it needs.
fn cost_of_own_cpus(wish: &Wish, host: &Host) -> Option<f64> {
    let mut topology = Topology::without(&host.cpus, &host.vms, host.held());
    if topology.is_unknown() {
        return None;
    }
    let lots = match host.has_as_many(wish) {
        // It keeps what it has, if that is known.
        true => {
            let held = host.held();
            let is_held = |cpu: i64| held.iter().any(|pin| pin.cpu == cpu);
            let places = (0..).zip(topology.threads());
            let places = places.filter(|(_, thread)| is_held(thread.cpu));
            let lot: Lot = places.map(|(place, _)| place).collect();
            if lot.is_empty() {
                return None;
            }
            vec![lot]
        }
        false => match allot(&mut topology, wish, &host.nodes) {
            Some(lots) => lots,
            None => return Some(f64::INFINITY),
        },
    };
    let (sockets, cores) = sockets_and_cores(&topology, &lots);
    Some((sockets * SOCKET + cores) as f64)
}

placewright_sdk::export!(
    HighPerformanceCpu: cost_function,
    aliases = [
        "CPU for high performance VMs",
        "71931e14-f0e6-4f91-a7c8-d494a26e3a09",
    ]
);

#[cfg(test)]
mod tests;
