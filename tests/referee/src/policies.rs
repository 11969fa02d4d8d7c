//! The policies under which histories are played.

/// A general-purpose policy that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Its name.
    pub name: &'static str,
    /// Whether it looks at measured memory: those that pack by what was promised do not.
    pub heeds_measured: bool,
}

const fn policy(name: &'static str, heeds_measured: bool) -> Policy {
    Policy {
        name,
        heeds_measured,
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
