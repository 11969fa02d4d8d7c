//! How much of clusters somebody holds.

/// What one VM holds, or many do together. Sums of what requests may ask for fit by far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holding {
    /// Promised CPU, millicores.
    pub cpu: i128,
    /// Promised memory, bytes.
    pub memory: i128,
    /// Thousandths of GPUs.
    pub gpus: i128,
    /// VMs.
    pub vms: i128,
}

impl Holding {
    /// Nothing.
    pub const NONE: Self = Self {
        cpu: 0,
        memory: 0,
        gpus: 0,
        vms: 0,
    };

    /// Whether it is nothing of anything.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, |one, other| one + other)
    }

    /// What is left without the other.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.with(other, |one, other| one - other)
    }

    /// The greater of both, of each kind.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        self.with(other, i128::max)
    }

    /// What it is beyond the other, of each kind not below nothing.
    #[must_use]
    pub fn beyond(self, other: Self) -> Self {
        self.with(other, |one, other| (one - other).max(0))
    }

    fn with(self, other: Self, of: impl Fn(i128, i128) -> i128) -> Self {
        Self {
            cpu: of(self.cpu, other.cpu),
            memory: of(self.memory, other.memory),
            gpus: of(self.gpus, other.gpus),
            vms: of(self.vms, other.vms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_counts_by_itself() {
        let small = Holding {
            cpu: 1,
            memory: 20,
            gpus: 0,
            vms: 1,
        };
        let large = Holding {
            cpu: 4,
            memory: 10,
            gpus: 500,
            vms: 1,
        };
        let sum = small.plus(large);
        assert_eq!((sum.cpu, sum.memory, sum.gpus, sum.vms), (5, 30, 500, 2));
        assert_eq!(sum.minus(large), small);
        let most = small.max(large);
        assert_eq!(
            (most.cpu, most.memory, most.gpus, most.vms),
            (4, 20, 500, 1)
        );
        let more = large.beyond(small);
        assert_eq!((more.cpu, more.memory, more.gpus, more.vms), (3, 0, 500, 0));
        assert!(large.minus(large).is_none());
    }
}
