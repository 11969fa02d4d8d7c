//! Network: keeps the hosts that are connected to the networks of the VMs, and to the
//! one that consoles are reached over.

#![forbid(unsafe_code)]

mod wanted;

use placewright_sdk::prelude::*;

use wanted::{ClusterNetwork, Functions, Nic, Vm, Wanted};

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
    #[table("cluster/networks")]
    networks: Rows<ClusterNetwork>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[table("networks")]
    networks: Rows<Connection>,
    #[table("attribute.virtual-functions")]
    functions: Rows<Free>,
    #[table("virtual-functions")]
    promised: Rows<Promised>,
    #[table("current")]
    current: Rows<Current>,
}

/// A network that the host is connected to.
#[derive(Row)]
struct Connection {
    name: Text,
    ipv4: Option<Text>,
    ipv6: Option<Text>,
}

/// Free virtual functions of the host's network cards that a network may use.
#[derive(Row)]
struct Free {
    network: Option<Text>,
    free: Option<i64>,
}

/// Virtual functions that are promised, and that are still among the free ones.
#[derive(Row)]
struct Promised {
    network: Text,
    pending: i64,
}

/// A member that runs on the host now, and its network cards there.
#[derive(Row)]
struct Current {
    member: i64,
    #[table("nics")]
    nics: Rows<Nic>,
}

#[derive(Settings)]
struct Settings {
    /// Whether only networks count that every host must have, and not the one that
    /// consoles are reached over.
    #[setting(default = false)]
    only_required: bool,
    /// Whether a host must have every network that is required of all hosts, whatever
    /// the networks of the VM.
    #[setting(default = false)]
    require_all_required: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// is not connected to a network that the VM needs
    MissingNetwork,
    /// is not connected to a network that every host must have
    MissingRequiredNetwork,
    /// is not connected to the network that consoles are reached over
    MissingDisplayNetwork,
    /// has no address in the network that consoles are reached over
    UnreachableDisplay,
    /// has no free virtual function for a network card of the VM
    NoVirtualFunction,
    /// has no free virtual function for a network card of the VM until pending VMs have started
    #[reason(passing)]
    NoVirtualFunctionWhilePending,
}

struct Network;

impl RowWise for Network {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Wanted;

    fn prepare(request: &Request, settings: &Settings) -> Result<Wanted, Problem> {
        Ok(Wanted::by(&request.vms, &request.networks, settings))
    }
}

impl RowFilter for Network {
    fn keep(wanted: &Wanted, host: &Host) -> Verdict<Reason> {
        let connection = |name: &Text| host.networks.iter().find(|row| row.name == *name);
        let connected = |name: &Text| connection(name).is_some();
        Verdict::keep_if(
            wanted.networks.iter().all(connected),
            Reason::MissingNetwork,
        )
        .and(|| {
            Verdict::keep_if(
                wanted.of_all_hosts.iter().all(connected),
                Reason::MissingRequiredNetwork,
            )
        })
        .and(|| match wanted.display.as_ref().map(connection) {
            None => Verdict::Keep,
            Some(None) => Verdict::Remove(Reason::MissingDisplayNetwork),
            Some(Some(display)) => Verdict::keep_if(
                display.ipv4.is_some() || display.ipv6.is_some(),
                Reason::UnreachableDisplay,
            ),
        })
        .and(|| {
            let held = |row: Current| (row.member, Functions::of(&row.nics));
            let needed = wanted.functions.on(&host.current, held);
            let enough = |left: &dyn Fn(&Text) -> i64| {
                let mut needed = needed.0.iter();
                needed.all(|(network, cards)| left(network) >= *cards)
            };
            let free = |network: &Text| host.free_functions(network);
            let left = |network: &Text| free(network).saturating_sub(host.promised(network));
            Verdict::keep_if(enough(&free), Reason::NoVirtualFunction)
                .and(|| Verdict::keep_if(enough(&left), Reason::NoVirtualFunctionWhilePending))
        })
    }
}

impl Host {
    fn free_functions(&self, network: &Text) -> i64 {
        let rows = self.functions.iter();
        let of_network = rows.filter(|row| row.network.as_ref() == Some(network));
        of_network.fold(0, |sum, row| sum.saturating_add(row.free.unwrap_or(0)))
    }

    fn promised(&self, network: &Text) -> i64 {
        let rows = self.promised.iter();
        let of_network = rows.filter(|row| row.network == *network);
        of_network.fold(0, |sum, row| sum.saturating_add(row.pending))
    }
}

placewright_sdk::export!(
    Network: filter,
    aliases = ["Network", "72163d1c-9468-4480-99d9-0888664eb143"]
);

#[cfg(test)]
mod tests;
