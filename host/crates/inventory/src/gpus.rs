//! What VMs take of the GPUs of their host.

use super::assign::{self, Need, Place, Preference};
use super::growth;
use super::nested::GPUS;
use super::shape::WHOLE_GPU;
use super::{HostEntry, VmEntry};

/// A GPU of a host.
pub(super) struct Gpu {
    /// Its number, if it has one.
    pub(super) index: Option<i64>,
    /// The thousandths that are taken.
    pub(super) taken: i64,
}

impl Gpu {
    /// The thousandths that nobody has; negative where more are taken than there are.
    pub(super) fn free(&self) -> i64 {
        WHOLE_GPU.saturating_sub(self.taken)
    }

    fn take(&mut self, share: i64) {
        self.taken = self.taken.saturating_add(share);
    }

    /// Whether it has none of these numbers.
    fn is_none_of(&self, numbers: &[i64]) -> bool {
        self.index.is_none_or(|index| !numbers.contains(&index))
    }
}

/// The GPUs of a host with what its VMs take of each.
///
/// A VM takes the GPUs that it was given by number, and for each other that it needs the one with
/// the least left that is enough.
pub(super) fn taken(host: &HostEntry, vms: &[Option<VmEntry>]) -> Vec<Gpu> {
    let given = host.facts.rows(GPUS).iter();
    let mut gpus: Vec<Gpu> = given
        .map(|gpu| Gpu {
            index: gpu.integer("index"),
            taken: gpu.integer("taken").unwrap_or(0),
        })
        .collect();
    let mut unnumbered = Vec::new();
    for (vm, (entry, held)) in growth::with_held(host, vms).enumerate() {
        let rest = match held {
            None => take_numbered(entry, &mut gpus),
            Some(held) => take_numbered_beyond(entry, held, &mut gpus),
        };
        if !rest.shares.is_empty() {
            unnumbered.push((vm, rest));
        }
    }
    let mut needs = Vec::new();
    for (vm, Unnumbered { shares, own }) in unnumbered {
        let allowed: Vec<usize> = (0..gpus.len())
            .filter(|at| gpus[*at].is_none_of(&own))
            .collect();
        needs.extend(shares.into_iter().map(|share| Need {
            allowed: allowed.clone(),
            amounts: [share, 0, 0],
            distinct: Some(vm),
            ..Need::default()
        }));
    }
    if needs.is_empty() {
        return gpus;
    }
    let place = |gpu: &Gpu| Place {
        number: gpu.index,
        left: [gpu.free(), i64::MAX, i64::MAX],
        ..Place::default()
    };
    let places: Vec<Place> = gpus.iter().map(place).collect();
    let found = assign::assign(&needs, &places, Preference::LeastEnough);
    for (need, place) in needs.iter().zip(found) {
        if let Some(place) = place {
            gpus[place].take(need.amounts[0]);
        }
    }
    gpus
}

/// GPUs that a VM takes and that no row names, or only by an index that the host does not have.
struct Unnumbered {
    /// The thousandths of each.
    shares: Vec<i64>,
    /// The numbers of the GPUs that the VM has besides these, which are none of them.
    own: Vec<i64>,
}

/// Take the GPUs that a VM has by number.
fn take_numbered(entry: &VmEntry, gpus: &mut [Gpu]) -> Unnumbered {
    let lost = entry.gpus().filter(|row| !take(gpus, *row));
    let mut shares: Vec<i64> = lost.map(|(_, share)| share).collect();
    shares.extend(entry.gpus_unsaid());
    let own = match shares.is_empty() {
        true => Vec::new(),
        false => numbers(entry),
    };
    Unnumbered { shares, own }
}

/// The same for a reserved place of a VM that runs on the host already, as `held` says: the growth.
fn take_numbered_beyond(entry: &VmEntry, held: &VmEntry, gpus: &mut [Gpu]) -> Unnumbered {
    let mut own = numbers(entry);
    // What it needs without a number it has on GPUs that it holds already, as far as they go.
    let numbered = held.gpus();
    let numbered = numbered.filter(|(index, _)| has(gpus, *index) && !own.contains(index));
    let numbered = numbered.map(|(index, share)| (Some(index), share));
    let without = shares_without_number(held, gpus).map(|share| (None, share));
    let others: Vec<(Option<i64>, i64)> = numbered.chain(without).collect();
    let needed: Vec<i64> = shares_without_number(entry, gpus).collect();
    for row in growth::beyond(entry.gpus(), held.gpus()) {
        take(gpus, row);
    }
    let mut others = others.into_iter();
    let mut shares = Vec::new();
    for share in needed {
        let (index, had) = others.next().unwrap_or((None, 0));
        let more = share.saturating_sub(had).max(0);
        own.extend(index);
        match index {
            _ if more == 0 => {}
            Some(index) => {
                take(gpus, (index, more));
            }
            None => shares.push(more),
        }
    }
    Unnumbered { shares, own }
}

/// Take some of the GPU with that number, and tell whether there is one.
fn take(gpus: &mut [Gpu], (index, share): (i64, i64)) -> bool {
    let found = gpus.iter_mut().find(|gpu| gpu.index == Some(index));
    found.map(|gpu| gpu.take(share)).is_some()
}

fn has(gpus: &[Gpu], index: i64) -> bool {
    gpus.iter().any(|gpu| gpu.index == Some(index))
}

fn numbers(entry: &VmEntry) -> Vec<i64> {
    entry.gpus().map(|(index, _)| index).collect()
}

/// The thousandths of each GPU of a VM that no row names, or only by an index that the host does
/// not have.
fn shares_without_number(entry: &VmEntry, gpus: &[Gpu]) -> impl Iterator<Item = i64> {
    let lost = entry.gpus().filter(|(index, _)| !has(gpus, *index));
    lost.map(|(_, share)| share).chain(entry.gpus_unsaid())
}
