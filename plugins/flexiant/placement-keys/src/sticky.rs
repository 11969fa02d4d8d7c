//! Sticky keys: a VM that starts on a host gets a copy of the host's sticky keys on
//! its server, so that it is drawn to the same host, or hosts like it, the next time.

use compiled_keys::Level;
use placewright_sdk::prelude::*;

use crate::PlacementKeys;

/// What is read of a placement.
#[derive(Request)]
pub struct Placement {
    #[table("members")]
    pub vms: Rows<Vm>,
    pub hosts: Rows<ChosenHost>,
}

/// What is read of a VM that is placed.
#[derive(Row)]
pub struct Vm {
    pub running: bool,
    #[table("keys")]
    pub keys: Rows<OwnKey>,
}

/// By what a key of the VM is known again.
#[derive(Row)]
pub struct OwnKey {
    pub level: i64,
    pub class: Text,
    pub name: Text,
}

/// What is read of the host that was chosen.
#[derive(Row)]
pub struct ChosenHost {
    #[table("keys")]
    pub keys: Rows<NodeKey>,
}

/// A key of the host.
#[derive(Clone, Row)]
pub struct NodeKey {
    pub name: Text,
    pub value: f64,
    pub weight: Option<f64>,
    pub sticky: Option<bool>,
}

/// The copy on the server: a system key.
#[derive(Written)]
#[written(table = "keys", scope = "vm", moment = "running")]
pub struct StickyKey {
    level: i64,
    class: Text,
    name: Text,
    value: Text,
    weight: Option<f64>,
}

const LEVEL: i64 = Level::Server.number();
const CLASS: &str = "sys";

impl Effects for PlacementKeys {
    type Request = Placement;
    type Settings = ();
    type Writes = StickyKey;

    /// A VM that runs already is moved and not started, and keeps what it has.
    fn placed(placement: &Placement, (): &()) -> Result<Changes<StickyKey>, Problem> {
        let sticky = sticky_keys(&placement.hosts)?;
        let mut changes = Changes::new();
        for (row, vm) in placement.vms.numbered().filter(|(_, vm)| !vm.running) {
            for key in &sticky {
                match vm.key_of_server(&key.name) {
                    Some(number) => changes.set(row, number, key.copy()),
                    None => changes.append(row, key.copy()),
                }
            }
        }
        Ok(changes)
    }
}

impl Vm {
    /// The number of the server's system key of that name.
    fn key_of_server(&self, name: &Text) -> Option<u32> {
        let mut keys = self.keys.iter();
        let is_it = |key: OwnKey| key.level == LEVEL && key.class == CLASS && key.name == *name;
        // A call counts rows in 32 bits.
        keys.position(is_it).map(|number| number as u32)
    }
}

impl NodeKey {
    /// Names with a prefix are reserved or special, and no system key may have one.
    fn is_copied(&self) -> bool {
        self.sticky == Some(true) && !self.name.starts_with(['_', '#'])
    }

    fn copy(&self) -> StickyKey {
        StickyKey {
            level: LEVEL,
            class: CLASS.into(),
            name: self.name.clone(),
            value: self.value.to_string().into(),
            weight: self.weight,
        }
    }
}

/// Those of the only row of `hosts`.
fn sticky_keys(hosts: &Rows<ChosenHost>) -> Result<Vec<NodeKey>, Problem> {
    let keys = hosts.get(0).map(|host| host.keys).unwrap_or_default();
    let mut sticky: Vec<NodeKey> = Vec::new();
    for key in keys.iter().filter(NodeKey::is_copied) {
        if sticky.iter().any(|other| other.name == key.name) {
            let name = &key.name;
            return Err(Problem::refused(format!(
                "the host has the sticky key {name:?} twice: a resource has a name once"
            )));
        }
        sticky.push(key);
    }
    Ok(sticky)
}

#[cfg(test)]
mod tests;
