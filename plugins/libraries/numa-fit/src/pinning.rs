//! How the vCPUs of a VM are pinned.

/// What the column `pinning` of a VM says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// To CPUs that were named for them, shared with others.
    Manual,
    /// Each to a CPU thread that nothing else runs on.
    Dedicated,
    /// Each to a core that nothing else runs on.
    IsolateThreads,
    /// To the CPUs of the host's NUMA nodes, after the VM has been given as many
    /// vCPUs as fit there.
    ResizeAndPin,
}

impl Pinning {
    /// What a value of the column means; none for a VM that is not pinned.
    pub fn named(name: Option<&str>) -> Option<Self> {
        match name? {
            "manual" => Some(Self::Manual),
            "dedicated" => Some(Self::Dedicated),
            "isolate-threads" => Some(Self::IsolateThreads),
            "resize-and-pin" => Some(Self::ResizeAndPin),
            _ => None,
        }
    }

    /// Has the VM its CPUs for itself?
    pub fn is_exclusive(self) -> bool {
        matches!(self, Self::Dedicated | Self::IsolateThreads)
    }
}
