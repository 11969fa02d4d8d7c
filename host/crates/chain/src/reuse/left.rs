//! Who is left of a class without the hosts that are looked at apart, and when filters have
//! had their say that are no part of it.

use std::borrow::Cow;

use fixedbitset::FixedBitSet;

use super::class::{Class, NOT_CONSIDERED, RemovalCode};

/// The hosts that a filter removes for one reason.
pub(crate) enum Mask<'k> {
    All,
    Hosts(&'k FixedBitSet),
}

/// What is left of a class.
pub(crate) struct Left<'k> {
    /// How many hosts are considered, those that are looked at apart not counted.
    pub(crate) considered: usize,
    /// How many of these each removal has, in the order of their numbers.
    pub(crate) removed: Vec<(RemovalCode, usize)>,
    /// The hosts that filters leave; None: there are no filters but those of the class.
    among: Option<FixedBitSet>,
    /// The slots that are looked at apart, ascending.
    apart: &'k [u32],
}

impl<'k> Left<'k> {
    /// Take the hosts that are looked at `apart` from a class, and let filters remove hosts
    /// of it: each mask in the name of a removal that the class has not, ascending. Who
    /// removes a host is who comes first in the policy, in the class or by a mask.
    pub(crate) fn of(class: &Class, masks: &[(RemovalCode, Mask<'_>)], apart: &'k [u32]) -> Self {
        let of_class = class.removals().map(|group| (group.said, group.count));
        if masks.is_empty() {
            let mut considered = class.considered();
            let mut removed: Vec<_> = of_class.collect();
            for removal in apart.iter().map(|slot| class.removal(*slot)) {
                considered -= usize::from(removal != NOT_CONSIDERED);
                let place = removed.binary_search_by_key(&removal, |(said, _)| *said);
                if let Ok(place) = place {
                    removed[place].1 -= 1;
                }
            }
            removed.retain(|(_, hosts)| *hosts > 0);
            return Self {
                considered,
                removed,
                among: None,
                apart,
            };
        }
        let mut left = class.considered_hosts().clone();
        without(&mut left, apart);
        let considered = left.count_ones(..);
        let mut removed = Vec::new();
        let mut masks = masks.iter().peekable();
        for group in class.removals() {
            while let Some((removal, mask)) = masks.next_if(|(removal, _)| *removal < group.said) {
                take(&mut left, mask, *removal, &mut removed);
            }
            take(
                &mut left,
                &Mask::Hosts(&group.hosts),
                group.said,
                &mut removed,
            );
        }
        for (removal, mask) in masks {
            take(&mut left, mask, *removal, &mut removed);
        }
        Self {
            considered,
            removed,
            among: Some(left),
            apart,
        }
    }

    /// Whether there are filters that are no part of the class.
    pub(super) fn is_filtered(&self) -> bool {
        self.among.is_some()
    }

    /// The hosts that are looked at apart.
    pub(super) fn apart(&self) -> &[u32] {
        self.apart
    }

    /// The hosts that are left of those that the class itself keeps.
    pub(super) fn among(&self, kept: &FixedBitSet) -> Cow<'_, FixedBitSet> {
        match &self.among {
            Some(among) => Cow::Borrowed(among),
            None => {
                let mut among = kept.clone();
                without(&mut among, self.apart);
                Cow::Owned(among)
            }
        }
    }
}

/// Take these out of a set.
fn without(hosts: &mut FixedBitSet, slots: &[u32]) {
    for slot in slots {
        hosts.remove(*slot as usize);
    }
}

/// Take the hosts of a mask away from those that are left, and count them.
fn take(
    left: &mut FixedBitSet,
    mask: &Mask<'_>,
    removal: RemovalCode,
    removed: &mut Vec<(RemovalCode, usize)>,
) {
    let hosts = match mask {
        Mask::All => {
            let hosts = left.count_ones(..);
            left.clear();
            hosts
        }
        Mask::Hosts(mask) => {
            let blocks = left.as_mut_slice().iter_mut().zip(mask.as_slice());
            let taken = blocks.map(|(left, mask)| {
                let taken = (*left & mask).count_ones() as usize;
                *left &= !mask;
                taken
            });
            taken.sum()
        }
    };
    if hosts > 0 {
        removed.push((removal, hosts));
    }
}
