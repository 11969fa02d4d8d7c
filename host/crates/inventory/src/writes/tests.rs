use super::*;
use placewright_model::schema::Schema;
use placewright_model::{Host, Vm};

const GIB: i64 = 1 << 30;

fn amount(name: &str, total: i64) -> Facts {
    Facts::new().with("name", name).with("total", total)
}

fn cluster() -> Inventory {
    let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
    for id in ["h1", "h2"] {
        let mut host = Host::new(id).with("memory.total", 64 * GIB);
        host.facts.push_row("amounts", amount("gpu", 4));
        inventory.add_host(host).unwrap();
    }
    inventory
}

fn vm(id: &str) -> Vm {
    Vm::new(id).with("cpu", 1000i64).with("memory", GIB)
}

fn reserved(inventory: &mut Inventory, id: &str, host: &str) {
    inventory
        .reserve_vm(Arc::new(vm(id)), host, Some(100))
        .unwrap();
}

fn key(name: &str) -> Facts {
    Facts::new().with("name", name).with("value", "1")
}

fn fixed(name: &str) -> Facts {
    Facts::new().with("name", name).with("value", 1.5)
}

fn binding(host: &str, start: i64) -> Facts {
    Facts::new().with("host", host).with("start", start)
}

fn append(entity: Entity, table: &str, row: Facts) -> Write {
    Write::row(entity, table, RowChange::Append(row))
}

fn set(entity: Entity, table: &str, at: usize, column: &str, value: Option<Value>) -> Write {
    let values = vec![(column.into(), value)];
    Write::row(entity, table, RowChange::Set(at, values))
}

fn remove(entity: Entity, table: &str, at: usize) -> Write {
    Write::row(entity, table, RowChange::Remove(at))
}

fn tenant() -> Entity {
    Entity::Tenant("acme".into())
}

fn of_vm() -> Entity {
    Entity::Vm("a".into())
}

fn placement() -> Entity {
    Entity::Placement("a".into())
}

/// The texts of one column of a table's rows.
fn texts<'a>(rows: &'a [Facts], column: &str) -> Vec<&'a str> {
    rows.iter()
        .map(|row| row.text(column).unwrap_or("-"))
        .collect()
}

fn bindings<'a>(inventory: &'a Inventory, column: &str) -> Vec<&'a str> {
    let tenant = inventory.tenant("acme").unwrap();
    texts(tenant.rows("bindings"), column)
}

fn integer(inventory: &Inventory, host: &str, column: &str) -> i64 {
    match inventory.host_value(inventory.slot(host).unwrap(), column) {
        Some(Value::Integer(value)) => value,
        other => panic!("{column}: {other:?}"),
    }
}

/// Used and pending of the host's only amount.
fn gpus(inventory: &Inventory, host: &str) -> (i64, i64) {
    let slot = inventory.slot(host).unwrap();
    let amount = &inventory.host(slot).unwrap().amounts[0];
    (amount.used, amount.pending)
}

/// Everything that writes can change.
fn state(inventory: &Inventory) -> String {
    let hosts = inventory.hosts().map(|(slot, host)| {
        let columns = &Schema::built_in().table("hosts").unwrap().columns;
        let values: Vec<_> = columns
            .iter()
            .map(|column| inventory.host_value(slot, &column.name))
            .collect();
        let vms: Vec<_> = inventory
            .vms_of(host)
            .map(|entry| {
                let stay = entry.stay.clone().unwrap_or_default();
                let waiting = stay.waiting.len();
                let stay = (stay.rows, stay.reserved, waiting);
                (entry.pending, entry.shape, entry.vm.clone(), stay)
            })
            .collect();
        (
            host.id.clone(),
            host.facts.clone(),
            &host.amounts,
            values,
            vms,
        )
    });
    let hosts: Vec<_> = hosts.collect();
    format!("{hosts:#?} {:#?} {:#?}", inventory.facts, inventory.tenants)
}

#[test]
fn rows_come_change_and_go() {
    let mut inventory = cluster();
    inventory
        .apply(&[
            append(tenant(), "bindings", binding("h1", 1)),
            append(tenant(), "bindings", binding("h2", 2).with("zone", "z")),
        ])
        .unwrap();
    inventory
        .apply(&[
            append(tenant(), "bindings", binding("h3", 3)),
            remove(tenant(), "bindings", 0),
            set(tenant(), "bindings", 1, "zone", None),
            set(tenant(), "bindings", 1, "tag", Some("t".into())),
        ])
        .unwrap();
    assert_eq!(bindings(&inventory, "host"), ["h2", "h3"]);
    assert_eq!(bindings(&inventory, "zone"), ["-", "-"]);
    assert_eq!(bindings(&inventory, "tag"), ["t", "-"]);
    inventory
        .apply(&[
            append(Entity::Cluster, "networks", Facts::new().with("name", "n")),
            append(Entity::Host("h1".into()), "amounts", amount("tape", 1)),
        ])
        .unwrap();
    assert_eq!(texts(inventory.facts().rows("networks"), "name"), ["n"]);
    let host = inventory.host(inventory.slot("h1").unwrap()).unwrap();
    assert_eq!(host.amounts.len(), 2);
}

#[test]
fn what_is_fixed_by_a_placement_ends_with_it() {
    let mut inventory = cluster();
    reserved(&mut inventory, "a", "h1");
    let writes = [
        append(placement(), "fixed-keys", fixed("x")),
        append(placement(), "keys", key("y")),
    ];
    inventory.apply(&writes).unwrap();
    let pending = inventory.pending("a").unwrap();
    assert_eq!(texts(pending.placed_rows("fixed-keys"), "name"), ["x"]);
    assert!(pending.vm.facts.rows("keys").is_empty());
    inventory.confirm_vm("a").unwrap();
    let running = inventory.running("a").unwrap();
    assert_eq!(texts(running.placed_rows("keys"), "name"), ["y"]);

    // Reported again, it stays; on another host, it has left.
    inventory.run_vm(vm("a"), "h1").unwrap();
    assert_eq!(inventory.running("a").unwrap().placed_rows("keys").len(), 1);
    inventory.run_vm(vm("a"), "h2").unwrap();
    assert!(
        inventory
            .running("a")
            .unwrap()
            .placed_rows("keys")
            .is_empty()
    );
}

#[test]
fn what_waits_is_written_when_the_vm_runs() {
    let waiting = [
        append(of_vm(), "keys", key("sticky")).once_running("a"),
        append(tenant(), "bindings", binding("h1", 1)).once_running("a"),
        Write::reserve("a", "gpu", 1).once_running("a"),
    ];
    let mut inventory = cluster();
    reserved(&mut inventory, "a", "h1");
    inventory.apply(&waiting).unwrap();
    assert!(inventory.tenant("acme").is_none());
    let decided = inventory.clone();

    inventory.confirm_vm("a").unwrap();
    let keys = |inventory: &Inventory| {
        let entry = inventory.running("a").unwrap();
        entry.vm.facts.rows("keys").len()
    };
    assert_eq!(keys(&inventory), 1);
    assert_eq!(bindings(&inventory, "host"), ["h1"]);
    assert_eq!(gpus(&inventory, "h1"), (1, 0));

    // Reported to run there counts as well; elsewhere it does not.
    let mut there = decided.clone();
    there.run_vm(vm("a"), "h1").unwrap();
    assert_eq!(keys(&there), 1);
    let mut elsewhere = decided.clone();
    elsewhere.run_vm(vm("a"), "h2").unwrap();
    assert_eq!(keys(&elsewhere), 0);
    assert!(elsewhere.tenant("acme").is_none());

    let mut late = decided.clone();
    late.advance(101);
    assert!(late.confirm_vm("a").is_err());
    late.run_vm(vm("a"), "h1").unwrap();
    assert_eq!(keys(&late), 0);
    let mut cancelled = decided;
    cancelled.cancel_vm("a").unwrap();
    cancelled.run_vm(vm("a"), "h1").unwrap();
    assert_eq!(keys(&cancelled), 0);
}

#[test]
fn what_would_wait_is_written_at_once_for_a_vm_that_stays() {
    let mut inventory = cluster();
    inventory.run_vm(vm("a"), "h1").unwrap();
    let write = append(of_vm(), "keys", key("sticky")).once_running("a");
    inventory.apply(&[write]).unwrap();
    let entry = inventory.running("a").unwrap();
    assert_eq!(texts(entry.vm.facts.rows("keys"), "name"), ["sticky"]);
}

#[test]
fn a_row_that_waits_to_be_changed_is_found_again_by_its_content() {
    let mut inventory = cluster();
    let rows = ["h1", "h2", "h3"].map(|host| append(tenant(), "bindings", binding(host, 1)));
    inventory.apply(&rows).unwrap();
    reserved(&mut inventory, "a", "h1");
    inventory
        .apply(&[
            set(tenant(), "bindings", 1, "tag", Some("new".into())).once_running("a"),
            remove(tenant(), "bindings", 2).once_running("a"),
        ])
        .unwrap();
    inventory.apply(&[remove(tenant(), "bindings", 0)]).unwrap();
    inventory.confirm_vm("a").unwrap();
    assert_eq!(bindings(&inventory, "host"), ["h2"]);
    assert_eq!(bindings(&inventory, "tag"), ["new"]);

    // One that is gone is set as a new one.
    reserved(&mut inventory, "a", "h2");
    let write = set(tenant(), "bindings", 0, "tag", None);
    inventory.apply(&[write.once_running("a")]).unwrap();
    inventory.set_tenant("acme", Facts::new()).unwrap();
    inventory.confirm_vm("a").unwrap();
    assert_eq!(bindings(&inventory, "host"), ["h2"]);
    assert_eq!(bindings(&inventory, "tag"), ["-"]);
}

#[test]
fn facts_of_a_vm_on_the_move_change_at_both_places() {
    let mut inventory = cluster();
    let mut known = vm("a");
    known.facts.set_rows("keys", vec![key("x"), key("y")]);
    inventory.run_vm(known, "h1").unwrap();
    let mut moved = vm("a");
    moved.facts.set_rows("keys", vec![key("y")]);
    inventory.reserve_vm(Arc::new(moved), "h2", None).unwrap();
    inventory
        .apply(&[set(of_vm(), "keys", 0, "value", Some("2".into()))])
        .unwrap();
    let values = |entry: &VmEntry| {
        let rows = entry.vm.facts.rows("keys").iter();
        rows.map(|row| row.text("value").unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(values(inventory.pending("a").unwrap()), ["2"]);
    assert_eq!(values(inventory.running("a").unwrap()), ["1", "2"]);
}

#[test]
fn what_a_placement_reserves_counts_like_what_the_vm_needs() {
    let mut inventory = cluster();
    reserved(&mut inventory, "a", "h1");
    inventory
        .apply(&[
            Write::reserve("a", "memory", GIB),
            Write::reserve("a", "memory", GIB),
            Write::reserve("a", "cpu", 500),
            Write::reserve("a", "gpu", 2),
            Write::reserve("a", "unheard-of", 1),
            Write::reserve("a", "tape", 0),
        ])
        .unwrap();
    let before = state(&inventory);
    assert_eq!(integer(&inventory, "h1", "memory.pending"), 3 * GIB);
    assert_eq!(integer(&inventory, "h1", "cpu.pending"), 1500);
    assert_eq!(gpus(&inventory, "h1"), (0, 2));
    let entry = inventory.pending("a").unwrap();
    assert_eq!(entry.reserved().len(), 4);

    inventory.confirm_vm("a").unwrap();
    assert_eq!(integer(&inventory, "h1", "memory.pending"), 0);
    assert_eq!(integer(&inventory, "h1", "memory.committed"), 3 * GIB);
    assert_eq!(integer(&inventory, "h1", "cpu.committed"), 1500);
    assert_eq!(gpus(&inventory, "h1"), (2, 0));
    inventory
        .set_host_rows("h1", "amounts", vec![amount("unheard-of", 9)])
        .unwrap();
    assert_eq!(gpus(&inventory, "h1"), (1, 0));
    inventory.remove_vm("a").unwrap();
    assert_eq!(integer(&inventory, "h1", "memory.committed"), 0);
    assert_eq!(gpus(&inventory, "h1"), (0, 0));
    let past = inventory.at_version(inventory.version() - 3 - 1).unwrap();
    assert_eq!(state(&past), before);
}

#[test]
fn named_amounts_that_are_written_count_at_once() {
    let mut inventory = cluster();
    inventory.run_vm(vm("a"), "h1").unwrap();
    let need = |value: i64| Facts::new().with("name", "gpu").with("need", value);
    inventory
        .apply(&[
            append(of_vm(), "amounts", need(1)),
            append(placement(), "amounts", need(2)),
        ])
        .unwrap();
    assert_eq!(gpus(&inventory, "h1"), (3, 0));
    inventory.apply(&[remove(of_vm(), "amounts", 0)]).unwrap();
    assert_eq!(gpus(&inventory, "h1"), (2, 0));
    inventory.remove_vm("a").unwrap();
    assert_eq!(gpus(&inventory, "h1"), (0, 0));
}

#[test]
fn every_write_can_be_taken_back() {
    let mut inventory = cluster();
    let mut history = vec![(inventory.version(), state(&inventory))];
    let mut step = |inventory: &mut Inventory, change: &dyn Fn(&mut Inventory)| {
        change(inventory);
        history.push((inventory.version(), state(inventory)));
    };
    step(&mut inventory, &|i| i.run_vm(vm("a"), "h1").unwrap());
    step(&mut inventory, &|i| {
        i.apply(&[
            append(of_vm(), "keys", key("x")),
            append(tenant(), "bindings", binding("h1", 1)),
            append(Entity::Cluster, "networks", Facts::new().with("name", "n")),
        ])
        .unwrap();
    });
    step(&mut inventory, &|i| reserved(i, "a", "h2"));
    step(&mut inventory, &|i| {
        i.apply(&[
            append(placement(), "fixed-keys", fixed("f")),
            Write::reserve("a", "memory", GIB),
            Write::reserve("a", "gpu", 1),
            append(of_vm(), "keys", key("y")).once_running("a"),
            set(tenant(), "bindings", 0, "end", Some(Value::Integer(9))),
            append(tenant(), "bindings", binding("h2", 9)),
        ])
        .unwrap();
    });
    step(&mut inventory, &|i| i.confirm_vm("a").unwrap());
    step(&mut inventory, &|i| {
        i.apply(&[
            remove(placement(), "fixed-keys", 0),
            remove(tenant(), "bindings", 0),
            remove(tenant(), "bindings", 1),
            remove(Entity::Host("h2".into()), "amounts", 0),
        ])
        .unwrap();
    });
    step(&mut inventory, &|i| i.remove_vm("a").unwrap());
    for (version, then) in history.iter().rev() {
        let past = inventory.at_version(*version).unwrap();
        assert_eq!(state(&past), *then, "version {version}");
        assert!(inventory.take_back(*version));
        assert_eq!(state(&inventory), *then, "version {version}");
    }
    assert!(inventory.tenant("acme").is_none());
    assert!(!inventory.take_back(inventory.version() + 1));
}

#[test]
fn writes_that_make_no_sense_are_refused_all_together() {
    let mut inventory = cluster();
    inventory.run_vm(vm("a"), "h1").unwrap();
    let first = append(tenant(), "bindings", binding("h1", 1));
    inventory.apply(&[first]).unwrap();
    let before = (inventory.version(), state(&inventory));
    let bad = [
        append(tenant(), "bindings", Facts::new().with("host", "h1")),
        append(tenant(), "bindings", binding("h1", -1)),
        append(tenant(), "bindings", binding("h1", 1).with("pod", "h1")),
        append(tenant(), "binding", binding("h1", 1)),
        append(Entity::Host("h1".into()), "vms", Facts::new()),
        append(Entity::Host("h1".into()), "current", Facts::new()),
        append(Entity::Host("h1".into()), "amounts", amount("x", -1)),
        append(Entity::Host("h9".into()), "amounts", amount("x", 1)),
        append(of_vm(), "fixed-keys", fixed("x")),
        append(placement(), "fixed-keys", key("x")),
        append(Entity::Vm("b".into()), "keys", key("x")),
        append(Entity::Placement("b".into()), "keys", key("x")),
        append(tenant(), "bindings", binding("h1", 1)).once_running("b"),
        set(tenant(), "bindings", 0, "start", None),
        set(tenant(), "bindings", 0, "pod", None),
        set(tenant(), "bindings", 1, "zone", Some("z".into())),
        remove(tenant(), "bindings", 1),
        remove(Entity::Cluster, "networks", 0),
        Write::reserve("a", "memory", -1),
        Write::reserve("a", "gpu", i64::MAX),
        Write::reserve("b", "memory", 1),
    ];
    let sentences: Vec<String> = bad
        .into_iter()
        .map(|write| {
            let good = append(tenant(), "bindings", binding("h2", 2));
            inventory.apply(&[good, write]).unwrap_err().to_string()
        })
        .collect();
    assert_eq!(
        sentences,
        [
            "tenant \"acme\": a row of bindings needs start",
            "tenant \"acme\": start in bindings must be 0 or more",
            "tenant \"acme\": there is no column \"pod\" in tenant/bindings",
            "tenant \"acme\": there is no table \"binding\"",
            "host \"h1\": there is no table \"vms\"",
            "host \"h1\": there is no table \"current\"",
            "host \"h1\": total in amounts must be 0 or more",
            "there is no host \"h9\"",
            "VM \"a\": there is no table \"fixed-keys\"",
            "VM \"a\": value in fixed-keys is of kind number, not text",
            "VM \"b\" does not run and has no place reserved",
            "VM \"b\" does not run and has no place reserved",
            "VM \"b\" does not run and has no place reserved",
            "tenant \"acme\": a row of bindings needs start",
            "tenant \"acme\": there is no column \"pod\" in tenant/bindings",
            "tenant \"acme\": bindings has no row 1: it has 1 rows, counted from 0",
            "tenant \"acme\": bindings has no row 1: it has 1 rows, counted from 0",
            "cluster \"test\": networks has no row 0: it has 0 rows, counted from 0",
            "VM \"a\": what is reserved of memory must be 0 or more",
            "VM \"a\": what is reserved of gpu must be within ±(2^53 - 1) and not NaN or infinite",
            "VM \"b\" does not run and has no place reserved",
        ]
    );
    let twice = [
        [
            remove(tenant(), "bindings", 0),
            remove(tenant(), "bindings", 0),
        ],
        [
            set(tenant(), "bindings", 0, "zone", None),
            remove(tenant(), "bindings", 0),
        ],
    ];
    for writes in twice {
        assert_eq!(
            inventory.apply(&writes).unwrap_err().to_string(),
            "tenant \"acme\": row 0 of bindings is removed, and set or removed besides"
        );
    }
    assert_eq!((inventory.version(), state(&inventory)), before);
}
