//! Decisions made again one after the other: each finds what those before it have come to.
//!
//! Each is made on the inventory of then, in which the VMs that went elsewhere lie where they
//! would have gone: as long as a VM is on the host that was chosen for it, it is on the other
//! one instead. So it arrives, runs and leaves when it did.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::MadeAgain;
use placewright_inventory::{Inventory, Terms};
use placewright_model::{Request, Vm};

/// Hosts by the hosts in whose stead VMs are there; None: they are nowhere.
type Instead = BTreeMap<Arc<str>, Option<Arc<str>>>;

/// Where VMs are that were decided otherwise so far.
#[derive(Debug, Default)]
pub struct Sequence {
    /// By VM.
    moved: BTreeMap<Arc<str>, Instead>,
    /// VMs for which no host was found, and one would have been. Nobody knows when they would have
    /// left, so they stay.
    added: BTreeMap<Arc<str>, (Arc<Vm>, Arc<str>)>,
}

/// Where the VMs of a request run before it is decided.
#[derive(Debug)]
pub struct Homes {
    /// As it was, by member.
    then: Vec<Option<Arc<str>>>,
    /// With what was decided otherwise.
    now: Vec<Option<Arc<str>>>,
}

impl Sequence {
    /// Have an inventory, as it was when a request was decided, be as it would have been.
    pub fn enter(&mut self, world: &mut Inventory, request: &Request) -> Homes {
        let homes = |world: &Inventory| {
            let members = request.members.iter();
            members.map(|vm| home(world, &vm.id)).collect()
        };
        let then = homes(world);
        // Who is asked for again is not there twice.
        for vm in &request.members {
            self.added.remove(&vm.id);
        }
        self.moved.retain(|vm, instead| {
            let places = places(world, vm);
            instead.retain(|host, _| places.iter().flatten().any(|place| place.host == *host));
            move_vm(world, vm, places, instead);
            !instead.is_empty()
        });
        self.added.retain(|id, (vm, host)| {
            let is_unknown = world.running(id).is_none() && world.pending(id).is_none();
            is_unknown && reserve(world, vm.clone(), host, Terms::default())
        });
        let now = homes(world);
        Homes { then, now }
    }

    /// Take note of a decision that was made again where its request was entered.
    pub fn decided(&mut self, homes: Homes, made: &MadeAgain) {
        let homes = homes.then.into_iter().zip(homes.now);
        for (vm, (home_then, home_now)) in made.request.members.iter().zip(homes) {
            // Without a decision it stays where it runs.
            let then = made.before.clone().or(home_then);
            let now = made.after().cloned().or(home_now);
            match (then, now) {
                (Some(then), now) => {
                    let instead = self.moved.entry(vm.id.clone()).or_default();
                    match now.as_ref() == Some(&then) {
                        true => drop(instead.remove(&then)),
                        false => drop(instead.insert(then, now)),
                    }
                }
                (None, Some(now)) => {
                    let vm = Arc::new(vm.clone());
                    self.added.insert(vm.id.clone(), (vm, now));
                }
                (None, None) => {}
            }
        }
    }
}

/// Where a VM runs.
fn home(world: &Inventory, vm: &str) -> Option<Arc<str>> {
    let slot = world.running(vm)?.slot;
    Some(world.host(slot)?.id.clone())
}

/// A place that a VM has.
struct Place {
    vm: Arc<Vm>,
    host: Arc<str>,
    terms: Terms,
}

/// Where it runs, and where a place is reserved for it.
fn places(world: &Inventory, vm: &str) -> [Option<Place>; 2] {
    [world.running(vm), world.pending(vm)].map(|entry| {
        let entry = entry?;
        Some(Place {
            vm: entry.vm.clone(),
            host: world.host(entry.slot)?.id.clone(),
            terms: Terms {
                expires: entry.expires,
                decision: entry.decision,
            },
        })
    })
}

/// Put a VM elsewhere that has these places.
fn move_vm(
    world: &mut Inventory,
    vm: &str,
    [running, pending]: [Option<Place>; 2],
    instead: &Instead,
) {
    if instead.is_empty() || world.remove_vm(vm).is_err() {
        return;
    }
    let elsewhere = |host: &Arc<str>| match instead.get(host) {
        Some(other) => other.clone(),
        None => Some(host.clone()),
    };
    let ran_on = running.as_ref().map(|place| place.host.clone());
    let runs_on = ran_on.as_ref().and_then(elsewhere);
    if let (Some(place), Some(host)) = (running, &runs_on)
        && reserve(world, place.vm, host, Terms::default())
    {
        // What it takes counts beside what was measured, of which it was no part there.
        let confirmed = world.confirm_vm(vm);
        debug_assert!(confirmed.is_ok(), "it was reserved: {confirmed:?}");
    }
    let Some(place) = pending else { return };
    let Some(host) = elsewhere(&place.host) else {
        return;
    };
    // Who was to move and would not have stays; who was to run on with other amounts still is.
    let grows = ran_on.as_ref() == Some(&place.host);
    if grows || runs_on.as_ref() != Some(&host) {
        reserve(world, place.vm, &host, place.terms);
    }
}

/// Whether it could be: the host may be gone.
fn reserve(world: &mut Inventory, vm: Arc<Vm>, host: &str, terms: Terms) -> bool {
    world.reserve_checked(vm, host, terms).is_ok()
}
