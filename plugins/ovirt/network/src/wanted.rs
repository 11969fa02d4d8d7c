//! What VMs want of the networks of a host.

use placewright_sdk::prelude::*;

use crate::Settings;

/// What is read of each VM to be placed.
#[derive(Row)]
pub struct Vm {
    #[table("nics")]
    pub nics: Rows<Nic>,
    /// Networks that those of its network cards depend on.
    #[table("attribute.linked-networks")]
    pub linked: Rows<Linked>,
}

/// A network card of a VM.
#[derive(Row)]
pub struct Nic {
    pub network: Option<Text>,
    pub plugged: Option<bool>,
    pub passthrough: Option<bool>,
    pub external: Option<bool>,
}

impl Nic {
    fn is_plugged(&self) -> bool {
        self.plugged != Some(false)
    }

    fn is_passthrough(&self) -> bool {
        self.passthrough == Some(true)
    }
}

/// The physical network of an outside provider's one, or the one that takes over
/// when a card that passes through cannot be used.
#[derive(Row)]
pub struct Linked {
    pub network: Option<Text>,
}

/// A network of the cluster.
#[derive(Row)]
pub struct ClusterNetwork {
    pub name: Text,
    pub required: Option<bool>,
    pub display: Option<bool>,
}

/// What all VMs of a request want together.
pub struct Wanted {
    /// Networks that the host must be connected to.
    pub networks: Vec<Text>,
    /// Networks that it must be connected to whatever the VMs need.
    pub of_all_hosts: Vec<Text>,
    /// The one that consoles are reached over, if it counts.
    pub display: Option<Text>,
    /// The virtual functions that they need.
    pub functions: Takes<Functions>,
}

/// How many virtual functions are needed in which network.
#[derive(Clone, Debug, Default)]
pub struct Functions(pub Vec<(Text, i64)>);

impl Functions {
    /// Those that plugged cards need which pass through.
    pub fn of(nics: &Rows<Nic>) -> Self {
        let mut functions = Self::default();
        let passing = nics
            .iter()
            .filter(|nic| nic.is_plugged() && nic.is_passthrough());
        for network in passing.filter_map(|nic| nic.network) {
            functions.count(network, 1);
        }
        functions
    }

    fn count(&mut self, network: Text, cards: i64) {
        match self.0.iter_mut().find(|(known, _)| *known == network) {
            Some((_, sum)) => *sum = sum.saturating_add(cards),
            None => self.0.push((network, cards)),
        }
    }
}

impl Resources for Functions {
    fn add(&mut self, other: &Self) {
        for (network, cards) in &other.0 {
            self.count(network.clone(), *cards);
        }
    }

    fn less(&mut self, held: &Self) {
        for (network, cards) in &mut self.0 {
            let held = held.0.iter().find(|(known, _)| known == network);
            *cards = cards.saturating_sub(held.map_or(0, |(_, held)| *held));
        }
        self.0.retain(|(_, cards)| *cards > 0);
    }
}

impl Wanted {
    /// Of these networks of the cluster, perhaps only those that every host must
    /// have.
    pub fn by(vms: &Rows<Vm>, of_cluster: &Rows<ClusterNetwork>, settings: &Settings) -> Self {
        let only_required = settings.only_required;
        let required =
            |it: &ClusterNetwork| settings.require_all_required && it.required == Some(true);
        let display = of_cluster.iter().find(|it| it.display == Some(true));
        let mut wanted = Self {
            networks: Vec::new(),
            of_all_hosts: of_cluster
                .iter()
                .filter(required)
                .map(|it| it.name)
                .collect(),
            display: display.filter(|_| !only_required).map(|it| it.name),
            functions: Takes::of(vms.iter().map(|vm| Functions::of(&vm.nics))),
        };
        let counts = |nic: &Nic, network: &Text| {
            if only_required {
                let mut networks = of_cluster.iter();
                networks.any(|it| it.name == *network && it.required == Some(true))
            } else {
                nic.external != Some(true)
            }
        };
        for vm in vms {
            for nic in &vm.nics {
                let Some(network) = nic.network.clone() else {
                    continue;
                };
                if nic.is_plugged() && !nic.is_passthrough() && counts(&nic, &network) {
                    wanted.add(network);
                }
            }
            for network in vm.linked.iter().filter_map(|row| row.network) {
                wanted.add(network);
            }
        }
        wanted
    }

    fn add(&mut self, network: Text) {
        if !self.networks.contains(&network) {
            self.networks.push(network);
        }
    }
}
