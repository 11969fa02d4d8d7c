//! Migration: a VM that is moved must not come to the machine that it leaves under
//! another name of that machine.
//!
//! What names mean is the inventory's to find out: a host's address is what its
//! name resolves to, and a host without one is kept.

#![forbid(unsafe_code)]

use std::net::IpAddr;

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed: whether there is anything to be moved.
#[derive(Row)]
struct Vm {
    #[column(gate)]
    running: bool,
}

/// A host where one of the VMs runs now.
#[derive(Row)]
struct SourceHost {
    member: i64,
    name: Option<Text>,
    address: Option<Text>,
}

#[derive(Request)]
struct Request {
    #[table("members")]
    #[expect(dead_code, reason = "a gate: read by the runtime")]
    vms: Rows<Vm>,
    sources: Rows<SourceHost>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    name: Option<Text>,
    address: Option<Text>,
    #[table("current")]
    current: Rows<Current>,
}

/// A member that runs on the host now.
#[derive(Row)]
struct Current {
    member: i64,
}

#[derive(Settings)]
struct Settings {
    /// Whether a VM may stay where it runs; if not, it is moved or nothing is
    /// decided.
    #[setting(default = true)]
    may_stay: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is where the VM runs now
    RunsThere,
    /// has an address that leads every host to itself
    Loopback,
    /// has the name or the address of the host that the VM runs on
    SameMachine,
}

/// A name or an address of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Address(IpAddr),
    Word(String),
}

impl Name {
    fn of(text: &str) -> Self {
        match text.parse::<IpAddr>() {
            Ok(address) => Self::Address(address.to_canonical()),
            Err(_) => Self::Word(text.to_ascii_lowercase()),
        }
    }

    fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.is_loopback(),
            Self::Word(word) => word == "localhost",
        }
    }
}

/// The names that a machine is known by.
fn names(name: &Option<Text>, address: &Option<Text>) -> Vec<Name> {
    let given = name.iter().chain(address);
    given.map(|text| Name::of(text)).collect()
}

/// Where the VMs that are moved come from.
struct Moved {
    /// For each, its number among the members and the names of its host.
    from: Vec<(i64, Vec<Name>)>,
    may_stay: bool,
}

struct Migration;

impl RowWise for Migration {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Moved;

    fn prepare(request: &Request, settings: &Settings) -> Result<Moved, Problem> {
        let from = |source: SourceHost| (source.member, names(&source.name, &source.address));
        Ok(Moved {
            from: request.sources.iter().map(from).collect(),
            may_stay: settings.may_stay,
        })
    }
}

impl RowFilter for Migration {
    fn keep(moved: &Moved, host: &Host) -> Verdict<Reason> {
        let runs_here = |vm: i64| host.current.iter().any(|row| row.member == vm);
        let (stay, come): (Vec<_>, Vec<_>) =
            (moved.from.iter()).partition(|(member, _)| runs_here(*member));
        if !stay.is_empty() && !moved.may_stay {
            return Verdict::Remove(Reason::RunsThere);
        }
        if come.is_empty() {
            return Verdict::Keep;
        }
        let own = names(&host.name, &host.address);
        let is_own = |name: &Name| own.contains(name);
        let same = (come.iter()).any(|(_, names)| names.iter().any(is_own));
        Verdict::keep_if(!own.iter().any(Name::is_loopback), Reason::Loopback)
            .and(|| Verdict::keep_if(!same, Reason::SameMachine))
    }
}

placewright_sdk::export!(
    Migration: filter,
    aliases = ["Migration", "e659c871-0bf1-4ccc-b748-f28f5d08ddda"]
);

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, address: Option<&str>, current: &[i64]) -> Host {
        let row = |&member: &i64| Current { member };
        Host {
            name: Some(name.into()),
            address: address.map(Text::from),
            current: current.iter().map(row).collect(),
        }
    }

    /// VM 0 comes from host one, 10.0.0.1.
    fn moved(may_stay: bool) -> Moved {
        let source = SourceHost {
            member: 0,
            name: Some("one".into()),
            address: Some("10.0.0.1".into()),
        };
        let request = Request {
            vms: vec![Vm { running: true }].into(),
            sources: vec![source].into(),
        };
        Migration::prepare(&request, &Settings { may_stay }).expect("nothing is refused")
    }

    fn keep(host: &Host) -> Verdict<Reason> {
        Migration::keep(&moved(true), host)
    }

    #[test]
    fn a_vm_moves_to_another_machine() {
        assert_eq!(keep(&host("two", Some("10.0.0.2"), &[])), Verdict::Keep);
        assert_eq!(keep(&host("two", None, &[])), Verdict::Keep);
    }

    #[test]
    fn not_to_the_same_machine_under_another_name() {
        let same = Verdict::Remove(Reason::SameMachine);
        assert_eq!(keep(&host("two", Some("10.0.0.1"), &[])), same);
        assert_eq!(keep(&host("two", Some("::ffff:10.0.0.1"), &[])), same);
        assert_eq!(keep(&host("ONE", Some("10.0.0.2"), &[])), same);
        assert_eq!(keep(&host("two", Some("one"), &[])), same);
    }

    #[test]
    fn not_to_a_host_that_is_every_hosts_own_self() {
        for address in ["127.0.0.1", "127.8.0.1", "::1", "localhost"] {
            let loopback = host("two", Some(address), &[]);
            assert_eq!(keep(&loopback), Verdict::Remove(Reason::Loopback));
        }
    }

    #[test]
    fn the_host_where_it_runs_is_kept_if_it_may_stay() {
        let own = host("one", Some("127.0.0.1"), &[0]);
        assert_eq!(keep(&own), Verdict::Keep);
        assert_eq!(
            Migration::keep(&moved(false), &own),
            Verdict::Remove(Reason::RunsThere)
        );
    }

    #[test]
    fn nothing_is_said_of_a_vm_that_does_not_run() {
        let request = Request {
            vms: vec![Vm { running: false }].into(),
            sources: Rows::default(),
        };
        let settings = Settings::defaults().expect("all have defaults");
        let moved = Migration::prepare(&request, &settings).expect("nothing is refused");
        let loopback = host("two", Some("127.0.0.1"), &[]);
        assert_eq!(Migration::keep(&moved, &loopback), Verdict::Keep);
    }
}
