//! Host hooks: VMs that run SAP's agent need a hook on their host, which passes
//! metrics of the host on to them.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of the VM to be placed.
#[derive(Row)]
struct Vm {
    /// Whether it needs the hook.
    #[column("attribute.sap-agent", gate)]
    sap_agent: Option<bool>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("hooks")]
    hooks: Rows<Hook>,
}

/// A hook that is installed on the host.
#[derive(Row)]
struct Hook {
    name: Text,
}

#[derive(Settings)]
struct Settings {
    /// Name of the hook that passes the metrics on.
    #[setting(default = "50_vhostmd")]
    hook: Text,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// has not the hook installed that the VM needs
    NoHook,
}

struct HostHooks;

impl RowWise for HostHooks {
    type Request = Vm;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    /// The hook, if it is needed.
    type Need = Option<Text>;

    fn prepare(vm: &Vm, settings: &Settings) -> Result<Option<Text>, Problem> {
        Ok((vm.sap_agent == Some(true)).then(|| settings.hook.clone()))
    }
}

impl RowFilter for HostHooks {
    fn keep(needed: &Option<Text>, host: &Host) -> Verdict<Reason> {
        let installed = |hook: &Text| host.hooks.iter().any(|row| row.name == *hook);
        Verdict::keep_if(needed.as_ref().is_none_or(installed), Reason::NoHook)
    }
}

placewright_sdk::export!(
    HostHooks: filter,
    aliases = ["Host-hooks", "aae8c702-4756-4934-b84c-8daf59efc134"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(sap_agent: Option<bool>, hooks: &[&str]) -> Verdict<Reason> {
        let row = |name: &&str| Hook {
            name: Text::from(*name),
        };
        let host = Host {
            hooks: hooks.iter().map(row).collect(),
        };
        let settings = Settings::defaults().expect("all have defaults");
        let needed = HostHooks::prepare(&Vm { sap_agent }, &settings).expect("nothing is refused");
        HostHooks::keep(&needed, &host)
    }

    #[test]
    fn a_vm_with_the_agent_needs_the_hook() {
        assert_eq!(
            keep(Some(true), &["10_faqemu", "50_vhostmd"]),
            Verdict::Keep
        );
        assert_eq!(
            keep(Some(true), &["10_faqemu"]),
            Verdict::Remove(Reason::NoHook)
        );
    }

    #[test]
    fn other_vms_need_no_hook() {
        assert_eq!(keep(None, &[]), Verdict::Keep);
        assert_eq!(keep(Some(false), &[]), Verdict::Keep);
    }
}
