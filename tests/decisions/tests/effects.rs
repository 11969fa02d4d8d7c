//! What follows from a placement is written with it, or not at all.

use placewright_chain::DecisionError;
use placewright_inventory::Inventory;
use placewright_model::{Facts, Value, Vm};
use placewright_scheduler::{PlaceError, Scheduler};
use placewright_tests::parts::{fact, following, of, of_tenant, parts, with_gpus};
use placewright_tests::scene::{GIB, cluster, request, vm};

/// The keys that a VM's place has fixed.
fn fixed_keys<'a>(inventory: &'a Inventory, id: &str) -> &'a [Facts] {
    let entry = inventory.running(id).or(inventory.pending(id));
    entry.map_or(&[], |entry| entry.placed_rows("fixed-keys"))
}

fn bindings<'a>(scheduler: &'a Scheduler, tenant: &str) -> Vec<(&'a str, i64, Option<i64>)> {
    let tenant = scheduler.inventory().tenant(tenant);
    let rows = tenant.map_or(&[][..], |tenant| tenant.rows("bindings"));
    rows.iter()
        .map(|row| {
            let start = row.integer("start").unwrap();
            (row.text("host").unwrap(), start, row.integer("end"))
        })
        .collect()
}

fn value(scheduler: &Scheduler, host: &str, column: &str) -> Option<Value> {
    let slot = scheduler.inventory().slot(host)?;
    scheduler.inventory().host_value(slot, column)
}

#[test]
fn what_a_placement_fixes_stands_below_the_vm_and_goes_with_it() {
    let mut scheduler = parts(2, &following("fix"));
    scheduler.place(request(vm("v"))).unwrap();
    let [key] = fixed_keys(scheduler.inventory(), "v") else {
        panic!("one key is fixed");
    };
    assert_eq!(key.text("name"), Some("forced"));
    assert_eq!(key.number("value"), Some(0.0));
    // The next decision is shown it below the VM on its host.
    let next = scheduler.place(request(vm("w"))).unwrap();
    let explanation = scheduler.explain(next.number).unwrap();
    let shown = fact(&explanation, "v fixed forced", "h0");
    assert_eq!(shown, Some(&Value::Number(0.0)));
    // It stays when the VM runs, and goes when the VM runs elsewhere.
    let inventory = scheduler.inventory_mut();
    inventory.confirm_vm("v").unwrap();
    assert_eq!(fixed_keys(inventory, "v").len(), 1);
    inventory.run_vm(vm("v"), "h1").unwrap();
    assert_eq!(fixed_keys(inventory, "v"), []);
}

#[test]
fn what_a_placement_fixes_is_forgotten_with_a_reservation_that_is_given_back() {
    let mut scheduler = parts(2, &following("fix"));
    scheduler.place(request(vm("v"))).unwrap();
    let inventory = scheduler.inventory_mut();
    inventory.cancel_vm("v").unwrap();
    inventory.run_vm(vm("v"), "h0").unwrap();
    assert_eq!(fixed_keys(inventory, "v"), []);
}

#[test]
fn every_member_gets_rows_of_its_own() {
    let mut scheduler = parts(2, &following("fix"));
    let mut both = request(vm("v"));
    both.members.push(vm("w"));
    scheduler.place(both).unwrap();
    for id in ["v", "w"] {
        assert_eq!(fixed_keys(scheduler.inventory(), id).len(), 1);
    }
}

#[test]
fn rows_of_the_moment_running_are_written_when_the_vm_is_confirmed() {
    let mut scheduler = parts(2, &following("mark"));
    scheduler.place(request(vm("v"))).unwrap();
    let pending = scheduler.inventory().pending("v").unwrap();
    assert_eq!(pending.vm.facts.rows("keys"), []);
    scheduler.inventory_mut().confirm_vm("v").unwrap();
    let running = scheduler.inventory().running("v").unwrap();
    let [key] = running.vm.facts.rows("keys") else {
        panic!("one key is written");
    };
    assert_eq!(key.text("value"), Some("h0"));
    // A unit is shown it among the VM's own keys from then on.
    let next = scheduler.place(request(vm("w"))).unwrap();
    let explanation = scheduler.explain(next.number).unwrap();
    let shown = fact(&explanation, "v has host", "h0");
    assert_eq!(shown, Some(&Value::from("h0")));
}

#[test]
fn rows_of_the_moment_running_are_never_written_if_the_reservation_ends_before() {
    let mut scheduler = parts(2, &following("mark"));
    scheduler.place(request(vm("v"))).unwrap();
    let inventory = scheduler.inventory_mut();
    inventory.advance(1_000_000);
    inventory.run_vm(vm("v"), "h0").unwrap();
    assert_eq!(inventory.running("v").unwrap().vm.facts.rows("keys"), []);
}

#[test]
fn rows_of_a_tenant_are_added_set_and_removed() {
    let mut scheduler = parts(2, &following("bind"));
    scheduler.place(of_tenant("acme", "a", 10)).unwrap();
    scheduler.place(of_tenant("acme", "b", 20)).unwrap();
    scheduler.place(of_tenant("other", "c", 30)).unwrap();
    assert_eq!(
        bindings(&scheduler, "acme"),
        [("h0", 10, None), ("h0", 20, None)]
    );
    assert_eq!(bindings(&scheduler, "other"), [("h0", 30, None)]);

    let mut scheduler = of(scheduler.inventory().clone(), &following("rebind"));
    scheduler.place(of_tenant("acme", "d", 40)).unwrap();
    assert_eq!(
        bindings(&scheduler, "acme"),
        [("h0", 40, Some(40)), ("h0", 20, None)]
    );

    let mut scheduler = of(scheduler.inventory().clone(), &following("unbind"));
    scheduler.place(of_tenant("acme", "e", 50)).unwrap();
    assert_eq!(bindings(&scheduler, "acme"), [("h0", 20, None)]);
}

#[test]
fn rows_of_a_tenant_need_a_request_that_names_one() {
    let mut scheduler = parts(2, &following("bind"));
    let before = scheduler.inventory().version();
    let error = scheduler.place(request(vm("v"))).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("\"parts\" writes for a tenant, and the request names none"),
        "{said}"
    );
    assert_eq!(scheduler.inventory().version(), before);
}

#[test]
fn rows_of_the_chosen_host_are_written() {
    let mut scheduler = parts(2, &following("tag"));
    scheduler.place(request(vm("v"))).unwrap();
    let tags = |host: &str| {
        let slot = scheduler.inventory().slot(host).unwrap();
        let host = scheduler.inventory().host(slot).unwrap();
        host.facts.rows("tags").to_vec()
    };
    assert_eq!(
        tags("h0"),
        [Facts::new().with("key", "placed").with("value", "v")]
    );
    assert_eq!(tags("h1"), []);
}

#[test]
fn what_is_reserved_counts_as_long_as_the_vm_is_there() {
    let mut inventory = cluster(0);
    inventory.add_host(with_gpus("h0", 4)).unwrap();
    let mut scheduler = of(inventory, &following("reserve"));
    scheduler.place(request(vm("v"))).unwrap();
    let gib = |count: i64| Some(Value::Integer(count * GIB));
    assert_eq!(value(&scheduler, "h0", "memory.pending"), gib(5));
    // Units are shown it.
    let next = scheduler.place(request(vm("w"))).unwrap();
    let explanation = scheduler.explain(next.number).unwrap();
    let pending = fact(&explanation, "gpu pending", "h0");
    assert_eq!(pending, Some(&Value::Integer(1)));

    let inventory = scheduler.inventory_mut();
    inventory.confirm_vm("v").unwrap();
    inventory.confirm_vm("w").unwrap();
    assert_eq!(value(&scheduler, "h0", "memory.pending"), gib(0));
    assert_eq!(value(&scheduler, "h0", "memory.committed"), gib(10));
    let next = scheduler.place(request(vm("x"))).unwrap();
    let explanation = scheduler.explain(next.number).unwrap();
    assert_eq!(
        fact(&explanation, "gpu used", "h0"),
        Some(&Value::Integer(2))
    );
    assert_eq!(
        fact(&explanation, "gpu pending", "h0"),
        Some(&Value::Integer(0))
    );

    let inventory = scheduler.inventory_mut();
    for id in ["v", "w", "x"] {
        inventory.remove_vm(id).unwrap();
    }
    assert_eq!(value(&scheduler, "h0", "memory.committed"), gib(0));
    assert_eq!(value(&scheduler, "h0", "memory.pending"), gib(0));
}

#[test]
fn a_vm_that_is_to_stay_where_it_runs_takes_no_more_than_before() {
    let mut inventory = cluster(0);
    inventory.add_host(with_gpus("h0", 4)).unwrap();
    let mut scheduler = of(inventory, &following("reserve"));
    scheduler.place(request(vm("v"))).unwrap();
    scheduler.inventory_mut().confirm_vm("v").unwrap();
    for _ in 0..3 {
        let decision = scheduler.place(request(Vm::new("v"))).unwrap();
        assert_eq!(decision.host.as_deref(), Some("h0"));
    }
    assert_eq!(
        value(&scheduler, "h0", "memory.committed"),
        Some(Value::Integer(5 * GIB))
    );
    let next = scheduler.place(request(vm("w"))).unwrap();
    let explanation = scheduler.explain(next.number).unwrap();
    assert_eq!(
        fact(&explanation, "gpu used", "h0"),
        Some(&Value::Integer(1))
    );
}

#[test]
fn a_unit_that_only_reserves_declares_no_table() {
    let mut scheduler = parts(2, "[[effects]]\nunit = 'overhead'\n");
    scheduler.place(request(vm("v"))).unwrap();
    assert_eq!(
        value(&scheduler, "h0", "memory.pending"),
        Some(Value::Integer(5 * GIB))
    );
}

/// The inventory as units see it, but for what is taken over from the request.
fn state(scheduler: &Scheduler) -> String {
    let inventory = scheduler.inventory();
    let columns = ["memory.pending", "vms.pending", "cpu.pending"];
    let sums = columns.map(|column| value(scheduler, "h0", column));
    format!(
        "{} {:?} {:?} {} {:?}",
        inventory.version(),
        sums,
        inventory.tenant("acme"),
        inventory.pending_count(),
        inventory.host(0).map(|host| &host.facts),
    )
}

#[test]
fn an_effect_that_fails_fails_the_decision_and_leaves_everything_as_it_was() {
    for (follow, said) in [
        ("fail", "failed: the part has lost its way"),
        ("refuse", "the VM must name its owner"),
    ] {
        // The effects before it would have been written.
        let more = "[[effects]]\nunit = 'parts'\nname = 'other'\nsettings.follow = ";
        let policy = format!("{}{more}'{follow}'\n", following("bind"));
        let mut scheduler = parts(2, &policy);
        let before = state(&scheduler);
        let error = scheduler.place(of_tenant("acme", "v", 0)).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        if let PlaceError::Refusal(DecisionError::Failed { entry, .. }) = &error {
            assert_eq!(&**entry, "other");
        }
        assert_eq!(state(&scheduler), before);
        assert_eq!(scheduler.decisions().count(), 0);
    }
}

#[test]
fn what_cannot_be_written_fails_the_decision_and_leaves_everything_as_it_was() {
    let more = "[[effects]]\nunit = 'parts'\nname = 'other'\nsettings.follow = 'unbind'\n";
    let mut scheduler = parts(2, &(following("reserve") + more));
    let before = state(&scheduler);
    let error = scheduler.place(of_tenant("acme", "v", 0)).unwrap_err();
    assert!(matches!(error, PlaceError::Effects { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "what follows from the placement by entry \"other\" of the policy cannot be written: \
         tenant \"acme\": bindings has no row 0: it has 0 rows, counted from 0"
    );
    assert_eq!(state(&scheduler), before);
    assert!(scheduler.inventory().pending("v").is_none());
    // The next decision is made as if nothing had been.
    let bound = of_tenant("acme", "v", 0);
    let mut scheduler = of(scheduler.inventory().clone(), &following("bind"));
    assert!(scheduler.place(bound).unwrap().host.is_some());
}

#[test]
fn a_decision_tells_what_follows_in_the_order_of_the_policy_and_a_dry_run_writes_none_of_it() {
    let more = "[[effects]]\nunit = 'parts'\nname = 'silent'\n\
                [[effects]]\nunit = 'parts'\nname = 'second'\nsettings.follow = 'bind'\n";
    let mut scheduler = parts(2, &(following("reserve") + more));
    let before = state(&scheduler);
    let mut dry = of_tenant("acme", "v", 0);
    dry.dry_run = true;
    let decision = scheduler.place(dry).unwrap();
    let followed: Vec<_> = decision
        .followed
        .iter()
        .map(|followed| (&*followed.entry, followed.writes.len()))
        .collect();
    assert_eq!(followed, [("parts", 2), ("second", 1)]);
    assert_eq!(state(&scheduler), before);
}

#[test]
fn nothing_follows_where_no_host_is_left() {
    let policy = "[[filters]]\nunit = 'parts'\nsettings.without = 'h0'\n".to_owned()
        + &following("fail").replace("[[costs]]\nunit = 'parts'\n", "");
    let decision = parts(1, &policy).place(request(vm("v"))).unwrap();
    assert_eq!(decision.host, None);
    assert_eq!(decision.followed, []);
}

#[test]
fn a_forced_host_is_taken_without_asking_who_judges_and_its_effects_know_it() {
    let policy = "
        [[filters]]
        unit = 'parts'
        settings.without = 'h1'
        [[selections]]
        unit = 'parts'
        settings.refine = 'fail'
        on-failure = 'fail'
        [[effects]]
        unit = 'parts'
        settings.follow = 'fix'";
    let mut scheduler = parts(3, policy);
    let mut forced = request(vm("v"));
    forced.forced = Some("h1".into());
    let decision = scheduler.place(forced).unwrap();
    assert_eq!(decision.host.as_deref(), Some("h1"));
    let [key] = fixed_keys(scheduler.inventory(), "v") else {
        panic!("one key is fixed");
    };
    assert_eq!(key.number("value"), Some(1.0));
    // One call: that of the effects.
    assert_eq!(scheduler.times().map(|time| time.calls).sum::<u64>(), 1);

    let explanation = scheduler.explain(decision.number).unwrap();
    assert_eq!(explanation.chosen.as_deref(), Some("h1"));
    assert_eq!(explanation.stages, []);
    let others: Vec<_> = explanation
        .not_considered
        .iter()
        .map(|host| (&*host.host, &*host.reason))
        .collect();
    let not_chosen = "is not the host that an administrator chose";
    assert_eq!(others, [("h0", not_chosen), ("h2", not_chosen)]);
}

#[test]
fn a_forced_host_that_is_not_up_is_not_taken_and_nothing_follows() {
    let mut inventory = cluster(2);
    inventory
        .set_host_value("h1", "state", Some("maintenance".into()))
        .unwrap();
    let mut scheduler = of(inventory, &following("fix"));
    let mut forced = request(vm("v"));
    forced.forced = Some("h1".into());
    let decision = scheduler.place(forced).unwrap();
    assert_eq!(decision.host, None);
    assert_eq!(decision.followed, []);
    let explanation = scheduler.explain(decision.number).unwrap();
    let h1 = &explanation.not_considered[1];
    assert_eq!(
        (&*h1.host, &*h1.reason),
        ("h1", "is not up: its state is maintenance")
    );
}

#[test]
fn what_a_request_tells_of_a_vm_that_runs_is_not_lost() {
    let mut scheduler = parts(2, &following("mark-again"));
    let key = Facts::new().with("name", "host").with("value", "none");
    let mut told = Vm::new("v");
    told.facts.push_row("keys", key);
    scheduler.inventory_mut().run_vm(vm("v"), "h1").unwrap();
    let decision = scheduler.place(request(told.clone())).unwrap();
    // What it does not give is as the inventory knows it.
    let mut whole = vm("v");
    let rows = told.facts.rows("keys").to_vec();
    whole.facts.set_rows("keys", rows);
    assert_eq!(decision.request.members[0], whole);
    // Of which nothing but the id is told, the inventory's is taken.
    scheduler.inventory_mut().cancel_vm("v").unwrap();
    let mut dry = request(Vm::new("v"));
    dry.dry_run = true;
    let decision = scheduler.place(dry).unwrap();
    assert_eq!(decision.request.members[0], vm("v"));
}
