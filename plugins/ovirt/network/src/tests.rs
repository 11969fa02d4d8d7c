use super::wanted::{Linked, Nic};
use super::*;

fn nic(network: &str) -> Nic {
    Nic {
        network: Some(network.into()),
        plugged: Some(true),
        passthrough: None,
        external: None,
    }
}

fn vm(nics: Vec<Nic>) -> Vm {
    Vm {
        nics: nics.into(),
        linked: Rows::default(),
    }
}

/// red is required, blue is not; consoles are reached over mgmt, if so.
fn wanted(vms: Vec<Vm>, display: bool, only_required: bool) -> Wanted {
    let network = |name: &str, required, display| ClusterNetwork {
        name: name.into(),
        required: Some(required),
        display: Some(display),
    };
    let networks = vec![
        network("mgmt", true, display),
        network("red", true, false),
        network("blue", false, false),
    ];
    let request = Request {
        vms: vms.into(),
        networks: networks.into(),
    };
    let settings = Settings {
        only_required,
        require_all_required: false,
    };
    Network::prepare(&request, &settings).expect("nothing is refused")
}

fn host(networks: &[&str]) -> Host {
    let connection = |name: &&str| Connection {
        name: Text::from(*name),
        ipv4: Some("dhcp".into()),
        ipv6: None,
    };
    Host {
        networks: networks.iter().map(connection).collect(),
        functions: Rows::default(),
        promised: Rows::default(),
        current: Rows::default(),
    }
}

fn keep(vms: Vec<Vm>, networks: &[&str]) -> Verdict<Reason> {
    Network::keep(&wanted(vms, false, false), &host(networks))
}

const MISSING: Verdict<Reason> = Verdict::Remove(Reason::MissingNetwork);

#[test]
fn every_network_of_a_card_must_be_on_the_host() {
    let both = || vec![vm(vec![nic("red")]), vm(vec![nic("blue")])];
    assert_eq!(keep(both(), &["blue", "red"]), Verdict::Keep);
    assert_eq!(keep(both(), &["red"]), MISSING);
    assert_eq!(keep(vec![vm(vec![])], &[]), Verdict::Keep);
}

#[test]
fn cards_that_are_not_plugged_or_have_no_network_need_none() {
    let unplugged = Nic {
        plugged: Some(false),
        ..nic("red")
    };
    let loose = Nic {
        network: None,
        ..nic("red")
    };
    assert_eq!(keep(vec![vm(vec![unplugged, loose])], &[]), Verdict::Keep);
    let unknown = Nic {
        plugged: None,
        ..nic("red")
    };
    assert_eq!(keep(vec![vm(vec![unknown])], &[]), MISSING);
}

#[test]
fn an_outside_providers_network_needs_the_one_that_it_is_linked_to() {
    let external = || Nic {
        external: Some(true),
        ..nic("overlay")
    };
    assert_eq!(keep(vec![vm(vec![external()])], &[]), Verdict::Keep);
    let linked = || Vm {
        linked: vec![Linked {
            network: Some("red".into()),
        }]
        .into(),
        ..vm(vec![external()])
    };
    assert_eq!(keep(vec![linked()], &[]), MISSING);
    assert_eq!(keep(vec![linked()], &["red"]), Verdict::Keep);
}

#[test]
fn only_required_networks_count_if_that_is_set() {
    let wanted = wanted(vec![vm(vec![nic("red"), nic("blue")])], true, true);
    assert_eq!(Network::keep(&wanted, &host(&["red"])), Verdict::Keep);
    assert_eq!(Network::keep(&wanted, &host(&["mgmt", "blue"])), MISSING);
}

#[test]
fn consoles_must_be_reached_over_their_network() {
    let wanted = wanted(vec![vm(vec![])], true, false);
    let keep = |host: &Host| Network::keep(&wanted, host);
    assert_eq!(keep(&host(&["mgmt"])), Verdict::Keep);
    assert_eq!(
        keep(&host(&["red"])),
        Verdict::Remove(Reason::MissingDisplayNetwork)
    );
    let with = |ipv6: Option<&str>| Host {
        networks: vec![Connection {
            name: "mgmt".into(),
            ipv4: None,
            ipv6: ipv6.map(Text::from),
        }]
        .into(),
        ..host(&[])
    };
    assert_eq!(keep(&with(Some("autoconf"))), Verdict::Keep);
    assert_eq!(
        keep(&with(None)),
        Verdict::Remove(Reason::UnreachableDisplay)
    );
}

#[test]
fn each_card_that_passes_through_needs_a_virtual_function_and_not_the_network() {
    let through = || Nic {
        passthrough: Some(true),
        ..nic("red")
    };
    let two = || vec![vm(vec![through()]), vm(vec![through()])];
    let with = |network: &str, free| Host {
        functions: vec![Free {
            network: Some(network.into()),
            free: Some(free),
        }]
        .into(),
        ..host(&[])
    };
    let keep = |host: &Host| Network::keep(&wanted(two(), false, false), host);
    let none = Verdict::Remove(Reason::NoVirtualFunction);
    assert_eq!(keep(&with("red", 2)), Verdict::Keep);
    assert_eq!(keep(&with("red", 1)), none);
    assert_eq!(keep(&with("blue", 2)), none);
    assert_eq!(keep(&host(&["red"])), none);
    let promised = |pending| {
        let network = "red".into();
        vec![Promised { network, pending }].into()
    };
    let with_promised = |pending| Host {
        promised: promised(pending),
        ..with("red", 3)
    };
    assert_eq!(keep(&with_promised(1)), Verdict::Keep);
    assert_eq!(
        keep(&with_promised(2)),
        Verdict::Remove(Reason::NoVirtualFunctionWhilePending)
    );
}

#[test]
fn a_vm_needs_no_virtual_function_on_its_host_that_it_has_there() {
    let cards = |count: usize| -> Rows<Nic> {
        let through = || Nic {
            passthrough: Some(true),
            ..nic("red")
        };
        (0..count).map(|_| through()).collect()
    };
    let asked = Vm {
        nics: cards(2),
        ..vm(vec![])
    };
    let wanted = wanted(vec![asked], false, false);
    let holding = |count| Host {
        current: vec![Current {
            member: 0,
            nics: cards(count),
        }]
        .into(),
        ..host(&[])
    };
    assert_eq!(Network::keep(&wanted, &holding(2)), Verdict::Keep);
    assert_eq!(
        Network::keep(&wanted, &holding(1)),
        Verdict::Remove(Reason::NoVirtualFunction)
    );
}

#[test]
fn what_every_host_must_have_counts_for_a_vm_without_cards_if_that_is_set() {
    let network = |name: &str, required| ClusterNetwork {
        name: name.into(),
        required,
        display: None,
    };
    let request = Request {
        vms: vec![vm(vec![])].into(),
        networks: vec![network("red", Some(true)), network("blue", None)].into(),
    };
    let settings = Settings {
        only_required: false,
        require_all_required: true,
    };
    let wanted = Network::prepare(&request, &settings).expect("nothing is refused");
    assert_eq!(Network::keep(&wanted, &host(&["red"])), Verdict::Keep);
    assert_eq!(
        Network::keep(&wanted, &host(&["blue"])),
        Verdict::Remove(Reason::MissingRequiredNetwork)
    );
}
