use super::*;

fn vm(devices: &[(&str, &str)]) -> Vm {
    let device = |&(name, kind): &(&str, &str)| Device {
        name: name.into(),
        kind: Some(kind.into()),
    };
    Vm {
        needs_devices: !devices.is_empty(),
        devices: devices.iter().map(device).collect(),
    }
}

fn members(members: &[i64]) -> Rows<Member> {
    members.iter().map(|&member| Member { member }).collect()
}

/// With a free graphics card and a USB stick, pinned to by members 0 and 1.
fn host() -> Host {
    let device = |name: &str| DeviceOfHost {
        name: name.into(),
        kind: None,
        free: Some(true),
    };
    Host {
        passes_pci: Some(true),
        devices: vec![device("card"), device("stick")].into(),
        vms: Rows::default(),
        pinned: members(&[0, 1]),
        current: Rows::default(),
    }
}

fn keep(vms: Vec<Vm>, host: &Host) -> Verdict<Reason> {
    keep_by(false, vms, host)
}

fn keep_by(anywhere: bool, vms: Vec<Vm>, host: &Host) -> Verdict<Reason> {
    let request = Request { vms: vms.into() };
    let need = HostDevice::prepare(&request, &Settings { anywhere });
    HostDevice::keep(&need.expect("nothing is refused"), host)
}

fn card() -> Vec<Vm> {
    vec![vm(&[("card", "pci")])]
}

const NOT_FREE: Verdict<Reason> = Verdict::Remove(Reason::NotFree);

#[test]
fn vms_without_devices_run_anywhere() {
    let elsewhere = Host {
        pinned: Rows::default(),
        ..host()
    };
    assert_eq!(keep(vec![vm(&[])], &elsewhere), Verdict::Keep);
}

#[test]
fn a_vm_gets_devices_on_the_host_that_it_is_pinned_to() {
    assert_eq!(keep(card(), &host()), Verdict::Keep);
    let elsewhere = Host {
        pinned: members(&[1]),
        ..host()
    };
    assert_eq!(
        keep(card(), &elsewhere),
        Verdict::Remove(Reason::AnotherHost)
    );
}

#[test]
fn pci_devices_need_a_host_that_passes_them_through() {
    for passes_pci in [None, Some(false)] {
        let not = Host {
            passes_pci,
            ..host()
        };
        assert_eq!(
            keep(card(), &not),
            Verdict::Remove(Reason::NoPciPassthrough)
        );
        assert_eq!(keep(vec![vm(&[("stick", "usb")])], &not), Verdict::Keep);
    }
}

#[test]
fn where_devices_of_a_name_are_alike_a_vm_gets_them_on_any_host_that_has_them_free() {
    let other = Host {
        passes_pci: None,
        pinned: Rows::default(),
        ..host()
    };
    assert_eq!(keep_by(true, card(), &other), Verdict::Keep);
    let nothing = Host {
        devices: Rows::default(),
        ..other
    };
    assert_eq!(keep_by(true, card(), &nothing), NOT_FREE);
    let not_passed = Host {
        passes_pci: Some(false),
        ..host()
    };
    assert_eq!(
        keep_by(true, card(), &not_passed),
        Verdict::Remove(Reason::NoPciPassthrough)
    );
}

#[test]
fn a_device_of_another_kind_is_another_device() {
    let of_kind = |kind: &str| Host {
        devices: vec![DeviceOfHost {
            name: "card".into(),
            kind: Some(kind.into()),
            free: None,
        }]
        .into(),
        ..host()
    };
    assert_eq!(keep(card(), &of_kind("pci")), Verdict::Keep);
    assert_eq!(keep(card(), &of_kind("usb")), NOT_FREE);
}

#[test]
fn all_devices_must_be_there_and_free() {
    assert_eq!(
        keep(vec![vm(&[("card", "pci"), ("disk", "scsi")])], &host()),
        NOT_FREE
    );
    let taken = Host {
        devices: vec![DeviceOfHost {
            name: "card".into(),
            kind: None,
            free: Some(false),
        }]
        .into(),
        ..host()
    };
    assert_eq!(keep(card(), &taken), NOT_FREE);
}

#[test]
fn a_device_that_a_pending_vm_is_to_get_is_not_free() {
    let device = DeviceOfVm {
        name: "card".into(),
    };
    let pending = Host {
        vms: vec![VmOnHost {
            devices: vec![device].into(),
        }]
        .into(),
        ..host()
    };
    assert_eq!(keep(card(), &pending), NOT_FREE);
}

#[test]
fn two_vms_do_not_get_the_same_device() {
    let both = || vec![vm(&[("card", "pci")]), vm(&[("card", "pci")])];
    assert_eq!(keep(both(), &host()), NOT_FREE);
    let one_each = vec![vm(&[("card", "pci")]), vm(&[("stick", "usb")])];
    assert_eq!(keep(one_each, &host()), Verdict::Keep);
}

#[test]
fn a_vm_that_runs_on_the_host_has_its_devices() {
    let own = Host {
        passes_pci: None,
        devices: Rows::default(),
        pinned: Rows::default(),
        current: held(&["card"]),
        ..host()
    };
    assert_eq!(keep(card(), &own), Verdict::Keep);
    let both = vec![vm(&[("card", "pci"), ("stick", "usb")])];
    assert_ne!(keep(both, &own), Verdict::Keep);
    let nothing = Host {
        current: held(&[]),
        ..own
    };
    assert_ne!(keep(card(), &nothing), Verdict::Keep);
}

#[test]
fn a_vm_that_wants_one_more_device_needs_that_one_to_be_free() {
    let own = Host {
        vms: vec![VmOnHost {
            devices: devices(&["card"]),
        }]
        .into(),
        current: held(&["card"]),
        ..host()
    };
    let both = || vec![vm(&[("card", "pci"), ("stick", "usb")])];
    assert_eq!(keep(both(), &own), Verdict::Keep);
    let taken = Host {
        vms: vec![VmOnHost {
            devices: devices(&["card", "stick"]),
        }]
        .into(),
        ..own
    };
    assert_eq!(keep(both(), &taken), NOT_FREE);
}

fn devices(names: &[&str]) -> Rows<DeviceOfVm> {
    let device = |name: &&str| DeviceOfVm {
        name: (*name).into(),
    };
    names.iter().map(device).collect()
}

/// The first member, which has these devices where it runs.
fn held(names: &[&str]) -> Rows<Current> {
    let device = |name: &&str| Device {
        name: (*name).into(),
        kind: Some("pci".into()),
    };
    let row = Current {
        member: 0,
        devices: names.iter().map(device).collect(),
    };
    vec![row].into()
}

#[test]
fn a_vm_that_asks_for_a_device_of_another_kind_does_not_have_it() {
    let with = |kind: Option<&str>| Host {
        devices: vec![DeviceOfHost {
            name: "card".into(),
            kind: kind.map(Text::from),
            free: None,
        }]
        .into(),
        vms: vec![VmOnHost {
            devices: devices(&["card"]),
        }]
        .into(),
        current: held(&["card"]),
        ..host()
    };
    let usb = || vec![vm(&[("card", "usb")])];
    assert_eq!(keep(card(), &with(Some("pci"))), Verdict::Keep);
    assert_eq!(keep(usb(), &with(Some("pci"))), NOT_FREE);
    assert_eq!(keep(usb(), &with(Some("usb"))), Verdict::Keep);
    assert_eq!(keep(usb(), &with(None)), Verdict::Keep);
}
