//! From the lists of a call to rows: the example of the contract, absent values,
//! texts, and tables two deep.

use std::sync::Mutex;

use placewright_sdk::contract::{Answers, Tables};
use placewright_sdk::native::{Call, NativeUnit};
use placewright_sdk::prelude::*;

const BOTH: Answers = Answers {
    verdicts: true,
    costs: true,
};

/// What a unit saw, line by line.
static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn seen_of(unit: &dyn NativeUnit, tables: Tables) -> Vec<String> {
    let mut seen = SEEN.lock().expect("no test panics while it holds the lock");
    seen.clear();
    drop(seen);
    unit.judge(BOTH, &Call::new(tables)).expect("the call fits");
    std::mem::take(&mut SEEN.lock().expect("as above"))
}

fn see(line: String) {
    SEEN.lock().expect("as above").push(line);
}

/// One test at a time, since all see into one list.
static TURN: Mutex<()> = Mutex::new(());

mod contract_example {
    use super::*;

    #[derive(Row)]
    struct Vm {
        memory: Bytes,
    }

    #[derive(Row)]
    struct Network {
        name: Text,
    }

    #[derive(Row)]
    struct Host {
        #[column("memory.free")]
        free: Bytes,
        #[column("cpu.usage")]
        usage: Option<f64>,
        #[table("networks")]
        networks: Rows<Network>,
    }

    struct Example;

    impl RowWise for Example {
        type Request = Vm;
        type Host = Host;
        type Settings = ();
        type Reason = ();
        type Need = Bytes;

        fn prepare(vm: &Vm, (): &()) -> Result<Bytes, Problem> {
            Ok(vm.memory)
        }
    }

    impl RowCost for Example {
        fn cost(need: &Bytes, host: &Host) -> f64 {
            let networks: Vec<_> = host.networks.iter().map(|it| it.name.to_string()).collect();
            let (free, usage) = (host.free, host.usage);
            see(format!(
                "{need} of {free}, usage {usage:?}, on {networks:?}"
            ));
            0.0
        }
    }

    placewright_sdk::export!(Example: cost_function);

    #[test]
    fn is_read_as_the_contract_says() {
        let _turn = TURN.lock();
        let tables = Tables {
            rows: vec![1, 2, 3],
            integers: vec![4294967296, 8589934592, 1073741824, 0, 2, 3, 0, 1, 1],
            numbers: vec![0.25, 0.0],
            absent_integers: vec![],
            absent_numbers: vec![1],
            texts: vec!["red".into(), "blue".into()],
        };
        assert_eq!(
            seen_of(native_unit(), tables),
            [
                "4 GiB of 8 GiB, usage Some(0.25), on [\"red\", \"blue\"]",
                "4 GiB of 1 GiB, usage None, on [\"blue\"]",
            ]
        );
    }

    #[test]
    fn is_declared_as_the_contract_says() {
        let judge = native_unit().describe().judge.expect("it has a judge");
        let tables: Vec<_> = (judge.reads.iter())
            .map(|read| {
                let columns: Vec<_> = read.columns.iter().map(|it| it.column.as_str()).collect();
                (read.table.as_str(), columns)
            })
            .collect();
        assert_eq!(
            tables,
            [
                ("members", vec!["memory"]),
                ("hosts", vec!["memory.free", "cpu.usage"]),
                ("hosts/networks", vec!["name"]),
            ]
        );
        assert!(judge.reads[1].columns[0].required);
        assert!(!judge.reads[1].columns[1].required);
    }

    #[test]
    fn other_tables_are_refused() {
        let fits = Tables {
            rows: vec![0, 0, 0],
            integers: vec![0],
            numbers: vec![],
            absent_integers: vec![],
            absent_numbers: vec![],
            texts: vec![],
        };
        let judge = |tables: Tables| native_unit().judge(BOTH, &Call::new(tables));
        assert!(judge(fits.clone()).is_ok());
        let fewer_tables = Tables {
            rows: vec![0, 0],
            ..fits.clone()
        };
        let more_integers = Tables {
            integers: vec![0, 7],
            ..fits.clone()
        };
        let more_numbers = Tables {
            numbers: vec![0.5],
            ..fits
        };
        for tables in [fewer_tables, more_integers, more_numbers] {
            assert!(matches!(judge(tables), Err(Problem::Failed(_))));
        }
    }
}

mod absent_values {
    use super::*;

    #[derive(Row)]
    struct Host {
        first: Option<i64>,
        second: Option<Bytes>,
        flag: Option<bool>,
        label: Option<Text>,
    }

    struct Absence;

    impl RowWise for Absence {
        type Request = ();
        type Host = Host;
        type Settings = ();
        type Reason = ();
        type Need = ();

        fn prepare((): &(), (): &()) -> Result<(), Problem> {
            Ok(())
        }
    }

    impl RowCost for Absence {
        fn cost((): &(), host: &Host) -> f64 {
            let Host {
                first,
                second,
                flag,
                label,
            } = host;
            see(format!("{first:?} {second:?} {flag:?} {label:?}"));
            0.0
        }
    }

    placewright_sdk::export!(Absence: cost_function);

    fn tables(absent_integers: Vec<u32>) -> Tables {
        Tables {
            rows: vec![3],
            integers: vec![1, 2, 3, 4, 5, 6, 1, 0, 1, 1, 0, 1],
            numbers: vec![],
            absent_integers,
            absent_numbers: vec![],
            texts: vec!["old".into(), "new".into()],
        }
    }

    #[test]
    fn are_none_in_their_own_column_only() {
        let _turn = TURN.lock();
        assert_eq!(
            seen_of(native_unit(), tables(vec![0, 5, 6, 7, 8, 10])),
            [
                "None Some(Bytes(4)) None Some(\"new\")",
                "Some(2) Some(Bytes(5)) None None",
                "Some(3) None None Some(\"new\")",
            ]
        );
    }

    #[test]
    fn may_be_none_at_all() {
        let _turn = TURN.lock();
        assert_eq!(
            seen_of(native_unit(), tables(vec![]))[0],
            "Some(1) Some(Bytes(4)) Some(true) Some(\"new\")"
        );
    }
}

mod nested_tables {
    use super::*;

    #[derive(Row)]
    struct Key {
        name: Text,
    }

    #[derive(Row)]
    struct Vm {
        memory: Bytes,
        #[table("keys")]
        keys: Rows<Key>,
    }

    #[derive(Row)]
    struct Place {
        rack: i64,
    }

    #[derive(Row)]
    struct Host {
        #[table("vms")]
        vms: Rows<Vm>,
        #[table("location")]
        place: Option<Place>,
    }

    struct Nested;

    impl RowWise for Nested {
        type Request = ();
        type Host = Host;
        type Settings = ();
        type Reason = ();
        type Need = ();

        fn prepare((): &(), (): &()) -> Result<(), Problem> {
            Ok(())
        }
    }

    impl RowCost for Nested {
        fn cost((): &(), host: &Host) -> f64 {
            let vms: Vec<_> = (host.vms.numbered())
                .map(|(number, vm)| {
                    let keys: Vec<_> = vm.keys.iter().map(|key| key.name.to_string()).collect();
                    format!("{number}: {} {}", vm.memory, keys.join("+"))
                })
                .collect();
            let rack = host.place.as_ref().map(|place| place.rack);
            see(format!("rack {rack:?}, {}", vms.join(", ")));
            0.0
        }
    }

    placewright_sdk::export!(Nested: cost_function);

    #[test]
    fn are_read_two_deep() {
        let _turn = TURN.lock();
        let tables = Tables {
            // hosts, hosts/vms, hosts/vms/keys, hosts/location
            rows: vec![3, 3, 3, 1],
            integers: vec![
                0, 2, 2, 3, 1, 2, 3, // vms: offsets, memory
                0, 1, 1, 3, 0, 1, 0, // keys: offsets, name
                0, 0, 1, 1, 7, // location: offsets, rack
            ],
            numbers: vec![],
            absent_integers: vec![],
            absent_numbers: vec![],
            texts: vec!["a".into(), "b".into()],
        };
        assert_eq!(
            seen_of(native_unit(), tables),
            [
                "rack None, 0: 1 B a, 1: 2 B ",
                "rack Some(7), ",
                "rack None, 2: 3 B b+a",
            ]
        );
    }

    #[test]
    fn are_made_of_rows_in_tests() {
        let vm = |bytes, keys: &[&str]| Vm {
            memory: Bytes(bytes),
            keys: keys.iter().map(|&key| Key { name: key.into() }).collect(),
        };
        let rows = Rows::from(vec![vm(1, &["a"]), vm(2, &[])]);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows.iter().map(|vm| vm.memory).sum::<Bytes>(), Bytes(3));
        assert_eq!(rows.get(0).expect("there are two").keys.len(), 1);
        assert!(rows.get(2).is_none());
        let numbers: Vec<_> = rows.numbered().map(|(number, _)| number).collect();
        assert_eq!(numbers, [0, 1]);
    }
}

#[test]
fn texts_are_equal_by_characters() {
    let red = Text::from("red");
    assert_eq!(red, Text::from("red".to_owned()));
    assert_eq!(red, "red");
    assert_ne!(red, Text::from("blue"));
    let mut names = std::collections::HashSet::new();
    names.insert(red);
    assert!(names.contains("red"));
}

#[test]
fn amounts_are_shown_exactly() {
    let shown = [
        Bytes(0).to_string(),
        Bytes(1536).to_string(),
        Bytes::mib(1536).to_string(),
        Bytes::gib(-4).to_string(),
        Millicores::cores(1).to_string(),
        Millicores::cores(4).to_string(),
        Millicores(420).to_string(),
        Seconds(90).to_string(),
    ];
    let expected = [
        "0 B", "1536 B", "1536 MiB", "-4 GiB", "1 core", "4 cores", "420m", "90 s",
    ];
    assert_eq!(shown, expected);
}
