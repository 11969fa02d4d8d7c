//! Requests with needs that no filter of the policy checks are refused, warned of or
//! decided, as the policy says.

use std::sync::Arc;

use placewright_chain::Chain;
use placewright_document::{Surroundings, read_requests};
use placewright_inventory::Inventory;
use placewright_model::schema::{Given, Schema};
use placewright_model::{Facts, Group, GroupRule, Host, Kind, Request, Vm};
use placewright_plugins as plugins;
use placewright_policy::{Policy, Unheeded};
use placewright_scheduler::questions::{FailureOptions, Situation};
use placewright_scheduler::{Batch, PlaceError, Scheduler, SchedulerOptions};

use crate::general::cases::{CASES, Case};
use placewright_tests::units::built_in;

/// One attribute of VMs is declared as a need, one is not.
fn schema() -> Schema {
    let mut schema = Schema::default();
    for name in ["licence", "team"] {
        schema
            .define_attribute("vms", name, Kind::Text, None, "")
            .unwrap();
    }
    schema.declare_need("licence", "");
    schema
}

fn inventory() -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(schema()));
    for id in ["a", "b"] {
        let host = Host::new(id)
            .with("cpu.total", 64_000)
            .with("memory.total", 1 << 40);
        inventory.add_host(host).unwrap();
    }
    inventory
        .set_tenant(
            "bound",
            Facts::new().with_row("bindings", Facts::new().with("host", "a").with("start", 0)),
        )
        .unwrap();
    inventory
}

/// A group with a rule, of the VM and another.
fn group(vm: &str, vm_rule: Option<GroupRule>, host_rule: Option<GroupRule>) -> Group {
    Group {
        vms: vec![vm.into(), "other".into()],
        hosts: vec!["a".into()],
        vm_rule,
        host_rule,
        priority: 1.0,
        ..Group::new("group")
    }
}

/// A request of a VM that has this need and no other.
fn request(given: &Given, inventory: &mut Inventory) -> Request {
    let mut vm = Vm::new("vm");
    let mut facts = Facts::new();
    let hard = Some(GroupRule::Negative { hard: true });
    match given {
        Given::Request(column) => facts.set(*column, "x"),
        Given::Vm(column) => match schema().column("members", column).unwrap().kind {
            Kind::Integer => vm.facts.set(column.clone(), 1),
            Kind::Number => vm.facts.set(column.clone(), 1.0),
            Kind::Boolean => vm.facts.set(column.clone(), true),
            Kind::Text => vm.facts.set(column.clone(), "x"),
        },
        Given::VmTable(table) => {
            let schema = schema();
            let columns = &schema.table(&format!("members/{table}")).unwrap().columns;
            let given = columns.iter().filter(|column| !column.optional);
            let row = given.fold(Facts::new(), |row, column| match column.kind {
                Kind::Integer => row.with(column.name.clone(), 1),
                Kind::Number => row.with(column.name.clone(), 1.0),
                Kind::Boolean => row.with(column.name.clone(), true),
                Kind::Text => row.with(column.name.clone(), "x"),
            });
            vm.facts.push_row(table.clone(), row);
            if **table == *"gpu-models" {
                // Models without a number are those of one GPU.
                vm.facts.set("gpu.count", 0);
            }
        }
        Given::Gpus => vm.facts.set("gpu.share", 500),
        Given::Location => vm.pinning.location.push(("a".into(), -1_000_000)),
        Given::Networks => vm
            .facts
            .push_row("nics", Facts::new().with("network", "net")),
        Given::Pinned => vm.pinning.pinned.push("a".into()),
        Given::Bindings => facts.set("tenant", "bound"),
        Given::GroupRule => inventory.set_group(group("vm", hard, None)).unwrap(),
        Given::GroupHostRule => inventory.set_group(group("vm", None, hard)).unwrap(),
    }
    Request {
        members: vec![vm],
        facts,
        ..Request::default()
    }
}

fn policy(text: &str) -> Arc<Policy> {
    let policy = Policy::load(text, "policy.toml", built_in(), &schema());
    Arc::new(policy.unwrap_or_else(|problems| panic!("{problems}")))
}

fn scheduler(text: &str, inventory: Inventory) -> Scheduler {
    let options = SchedulerOptions {
        chain_limit: std::time::Duration::from_secs(60),
        ..SchedulerOptions::default()
    };
    Scheduler::new(inventory, policy(text), built_in(), options).unwrap()
}

/// Checks nothing but memory.
const MEMORY: &str = "[[filters]]\nunit = 'memory'\n";

#[test]
fn each_need_that_no_filter_checks_is_refused_with_its_name_and_the_units_that_check_it() {
    for need in schema().needs() {
        let mut world = inventory();
        let request = request(&need.given, &mut world);
        let mut scheduler = scheduler(MEMORY, world);
        let Err(PlaceError::Unheeded(needs)) = scheduler.place(request) else {
            panic!("a request that needs {} is decided", need.name);
        };
        assert_eq!(needs.len(), 1, "{}: {needs:?}", need.name);
        assert_eq!(needs[0].need, need.name);
        let foreign = need.name.starts_with("attribute.");
        assert_eq!(foreign, needs[0].units.is_empty(), "{}", need.name);
        let sentence = needs[0].to_string();
        assert!(sentence.contains(&*need.name) && sentence.contains("\"vm\""));
    }
}

#[test]
fn an_attribute_that_is_no_need_may_be_ignored() {
    let mut scheduler = scheduler(MEMORY, inventory());
    let vm = Vm::new("vm").with("attribute.team", "blue");
    let request = Request {
        members: vec![vm],
        ..Request::default()
    };
    assert!(scheduler.place(request).unwrap().host.is_some());
}

#[test]
fn a_need_that_a_filter_checks_is_not_refused() {
    let text = format!("{MEMORY}[[filters]]\nunit = 'pin-to-host'\n");
    let mut world = inventory();
    let request = request(&Given::Pinned, &mut world);
    let decision = scheduler(&text, world).place(request).unwrap();
    assert_eq!(decision.host.as_deref(), Some("a"));
}

#[test]
fn a_filter_that_is_not_enabled_checks_nothing() {
    let text = format!("{MEMORY}[[filters]]\nunit = 'pin-to-host'\nenabled = false\n");
    let mut world = inventory();
    let request = request(&Given::Pinned, &mut world);
    let refused = scheduler(&text, world).place(request);
    assert!(matches!(refused, Err(PlaceError::Unheeded(_))));
}

#[test]
fn a_policy_says_what_becomes_of_all_needs_and_of_single_ones() {
    let mut world = inventory();
    let mut both = request(&Given::Pinned, &mut world);
    both.facts.set("zone", "z");
    let decided =
        |text: &str| scheduler(&(text.to_owned() + MEMORY), inventory()).place(both.clone());
    let names = |needs: &[placewright_chain::UnheededNeed]| -> Vec<String> {
        needs.iter().map(|need| need.need.to_string()).collect()
    };
    let warned = decided("unheeded = 'warn'\n").unwrap();
    assert_eq!(names(&warned.unheeded), ["zone", "pinned"]);
    let warned = decided("unheeded = 'warn'\nunheeded-needs = { zone = 'ignore' }\n").unwrap();
    assert_eq!(names(&warned.unheeded), ["pinned"]);
    assert_eq!(decided("unheeded = 'ignore'\n").unwrap().unheeded, []);
    let refused = decided("unheeded-needs = { zone = 'ignore' }\n");
    let Err(PlaceError::Unheeded(needs)) = refused else {
        panic!("a need that the policy refuses is not refused");
    };
    assert_eq!(names(&needs), ["pinned"]);
}

#[test]
fn a_policy_with_a_misspelt_need_or_word_is_refused_with_the_nearest() {
    let load = |text: &str| Policy::load(text, "p.toml", built_in(), &schema()).unwrap_err();
    let problems = load("[unheeded-needs]\npined = 'warn'\n").to_string();
    assert!(problems.contains("there is no need \"pined\" (did you mean \"pinned\"?)"));
    let problems = load("[unheeded-needs]\npinned = 'warm'\n").to_string();
    assert!(problems.contains("\"pinned\" must be"), "{problems}");
    assert!(load("unheeded = 'no'\n").to_string().contains("unheeded"));
}

#[test]
fn an_administrator_who_forces_a_host_answers_for_all_needs() {
    let mut world = inventory();
    let mut request = request(&Given::Pinned, &mut world);
    request.forced = Some("b".into());
    let decision = scheduler(MEMORY, world).place(request).unwrap();
    assert_eq!(decision.host.as_deref(), Some("b"));
}

#[test]
fn in_a_batch_only_the_turns_with_unheeded_needs_are_refused() {
    let mut pinned = Vm::new("pinned");
    pinned.pinning.pinned.push("a".into());
    let batch = Batch {
        members: vec![pinned, Vm::new("plain")],
        ..Batch::default()
    };
    let plan = scheduler(MEMORY, inventory()).place_batch(batch).unwrap();
    let refused = |vm: &str| {
        let mut turns = plan.turns.iter();
        let turn = turns.find(|turn| *turn.members[0] == *vm).unwrap();
        matches!(turn.outcome, Err(PlaceError::Unheeded(_)))
    };
    assert!(refused("pinned") && !refused("plain"));
}

/// A cluster in which a VM with huge pages runs on host a.
fn with_huge_pages() -> Inventory {
    let mut world = inventory();
    let mut vm = Vm::new("pages");
    vm.facts.push_row(
        "huge-pages",
        Facts::new().with("size", 1 << 30).with("count", 2),
    );
    world.run_vm(vm, "a").unwrap();
    world
}

#[test]
fn the_failure_of_a_host_is_not_survived_by_a_vm_whose_huge_pages_nobody_checks() {
    let world = with_huge_pages();
    let survived = |text: &str| {
        let policy = policy(text);
        let situation = Situation {
            inventory: &world,
            policy: &policy,
            generation: built_in(),
            options: &SchedulerOptions::default(),
        };
        let failure = situation
            .without_hosts(&["a".to_owned()], 0, FailureOptions::default())
            .unwrap();
        assert_eq!(failure.vms.len(), 1);
        (failure.survived(), failure.vms[0].refused.clone())
    };
    let (is_survived, refused) = survived(MEMORY);
    assert!(!is_survived);
    assert!(refused.unwrap().contains("huge-pages"));
    let (is_survived, _) = survived(&format!("unheeded = 'ignore'\n{MEMORY}"));
    assert!(is_survived);
}

#[test]
fn needs_of_vms_that_are_there_are_told_of_a_chain() {
    let mut world = with_huge_pages();
    let chain = Chain::resolve(policy(MEMORY), built_in(), &mut world).unwrap();
    let unheeded = chain.unheeded_in(&world);
    assert_eq!(unheeded.len(), 1);
    assert_eq!(&*unheeded[0].need, "huge-pages");
    assert_eq!(unheeded[0].unheeded, Unheeded::Refuse);
    assert_eq!((unheeded[0].count, unheeded[0].vms.len()), (1, 1));
    assert!(unheeded[0].units.iter().any(|unit| **unit == *"huge-pages"));
}

#[test]
fn a_policy_that_says_what_becomes_of_needs_is_written_as_it_was_read() {
    let text = format!("unheeded = 'warn'\nunheeded-needs = {{ zone = 'ignore' }}\n{MEMORY}");
    let policy = policy(&text);
    let written = serde_json::to_string(&*policy).unwrap();
    let again = Policy::load(&written, "again.json", built_in(), &schema()).unwrap();
    assert_eq!(again, *policy);
}

/// What a policy that comes with the program makes of a case.
fn decided(policy: &str, case: &Case) -> Result<Option<Arc<str>>, PlaceError> {
    let inventory = crate::general::inventory(case);
    let surroundings = Surroundings {
        schema: &inventory.schema().clone(),
        now: 1000,
        hosts: None,
    };
    let mut requests = read_requests(case.request, "request.toml", surroundings).unwrap();
    let text = plugins::policy(policy).unwrap().text;
    let loaded = Policy::load(text, "policy.toml", built_in(), inventory.schema());
    let options = SchedulerOptions {
        chain_limit: std::time::Duration::from_secs(60),
        ..SchedulerOptions::default()
    };
    let scheduler = Scheduler::new(inventory, Arc::new(loaded.unwrap()), built_in(), options);
    let decision = scheduler.unwrap().place(requests.remove(0))?;
    Ok(decision.host.clone())
}

#[test]
fn no_policy_that_comes_with_the_program_places_a_vm_where_a_need_of_it_is_not_met() {
    let schema = Schema::default();
    for policy in plugins::POLICIES {
        for case in CASES.iter().filter(|case| schema.need(case.need).is_some()) {
            match decided(policy.name, case) {
                Ok(host) => assert_ne!(
                    host.as_deref(),
                    Some("lacks"),
                    "{} passes over {}: {}",
                    policy.name,
                    case.need,
                    case.request
                ),
                Err(PlaceError::Unheeded(needs)) => {
                    assert!(needs.iter().any(|need| *need.need == *case.need));
                }
                // A policy may ask more of requests.
                Err(PlaceError::Refusal(_)) => {}
                Err(error) => panic!("{}, {}: {error}", policy.name, case.need),
            }
        }
    }
}

#[test]
fn a_zone_that_was_asked_for_binds_the_vm_whenever_it_is_moved() {
    let mut world = Inventory::new("test", Arc::new(schema()));
    for (id, zone) in [("a", "x"), ("b", "y"), ("c", "y")] {
        let host = Host::new(id)
            .with("cpu.total", 64_000)
            .with("memory.total", 1 << 40)
            .with("zone", zone);
        world.add_host(host).unwrap();
    }
    let text = format!("{MEMORY}[[filters]]\nunit = 'availability-zone'\n");
    let mut scheduler = scheduler(&text, world);
    let request = |zone: Option<&str>, excluded: &[&str]| {
        let mut request = Request {
            members: vec![Vm::new("vm")],
            excluded: excluded.iter().map(|host| (*host).into()).collect(),
            ..Request::default()
        };
        if let Some(zone) = zone {
            request.facts.set("zone", zone);
        }
        request
    };
    let placed = scheduler.place(request(Some("y"), &[])).unwrap();
    assert_eq!(placed.host.as_deref(), Some("b"));
    scheduler.inventory_mut().confirm_vm("vm").unwrap();
    // It would go to host a, which is empty and whose id is least.
    let plan = scheduler.plan_evacuation(0, &["b".into()]).unwrap();
    assert_eq!(plan.moves.len(), 1);
    assert_eq!(*plan.moves[0].to, *"c");
    let moved = scheduler.place(request(None, &["b"])).unwrap();
    assert_eq!(moved.host.as_deref(), Some("c"));
    scheduler.inventory_mut().cancel_vm("vm").unwrap();
    let elsewhere = scheduler.place(request(Some("x"), &[])).unwrap();
    assert_eq!(elsewhere.host.as_deref(), Some("a"));
}

#[test]
fn vms_of_several_zones_are_not_placed_together_without_a_word() {
    let members = [("v", "x"), ("w", "y")].map(|(id, zone)| Vm::new(id).with("zone", zone));
    let request = Request {
        members: members.into(),
        ..Request::default()
    };
    let refused = scheduler(MEMORY, inventory()).place(request).unwrap_err();
    assert!(
        matches!(&refused, PlaceError::Zones(first, second) if **first == *"x" && **second == *"y")
    );
}
