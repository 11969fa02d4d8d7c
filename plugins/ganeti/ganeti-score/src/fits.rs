//! Where an instance may be: what no move may bring about (hbal(1), "Placement
//! restrictions").
//!
//! Hard limits hold always; others are not looked at if `forced`, because an
//! instance leaves a node that is offline.

use crate::cluster::{Instance, Mirror, Node};
use crate::load::Load;

/// A node without the instance.
#[derive(Clone, Copy)]
pub struct Without<'a> {
    pub node: &'a Node,
    pub load: Load,
    /// Memory that it must keep free.
    pub reserved: i64,
}

impl<'a> Without<'a> {
    /// A node that does not have the instance.
    pub fn other(node: &'a Node) -> Self {
        Self {
            node,
            load: node.load,
            reserved: node.reserved,
        }
    }

    /// Whether the instance may be primary here. `shares` says whether an instance
    /// with one of its exclusion tags is there.
    #[inline(always)]
    pub fn fits_primary(&self, instance: &Instance, shares: bool, forced: bool) -> bool {
        let after = self.load + instance.as_primary;
        let planned = forced || self.planned_primary(instance, &after);
        if instance.forthcoming {
            return planned;
        }
        let hard = after.free > 0 && (!instance.local || self.fits_disks(instance, &after, false));
        hard && planned && (forced || self.keeps_soft_limits(instance, &after, shares))
    }

    #[inline(always)]
    fn keeps_soft_limits(&self, instance: &Instance, after: &Load, shares: bool) -> bool {
        let spindles = after.spindles as f64 <= self.node.spindle_limit;
        (!instance.local || self.node.exclusive || spindles)
            && !(after.free < self.reserved && self.load.free >= self.reserved)
            && self.allows_vcpus(after.vcpus)
            && !shares
    }

    /// Whether it may be, if everything planned comes about.
    #[inline(always)]
    fn planned_primary(&self, instance: &Instance, after: &Load) -> bool {
        after.free_planned > 0
            && (!instance.local || self.planned_disks(instance, after))
            && self.allows_vcpus(after.vcpus_planned)
    }

    #[inline(always)]
    fn planned_disks(&self, instance: &Instance, after: &Load) -> bool {
        after.disk_planned > 0
            && match self.node.exclusive {
                true => instance.disk_spindles.is_some() && after.spindles_free_planned >= 0,
                false => after.spindles_planned as f64 <= self.node.spindle_limit,
            }
    }

    /// The hard limits of disks.
    #[inline(always)]
    fn fits_disks(&self, instance: &Instance, after: &Load, ignore_size: bool) -> bool {
        let spindles = instance.disk_spindles.is_some() && after.spindles_free >= 0;
        (ignore_size || after.disk > 0) && (!self.node.exclusive || spindles)
    }

    #[inline(always)]
    fn allows_vcpus(&self, vcpus: i64) -> bool {
        self.node.cpu_ratio < 0.0 || vcpus as f64 / self.node.cpus <= self.node.cpu_ratio
    }

    /// What it must keep free with the instance as secondary.
    #[inline(always)]
    pub fn reserved_with(&self, instance: &Instance, primary: usize) -> i64 {
        let for_primary = self.node.reserved_for[primary] + instance.reserves();
        self.reserved.max(for_primary)
    }

    /// Whether the instance may be secondary here, with so much memory to be kept
    /// free then. The disks of a node that is offline are not looked at.
    #[inline(always)]
    pub fn fits_secondary(&self, instance: &Instance, reserved: i64, forced: bool) -> bool {
        if instance.mirror != Mirror::Internal {
            return false;
        }
        let after = self.load + instance.as_secondary;
        let planned = forced
            || (self.planned_disks(instance, &after) && instance.mirrored < self.load.free_planned);
        if instance.forthcoming {
            return planned;
        }
        let soft = || {
            (self.node.exclusive || after.spindles as f64 <= self.node.spindle_limit)
                && instance.mirrored < self.load.free
                && !(self.load.free < reserved && self.load.free >= self.reserved)
        };
        let ignore_size = self.node.offline;
        self.fits_disks(instance, &after, ignore_size) && planned && (forced || soft())
    }

    /// With the instance as secondary, and so much memory to be kept free.
    pub fn mirrored(&self, instance: &Instance, reserved: i64) -> Self {
        Self {
            load: self.load + instance.as_secondary,
            reserved,
            ..*self
        }
    }
}
