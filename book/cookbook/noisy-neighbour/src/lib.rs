//! Noisy neighbour: VMs that use much of what a host's VMs share (caches, disks,
//! network) cost more beside VMs that are sensitive to it.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// A VM to be placed, or one that runs on a host or has a place there.
#[derive(Row)]
struct Vm {
    /// Thousandths of what a host can give that it usually takes.
    #[column("attribute.noise")]
    noise: Option<i64>,
    /// Whether it suffers from the noise of others.
    #[column("attribute.sensitive")]
    sensitive: Option<bool>,
}

#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

#[derive(Row)]
struct Host {
    #[table("vms")]
    vms: Rows<Vm>,
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
    /// Noise of others that a sensitive VM must not be exposed to more of. If not
    /// set, noise only costs.
    #[setting(least = 0)]
    most_noise: Option<i64>,
    /// Noise of VMs of which none is known.
    #[setting(default = 0, least = 0)]
    assumed_noise: i64,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is too noisy for the VM
    TooNoisy,
    /// has VMs that the VM would disturb
    Disturbed,
}

struct Need {
    /// Noise of each VM, and whether it is sensitive.
    vms: Vec<(i64, bool)>,
    most_noise: Option<i64>,
    assumed_noise: i64,
}

/// Noise and sensitive VMs.
#[derive(Clone, Copy, Default)]
struct Sum {
    noise: i64,
    sensitive: i64,
    /// The least noise that one of the sensitive VMs makes itself.
    quietest: Option<i64>,
}

impl Sum {
    fn add(&mut self, (noise, sensitive): (i64, bool)) {
        self.noise = self.noise.saturating_add(noise);
        if sensitive {
            self.sensitive += 1;
            self.quietest = Some(self.quietest.map_or(noise, |least| least.min(noise)));
        }
    }
}

impl Need {
    fn of(&self, vm: &Vm) -> (i64, bool) {
        let noise = vm.noise.unwrap_or(self.assumed_noise);
        (noise, vm.sensitive.unwrap_or(false))
    }

    /// The VMs that are new to the host, and those that it has besides them.
    fn sums(&self, host: &Host) -> (Sum, Sum) {
        let (mut new, mut others) = (Sum::default(), Sum::default());
        let mut current = Vec::new();
        for (member, vm) in (0..).zip(&self.vms) {
            match host.current.iter().any(|row| row.member == member) {
                true => current.push(*vm),
                false => new.add(*vm),
            }
        }
        for vm in &host.vms {
            // A member that runs here is a VM of the host with the same values.
            let vm = self.of(&vm);
            match current.iter().position(|it| *it == vm) {
                Some(place) => drop(current.swap_remove(place)),
                None => others.add(vm),
            }
        }
        (new, others)
    }
}

struct NoisyNeighbour;

impl RowWise for NoisyNeighbour {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        let mut need = Need {
            vms: Vec::new(),
            most_noise: settings.most_noise,
            assumed_noise: settings.assumed_noise,
        };
        need.vms = request.vms.iter().map(|vm| need.of(&vm)).collect();
        Ok(need)
    }
}

impl RowFilter for NoisyNeighbour {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        let Some(most) = need.most_noise else {
            return Verdict::Keep;
        };
        let (new, others) = need.sums(host);
        let all = new.noise.saturating_add(others.noise);
        // A VM does not disturb itself.
        let bearable = |sum: Sum| sum.quietest.is_none_or(|own| all - own <= most);
        Verdict::keep_if(bearable(new), Reason::TooNoisy)
            .and(|| Verdict::keep_if(new.noise <= 0 || bearable(others), Reason::Disturbed))
    }
}

impl RowCost for NoisyNeighbour {
    /// What the new VMs that are sensitive would hear of the others, and those that
    /// are there of the new ones.
    fn cost(need: &Need, host: &Host) -> f64 {
        let (new, others) = need.sums(host);
        let heard = new.sensitive.saturating_mul(others.noise);
        let made = others.sensitive.saturating_mul(new.noise);
        heard.saturating_add(made) as f64
    }
}

placewright_sdk::export!(NoisyNeighbour: filter, cost_function);

#[cfg(test)]
mod tests;
