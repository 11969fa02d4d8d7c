//! A test of the contract on paper: rules of five placement systems are written
//! down as descriptions, which the schema must accept, and for each a call is
//! built from one small cluster.

use std::sync::Arc;

use super::encode::{Context, Dictionary, HostRows, encode};
use super::plan::ReadPlan;
use super::subject::Subject;
use placewright_engine::contract::*;
use placewright_engine::unit::inspect::problems;
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{
    self as model, Entity, Facts, Group, GroupRule, Host, Request, RowChange, Vm,
};
use placewright_policy::Settings;

/// `hosts: state t, memory.free i?, pinning t!` reads three columns: `?` = may be
/// absent, `!` = a gate.
fn read(text: &str) -> TableRead {
    let (table, columns) = text.split_once(':').unwrap_or((text, ""));
    let columns = columns
        .split(',')
        .filter(|column| !column.trim().is_empty())
        .map(|column| {
            let (name, kind) = column.trim().rsplit_once(' ').unwrap();
            ColumnRead {
                column: name.into(),
                kind: match &kind[..1] {
                    "i" => Kind::Integer,
                    "n" => Kind::Number,
                    "b" => Kind::Boolean,
                    _ => Kind::Text,
                },
                required: !kind.ends_with(['?', '!']),
                gate: kind.ends_with('!'),
            }
        });
    TableRead {
        table: table.into(),
        columns: columns.collect(),
    }
}

fn reads(texts: &[&str]) -> Vec<TableRead> {
    texts.iter().map(|text| read(text)).collect()
}

fn rule(name: &str) -> Description {
    Description {
        name: name.into(),
        version: "0.1.0".into(),
        summary: "A rule on paper.".into(),
        aliases: vec![],
        settings: vec![],
        judge: None,
        selection: None,
        effects: None,
        balance: None,
        order: None,
        explain: None,
    }
}

fn setting(name: &str, kind: Kind, default: Value) -> Setting {
    Setting {
        name: name.into(),
        kind,
        measure: None,
        default: Some(default),
        required: false,
        least: None,
        greatest: None,
        pattern: None,
        choices: vec![],
        meaning: "A setting on paper.".into(),
        columns: vec![],
    }
}

fn judging(
    answers: Answers,
    evaluation: Evaluation,
    tables: &[&str],
    reasons: &[(&str, bool)],
) -> Option<JudgePart> {
    Some(JudgePart {
        answers,
        evaluation,
        reads: reads(tables),
        reasons: reasons
            .iter()
            .map(|(text, passing)| Reason {
                text: (*text).into(),
                passing: *passing,
            })
            .collect(),
        cost_range: None,
    })
}

fn selecting(tables: &[&str]) -> Option<SelectionPart> {
    Some(SelectionPart {
        reads: reads(tables),
        position: Position::Any,
    })
}

fn written(table: &str, columns: &[(&str, Kind)], scope: Scope, moment: Moment) -> Write {
    Write {
        table: table.into(),
        columns: columns
            .iter()
            .map(|(name, kind)| ((*name).into(), *kind))
            .collect(),
        scope,
        moment,
    }
}

const KEYS: &str = "members/keys: level i, index i?, class t, name t, value t, weight n?";

/// Score of a host by the keys of its bag; a band of scores above a threshold.
fn rule_system_keys() -> Description {
    Description {
        settings: vec![
            setting("steps", Kind::Integer, Value::Integer(10)),
            setting("initial", Kind::Number, Value::Number(80.0)),
            setting("final", Kind::Number, Value::Number(-10.0)),
        ],
        judge: judging(
            Answers::COSTS,
            Evaluation::RowWise,
            &[
                "members: memory i, vcpus i",
                KEYS,
                "hosts: state t, memory.total i, memory.committed i, vcpus i, cpu.cores i?, cpu.usage n?, attribute.ram-ratio n?",
                "hosts/keys: name t, value n",
            ],
            &[],
        ),
        selection: selecting(&[
            "candidates: cost n",
            "settings: steps i, initial n, final n",
        ]),
        explain: Some(ExplainPart {
            reads: reads(&["members", KEYS, "hosts", "hosts/keys: name t, value n"]),
        }),
        ..rule("system-keys")
    }
}

/// The keys that were fixed for the VMs of a host, against those of the customer.
fn rule_customer_keys() -> Description {
    Description {
        judge: judging(
            Answers::COSTS,
            Evaluation::RowWise,
            &[
                "members",
                KEYS,
                "hosts",
                "hosts/vms: id t",
                "hosts/vms/keys: name t",
                "hosts/vms/fixed-keys: name t, value n",
            ],
            &[],
        ),
        ..rule("customer-keys")
    }
}

/// A host's sticky keys stay with the VM once it runs.
fn rule_sticky_key() -> Description {
    Description {
        effects: Some(EffectsPart {
            reads: reads(&[
                "members",
                KEYS,
                "hosts",
                "hosts/keys: name t, value n, weight n?, sticky b?",
            ]),
            writes: vec![
                written(
                    "keys",
                    &[
                        ("level", Kind::Integer),
                        ("class", Kind::Text),
                        ("name", Kind::Text),
                        ("value", Kind::Text),
                        ("weight", Kind::Number),
                    ],
                    Scope::Vm,
                    Moment::Running,
                ),
                written(
                    "fixed-keys",
                    &[("name", Kind::Text), ("value", Kind::Number)],
                    Scope::Placement,
                    Moment::Decided,
                ),
            ],
        }),
        ..rule("sticky-key")
    }
}

/// Stay with the pod that the tenant is bound to; else bind anew.
fn rule_binding() -> Description {
    let bindings = "hosts/bindings: row i, zone t?, tag t?, start i, end i?";
    Description {
        settings: vec![setting("by-zone", Kind::Boolean, Value::Boolean(true))],
        selection: selecting(&[
            "request: now i, zone t?",
            "members",
            "members/specs: key t, value t",
            "hosts: listed i",
            bindings,
            "candidates: cost n",
            "settings: by-zone b",
        ]),
        effects: Some(EffectsPart {
            reads: reads(&[
                "request: now i, zone t?",
                "hosts: zone t?",
                "hosts/tags: key t, value t",
                bindings,
                "tenant: id t",
                "tenant/bindings: host t, zone t?, end i?",
            ]),
            writes: vec![written(
                "bindings",
                &[
                    ("host", Kind::Text),
                    ("zone", Kind::Text),
                    ("tag", Kind::Text),
                    ("start", Kind::Integer),
                    ("end", Kind::Integer),
                ],
                Scope::Tenant,
                Moment::Decided,
            )],
        }),
        ..rule("binding")
    }
}

/// Every named amount that is needed must be free.
fn rule_fit() -> Description {
    Description {
        judge: judging(
            Answers::VERDICTS,
            Evaluation::RowWise,
            &[
                "members",
                "members/amounts: name t, need i",
                "hosts",
                "hosts/amounts: name t, total i, used i, pending i",
            ],
            &[("has too little of an amount", false)],
        ),
        explain: Some(ExplainPart {
            reads: reads(&[
                "members",
                "members/amounts: name t, need i",
                "hosts",
                "hosts/amounts: name t, total i, used i, pending i",
            ]),
        }),
        ..rule("fit")
    }
}

/// Priority first, then the score where it runs, then scores node by node.
fn rule_turn() -> Description {
    Description {
        order: Some(OrderPart {
            reads: reads(&[
                "members: priority i, stickiness i?, running b",
                "hosts: id t, state t, listed i",
                "hosts/amounts: name t, total i",
                "hosts/location: member i, score i",
                "hosts/current: member i",
            ]),
        }),
        ..rule("turn")
    }
}

/// How many of the other candidates have more free capacity, by majority.
fn rule_majority() -> Description {
    Description {
        judge: judging(
            Answers::COSTS,
            Evaluation::WholeTable,
            &["hosts", "hosts/amounts: name t, total i, used i, pending i"],
            &[],
        ),
        ..rule("majority")
    }
}

/// Failed launches cost an account some of its share.
fn rule_penalty() -> Description {
    Description {
        settings: vec![
            setting("percent", Kind::Number, Value::Number(5.0)),
            setting("period", Kind::Integer, Value::Integer(21_600)),
            Setting {
                choices: vec!["points".into(), "relative".into()],
                ..setting("unit", Kind::Text, Value::Text("points".into()))
            },
        ],
        selection: selecting(&[
            "request: now i, instances i?",
            "hosts: attribute.account t?",
            "hosts/failures: time i",
            "candidates: group i, share n",
            "settings: percent n, period i, unit t",
        ]),
        ..rule("penalty")
    }
}

/// The VM's NUMA nodes must fit the host's nodes that they are pinned to.
fn rule_numa() -> Description {
    Description {
        judge: judging(
            Answers::VERDICTS,
            Evaluation::RowWise,
            &[
                "members: memory i, has-numa-nodes b!, has-huge-pages b",
                "members/numa-nodes: index i, memory i, mode t?",
                "members/numa-nodes/host-nodes: index i",
                "members/pins: vcpu i, cpu i",
                "hosts",
                "hosts/current: member i",
                "hosts/numa-nodes: index i, memory.total i, memory.free i?",
                "hosts/cpus: cpu i, numa i?, online b?",
            ],
            &[("has no NUMA nodes that the VM's fit", false)],
        ),
        ..rule("numa")
    }
}

/// VMs of a group together, or apart.
fn rule_vm_affinity() -> Description {
    Description {
        judge: judging(
            Answers::BOTH,
            Evaluation::RowWise,
            &[
                "groups: rule t?, hard b, priority n, here i, elsewhere b",
                "hosts",
                "hosts/group-members: group i, vms i, unmovable i",
            ],
            &[("is not where the VM's group is", false)],
        ),
        ..rule("vm-affinity")
    }
}

/// Out, when the load has been too high for too long.
fn rule_cpu_overloaded() -> Description {
    Description {
        settings: vec![
            setting("high-utilization", Kind::Integer, Value::Integer(90)),
            setting("over-commit-duration", Kind::Integer, Value::Integer(120)),
        ],
        judge: judging(
            Answers::VERDICTS,
            Evaluation::RowWise,
            &[
                "request: now i",
                "hosts: cpu.cores i, cpu.usage n, watch.cpu-over.since i?",
                "settings: high-utilization i, over-commit-duration i",
            ],
            &[("has been overloaded for too long", false)],
        ),
        ..rule("cpu-overloaded")
    }
}

/// Switch hosts off that nobody needs, and on when they run short.
fn rule_power_management() -> Description {
    Description {
        balance: Some(BalancePart {
            writes: Vec::new(),
            reads: reads(&[
                "request: now i",
                "hosts: state t, status.external t?, power.managed b?, power.keep-on b?, power.by-policy b?, vms.count i, vms.migrating i, vms.pending i",
                "hosts/vms: memory i, vcpus i, cpu.usage n?, migratable b",
                "groups: rule t?, hard b",
                "groups/vms: vm i",
                "groups/hosts: host i",
            ]),
            reasons: vec![Reason {
                text: "is not needed".into(),
                passing: false,
            }],
        }),
        ..rule("power-management")
    }
}

fn schema() -> Schema {
    let mut schema = Schema::default();
    schema
        .define_attribute(
            "hosts",
            "ram-ratio",
            model::Kind::Number,
            None,
            "RAM contention",
        )
        .unwrap();
    schema
        .define_attribute(
            "hosts",
            "account",
            model::Kind::Text,
            None,
            "provider account",
        )
        .unwrap();
    schema
}

fn cluster() -> Inventory {
    let mut inventory = Inventory::new("paper", Arc::new(schema()));
    let node = |index: i64| {
        Facts::new()
            .with("index", index)
            .with("memory.total", 1i64 << 34)
    };
    let key = |name: &str| {
        Facts::new()
            .with("name", name)
            .with("value", 1.0)
            .with("weight", 50.0)
    };
    for id in ["h1", "h2"] {
        let mut host = Host::new(id)
            .with("cpu.cores", 8i64)
            .with("memory.total", 1i64 << 36)
            .with("cpu.usage", 0.5)
            .with("attribute.account", "acme");
        host.facts.set_rows("numa-nodes", vec![node(0), node(1)]);
        host.facts.push_row("keys", key(id));
        host.facts.push_row(
            "amounts",
            Facts::new().with("name", "gpu").with("total", 4i64),
        );
        host.facts
            .push_row("failures", Facts::new().with("time", 5i64));
        inventory.add_host(host).unwrap();
    }
    let mut neighbour = Vm::new("neighbour").with("memory", 1i64 << 30);
    let named = |name: &str| Facts::new().with("name", name).with("value", "1");
    neighbour.facts.push_row("keys", named("own"));
    inventory.run_vm(neighbour, "h2").unwrap();
    let fixed = Facts::new().with("name", "disk").with("value", 2.5);
    for (table, row) in [("keys", named("placed")), ("fixed-keys", fixed)] {
        let placement = Entity::Placement("neighbour".into());
        let write = model::Write::row(placement, table, RowChange::Append(row));
        inventory.apply(&[write]).unwrap();
    }
    let binding = |host: &str| Facts::new().with("host", host).with("start", 1i64);
    let mut tenant = Facts::new();
    tenant.set_rows(
        "bindings",
        vec![
            binding("h2").with("end", 50i64),
            binding("gone").with("end", 60i64),
            binding("h1").with("zone", "z1").with("tag", "disk=ssd"),
            binding("h2").with("zone", "z1"),
        ],
    );
    inventory.set_tenant("acme", tenant).unwrap();
    inventory
        .set_group(Group {
            vms: vec!["vm".into(), "neighbour".into()],
            hosts: vec!["h1".into()],
            vm_rule: Some(GroupRule::Positive { hard: true }),
            host_rule: None,
            priority: 1.0,
            ..Group::new("pair")
        })
        .unwrap();
    inventory
}

fn request() -> Request {
    let mut vm = Vm::new("vm")
        .with("memory", 1i64 << 32)
        .with("pinning", "manual");
    let mut numa = Facts::new().with("index", 0i64).with("memory", 1i64 << 32);
    numa.push_row("host-nodes", Facts::new().with("index", 1i64));
    vm.facts.push_row("numa-nodes", numa);
    vm.facts.push_row(
        "amounts",
        Facts::new().with("name", "gpu").with("need", 1i64),
    );
    let key = Facts::new()
        .with("level", 9i64)
        .with("class", "sys")
        .with("name", "h1")
        .with("value", "1")
        .with("weight", 100.0);
    vm.facts.push_row("keys", key);
    vm.pinning.location = [("h2", 5), ("h1", -1_000_000), ("h2", 5), ("gone", 7)]
        .map(|(host, score)| (host.into(), score))
        .to_vec();
    Request {
        members: vec![vm],
        facts: Facts::new().with("tenant", "acme"),
        now: 100,
        ..Request::default()
    }
}

/// What a unit would see: by table and column, the values of all rows.
fn decoded(call: &Call, reads: &[TableRead]) -> Vec<(String, Vec<Option<String>>)> {
    let (mut integers, mut numbers) = (0, 0);
    let mut seen = Vec::new();
    for (table, read) in reads.iter().enumerate() {
        let rows = call.rows[table] as usize;
        if let Some(parent) = read.parent() {
            let parent = reads.iter().position(|read| read.table == parent).unwrap();
            let count = call.rows[parent] as usize + 1;
            let offsets = &call.integers[integers..][..count];
            assert!(offsets.is_sorted(), "{} {offsets:?}", read.table);
            assert_eq!(
                (offsets[0], offsets[count - 1]),
                (0, rows as i64),
                "{}",
                read.table
            );
            integers += count;
        }
        for column in &read.columns {
            let values = (0..rows).map(|row| match column.kind {
                Kind::Number => {
                    let at = numbers + row;
                    let absent = call.absent_numbers.contains(&(at as u32));
                    (!absent).then(|| call.numbers[at].to_string())
                }
                kind => {
                    let at = integers + row;
                    let absent = call.absent_integers.contains(&(at as u32));
                    let value = call.integers[at];
                    (!absent).then(|| match kind {
                        Kind::Text => call.texts[value as usize].to_string(),
                        _ => value.to_string(),
                    })
                }
            });
            let values: Vec<_> = values.collect();
            assert!(
                !column.required || !values.contains(&None),
                "{}",
                column.column
            );
            seen.push((format!("{}.{}", read.table, column.column), values));
            match column.kind {
                Kind::Number => numbers += rows,
                _ => integers += rows,
            }
        }
    }
    assert_eq!(
        (integers, numbers),
        (call.integers.len(), call.numbers.len())
    );
    seen
}

/// Build a call of a part, and read it back as a unit would.
fn call_of(description: &Description, part: Part) -> Vec<(String, Vec<Option<String>>)> {
    let mut inventory = cluster();
    let reads = description.reads(part).unwrap();
    let plan = ReadPlan::new(reads, &mut inventory);
    let request = request();
    let subject = Subject::new(&request, &inventory, 0.25);
    let settings = Settings {
        measures: Vec::new(),
        value_names: description
            .settings
            .iter()
            .map(|s| s.name.as_str().into())
            .collect(),
        values: description
            .settings
            .iter()
            .map(|s| s.default.as_ref().map(model::Value::from))
            .collect(),
        ..Settings::default()
    };
    let context = Context {
        inventory: &inventory,
        subject: (part != Part::Balance).then_some(&subject),
        settings: &settings,
        now: 100,
        candidates: None,
    };
    let mut call = Call::default();
    encode(
        &plan,
        context,
        HostRows::All(2),
        &mut Dictionary::default(),
        &mut call,
    )
    .unwrap();
    decoded(&call, reads)
}

#[test]
fn twelve_rules_of_five_systems_are_described_and_called() {
    let rules = [
        rule_system_keys(),
        rule_customer_keys(),
        rule_sticky_key(),
        rule_binding(),
        rule_fit(),
        rule_turn(),
        rule_majority(),
        rule_penalty(),
        rule_numa(),
        rule_vm_affinity(),
        rule_cpu_overloaded(),
        rule_power_management(),
    ];
    for description in &rules {
        let exports: Vec<Part> = Part::ALL
            .into_iter()
            .filter(|part| description.describes(*part))
            .collect();
        assert_eq!(
            problems(description, &exports, &schema()),
            Vec::<String>::new(),
            "{}",
            description.name
        );
        for part in exports.into_iter().filter(|part| *part != Part::Unit) {
            let seen = call_of(description, part);
            assert!(!seen.is_empty(), "{} {part}", description.name);
        }
    }
}

fn values(description: &Description, part: Part, column: &str) -> Vec<String> {
    let (_, values) = call_of(description, part)
        .into_iter()
        .find(|(name, _)| name == column)
        .unwrap();
    values
        .into_iter()
        .map(|value| value.unwrap_or("-".into()))
        .collect()
}

#[test]
fn a_call_carries_what_the_cluster_and_the_request_hold() {
    let (judge, keys) = (Part::Judge, rule_system_keys());
    assert_eq!(values(&keys, judge, "members/keys.weight"), ["100"]);
    assert_eq!(values(&keys, judge, "hosts/keys.name"), ["h1", "h2"]);
    assert_eq!(
        values(&keys, judge, "hosts.attribute.ram-ratio"),
        ["-", "-"]
    );
    assert_eq!(
        values(&keys, judge, "hosts.memory.committed"),
        ["0", "1073741824"]
    );
    assert_eq!(
        values(&rule_fit(), judge, "hosts/amounts.total"),
        ["4", "4"]
    );
    assert_eq!(
        values(&rule_numa(), judge, "hosts/numa-nodes.index"),
        ["0", "1", "0", "1"]
    );
    assert_eq!(
        values(&rule_numa(), judge, "members/numa-nodes/host-nodes.index"),
        ["1"]
    );
    let numa = |column| values(&rule_numa(), judge, column);
    assert_eq!(numa("members.has-numa-nodes"), ["1"]);
    assert_eq!(numa("members.has-huge-pages"), ["0"]);
    assert_eq!(
        values(&rule_vm_affinity(), judge, "hosts/group-members.vms"),
        ["1"]
    );
    assert_eq!(
        values(&rule_vm_affinity(), judge, "groups.elsewhere"),
        ["1"]
    );
    assert_eq!(
        values(&rule_cpu_overloaded(), judge, "request.now"),
        ["100"]
    );
    let settings = values(&rule_cpu_overloaded(), judge, "settings.high-utilization");
    assert_eq!(settings, ["90"]);
    let turn = |column| values(&rule_turn(), Part::Order, column);
    assert_eq!(turn("hosts/location.member"), ["0", "0", "0"]);
    assert_eq!(turn("hosts/location.score"), ["-1000000", "5", "5"]);
    let customer = |column| values(&rule_customer_keys(), judge, column);
    assert_eq!(customer("hosts/vms/keys.name"), ["own", "placed"]);
    assert_eq!(customer("hosts/vms/fixed-keys.value"), ["2.5"]);
    let power = rule_power_management();
    assert_eq!(values(&power, Part::Balance, "groups/vms.vm"), ["0"]);
    assert_eq!(values(&power, Part::Balance, "groups/hosts.host"), ["0"]);
}

#[test]
fn the_bindings_of_the_tenant_stand_below_their_hosts() {
    for part in [Part::Selection, Part::Effects] {
        let bindings = |column| {
            let column = format!("hosts/bindings.{column}");
            values(&rule_binding(), part, &column)
        };
        assert_eq!(bindings("row"), ["2", "0", "3"]);
        assert_eq!(bindings("zone"), ["z1", "-", "z1"]);
        assert_eq!(bindings("tag"), ["disk=ssd", "-", "-"]);
        assert_eq!(bindings("end"), ["-", "50", "-"]);
    }
    let tenants = |column| values(&rule_binding(), Part::Effects, column);
    assert_eq!(tenants("tenant.id"), ["acme"]);
    assert_eq!(tenants("tenant/bindings.host"), ["h2", "gone", "h1", "h2"]);
    assert_eq!(tenants("tenant/bindings.end"), ["50", "60", "-", "-"]);
}
