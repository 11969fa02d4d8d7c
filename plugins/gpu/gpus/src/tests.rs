use gpu_room::{HeldGpu, Model};
use placewright_sdk::contract::{Operation, Value};

use super::*;

fn vm(count: Option<i64>, share: Option<i64>, models: &[&str]) -> GpuVm {
    let model = |model: &&str| Model {
        model: (*model).into(),
    };
    GpuVm {
        count,
        share,
        models: models.iter().map(model).collect(),
    }
}

fn host(model: &str, free: &[i64]) -> Host {
    Host {
        model: Some(model.into()),
        gpus: (0..)
            .zip(free)
            .map(|(index, free): (i64, &i64)| ChosenGpu { index, free: *free })
            .collect(),
        current: Rows::default(),
    }
}

fn need(vms: Vec<GpuVm>) -> Need {
    Gpus::prepare(&Request { vms: vms.into() }, &()).expect("nothing is refused")
}

fn keep(vms: Vec<GpuVm>, host: &Host) -> Verdict<Reason> {
    Gpus::keep(&need(vms), host)
}

#[test]
fn a_vm_that_needs_no_gpu_may_run_anywhere_and_had_rather_leave_gpus_alone() {
    for none in [vm(None, None, &[]), vm(Some(0), Some(500), &["A100"])] {
        assert_eq!(keep(vec![none], &host("T4", &[])), Verdict::Keep);
    }
    let need = need(vec![vm(None, None, &[])]);
    assert_eq!(Gpus::cost(&need, &host("T4", &[0])), 1.0);
    assert_eq!(Gpus::cost(&need, &host("T4", &[])), 0.0);
}

#[test]
fn gpus_of_an_accepted_model_with_enough_free_are_needed() {
    let two = |models: &[&str]| vec![vm(Some(2), None, models)];
    assert_eq!(keep(two(&[]), &host("T4", &[1000, 1000])), Verdict::Keep);
    let removed = |reason| Verdict::Remove(reason);
    assert_eq!(keep(two(&[]), &host("T4", &[])), removed(Reason::NoGpus));
    let other = keep(two(&["A100"]), &host("T4", &[1000, 1000]));
    assert_eq!(other, removed(Reason::WrongModel));
    let taken = keep(two(&[]), &host("T4", &[1000, 900]));
    assert_eq!(taken, removed(Reason::TooFewGpus));
    let halves = || vec![vm(Some(1), Some(500), &[]), vm(Some(1), Some(500), &[])];
    assert_eq!(keep(halves(), &host("T4", &[1000])), Verdict::Keep);
    assert_eq!(
        keep(halves(), &host("T4", &[900])),
        removed(Reason::TooFewGpus)
    );
}

#[test]
fn a_vm_that_runs_there_has_its_gpus() {
    let own = Host {
        current: vec![Current {
            member: 0,
            count: Some(1),
            share: None,
            gpus: Rows::default(),
            models: Rows::default(),
        }]
        .into(),
        ..host("T4", &[0])
    };
    assert_eq!(keep(vec![vm(Some(1), None, &[])], &own), Verdict::Keep);
    let one_more = || vec![vm(Some(2), None, &[])];
    assert_ne!(keep(one_more(), &own), Verdict::Keep);
    let roomy = Host {
        gpus: vec![
            ChosenGpu { index: 0, free: 0 },
            ChosenGpu {
                index: 1,
                free: 1000,
            },
        ]
        .into(),
        ..own
    };
    assert_eq!(keep(one_more(), &roomy), Verdict::Keep);
}

#[test]
fn a_vm_on_gpus_of_a_model_that_it_does_not_accept_stays_and_is_given_no_more() {
    let own = vm(Some(1), Some(100), &["A100"]);
    let on_t4s = Host {
        current: vec![Current {
            member: 0,
            count: own.count,
            share: own.share,
            gpus: vec![HeldGpu {
                index: 0,
                share: 100,
            }]
            .into(),
            models: own.models.clone(),
        }]
        .into(),
        ..host("T4", &[0, 1000])
    };
    assert_eq!(keep(vec![own], &on_t4s), Verdict::Keep);
    for (count, share) in [(1, 200), (2, 100)] {
        let more = vm(Some(count), Some(share), &["A100"]);
        let wrong = Verdict::Remove(Reason::WrongModel);
        assert_eq!(keep(vec![more], &on_t4s), wrong, "{count} {share}");
        let accepted = vm(Some(count), Some(share), &["A100", "T4"]);
        assert_eq!(keep(vec![accepted], &on_t4s), Verdict::Keep);
    }
}

#[test]
fn a_vm_that_is_to_have_fewer_and_greater_gpus_keeps_those_that_can_grow() {
    let held = |index| HeldGpu { index, share: 100 };
    let on = |free: &[i64]| Host {
        current: vec![Current {
            member: 0,
            count: Some(2),
            share: Some(100),
            gpus: vec![held(0), held(1)].into(),
            models: Rows::default(),
        }]
        .into(),
        ..host("T4", free)
    };
    let whole = || vec![vm(Some(1), Some(1000), &[])];
    assert_eq!(keep(whole(), &on(&[500, 900])), Verdict::Keep);
    assert_eq!(keep(whole(), &on(&[900, 500])), Verdict::Keep);
    assert_eq!(
        keep(whole(), &on(&[500, 500])),
        Verdict::Remove(Reason::TooFewGpus)
    );
}

#[test]
fn gpus_in_use_are_filled_first() {
    let need = need(vec![vm(Some(1), Some(250), &[])]);
    assert_eq!(Gpus::cost(&need, &host("T4", &[1000, 500])), 0.75);
    assert_eq!(Gpus::cost(&need, &host("T4", &[250, -100])), 0.125);
}

#[test]
fn the_gpus_with_the_least_room_are_given() {
    let gpu = |(index, free)| ChosenGpu { index, free };
    let chosen = ChosenHost {
        gpus: [(0, 1000), (1, 600)].map(gpu).into_iter().collect(),
        current: Rows::default(),
    };
    let placement = Placement {
        vms: vec![vm(None, None, &[]), vm(Some(1), Some(500), &[])].into(),
        hosts: vec![chosen].into(),
    };
    let changes = Gpus::placed(&placement, &()).expect("there is room");
    let changes = changes.into_contract();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].entity, 1);
    let Operation::Append(values) = &changes[0].operation else {
        panic!("{:?}", changes[0]);
    };
    let given = [Some(Value::Integer(1)), Some(Value::Integer(500))];
    assert_eq!(values[..], given);
}
