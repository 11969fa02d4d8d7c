//! Settings, their check, and balance parts.

use placewright_sdk::contract::{self, Kind, Tables, Value};
use placewright_sdk::native::Call;
use placewright_sdk::prelude::*;

#[derive(Row, Debug, PartialEq)]
struct Window {
    /// When it begins.
    from: Seconds,
    /// What it is called.
    label: Option<Text>,
}

#[derive(Settings, Debug, PartialEq)]
struct Settings {
    /// Memory kept free
    /// on every host.
    #[setting(default = "1 GiB", least = 0, greatest = "1 TiB")]
    headroom: Bytes,
    /// Load above which a host is full.
    #[setting(default = 0.75, range = 0..=1, measure = "fraction")]
    full_at: f64,
    /// What is compared.
    #[setting(name = "compare", default = "cpu", choices = ["cpu", "memory"])]
    compared: Text,
    /// Only VMs of this class.
    #[setting(pattern = "[a-z]+")]
    class: Option<Text>,
    /// How long to wait.
    #[setting(default = "2 min")]
    patience: Seconds,
    /// CPU kept free.
    #[setting(default = "0.5")]
    cores: Millicores,
    /// Whether anything is done.
    #[setting(default = true)]
    active: bool,
    /// When the rule rests.
    rests: Rows<Window>,
}

#[derive(Row)]
struct Vm {
    memory: Bytes,
}

#[derive(Row)]
struct Host {
    free: Bytes,
    #[table("vms")]
    vms: Rows<Vm>,
}

#[derive(Request)]
struct Cluster {
    hosts: Rows<Host>,
}

#[derive(Reason, Clone, Debug, PartialEq)]
enum Reason {
    /// is short of memory
    Short,
    /// is empty
    Empty,
}

/// Where a copy of the VM's disks is kept.
#[derive(Written)]
#[written(table = "attribute.mirror", scope = "vm", moment = "running")]
struct Mirror {
    host: Text,
}

struct Relief;

impl Balance for Relief {
    type Request = Cluster;
    type Settings = Settings;
    type Reason = Reason;
    type Writes = Mirror;

    fn balance(
        request: &Cluster,
        settings: &Settings,
    ) -> Result<Vec<Proposal<Reason, Mirror>>, Problem> {
        let mut proposals = Vec::new();
        for (number, host) in request.hosts.numbered() {
            if let Some((vm, _)) = host.vms.numbered().max_by_key(|(_, vm)| vm.memory) {
                if host.free < settings.headroom {
                    let mut changes = Changes::new();
                    changes.append(
                        0,
                        Mirror {
                            host: "spare".into(),
                        },
                    );
                    proposals.push(Proposal::Move {
                        vm,
                        among: vec![],
                        accept: vec![number],
                        changes,
                        reason: Reason::Short,
                    });
                }
            } else {
                proposals.push(Proposal::HostState {
                    host: number,
                    state: "off".into(),
                    reason: Reason::Empty,
                });
                let table = if settings.active { "hosts" } else { "racks" };
                proposals.push(Proposal::Finding {
                    reason: Reason::Empty,
                    rows: vec![(table, number)],
                });
            }
        }
        Ok(proposals)
    }
}

impl CheckSettings for Relief {
    type Settings = Settings;

    fn check(settings: &Settings) -> Result<(), String> {
        if settings
            .rests
            .iter()
            .any(|window| window.from < settings.patience)
        {
            return Err("a rest begins before patience ends".into());
        }
        Ok(())
    }
}

placewright_sdk::export!(Relief: balance, settings);

/// The settings as the runtime sends them: headroom, compare, class (absent),
/// patience, cores, active, and one rest from this second on.
fn sent(headroom: i64, active: i64, rest_from: i64) -> (Vec<i64>, u32) {
    let integers = vec![headroom, 0, 0, 120, 500, active, 0, 1, rest_from, 0];
    (integers, 2)
}

fn tables(headroom: i64, active: i64) -> Tables {
    let mut integers = vec![100, 5, 0, 2, 2, 30, 40];
    let (settings, class) = sent(headroom, active, 200);
    let absent = vec![integers.len() as u32 + class];
    integers.extend(settings);
    Tables {
        rows: vec![2, 2, 1, 1],
        integers,
        numbers: vec![0.75],
        absent_integers: absent,
        absent_numbers: vec![],
        texts: vec!["cpu".into()],
    }
}

#[test]
fn proposals_carry_numbers() {
    let proposals = native_unit().balance(&Call::new(tables(101, 1)));
    assert_eq!(
        proposals.expect("it fits"),
        [
            contract::Proposal::Move(contract::Move {
                vm: 1,
                among: vec![],
                accept: vec![0],
                changes: vec![contract::Change {
                    write: 0,
                    entity: 0,
                    operation: contract::Operation::Append(vec![Some(Value::Text("spare".into()))]),
                }],
                reason: 1,
            }),
            contract::Proposal::HostState(contract::HostState {
                host: 1,
                state: "off".into(),
                reason: 2,
            }),
            contract::Proposal::Finding(contract::Finding {
                reason: 2,
                rows: vec![contract::Row { table: 0, row: 1 }],
            }),
        ]
    );
}

#[test]
fn a_finding_about_an_undeclared_table_fails() {
    let proposals = native_unit().balance(&Call::new(tables(101, 0)));
    assert!(matches!(proposals, Err(Problem::Failed(_))));
}

#[test]
fn parts_that_are_not_there_fail() {
    let want = contract::Answers {
        verdicts: true,
        costs: false,
    };
    let answer = native_unit().judge(want, &Call::new(tables(1, 1)));
    assert!(matches!(answer, Err(Problem::Failed(_))));
    assert!(native_unit().describe().judge.is_none());
}

#[test]
fn settings_have_defaults() {
    let expected = Settings {
        headroom: Bytes::gib(1),
        full_at: 0.75,
        compared: "cpu".into(),
        class: None,
        patience: Seconds(120),
        cores: Millicores(500),
        active: true,
        rests: Rows::default(),
    };
    assert_eq!(Settings::defaults(), Some(expected));
}

#[derive(Settings)]
struct Demanding {
    /// Must be said.
    limit: i64,
}

#[test]
fn a_required_setting_has_no_default() {
    assert!(Demanding::defaults().is_none());
    assert!(Demanding::describe()[0].required);
}

#[test]
fn settings_are_described() {
    let settings = native_unit().describe().settings;
    let names: Vec<_> = settings.iter().map(|it| it.name.as_str()).collect();
    let expected = [
        "headroom", "full-at", "compare", "class", "patience", "cores", "active", "rests",
    ];
    assert_eq!(names, expected);
    assert!(settings.iter().all(|setting| !setting.required));
    let [
        headroom,
        full_at,
        compare,
        class,
        patience,
        cores,
        active,
        rests,
    ] = &settings[..]
    else {
        panic!("there are eight");
    };
    assert_eq!(headroom.meaning, "Memory kept free on every host.");
    assert_eq!(headroom.measure.as_deref(), Some("bytes"));
    assert_eq!(headroom.default, Some(Value::Integer(1 << 30)));
    assert_eq!(
        (headroom.least, headroom.greatest),
        (Some(0.0), Some((1i64 << 40) as f64))
    );
    assert_eq!(
        (full_at.kind, full_at.measure.as_deref()),
        (Kind::Number, Some("fraction"))
    );
    assert_eq!((full_at.least, full_at.greatest), (Some(0.0), Some(1.0)));
    assert_eq!(compare.choices, ["cpu", "memory"]);
    assert_eq!(compare.default, Some(Value::Text("cpu".into())));
    assert_eq!(class.pattern.as_deref(), Some("[a-z]+"));
    assert_eq!(class.default, None);
    assert_eq!(patience.default, Some(Value::Integer(120)));
    assert_eq!(cores.default, Some(Value::Integer(500)));
    assert_eq!(active.default, Some(Value::Boolean(true)));
    let columns: Vec<_> = (rests.columns.iter())
        .map(|column| {
            (
                column.name.as_str(),
                column.required,
                column.meaning.as_str(),
            )
        })
        .collect();
    let expected = [
        ("from", true, "When it begins."),
        ("label", false, "What it is called."),
    ];
    assert_eq!(columns, expected);
}

#[test]
fn settings_are_checked_against_each_other() {
    let check = |rest_from| {
        let (integers, class) = sent(1, 1, rest_from);
        native_unit().check(&Call::new(Tables {
            rows: vec![1, 1],
            integers,
            numbers: vec![0.75],
            absent_integers: vec![class],
            absent_numbers: vec![],
            texts: vec!["cpu".into()],
        }))
    };
    assert_eq!(check(120), Ok(()));
    assert_eq!(check(119), Err("a rest begins before patience ends".into()));
}
