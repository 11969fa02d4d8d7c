//! The policies under which histories are played.

/// A general-purpose policy that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Its name.
    pub name: &'static str,
    /// Whether it looks at measured memory: those that pack by what was promised do not.
    pub heeds_measured: bool,
    /// Whether it looks at the CPUs of hosts one by one: how wide VMs are, and which have CPUs of
    /// their own. Others refuse VMs with CPUs of their own.
    pub heeds_exclusive: bool,
}

const fn policy(name: &'static str, heeds_hosts: bool) -> Policy {
    Policy {
        name,
        heeds_measured: heeds_hosts,
        heeds_exclusive: heeds_hosts,
    }
}

/// The general-purpose policies that come with the program.
pub const POLICIES: &[Policy] = &[
    policy("general", true),
    policy("even-distribution", true),
    policy("power-saving", true),
    policy("first-fit", false),
    policy("best-fit", false),
    policy("worst-fit", false),
    policy("dot-product", false),
];
