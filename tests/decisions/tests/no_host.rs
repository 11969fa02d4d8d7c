//! A decision for no host always says why: which hosts are not up, and what nothing in the
//! cluster has.

use std::sync::Arc;

use placewright_inventory::Inventory;
use placewright_model::{Facts, NamedVm, Pinning, Request, Vm};
use placewright_scheduler::{Batch, Decision, PlaceError, RemovedHosts, check_named_hosts};

use crate::evacuation::{cluster, scheduler, scheduler_by, state, vm};

fn fleet() -> Inventory {
    let mut inventory = cluster(&[("a", 32), ("b", 32), ("c", 32)], &[]);
    state(&mut inventory, "a", "maintenance");
    state(&mut inventory, "b", "down");
    inventory
}

fn asked(request: Request) -> Request {
    Request {
        members: vec![vm("v", 4)],
        now: 1000,
        ..request
    }
}

fn placed(inventory: Inventory, request: Request) -> Arc<Decision> {
    scheduler(inventory).place(request).unwrap()
}

fn removed(decision: &Decision) -> Vec<String> {
    let removed = decision.decided.removed.iter();
    removed
        .map(|it| RemovedHosts::from(it).to_string())
        .collect()
}

#[test]
fn hosts_that_are_not_up_are_counted_with_their_states_and_names() {
    let placed_on = |decision: &Decision| decision.host.as_deref().map(str::to_owned);
    let found = placed(fleet(), asked(Request::default()));
    let both = [
        "state: 1 (is not up: its state is down): b",
        "state: 1 (is not up: its state is maintenance): a",
    ];
    assert_eq!(placed_on(&found), Some("c".into()));
    assert_eq!(
        (removed(&found), found.decided.left()),
        (both.map(Into::into).to_vec(), 1)
    );
    for request in [
        Request {
            allowed: vec!["a".into()],
            ..Request::default()
        },
        Request {
            forced: Some("a".into()),
            ..Request::default()
        },
    ] {
        let decision = placed(fleet(), asked(request));
        assert_eq!(
            (placed_on(&decision), decision.decided.considered),
            (None, 0)
        );
        assert_eq!(removed(&decision), both[1..]);
    }
    let mut all = fleet();
    state(&mut all, "c", "down");
    let decision = placed(all, asked(Request::default()));
    assert_eq!(
        removed(&decision),
        ["state: 2 (is not up: its state is down): b, c", both[1]]
    );
}

#[test]
fn of_many_hosts_that_are_not_up_the_first_ones_are_named() {
    let ids: Vec<String> = (10..25).map(|number| format!("h{number}")).collect();
    let hosts: Vec<(&str, i64)> = ids.iter().map(|id| (&**id, 32)).collect();
    let mut inventory = cluster(&hosts, &[]);
    for id in &ids {
        state(&mut inventory, id, "down");
    }
    let removed = removed(&placed(inventory, asked(Request::default())));
    assert_eq!(
        removed,
        [
            "state: 15 (is not up: its state is down): h10, h11, h12, h13, h14, h15, h16, h17, h18, h19 and 5 more"
        ]
    );
}

#[test]
fn a_request_that_excludes_all_that_it_allows_is_told_so() {
    let decision = placed(
        fleet(),
        asked(Request {
            allowed: vec!["c".into()],
            excluded: vec!["c".into()],
            ..Request::default()
        }),
    );
    assert_eq!(
        removed(&decision),
        ["request: 1 (is excluded by the request): c"]
    );
}

#[test]
fn a_zone_a_network_and_a_pinned_host_that_nothing_has_are_named() {
    let mut inventory = fleet();
    inventory
        .set_host_value("c", "zone", Some("east-1".into()))
        .unwrap();
    let mut asking = vm("v", 400);
    asking
        .facts
        .set_rows("nics", vec![Facts::new().with("network", "mgmt")]);
    asking.pinning = Pinning {
        pinned: vec!["gone".into()],
        ..Pinning::default()
    };
    // No other filter, so that the request is refused for none of these.
    let policy = "unheeded = 'ignore'\n[[filters]]\nunit = 'memory'\n";
    let request = Request {
        members: vec![asking.clone()],
        facts: Facts::new().with("zone", "east-2"),
        now: 1000,
        ..Request::default()
    };
    let decision = scheduler_by(policy, inventory.clone()).place(request);
    let decision = decision.unwrap();
    assert_eq!(
        decision.unknown,
        [
            "VM \"v\" is pinned to host \"gone\", which is not in the cluster",
            "no host of the cluster is in zone \"east-2\" (did you mean \"east-1\"?)",
            "no host of the cluster has network \"mgmt\"",
        ]
    );
    // Who asks is told before anything is decided, unless the cluster knows the VM so.
    let refused = check_named_hosts(&inventory, std::slice::from_ref(&asking));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "there is no host \"gone\" in the cluster"
    );
    inventory.run_vm(asking.clone(), "c").unwrap();
    assert!(check_named_hosts(&inventory, &[asking, Vm::new("w")]).is_ok());
}

#[test]
fn a_vm_that_is_named_only_must_be_one_that_the_cluster_knows() {
    let named = |ids: &[&str]| Request {
        members: ids.iter().map(|id| Vm::new(*id)).collect(),
        named: ids
            .iter()
            .enumerate()
            .map(|(position, id)| NamedVm {
                path: format!("vms[{position}]").into(),
                id: (*id).into(),
            })
            .collect(),
        now: 1000,
        ..Request::default()
    };
    let mut scheduler = scheduler(fleet());
    let before = scheduler.inventory().version();
    let told = scheduler.place(named(&["wbe-1", "x"])).unwrap_err();
    assert!(
        told.to_string().starts_with(
            "vms[0] \"wbe-1\": there is no such VM in the cluster; vms[1] \"x\": there is no such VM in the cluster; a VM that is named only"
        ),
        "{told}"
    );
    assert_eq!(scheduler.inventory().version(), before);
    let batch = Batch::of_requests(vec![named(&["x"])]).unwrap();
    assert!(matches!(
        scheduler.place_batch(batch),
        Err(PlaceError::UnknownVms(_))
    ));
    let described = Request {
        members: vec![vm("web-1", 4)],
        now: 1000,
        ..Request::default()
    };
    scheduler.place(described).unwrap();
    // It has a place reserved: a question takes that as given back.
    let told = scheduler.place(named(&["web-1"])).unwrap_err();
    assert_eq!(told, PlaceError::Pending("web-1".into()));
    let told = scheduler.place(named(&["wbe-1"])).unwrap_err();
    assert!(
        told.to_string().contains("(did you mean \"web-1\"?)"),
        "{told}"
    );
    let many: Vec<String> = (0..300).map(|number| format!("v{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let PlaceError::UnknownVms(told) = scheduler.place(named(&many)).unwrap_err() else {
        panic!("they are known");
    };
    assert_eq!(told.iter().count(), 100);
    assert!(told.to_string().contains("and 295 more"), "{told}");
}
