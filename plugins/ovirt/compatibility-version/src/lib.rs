//! Compatibility version: keeps the hosts that support the version that the VM asks
//! for. Most VMs ask for none and run as their cluster says.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the VM to be placed.
#[derive(Row)]
struct Vm {
    #[column("attribute.compatibility-version", gate)]
    version: Option<Text>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("versions")]
    versions: Rows<Supported>,
}

/// A version that the host supports.
#[derive(Row)]
struct Supported {
    version: Text,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// does not support the VM's compatibility version
    Unsupported,
}

struct CompatibilityVersion;

impl RowWise for CompatibilityVersion {
    type Request = Vm;
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = Option<Text>;

    fn prepare(vm: &Vm, (): &()) -> Result<Option<Text>, Problem> {
        Ok(vm.version.clone())
    }
}

impl RowFilter for CompatibilityVersion {
    fn keep(wanted: &Option<Text>, host: &Host) -> Verdict<Reason> {
        let supports = |version: &Text| host.versions.iter().any(|row| row.version == *version);
        Verdict::keep_if(wanted.as_ref().is_none_or(supports), Reason::Unsupported)
    }
}

placewright_sdk::export!(
    CompatibilityVersion: filter,
    aliases = ["Compatibility-Version", "3e4a7d54-9e7f-11e5-8994-feff819cdc9f"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(wanted: Option<&str>, supported: &[&str]) -> Verdict<Reason> {
        let row = |version: &&str| Supported {
            version: Text::from(*version),
        };
        let host = Host {
            versions: supported.iter().map(row).collect(),
        };
        CompatibilityVersion::keep(&wanted.map(Text::from), &host)
    }

    #[test]
    fn the_version_must_be_among_those_of_the_host() {
        assert_eq!(keep(Some("4.6"), &["4.5", "4.6"]), Verdict::Keep);
        let unsupported = Verdict::Remove(Reason::Unsupported);
        assert_eq!(keep(Some("4.6"), &["4.5"]), unsupported);
        assert_eq!(keep(Some("4.6"), &[]), unsupported);
    }

    #[test]
    fn a_vm_without_a_version_of_its_own_runs_anywhere() {
        assert_eq!(keep(None, &[]), Verdict::Keep);
    }
}
