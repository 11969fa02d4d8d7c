//! Writes of each scope and moment.

use placewright_sdk::prelude::*;

use crate::{Parts, Settings, failed, refused};

/// Reserved of memory for each VM: 1 GiB.
const OVERHEAD: i64 = 1 << 30;

/// The only row of `tenant` and of `hosts`.
const ONLY: u32 = 0;

#[derive(Request)]
pub struct Placement {
    request: Asked,
    #[table("members")]
    vms: Rows<Vm>,
    #[table("hosts")]
    chosen: Host,
}

#[derive(Row)]
struct Asked {
    now: Seconds,
    forced: bool,
}

/// What is read of a VM that is placed.
#[derive(Row)]
struct Vm {
    id: Text,
}

/// What is read of the host that was chosen.
#[derive(Row)]
struct Host {
    id: Text,
}

/// Goes with the placement.
#[derive(Written)]
#[written(table = "fixed-keys", scope = "placement", moment = "decided")]
pub struct FixedKey {
    name: Text,
    value: f64,
}

/// Stays with the VM, once it runs.
#[derive(Written)]
#[written(table = "keys", scope = "vm", moment = "running")]
pub struct Key {
    name: Text,
    value: Text,
}

/// Stays with the tenant.
#[derive(Written)]
#[written(table = "bindings", scope = "tenant", moment = "decided")]
pub struct Binding {
    host: Text,
    start: Seconds,
    end: Option<Seconds>,
}

/// Stays with the host.
#[derive(Written)]
#[written(table = "tags", scope = "host", moment = "decided")]
pub struct Tag {
    key: Text,
    value: Text,
}

impl Effects for Parts {
    type Request = Placement;
    type Settings = Settings;
    type Writes = (FixedKey, Key, Binding, Tag);

    fn placed(
        placement: &Placement,
        settings: &Settings,
    ) -> Result<Changes<Self::Writes>, Problem> {
        let mut changes = Changes::new();
        match settings.follow.as_str() {
            "bind" => changes.append(ONLY, placement.binding(None)),
            "rebind" => changes.set(ONLY, 0, placement.binding(Some(placement.request.now))),
            "unbind" => changes.remove::<Binding>(ONLY, 0),
            "fail" => return failed(),
            "refuse" => return refused(),
            _ => {}
        }
        for (row, vm) in placement.vms.numbered() {
            match settings.follow.as_str() {
                "fix" => changes.append(row, placement.fixed_key()),
                "mark" => changes.append(row, placement.key()),
                "mark-again" => changes.set(row, 0, placement.key()),
                "tag" => changes.append(ONLY, Tag::of(vm)),
                "reserve" => {
                    changes.reserve(row, "memory", OVERHEAD);
                    changes.reserve(row, "gpu", 1);
                }
                _ => {}
            }
        }
        Ok(changes)
    }
}

impl Placement {
    /// Whether an administrator chose the host: 1 or 0.
    fn fixed_key(&self) -> FixedKey {
        FixedKey {
            name: "forced".into(),
            value: f64::from(u8::from(self.request.forced)),
        }
    }

    /// Which host was chosen.
    fn key(&self) -> Key {
        Key {
            name: "host".into(),
            value: self.chosen.id.clone(),
        }
    }

    /// Since when the tenant is bound to the host.
    fn binding(&self, end: Option<Seconds>) -> Binding {
        Binding {
            host: self.chosen.id.clone(),
            start: self.request.now,
            end,
        }
    }
}

impl Tag {
    /// Which VM was placed.
    fn of(vm: Vm) -> Self {
        Self {
            key: "placed".into(),
            value: vm.id,
        }
    }
}
