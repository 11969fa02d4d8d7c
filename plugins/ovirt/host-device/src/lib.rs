//! Host device: a VM that gets devices of a host passed through runs where it is
//! pinned to, while nobody else has them.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of each VM to be placed.
#[derive(Row)]
struct Vm {
    #[column("has-devices", gate)]
    needs_devices: bool,
    #[table("devices")]
    devices: Rows<Device>,
}

/// A device that a VM needs.
#[derive(Row, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Device {
    name: Text,
    kind: Option<Text>,
}

/// All VMs that are to be placed together on one host.
#[derive(Request)]
struct Request {
    #[table("members")]
    vms: Rows<Vm>,
}

/// What is read of a host.
#[derive(Row)]
struct Host {
    /// Whether PCI devices can be passed through.
    #[column("attribute.pci-passthrough")]
    passes_pci: Option<bool>,
    #[table("devices")]
    devices: Rows<DeviceOfHost>,
    #[table("vms")]
    vms: Rows<VmOnHost>,
    #[table("pinned")]
    pinned: Rows<Member>,
    #[table("current")]
    current: Rows<Current>,
}

/// A member that runs on the host now, and the devices that it has there.
#[derive(Row)]
struct Current {
    member: i64,
    #[table("devices")]
    devices: Rows<Device>,
}

/// A device of the host.
#[derive(Row)]
struct DeviceOfHost {
    name: Text,
    kind: Option<Text>,
    free: Option<bool>,
}

/// A VM that runs on the host or has a place reserved there.
#[derive(Row)]
struct VmOnHost {
    #[table("devices")]
    devices: Rows<DeviceOfVm>,
}

/// A device that it has, or is to get.
#[derive(Row)]
struct DeviceOfVm {
    name: Text,
}

/// A member that is pinned to the host.
#[derive(Row)]
struct Member {
    member: i64,
}

#[derive(Settings)]
struct Settings {
    /// Whether devices of one name are alike on all hosts, so that a VM gets them
    /// wherever they are free; then a host passes PCI devices through unless
    /// attribute.pci-passthrough is false. Else a VM must be pinned to the host whose
    /// devices are meant.
    #[setting(default = false)]
    anywhere: bool,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// cannot pass PCI devices through
    NoPciPassthrough,
    /// is not the host whose devices the VM is to get
    AnotherHost,
    /// has not all devices free that the VM is to get
    NotFree,
}

/// A VM that is to get devices.
struct Wish {
    /// Its number among the members.
    member: i64,
    devices: Vec<Device>,
    pci: bool,
}

/// The VMs that are to get devices, and where.
struct Need {
    wishes: Vec<Wish>,
    anywhere: bool,
}

struct HostDevice;

impl RowWise for HostDevice {
    type Request = Request;
    type Host = Host;
    type Settings = Settings;
    type Reason = Reason;
    type Need = Need;

    fn prepare(request: &Request, settings: &Settings) -> Result<Need, Problem> {
        let wish = |(member, vm): (i64, Vm)| Wish {
            member,
            devices: vm.devices.iter().collect(),
            pci: (vm.devices.iter()).any(|device| device.kind.as_deref() == Some("pci")),
        };
        let wishes = (0..).zip(&request.vms).map(wish);
        Ok(Need {
            wishes: wishes.filter(|wish| !wish.devices.is_empty()).collect(),
            anywhere: settings.anywhere,
        })
    }
}

impl RowFilter for HostDevice {
    fn keep(need: &Need, host: &Host) -> Verdict<Reason> {
        use crate::Reason::*;
        // A VM that runs here has the devices that it holds.
        let lacking = |wish: &Wish| wish.devices.iter().any(|it| !host.is_held(wish.member, it));
        let newcomers = || need.wishes.iter().filter(|wish| lacking(wish));
        let passed = host.passes_pci.unwrap_or(need.anywhere) || !newcomers().any(|wish| wish.pci);
        Verdict::keep_if(passed, NoPciPassthrough)
            .and(|| {
                let here = need.anywhere || newcomers().all(|wish| has(&host.pinned, wish.member));
                Verdict::keep_if(here, AnotherHost)
            })
            .and(|| {
                let devices = || {
                    newcomers().flat_map(|wish| {
                        let devices = wish.devices.iter();
                        devices.filter(|it| !host.is_held(wish.member, it))
                    })
                };
                let mut names: Vec<&Text> = devices().map(|device| &device.name).collect();
                let wanted = names.len();
                names.sort_unstable();
                names.dedup();
                let apart = names.len() == wanted;
                Verdict::keep_if(apart && devices().all(|it| host.is_free(it)), NotFree)
            })
    }
}

fn has(rows: &Rows<Member>, member: i64) -> bool {
    rows.iter().any(|row| row.member == member)
}

impl Host {
    /// Has the VM that device here already: asked for as one of that kind, or of the kind that
    /// it is of?
    fn is_held(&self, member: i64, wanted: &Device) -> bool {
        let mut here = self.current.iter().filter(|row| row.member == member);
        here.any(|row| {
            let mut own = row.devices.iter().filter(|it| it.name == wanted.name);
            own.any(|device| {
                let mut devices = self.devices.iter();
                device.kind == wanted.kind || devices.any(|it| it.is_of_kind(wanted))
            })
        })
    }

    /// Has the host the device, of its kind if both say which, and nobody it?
    fn is_free(&self, wanted: &Device) -> bool {
        let mut devices = self.devices.iter();
        let mut vms = self.vms.iter();
        devices.any(|device| device.is_of_kind(wanted) && device.free != Some(false))
            && !vms.any(|vm| vm.devices.iter().any(|device| device.name == wanted.name))
    }
}

impl DeviceOfHost {
    /// Is it the one that is wanted, of its kind if both say which?
    fn is_of_kind(&self, wanted: &Device) -> bool {
        let kinds = wanted.kind.as_ref().zip(self.kind.as_ref());
        self.name == wanted.name && kinds.is_none_or(|(wanted, own)| wanted == own)
    }
}

placewright_sdk::export!(
    HostDevice: filter,
    aliases = ["HostDevice", "728a21f1-f97e-4d32-bc3e-b3cc49756abb"]
);

#[cfg(test)]
mod tests;
