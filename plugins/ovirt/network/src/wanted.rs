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
    /// How many virtual functions are needed in which network.
    pub functions: Vec<(Text, i64)>,
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
            functions: Vec::new(),
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
                if !nic.is_plugged() {
                    continue;
                }
                if nic.is_passthrough() {
                    wanted.add_function(network);
                } else if counts(&nic, &network) {
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

    fn add_function(&mut self, network: Text) {
        match self.functions.iter_mut().find(|(it, _)| *it == network) {
            Some((_, cards)) => *cards += 1,
            None => self.functions.push((network, 1)),
        }
    }
}
