//! Selections, effects, orders and explanations, all parts of one unit.

use placewright_sdk::contract::{self, Change, Kind, Moment, Operation, Scope, Tables, Value};
use placewright_sdk::native::Call;
use placewright_sdk::prelude::*;

#[derive(Settings)]
struct Settings {
    /// Which table is explained.
    #[setting(default = "hosts")]
    table: Text,
}

#[derive(Row)]
struct Vm {
    name: Option<Text>,
    memory: Bytes,
}

#[derive(Row)]
struct Host {
    load: f64,
}

#[derive(Row)]
struct Candidate {
    cost: f64,
}

#[derive(Request)]
struct Choice {
    candidates: Rows<Candidate>,
    hosts: Rows<Host>,
}

#[derive(Request)]
struct Batch {
    #[table("members")]
    vms: Rows<Vm>,
    hosts: Rows<Host>,
}

/// Both read and written.
#[derive(Row, Written)]
#[written(table = "keys", scope = "vm", moment = "running")]
struct Key {
    name: Text,
    sort_order: i64,
    weight: Option<f64>,
    fixed: bool,
    #[column("memory.kept")]
    kept: Option<Bytes>,
}

/// Another moment makes another write of the same table.
#[derive(Written)]
#[written(table = "keys", scope = "vm", moment = "decided")]
struct EarlyKey {
    name: Option<Text>,
}

#[derive(Written)]
#[written(table = "attribute.visits", scope = "host", moment = "decided")]
struct Visit {
    until: Seconds,
    cores: Option<Millicores>,
}

struct Placing;

impl Selection for Placing {
    type Request = Choice;
    type Settings = Settings;

    const POSITION: Position = Position::Last;

    fn refine(choice: &Choice, _: &Settings) -> Result<Groups, Problem> {
        let dear = |(_, candidate): &(u32, Candidate)| candidate.cost > 1.0;
        let (dear, cheap): (Vec<_>, Vec<_>) = choice.candidates.numbered().partition(dear);
        let Groups(mut groups) = Groups::only(cheap.into_iter().map(|(row, _)| row));
        let no_chance = |(candidate, _)| Share {
            candidate,
            share: 0.0,
        };
        groups.push(dear.into_iter().map(no_chance).collect());
        Ok(Groups(groups))
    }
}

impl Effects for Placing {
    type Request = Batch;
    type Settings = Settings;
    type Writes = (Key, EarlyKey, Visit);

    fn placed(batch: &Batch, _: &Settings) -> Result<Changes<Self::Writes>, Problem> {
        if batch.hosts.len() != 1 {
            return Err(Problem::refused("needs the host that was chosen"));
        }
        let mut changes = Changes::new();
        for (number, vm) in batch.vms.numbered() {
            changes.append(number, EarlyKey { name: vm.name });
            let key = Key {
                name: format!("key-{number}").into(),
                sort_order: 7,
                weight: None,
                fixed: true,
                kept: Some(vm.memory),
            };
            changes.set(number, 3, key);
            changes.reserve(number, "memory", vm.memory.0);
        }
        changes.remove::<Visit>(0, 2);
        let visit = Visit {
            until: Seconds(60),
            cores: Some(Millicores(500)),
        };
        changes.append(0, visit);
        Ok(changes)
    }
}

impl Order for Placing {
    type Request = Batch;
    type Settings = Settings;

    fn order(batch: &Batch, _: &Settings) -> Result<Vec<Vec<u32>>, Problem> {
        let (large, small): (Vec<_>, Vec<_>) =
            (batch.vms.numbered()).partition(|(_, vm)| vm.memory >= Bytes(10));
        let rows = |vms: Vec<(u32, Vm)>| vms.into_iter().map(|(row, _)| row).collect();
        Ok(vec![rows(large), rows(small)])
    }
}

impl Explain for Placing {
    type Request = Choice;
    type Settings = Settings;

    fn explain(choice: &Choice, settings: &Settings) -> Result<Vec<Fact>, Problem> {
        let about = if settings.table == "hosts" {
            "hosts"
        } else {
            "racks"
        };
        let fact = |(row, host): (u32, Host)| {
            Fact::new(format!("load-{row}"), host.load).about(about, row)
        };
        let mut facts: Vec<_> = choice.hosts.numbered().map(fact).collect();
        facts.push(Fact::new("table", settings.table.clone()));
        Ok(facts)
    }
}

placewright_sdk::export!(Placing: selection, effects, order, explain);

/// Three candidates of which the second is dear, their hosts, and the settings.
fn choice(table: &str) -> Call {
    Call::new(Tables {
        rows: vec![3, 3, 1],
        integers: vec![0],
        numbers: vec![0.5, 2.0, 1.0, 0.1, 0.2, 0.3],
        absent_integers: vec![],
        absent_numbers: vec![],
        texts: vec![table.into()],
    })
}

/// Two VMs, the second without a name, some hosts, and the settings.
fn batch(hosts: u32) -> Call {
    Call::new(Tables {
        rows: vec![2, hosts, 1],
        integers: vec![1, 0, 5, 10, 0],
        numbers: vec![0.5; hosts as usize],
        absent_integers: vec![1],
        absent_numbers: vec![],
        texts: vec!["hosts".into(), "db".into()],
    })
}

#[test]
fn groups_are_laid_out_one_after_the_other() {
    let shares = native_unit().refine(&choice("hosts")).expect("it fits");
    assert_eq!(shares.groups, [0, 2, 3]);
    assert_eq!(shares.rows, [0, 2, 1]);
    assert_eq!(shares.shares, [0.5, 0.5, 0.0]);
}

#[test]
fn one_group_of_nobody_leaves_nobody() {
    assert_eq!(Groups::only([]), Groups(vec![]));
}

#[test]
fn the_only_group_shares_equally() {
    let share = |candidate| Share {
        candidate,
        share: 0.25,
    };
    let group = vec![share(4), share(2), share(9), share(0)];
    assert_eq!(Groups::only([4, 2, 9, 0]), Groups(vec![group]));
}

#[test]
fn changes_carry_the_numbers_of_their_writes() {
    let text = |text: &str| Some(Value::Text(text.into()));
    let key = |number, memory| {
        let values = vec![
            text(number),
            Some(Value::Integer(7)),
            None,
            Some(Value::Boolean(true)),
            Some(Value::Integer(memory)),
        ];
        Operation::Set((3, values))
    };
    let expected = [
        (1, 0, Operation::Append(vec![text("db")])),
        (0, 0, key("key-0", 5)),
        (0, 0, Operation::Reserve(("memory".into(), 5))),
        (1, 1, Operation::Append(vec![None])),
        (0, 1, key("key-1", 10)),
        (0, 1, Operation::Reserve(("memory".into(), 10))),
        (2, 0, Operation::Remove(2)),
        (
            2,
            0,
            Operation::Append(vec![Some(Value::Integer(60)), Some(Value::Integer(500))]),
        ),
    ];
    let expected = expected.map(|(write, entity, operation)| Change {
        write,
        entity,
        operation,
    });
    assert_eq!(native_unit().placed(&batch(1)).expect("it fits"), expected);
}

#[test]
fn a_refusal_of_the_author_is_passed_on() {
    let expected = Problem::refused("needs the host that was chosen");
    assert_eq!(native_unit().placed(&batch(2)), Err(expected));
}

#[test]
fn turns_are_laid_out_one_after_the_other() {
    let turns = native_unit().order(&batch(2)).expect("it fits");
    assert_eq!((turns.turns, turns.rows), (vec![0, 1, 2], vec![1, 0]));
}

#[test]
fn facts_name_tables_by_number() {
    let facts = native_unit().explain(&choice("hosts")).expect("it fits");
    assert_eq!(facts.len(), 4);
    let of_second_host = contract::Fact {
        name: "load-1".into(),
        about: Some(contract::Row { table: 1, row: 1 }),
        value: Value::Number(0.2),
    };
    assert_eq!(facts[1], of_second_host);
    let about_nothing = contract::Fact {
        name: "table".into(),
        about: None,
        value: Value::Text("hosts".into()),
    };
    assert_eq!(facts[3], about_nothing);
}

#[test]
fn a_fact_about_an_undeclared_table_fails() {
    let facts = native_unit().explain(&choice("racks"));
    assert!(matches!(facts, Err(Problem::Failed(_))));
}

#[test]
fn parts_say_what_they_read() {
    let description = native_unit().describe();
    assert!(description.judge.is_none() && description.balance.is_none());
    let tables = |reads: Vec<contract::TableRead>| {
        let names = reads.into_iter().map(|read| read.table);
        names.collect::<Vec<_>>()
    };
    let selection = description.selection.expect("it has one");
    assert_eq!(selection.position, Position::Last);
    assert_eq!(tables(selection.reads), ["candidates", "hosts", "settings"]);
    let explain = description.explain.expect("it has one");
    assert_eq!(tables(explain.reads), ["candidates", "hosts", "settings"]);
    let order = description.order.expect("it has one");
    assert_eq!(tables(order.reads), ["members", "hosts", "settings"]);
    let effects = description.effects.expect("it has one");
    assert_eq!(tables(effects.reads), ["members", "hosts", "settings"]);
}

#[test]
fn writes_are_described_in_order() {
    let writes = native_unit().describe().effects.expect("it has one").writes;
    let column = |name: &str, kind| (name.to_owned(), kind);
    let write = |table: &str, scope, moment, columns| contract::Write {
        table: table.into(),
        columns,
        scope,
        moment,
    };
    let of_keys = vec![
        column("name", Kind::Text),
        column("sort-order", Kind::Integer),
        column("weight", Kind::Number),
        column("fixed", Kind::Boolean),
        column("memory.kept", Kind::Integer),
    ];
    let of_visits = vec![
        column("until", Kind::Integer),
        column("cores", Kind::Integer),
    ];
    let early = vec![column("name", Kind::Text)];
    let expected = [
        write("keys", Scope::Vm, Moment::Running, of_keys),
        write("keys", Scope::Vm, Moment::Decided, early),
        write("attribute.visits", Scope::Host, Moment::Decided, of_visits),
    ];
    assert_eq!(writes, expected);
}

mod alone {
    use super::*;

    /// Writes one table, so that its writes need no tuple.
    struct Visiting;

    impl Effects for Visiting {
        type Request = ();
        type Settings = ();
        type Writes = Visit;

        fn placed((): &(), (): &()) -> Result<Changes<Visit>, Problem> {
            let mut changes = Changes::new();
            changes.remove::<Visit>(0, 1);
            Ok(changes)
        }
    }

    placewright_sdk::export!(Visiting: effects, name = "visiting");
}

#[test]
fn a_unit_may_have_any_one_part() {
    let unit = alone::native_unit();
    assert!(unit.describe().selection.is_none());
    assert_eq!(unit.describe().effects.expect("it has one").writes.len(), 1);
    let nothing = || {
        Call::new(Tables {
            rows: vec![],
            integers: vec![],
            numbers: vec![],
            absent_integers: vec![],
            absent_numbers: vec![],
            texts: vec![],
        })
    };
    assert_eq!(unit.placed(&nothing()).expect("it fits").len(), 1);
    assert!(matches!(unit.refine(&nothing()), Err(Problem::Failed(_))));
    assert!(matches!(unit.order(&nothing()), Err(Problem::Failed(_))));
    assert!(matches!(unit.explain(&nothing()), Err(Problem::Failed(_))));
    assert!(matches!(unit.balance(&nothing()), Err(Problem::Failed(_))));
}
