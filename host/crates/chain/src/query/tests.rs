use std::sync::Arc;
use std::time::Duration;

use super::*;
use placewright_document::{ClusterDocument, Place, parse};
use placewright_engine::generation::Generation;
use placewright_engine::{Engine, Limits};
use placewright_model::{Value, Vm};
use placewright_plugins as plugins;
use placewright_policy::Policy;

const CLUSTER: &str = r#"
now = 100
[[hosts]]
id = "small"
memory.total = "8 GiB"
networks = [{ name = "storage" }]
[[hosts]]
id = "large"
memory = { total = "64 GiB", free = "60 GiB" }
networks = [{ name = "storage" }, { name = "backup" }]
vms = [{ id = "old", memory = "2 GiB" }]
[[hosts]]
id = "away"
state = "maintenance"
memory.total = "64 GiB"
[[hosts]]
id = "blank"
"#;

const LIMIT: Duration = Duration::from_secs(60);

/// A unit that comes with the program, and the cluster above.
struct Scene {
    inventory: Inventory,
    runner: Runner,
    request: Request,
}

impl Scene {
    fn new(unit: &str, vm: Vm) -> Self {
        Self::set(unit, "", vm)
    }

    fn set(unit: &str, settings: &str, vm: Vm) -> Self {
        let engine = Engine::new(Limits::reproducible(), None).unwrap();
        let embedded = plugins::UNITS.iter().find(|it| it.name == unit).unwrap();
        let unit = Unit::load(&engine, embedded.bytes, unit).unwrap();
        let generation = Generation::new([unit.clone()]).unwrap();
        let document = ClusterDocument::read(CLUSTER, "c.toml").unwrap();
        let mut inventory = Inventory::of_document(document, 100).unwrap();
        let place = Place {
            file: "alone".into(),
            line: 1,
            column: 1,
        };
        let settings = parse(settings, "settings.toml").unwrap();
        let alone = Policy::alone(unit.description(), &settings, &place);
        let policy = Policy::of_tree(&alone, "alone", &generation, inventory.schema()).unwrap();
        let chain = Chain::resolve(policy.into(), &generation, &mut inventory).unwrap();
        Self {
            inventory,
            runner: Runner::new(chain.into(), LIMIT),
            request: Request {
                members: vec![vm],
                now: 100,
                ..Request::default()
            },
        }
    }

    fn prepare<'a>(
        &'a mut self,
        part: Part,
        want: Answers,
        hosts: &'a [Arc<str>],
    ) -> Result<Prepared<'a>, DecisionError> {
        self.runner.prepare(Query {
            part,
            want,
            inventory: &self.inventory,
            request: &self.request,
            draw: 0.5,
            hosts,
        })
    }
}

fn vm(memory: i64) -> Vm {
    Vm::new("new").with("memory", memory << 30)
}

fn table<'t>(tables: &'t [TableSeen], name: &str) -> &'t TableSeen {
    tables.iter().find(|table| *table.table == *name).unwrap()
}

fn ids(rows: &[RowSeen]) -> Vec<&str> {
    rows.iter().filter_map(|row| row.id.as_deref()).collect()
}

fn value<'t>(row: &'t RowSeen, column: &str) -> Option<&'t Value> {
    let value = row.values.iter().find(|(name, _)| **name == *column);
    value.unwrap().1.as_ref()
}

fn judged(prepared: &Prepared<'_>) -> Vec<HostSaid> {
    match prepared.ask(LIMIT).said.unwrap() {
        Said::Hosts(hosts) => hosts,
        other => panic!("a judge speaks of hosts: {other:?}"),
    }
}

#[test]
fn a_judge_sees_the_hosts_that_are_up_and_says_something_of_each() {
    let mut scene = Scene::new("memory", vm(16));
    let prepared = scene.prepare(Part::Judge, Answers::BOTH, &[]).unwrap();
    let tables = prepared.tables();
    let hosts = table(&tables, "hosts");
    assert_eq!(ids(&hosts.rows), ["small", "large", "blank"]);
    let total = hosts.rows.iter().map(|row| value(row, "memory.total"));
    let gib = |gib: i64| Value::Integer(gib << 30);
    let total: Vec<Value> = total.flatten().cloned().collect();
    assert_eq!(total, [gib(8), gib(64), gib(0)]);
    assert_eq!(value(&hosts.rows[0], "memory.free"), None);
    assert_eq!(
        value(&hosts.rows[1], "memory.committed"),
        Some(&Value::Integer(2 << 30))
    );
    let members = &table(&tables, "members").rows;
    assert_eq!(ids(members), ["new"]);
    assert_eq!(
        value(&members[0], "memory"),
        Some(&Value::Integer(16 << 30))
    );
    let settings = table(&tables, "settings");
    assert_eq!(
        value(&settings.rows[0], "headroom"),
        Some(&Value::Integer(0))
    );
    let headroom = settings.columns.iter().find(|it| *it.name == *"headroom");
    assert_eq!(
        headroom.unwrap().measure,
        Some(placewright_model::Measure::Bytes)
    );

    let said = judged(&prepared);
    let kept = said.iter().map(|it| (it.host.as_deref(), it.keep));
    assert_eq!(
        kept.collect::<Vec<_>>(),
        [
            (Some("small"), Some(false)),
            (Some("large"), Some(true)),
            (Some("blank"), Some(false)),
        ]
    );
    let reason = "has too little memory left to promise";
    assert_eq!(said[0].reason.as_deref(), Some(reason));
    assert_eq!(said[1].reason, None);
    assert!(said.iter().all(|host| host.cost.is_some()));
}

#[test]
fn hosts_that_are_not_asked_about_are_told_with_why() {
    let mut scene = Scene::new("memory-room", vm(1));
    let prepared = scene.prepare(Part::Judge, Answers::VERDICTS, &[]).unwrap();
    let told = prepared.not_asked().iter();
    let told: Vec<_> = told.map(|it| (&*it.host, &*it.reason)).collect();
    assert_eq!(
        told,
        [
            ("away", "is not up: its state is maintenance"),
            ("blank", "lacks a value that the unit needs"),
            ("small", "lacks a value that the unit needs"),
        ]
    );
}

#[test]
fn only_what_is_wanted_of_the_hosts_that_are_named_is_asked() {
    let mut scene = Scene::new("memory", vm(1));
    let hosts = ["large".into(), "away".into()];
    let prepared = scene.prepare(Part::Judge, Answers::COSTS, &hosts).unwrap();
    assert_eq!(ids(&table(&prepared.tables(), "hosts").rows), ["large"]);
    let told = prepared.not_asked().iter().map(|it| &*it.host);
    assert_eq!(told.collect::<Vec<_>>(), ["away"]);
    let said = judged(&prepared);
    assert_eq!((said.len(), said[0].keep), (1, None));
    assert!(said[0].cost.is_some());
}

#[test]
fn rows_below_hosts_name_the_host_that_they_are_of() {
    let mut scene = Scene::new("network", vm(1));
    let prepared = scene.prepare(Part::Judge, Answers::VERDICTS, &[]).unwrap();
    let tables = prepared.tables();
    let networks = table(&tables, "hosts/networks").rows.iter();
    let networks: Vec<_> = networks
        .map(|row| {
            (
                row.below.as_deref(),
                value(row, "name").unwrap().to_string(),
            )
        })
        .collect();
    assert_eq!(
        networks,
        [
            (Some("small"), "storage".to_owned()),
            (Some("large"), "storage".to_owned()),
            (Some("large"), "backup".to_owned()),
        ]
    );
    // Nothing is needed of hosts themselves, so that no host lacks a value.
    assert_eq!(judged(&prepared).len(), 3);
}

#[test]
fn a_selection_is_asked_about_the_candidates() {
    let mut scene = Scene::new("equal-shares", vm(1));
    let prepared = scene.prepare(Part::Selection, Answers::BOTH, &[]).unwrap();
    let tables = prepared.tables();
    let candidates = table(&tables, "candidates");
    assert_eq!(ids(&candidates.rows), ["small", "large", "blank"]);
    assert_eq!(
        value(&candidates.rows[0], "group"),
        Some(&Value::Integer(0))
    );
    let Said::Groups(groups) = prepared.ask(LIMIT).said.unwrap() else {
        panic!("a selection makes groups");
    };
    let hosts = groups.iter().flatten().map(|share| &*share.host);
    assert_eq!(hosts.collect::<Vec<_>>(), ["small", "large", "blank"]);
}

#[test]
fn an_order_names_the_vms_of_each_turn() {
    let mut scene = Scene::set("placement-strategy", "strategy = 'balanced'", vm(1));
    let big = Vm::new("big").with("memory", 4_i64 << 30);
    scene.request.members.push(big.with("priority", 7_i64));
    let prepared = scene.prepare(Part::Order, Answers::BOTH, &[]).unwrap();
    assert_eq!(
        ids(&table(&prepared.tables(), "members").rows),
        ["new", "big"]
    );
    let Said::Turns(turns) = prepared.ask(LIMIT).said.unwrap() else {
        panic!("an order makes turns");
    };
    let turns: Vec<Vec<&str>> = turns
        .iter()
        .map(|turn| turn.iter().map(|vm| &**vm).collect())
        .collect();
    assert_eq!(turns, [["big"], ["new"]]);
}

#[test]
fn what_cannot_be_asked_is_told() {
    let mut scene = Scene::new("memory", vm(1));
    let unknown = ["nowhere".into()];
    let refusal = scene.prepare(Part::Judge, Answers::BOTH, &unknown).err();
    assert_eq!(
        refusal,
        Some(DecisionError::UnknownHost {
            host: "nowhere".into(),
            nearest: None,
        })
    );
    let refusal = scene
        .prepare(Part::Balance, Answers::BOTH, &[])
        .err()
        .unwrap();
    assert_eq!(
        refusal.to_string(),
        "no unit of the policy has a part balance"
    );
    let mut scene = Scene::new("gpu-fit", vm(1));
    let refusal = scene
        .prepare(Part::Effects, Answers::BOTH, &[])
        .err()
        .unwrap();
    assert!(refusal.to_string().contains("one host"), "{refusal}");
}
