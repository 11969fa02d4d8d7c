//! The rule beside its definition, written down plainly.

use gpu_room::{ChosenGpu, Model};
use placewright_sdk::contract::{Operation, Value};

use super::*;

fn shape(cores: i32, gpus: i64, share: i64, models: Option<&str>, weight: i64) -> Shape {
    Shape {
        cpu: cores.into(),
        gpus,
        share,
        models: models.map(Text::from),
        weight,
    }
}

/// Some of each kind: parts, whole GPUs, several, without, and of some models only.
fn shapes() -> Vec<Shape> {
    vec![
        shape(4, 1, 300, None, 20),
        shape(8, 1, 500, None, 15),
        shape(2, 1, 1000, None, 25),
        shape(12, 1, 1000, Some("T4|A10"), 10),
        shape(32, 4, 1000, None, 5),
        shape(64, 8, 1000, Some("A10"), 2),
        shape(16, 2, 1000, None, 8),
        shape(10, 0, 1000, None, 15),
    ]
}

fn vm(cores: i64, gpus: i64, share: i64) -> Vm {
    Vm {
        cpu: Millicores::cores(cores),
        memory: Bytes(0),
        count: Some(gpus),
        share: Some(share),
        models: Rows::<Model>::default(),
    }
}

/// Fragments by the definition: all that is free, for each typical VM that has no room
/// on the host; of the others, what is free of GPUs that are too small for it.
fn fragments(shapes: &[Shape], cores: i64, free: &[i64], model: &str) -> f64 {
    let all: i64 = free.iter().sum();
    let of_shape = |shape: &Shape| {
        let fits = |free: &&i64| **free >= shape.share;
        let accepted =
            (shape.models.as_ref()).is_none_or(|models| models.split('|').any(|it| it == model));
        let room = shape.gpus > 0
            && accepted
            && cores * 1000 >= shape.millicores()
            && free.iter().filter(fits).count() as i64 >= shape.gpus;
        let usable: i64 = if room {
            free.iter().filter(fits).sum()
        } else {
            0
        };
        (all - usable) as f64 * shape.weight as f64
    };
    let weight: i64 = shapes.iter().map(|shape| shape.weight).sum();
    shapes.iter().map(of_shape).sum::<f64>() / weight as f64
}

fn need(vms: Vec<Vm>, shapes: Vec<Shape>) -> Need {
    let settings = Settings {
        typical: shapes.into(),
    };
    Fgd::prepare(&Request { vms: vms.into() }, &settings).expect("nothing is refused")
}

fn host(cores: i64, free: &[i64], model: &str) -> Host {
    Host {
        cpu: Millicores::cores(cores),
        cpu_overcommit: None,
        cpu_committed: Millicores(0),
        cpu_pending: Millicores(0),
        memory: Bytes::gib(1),
        memory_reserved: Bytes(0),
        memory_overcommit: 1.0,
        memory_committed: Bytes(0),
        memory_pending: Bytes(0),
        model: Some(model.into()),
        gpus: (0..)
            .zip(free)
            .map(|(index, free): (i64, &i64)| ChosenGpu { index, free: *free })
            .collect(),
        current: Rows::default(),
    }
}

/// The best cost by the definition, of all ways to give one VM its GPUs.
fn plain_cost(vm: (i64, i64, i64), cores: i64, free: &[i64], model: &str) -> f64 {
    let (need, count, share) = vm;
    let before = fragments(&shapes(), cores, free, model);
    let mut best = f64::NEG_INFINITY;
    for chosen in 0u32..1 << free.len() {
        let is_chosen = |place: usize| chosen & 1 << place != 0;
        let fits = (0..free.len()).all(|place| !is_chosen(place) || free[place] >= share);
        if i64::from(chosen.count_ones()) != count || !fits {
            continue;
        }
        let after: Vec<i64> = (0..free.len())
            .map(|place| free[place] - if is_chosen(place) { share } else { 0 })
            .collect();
        best = best.max(before - fragments(&shapes(), cores - need, &after, model));
    }
    -(100.0 / (1.0 + (-best / 1000.0).exp())).floor()
}

#[test]
fn costs_are_those_of_the_definition() {
    let hosts: [(i64, &[i64], &str); 6] = [
        (96, &[1000; 8], "A10"),
        (96, &[1000, 1000, 700, 500, 200, 0], "T4"),
        (14, &[1000, 300, 640, 640], "P100"),
        (40, &[1000, 1000, 1000, 1000], "T4"),
        (3, &[1000], "A10"),
        (66, &[1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000], "A10"),
    ];
    let vms = [
        (2, 1, 300),
        (1, 1, 640),
        (3, 1, 1000),
        (8, 2, 1000),
        (8, 4, 1000),
        (3, 0, 1000),
        (2, 1, 20),
    ];
    let mut compared = 0;
    for (cores, free, model) in hosts {
        for (vm_cores, count, share) in vms {
            let need = need(vec![vm(vm_cores, count, share)], shapes());
            let host = host(cores, free, model);
            if Fgd::keep(&need, &host) != Verdict::Keep {
                assert_eq!(Fgd::cost(&need, &host), 0.0);
                continue;
            }
            let plain = plain_cost((vm_cores, count, share), cores, free, model);
            let cost = Fgd::cost(&need, &host);
            assert_eq!(
                cost, plain,
                "{vm_cores} {count} {share} on {cores} {free:?}"
            );
            compared += 1;
        }
    }
    assert!(compared > 25, "{compared}");
}

#[test]
fn a_vm_prefers_the_place_that_spoils_least() {
    // Half a GPU beside another half spoils nothing; half of a whole one does.
    let need = need(vec![vm(1, 1, 500)], vec![shape(1, 1, 1000, None, 1)]);
    let spoils = Fgd::cost(&need, &host(8, &[1000], "T4"));
    let fills = Fgd::cost(&need, &host(8, &[500], "T4"));
    assert!(fills < spoils, "{fills} {spoils}");
}

#[test]
fn vms_that_are_placed_together_count_together() {
    let one = |shares: &[i64]| {
        let vms = shares.iter().map(|share| vm(1, 1, *share)).collect();
        let need = need(vms, vec![shape(1, 1, 1000, None, 1)]);
        Fgd::cost(&need, &host(8, &[1000, 1000], "T4"))
    };
    // Two halves of one GPU: as a whole one.
    assert_eq!(one(&[500, 500]), one(&[1000]));
}

#[test]
fn without_typical_shapes_all_hosts_with_room_are_equal() {
    let need = need(vec![vm(1, 1, 500)], Vec::new());
    assert_eq!(Fgd::cost(&need, &host(8, &[1000], "T4")), -50.0);
    assert_eq!(Fgd::cost(&need, &host(8, &[500, 700], "T4")), -50.0);
}

#[test]
fn the_gpus_that_the_cost_was_worked_out_for_are_given() {
    let gpu = |(index, free): (i64, &i64)| ChosenGpu { index, free: *free };
    let host = ChosenHost {
        cpu: Millicores::cores(16),
        cpu_overcommit: None,
        cpu_committed: Millicores(0),
        cpu_pending: Millicores(0),
        model: None,
        // The least room that is enough would be the third, and spoil it for 600.
        gpus: (4..).zip(&[1000, 700, 600]).map(gpu).collect(),
        current: Rows::default(),
    };
    let placement = Placement {
        vms: vec![vm(1, 1, 100), vm(1, 2, 600)].into(),
        hosts: vec![host].into(),
    };
    let settings = Settings {
        typical: vec![shape(1, 1, 600, None, 1), shape(1, 1, 1000, None, 1)].into(),
    };
    let changes = Fgd::placed(&placement, &settings).expect("there is room");
    let row = |change: &placewright_sdk::contract::Change| match &change.operation {
        Operation::Append(values) => (change.entity, values[0].clone(), values[1].clone()),
        other => panic!("{other:?}"),
    };
    let integer = |value: i64| Some(Value::Integer(value));
    assert_eq!(
        changes.into_contract().iter().map(row).collect::<Vec<_>>(),
        [
            (0, integer(5), integer(100)),
            (1, integer(5), integer(600)),
            (1, integer(6), integer(600)),
        ]
    );
}

#[test]
fn settings_that_make_no_sense_are_told_with_their_row() {
    let settings = Settings {
        typical: vec![shape(1, 1, 1000, None, 1), shape(1, 1, 1001, None, 1)].into(),
    };
    let said = Fgd::check(&settings).expect_err("more than a GPU");
    assert_eq!(said, "row 2 of typical: share must be from 0 to 1000");
}
