//! Who is left of a class when filters have had their say that are kept apart from it.

use fixedbitset::FixedBitSet;

use super::class::{Class, RemovalCode};

/// The hosts that a filter removes for one reason.
pub(in crate::chain) enum Mask<'k> {
    All,
    Hosts(&'k FixedBitSet),
}

/// What is left of a class.
pub(in crate::chain) struct Left {
    /// How many hosts each removal has, in the order of their numbers.
    pub(in crate::chain) removed: Vec<(RemovalCode, usize)>,
    /// The hosts that take part; None: all those that the class itself keeps.
    pub(in crate::chain) among: Option<FixedBitSet>,
}

impl Left {
    /// Let filters remove hosts of a class: each mask in the name of a removal that the
    /// class has not, ascending. Who removes a host is who comes first in the policy,
    /// in the class or apart.
    pub(in crate::chain) fn of(class: &Class, masks: &[(RemovalCode, Mask<'_>)]) -> Self {
        let of_class = class.removals().map(|group| (group.said, group.count));
        if masks.is_empty() {
            return Self {
                removed: of_class.collect(),
                among: None,
            };
        }
        let mut left = class.considered_hosts().clone();
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
            removed,
            among: Some(left),
        }
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
