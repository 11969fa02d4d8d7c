//! The policies under which histories are played.

/// A policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Its name.
    pub name: &'static str,
    /// Whether it looks at measured memory: those that pack by what was promised do not.
    pub heeds_measured: bool,
    /// Whether it looks at the CPUs of hosts one by one: how wide VMs are, and which have CPUs of
    /// their own. Others refuse VMs with CPUs of their own.
    pub heeds_exclusive: bool,
    /// Of a policy that knows one cost, the measured load of a host: its factor, and how it is
    /// scaled.
    pub by_load: Option<(i32, &'static str)>,
}

const fn policy(name: &'static str, heeds_hosts: bool) -> Policy {
    Policy {
        name,
        heeds_measured: heeds_hosts,
        heeds_exclusive: heeds_hosts,
        by_load: None,
    }
}

const fn by_load(name: &'static str, factor: i32, scaling: &'static str) -> Policy {
    Policy {
        by_load: Some((factor, scaling)),
        ..policy(name, true)
    }
}

/// So many of [`POLICIES`], from the first on, come with the program.
pub const GENERAL: usize = 7;

/// The general-purpose policies that come with the program, and those with one cost in all ways
/// in which it can be scaled, of either sign.
pub const POLICIES: &[Policy] = &[
    policy("general", true),
    policy("even-distribution", true),
    policy("power-saving", true),
    policy("first-fit", false),
    policy("best-fit", false),
    policy("worst-fit", false),
    policy("dot-product", false),
    by_load("least-load", 2, "none"),
    by_load("least-load-min-max", 2, "min-max"),
    by_load("least-load-rank", 2, "rank"),
    by_load("least-load-stretch", 2, "stretch"),
    by_load("least-load-stretched-rank", 2, "stretched-rank"),
    by_load("most-load", -2, "none"),
    by_load("most-load-min-max", -2, "min-max"),
    by_load("most-load-rank", -2, "rank"),
    by_load("most-load-stretch", -2, "stretch"),
    by_load("most-load-stretched-rank", -2, "stretched-rank"),
];

/// The filters of the policy that checks everything that a VM can need of a host.
const FILTERS: &str = include_str!("../../../host/policies/general.toml");

impl Policy {
    /// Its document, where it does not come with the program.
    pub(crate) fn document(&self) -> Option<String> {
        let (factor, scaling) = self.by_load?;
        let (head, rest) = FILTERS.split_once("[[costs]]")?;
        let (_, effects) = rest.split_once("[[effects]]")?;
        let name = "name = \"general\"";
        let head = head.replacen(name, &format!("name = \"{}\"", self.name), 1);
        let cost =
            format!("unit = \"even-distribution\"\nfactor = {factor}\nscaling = \"{scaling}\"\n");
        Some(format!("{head}[[costs]]\n{cost}\n[[effects]]{effects}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_policies_but_the_general_ones_have_a_document() {
        for (number, policy) in POLICIES.iter().enumerate() {
            assert_eq!(policy.document().is_some(), number >= GENERAL, "{policy:?}");
        }
    }
}
