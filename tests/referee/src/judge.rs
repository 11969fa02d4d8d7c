//! Whether a decision promises something twice or breaks a rule, and whether a host could have
//! taken what was refused.
//!
//! Both are judged with a margin: what is promised twice is so without any overhead of VMs, and a
//! host could have taken a VM if there was room for every overhead that the book knows.

use std::collections::BTreeSet;

use crate::history::Rule;
use crate::ledger::{Ledger, Place, Vm};
use crate::needs::{GIB, Needs};
use crate::nodes::{Demand, Room, assignment, demands, of_both};

/// Bytes that a VM takes beside its memory, at most.
fn overhead(needs: &Needs) -> i64 {
    (128 << 20) + needs.memory * GIB / 256 + (16 << 20) * needs.cores()
}

/// What a VM holds on a host, running there or having a place reserved there: of each amount
/// the greater.
fn holds(vm: &Vm, host: usize, amount: impl Fn(&Needs) -> i64) -> i64 {
    let running = vm.runs_on(host).map_or(0, &amount);
    running.max(vm.reserved_on(host).map_or(0, &amount))
}

/// What of a VM's amount on a host the last measurement of the host does not contain.
fn unmeasured(vm: &Vm, host: usize, amount: impl Fn(&Needs) -> i64) -> i64 {
    let running = vm.running.as_ref().filter(|it| it.place.host == host);
    let measured = running.and_then(|it| it.measured.as_ref());
    holds(vm, host, &amount) - measured.map_or(0, &amount)
}

/// What the others hold.
struct Others<'a> {
    ledger: &'a Ledger,
    vm: usize,
    host: usize,
}

impl Others<'_> {
    fn all(&self) -> impl Iterator<Item = &Vm> {
        let all = self.ledger.vms.iter();
        all.filter(|(id, _)| **id != self.vm).map(|(_, vm)| vm)
    }

    fn hold(&self, amount: impl Fn(&Needs) -> i64) -> i64 {
        self.all().map(|vm| holds(vm, self.host, &amount)).sum()
    }

    fn unmeasured(&self, amount: impl Fn(&Needs) -> i64) -> i64 {
        let all = self.all().map(|vm| unmeasured(vm, self.host, &amount));
        // What a VM gives back is not given away before that is measured.
        all.map(|amount| amount.max(0)).sum()
    }

    fn needs(&self) -> impl Iterator<Item = &Needs> {
        self.all()
            .filter_map(|vm| vm.reserved_on(self.host).or_else(|| vm.runs_on(self.host)))
    }

    /// What their virtual nodes need of the host's.
    fn nodes(&self) -> Vec<Demand> {
        let of = |needs: Option<&Needs>| needs.map_or_else(Vec::new, demands);
        let all = self.all();
        let nodes = all.map(|vm| of_both(of(vm.runs_on(self.host)), of(vm.reserved_on(self.host))));
        nodes.flatten().collect()
    }

    /// The GPUs that they have.
    fn gpus(&self) -> Gpus {
        let mut gpus = Gpus::default();
        for vm in self.all() {
            let running = vm.running.as_ref();
            let running = running.filter(|it| it.place.host == self.host);
            match (running, vm.reserved_on(self.host)) {
                (Some(running), None) if !running.gpus.is_empty() => {
                    let share = running.place.needs.gpu_share;
                    let known = running.gpus.iter().map(|number| (*number, share));
                    gpus.known.extend(known);
                }
                (running, reserved) => {
                    let needs = reserved.or(running.map(|it| &it.place.needs));
                    gpus.needed.extend(needs.map(|it| (it.gpus, it.gpu_share)));
                }
            }
        }
        gpus
    }
}

/// GPUs of a host that VMs have.
#[derive(Debug, Default)]
struct Gpus {
    /// Those that are known by number, and thousandths.
    known: Vec<(usize, i64)>,
    /// How many, and thousandths of each.
    needed: Vec<(i64, i64)>,
}

/// Whether GPUs of these numbers can be a VM's that runs, as far as is known who has the others.
pub(crate) fn may_have_gpus(ledger: &Ledger, vm: usize, place: &Place, gpus: &[usize]) -> bool {
    let host = place.host;
    let Gpus { mut known, needed } = Others { ledger, vm, host }.gpus();
    let mut reserved = ledger.vms.values().filter_map(|vm| vm.reserved_on(host));
    // Those that are reserved have numbers that nobody tells.
    if reserved.any(|needs| needs.gpus > 0) {
        return false;
    }
    known.extend(gpus.iter().map(|number| (*number, place.needs.gpu_share)));
    gpus_suffice(ledger.hosts[host].spec.gpus, &known, needed)
}

/// Whether the GPUs that are known by number are there, and nobody is given more of one than there
/// is: a sentence if not.
pub(crate) fn gpu_given_twice(ledger: &Ledger, host: usize) -> Option<String> {
    let running = ledger.vms.values().filter_map(|vm| vm.running.as_ref());
    let mut taken = vec![0; usize::try_from(ledger.hosts[host].spec.gpus).unwrap_or_default()];
    for running in running.filter(|it| it.place.host == host) {
        for number in &running.gpus {
            match taken.get_mut(*number) {
                Some(taken) => *taken += running.place.needs.gpu_share,
                None => return Some(format!("GPU {number} is not there")),
            }
        }
    }
    let (number, taken) = taken.iter().enumerate().find(|(_, taken)| **taken > 1000)?;
    Some(format!("{taken} thousandths of GPU {number} are given"))
}

/// Whether whole and shared GPUs can be given out so that nobody gets more of one than there is,
/// beside those that are known by number.
fn gpus_suffice(gpus: i64, known: &[(usize, i64)], mut demands: Vec<(i64, i64)>) -> bool {
    fn fits(free: &mut [i64], demands: &[(i64, i64)], from: usize, left: i64) -> bool {
        let Some(&(_, share)) = demands.first() else {
            return true;
        };
        if left == 0 {
            let rest = &demands[1..];
            let count = rest.first().map_or(0, |it| it.0);
            return fits(free, rest, 0, count);
        }
        (from..free.len()).any(|gpu| {
            if free[gpu] < share {
                return false;
            }
            free[gpu] -= share;
            let done = fits(free, demands, gpu + 1, left - 1);
            free[gpu] += share;
            done
        })
    }
    demands.retain(|(count, _)| *count > 0);
    demands.sort_by_key(|(count, share)| std::cmp::Reverse((*share, *count)));
    let mut free = vec![1000; usize::try_from(gpus).unwrap_or_default()];
    for (number, share) in known {
        match free.get_mut(*number) {
            Some(free) if *free >= *share => *free -= share,
            _ => return false,
        }
    }
    let first = demands.first().map_or(0, |it| it.0);
    fits(&mut free, &demands, 0, first)
}

/// What `vm` with `needs` on `host` takes that is not there, as it runs before; a sentence.
pub(crate) fn promised_twice(
    ledger: &Ledger,
    vm: usize,
    host: usize,
    needs: &Needs,
) -> Option<String> {
    let others = Others { ledger, vm, host };
    let here = ledger.vms.get(&vm).and_then(|it| it.runs_on(host));
    let held = here.cloned().unwrap_or_default();
    let mine = ledger.vms.get(&vm);
    let at = &ledger.hosts[host];
    let spec = &at.spec;
    let short = |what: &str, needed: i64, there: i64| {
        (needed > there).then(|| format!("{what}: {needed} promised of {there}"))
    };
    let mut found = None;
    if needs.ordinary() > held.ordinary() {
        let limit = spec.memory * GIB * spec.memory_overcommit / 10;
        let needed = others.hold(Needs::ordinary) + needs.ordinary();
        found = found.or_else(|| short("memory", needed, limit));
        // What the measurement contains of it is there already.
        let measured = mine.and_then(|it| it.running.as_ref());
        let measured = measured.filter(|it| it.place.host == host);
        let measured = measured.and_then(|it| it.measured.as_ref());
        let growth = needs.ordinary() - measured.map_or(0, Needs::ordinary);
        if let Some(free) = at.free.filter(|_| ledger.heeds_measured) {
            let needed = others.unmeasured(Needs::ordinary) + growth;
            found = found.or_else(|| short("free memory", needed, free));
        }
    }
    if needs.cpu > held.cpu {
        let limit = spec.cores * 1000 * spec.cpu_overcommit / 10;
        let needed = others.hold(|it| it.cpu) + needs.cpu;
        found = found.or_else(|| short("CPU", needed, limit));
    }
    if needs.own_cpus() > held.own_cpus() {
        let needed = others.hold(Needs::own_cpus) + needs.own_cpus();
        found = found.or_else(|| short("CPUs of VMs' own", needed, spec.cores));
    }
    if needs.shared_cores() > held.shared_cores() || needs.own_cpus() > held.own_cpus() {
        // However many VMs share CPUs, none of them is wider than what is shared.
        let shared = others.needs().chain([needs]).map(Needs::shared_cores);
        let widest = shared.max().unwrap_or(0);
        let needed = others.hold(Needs::own_cpus) + needs.own_cpus() + widest;
        if ledger.heeds_exclusive {
            found = found.or_else(|| short("CPUs, shared ones and own ones", needed, spec.cores));
        }
    }
    if needs.licences > held.licences {
        let needed = others.hold(|it| it.licences) + needs.licences;
        found = found.or_else(|| short("licences", needed, spec.licences));
    }
    if (needs.gpus, needs.gpu_share) != (held.gpus, held.gpu_share) && needs.gpus > 0 {
        let Gpus { known, mut needed } = others.gpus();
        needed.push((needs.gpus, needs.gpu_share));
        if !gpus_suffice(spec.gpus, &known, needed.clone()) {
            let sentence = format!("GPUs: {needed:?} beside {known:?} of {}", spec.gpus);
            found = found.or(Some(sentence));
        }
    }
    for device in needs.devices.iter().filter(|it| !held.devices.contains(it)) {
        if !spec.devices.contains(device) {
            found = found.or_else(|| Some(format!("device {device} is not there")));
        } else if others.all().any(|it| {
            let of = |needs: &Needs| needs.devices.contains(device);
            it.runs_on(host).is_some_and(of) || it.reserved_on(host).is_some_and(of)
        }) {
            found = found.or_else(|| Some(format!("device {device} is another VM's")));
        }
    }
    if needs.pages > held.pages {
        let measured = mine.and_then(|it| it.running.as_ref());
        let measured = measured.filter(|it| it.place.host == host);
        let measured = measured.and_then(|it| it.measured.as_ref());
        let growth = needs.pages - measured.map_or(0, |it| it.pages);
        let needed = others.unmeasured(|it| it.pages) + growth;
        found = found.or_else(|| short("huge pages", needed, at.free_pages));
    }
    if needs.nodes != held.nodes || needs.own_cpus() > held.own_cpus() {
        let (others, mine) = (others.nodes(), demands(needs));
        let rooms = spec.rooms();
        let all: Vec<Demand> = others.iter().chain(&mine).cloned().collect();
        let missing = mine.iter().flat_map(|it| &it.allowed);
        let mut missing =
            missing.filter(|it| usize::try_from(**it).is_ok_and(|it| it >= rooms.len()));
        if let Some(node) = missing.next() {
            found = found.or_else(|| Some(format!("NUMA node {node} is not there")));
        // Where one is to have other nodes than it has, there may be too little until then.
        } else if assignment(&others, &rooms).is_some() && assignment(&all, &rooms).is_none() {
            found = found.or_else(|| Some(format!("NUMA nodes: {mine:?} beside {others:?}")));
        }
    }
    found
}

/// Which hard rule is broken by a place of `vm` on `host`: a sentence. The ledger contains the
/// places that were given with it.
pub(crate) fn broken_rule(ledger: &Ledger, vm: usize, host: usize) -> Option<String> {
    let was_here = ledger.running(vm).is_some_and(|it| it.host == host);
    let state = ledger.hosts[host].state;
    if state != "up" && !was_here {
        return Some(format!(
            "VM {vm} is placed on host {host}, which is in state {state}"
        ));
    }
    if was_here {
        return None;
    }
    let is_dead = |host: usize| matches!(ledger.hosts[host].state, "down" | "error");
    if let Some(from) = ledger
        .running(vm)
        .filter(|it| it.needs.stays && !is_dead(it.host))
    {
        let (host_from, state) = (from.host, ledger.hosts[from.host].state);
        return Some(format!(
            "VM {vm} may not be moved, and host {host_from}, on which it runs, is {state}"
        ));
    }
    let end = |other: usize| ledger.vms.get(&other).and_then(Vm::ends_on);
    if let Some(other) = ledger
        .beside(vm, Rule::Apart)
        .find(|it| end(*it) == Some(host))
    {
        return Some(format!("VMs {vm} and {other} must not share host {host}"));
    }
    let elsewhere = |other: &usize| end(*other).is_some_and(|it| it != host && !is_dead(it));
    // Where groups are divided, or divide each other, each of their hosts is as good.
    if ledger
        .beside(vm, Rule::Together)
        .any(|it| end(it) == Some(host))
    {
        return None;
    }
    let other = ledger.beside(vm, Rule::Together).find(elsewhere)?;
    Some(format!(
        "VMs {vm} on host {host} and {other} must share a host"
    ))
}

/// Whether the rule of a group is satisfied where its VMs run, none of which is about to move.
pub(crate) fn is_satisfied(ledger: &Ledger, group: usize) -> bool {
    let Some(group) = ledger.groups.get(group) else {
        return false;
    };
    let members = || group.vms.iter().filter_map(|vm| ledger.vms.get(vm));
    let running = members().filter_map(|vm| vm.running.as_ref());
    let hosts: Vec<usize> = running.map(|it| it.place.host).collect();
    let distinct: BTreeSet<usize> = hosts.iter().copied().collect();
    let is_settled = members().all(|vm| vm.reserved.is_none());
    is_settled
        && match group.rule {
            Rule::Together => distinct.len() <= 1,
            Rule::Apart => distinct.len() == hosts.len(),
        }
}

/// A host that could have taken a new VM, with a margin for everything that the book knows.
pub(crate) fn could_take(ledger: &Ledger, vm: usize, needs: &Needs) -> Option<usize> {
    (0..ledger.hosts.len()).find(|host| fits_surely(ledger, vm, *host, needs))
}

/// Under a policy whose one cost is the load of hosts: a sentence if the load of the host that
/// was chosen is unknown, its cost therefore infinite, though one whose load is known could have
/// taken the VM. Infinite is worse than every number, of whichever sign the factor is.
pub(crate) fn knows_no_load(
    ledger: &Ledger,
    vm: usize,
    chosen: usize,
    needs: &Needs,
) -> Option<String> {
    if !ledger.is_by_load || ledger.hosts[chosen].spec.load.is_some() {
        return None;
    }
    let is_known = |host: &usize| ledger.hosts[*host].spec.load.is_some();
    let mut known = (0..ledger.hosts.len()).filter(is_known);
    let better = known.find(|host| fits_surely(ledger, vm, *host, needs))?;
    Some(format!(
        "its load is unknown, and that of host {better} is not"
    ))
}

fn fits_surely(ledger: &Ledger, vm: usize, host: usize, needs: &Needs) -> bool {
    let others = Others { ledger, vm, host };
    let at = &ledger.hosts[host];
    let spec = &at.spec;
    if at.state != "up" {
        return false;
    }
    let memory = |needs: &Needs| needs.memory * GIB + overhead(needs);
    // Memory in free huge pages may be kept for VMs that ask for them.
    let limit = (spec.memory - at.free_pages) * GIB * spec.memory_overcommit / 10;
    // One CPU stays shared even if no VM shares it yet, and a VM that is to have CPUs of its own
    // shares those of others until that is confirmed.
    let shared = others
        .all()
        .map(|vm| holds(vm, host, Needs::shared_cores))
        .chain([needs.shared_cores(), 1]);
    let widest = shared.max().unwrap_or(1);
    let gpus: i64 = others.hold(|it| it.gpus) + needs.gpus;
    let has_devices = needs.devices.iter().all(|device| {
        let of = |needs: &Needs| needs.devices.contains(device);
        let is_taken = others
            .all()
            .any(|it| it.runs_on(host).is_some_and(of) || it.reserved_on(host).is_some_and(of));
        spec.devices.contains(device) && !is_taken
    });
    // Where others lie that may lie on several nodes is not known: on each of them. Of a node on
    // which any share CPUs, one is left to them.
    let room = |(number, total): (i64, &i64)| {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let free = at.free_of_nodes.get(place).copied().unwrap_or(-1);
        let promised = others.hold(|it| it.at_most_on_node(number));
        let taken = others.unmeasured(|it| it.at_most_on_node(number));
        let own = others.hold(|it| it.own_cpus_at_most_on_node(number));
        let sharers = others.hold(|it| it.sharers_at_most_on_node(number));
        let shared = i64::from(needs.exclusive && sharers > 0);
        let cpus = spec.cpus_of_node(number) - own - shared;
        Room {
            memory: match cpus {
                0.. => (total * GIB - promised).min(free - taken),
                _ => -1,
            },
            cpus,
            names_cpus: spec.cpus_of_node(number) > 0,
        }
    };
    let rooms: Vec<Room> = (0..).zip(&spec.nodes).map(room).collect();
    let mine = demands(needs);
    let mut allowed = mine.iter().flat_map(|it| &it.allowed);
    let are_there = allowed.all(|it| usize::try_from(*it).is_ok_and(|it| it < rooms.len()));
    let has_cpus = |found: Vec<usize>| found.iter().all(|number| rooms[*number].cpus >= 0);
    let node_fits = are_there && assignment(&mine, &rooms).is_some_and(has_cpus);
    let rules = {
        let is_here = |other: usize| {
            let vm = ledger.vms.get(&other);
            vm.is_some_and(|it| it.runs_on(host).is_some() || it.reserved_on(host).is_some())
        };
        // A place on a host that is down holds nobody back; one elsewhere may.
        let is_away = |other: usize| {
            let vm = ledger.vms.get(&other);
            vm.is_some_and(|it| {
                let places = [
                    it.running.as_ref().map(|it| it.place.host),
                    it.reserved.as_ref().map(|it| it.place.host),
                ];
                places
                    .into_iter()
                    .flatten()
                    .any(|it| it != host && !matches!(ledger.hosts[it].state, "down" | "error"))
            })
        };
        !ledger.beside(vm, Rule::Apart).any(is_here)
            && !ledger.beside(vm, Rule::Together).any(is_away)
    };
    others.hold(memory) + memory(needs) <= limit
        && at
            .free
            .is_none_or(|free| others.unmeasured(memory) + memory(needs) <= free)
        && others.hold(|it| it.cpu) + needs.cpu <= spec.cores * 1000 * spec.cpu_overcommit / 10
        && others.hold(Needs::own_cpus) + needs.own_cpus() + widest <= spec.cores
        && others.hold(|it| it.licences) + needs.licences <= spec.licences
        && gpus <= spec.gpus
        && has_devices
        && others.unmeasured(|it| it.pages) + needs.pages <= at.free_pages
        && node_fits
        && rules
}
