//! Where VMs run.

use placewright_sdk::prelude::*;

/// What is read of a host.
#[derive(Row)]
pub struct Host {
    pub state: Text,
    #[column("vms.migrating")]
    pub migrating: i64,
    #[table("vms")]
    pub vms: Rows<Vm>,
}

/// What is read of a VM.
#[derive(Row)]
pub struct Vm {
    pub id: Text,
    pub migratable: bool,
    pub pending: bool,
}

/// A VM that runs.
pub struct Running {
    pub id: Text,
    /// Row number in `hosts`.
    pub host: u32,
    pub movable: bool,
}

/// The VMs that run, and the hosts that take VMs.
pub struct Cluster {
    /// By row number in `hosts/vms`; none for a place that is only reserved.
    vms: Vec<Option<Running>>,
    up: Vec<u32>,
}

impl Cluster {
    /// None while a VM is on the move: what it would break is not settled.
    pub fn at_rest(hosts: &Rows<Host>) -> Option<Self> {
        let mut cluster = Self {
            vms: Vec::new(),
            up: Vec::new(),
        };
        for (row, host) in hosts.numbered() {
            if host.migrating > 0 {
                return None;
            }
            if host.state == "up" {
                cluster.up.push(row);
            }
            // Rows of VMs are numbered through all hosts, in the order of the hosts.
            cluster.vms.extend(host.vms.iter().map(|vm| {
                (!vm.pending).then_some(Running {
                    id: vm.id,
                    host: row,
                    movable: vm.migratable,
                })
            }));
        }
        Some(cluster)
    }

    /// The VM of a row of `hosts/vms`, if it runs.
    pub fn vm(&self, row: u32) -> Option<&Running> {
        self.vms.get(row as usize)?.as_ref()
    }

    /// Row numbers of the hosts that take VMs.
    pub fn up(&self) -> impl Iterator<Item = u32> + '_ {
        self.up.iter().copied()
    }
}
