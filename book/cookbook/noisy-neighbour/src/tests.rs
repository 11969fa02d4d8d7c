use super::*;

fn vm((noise, sensitive): &(i64, bool)) -> Vm {
    Vm {
        noise: Some(*noise),
        sensitive: Some(*sensitive),
    }
}

fn need(vms: &[(i64, bool)], most_noise: Option<i64>) -> Need {
    let request = Request {
        vms: vms.iter().map(vm).collect(),
    };
    let settings = Settings {
        most_noise,
        assumed_noise: 50,
    };
    NoisyNeighbour::prepare(&request, &settings).expect("nothing is refused")
}

fn host(vms: &[(i64, bool)]) -> Host {
    Host {
        vms: vms.iter().map(vm).collect(),
        current: Rows::default(),
    }
}

#[test]
fn noise_costs_where_somebody_hears_it() {
    let loud = need(&[(300, false)], None);
    assert_eq!(
        NoisyNeighbour::cost(&loud, &host(&[(0, true), (9, true)])),
        600.0
    );
    assert_eq!(NoisyNeighbour::cost(&loud, &host(&[(400, false)])), 0.0);
    let sensitive = need(&[(10, true)], None);
    assert_eq!(
        NoisyNeighbour::cost(&sensitive, &host(&[(400, false), (100, true)])),
        510.0
    );
}

#[test]
fn the_limit_holds_for_who_comes_and_for_who_is_there() {
    let keep =
        |vm, there: &[(i64, bool)]| NoisyNeighbour::keep(&need(&[vm], Some(300)), &host(there));
    assert_eq!(
        keep((0, true), &[(200, false), (100, false)]),
        Verdict::Keep
    );
    assert_eq!(
        keep((0, true), &[(200, false), (101, false)]),
        Verdict::Remove(Reason::TooNoisy)
    );
    assert_eq!(
        keep((301, false), &[(0, true)]),
        Verdict::Remove(Reason::Disturbed)
    );
    // Too loud already, and no louder for a quiet VM.
    assert_eq!(keep((0, false), &[(500, false), (0, true)]), Verdict::Keep);
    // Nobody disturbs itself.
    assert_eq!(keep((900, true), &[]), Verdict::Keep);
}

#[test]
fn vms_that_come_together_are_noisy_together() {
    let both = need(&[(200, false), (200, false)], Some(300));
    assert_eq!(
        NoisyNeighbour::keep(&both, &host(&[(0, true)])),
        Verdict::Remove(Reason::Disturbed)
    );
}

#[test]
fn a_vm_that_runs_there_is_not_new_noise() {
    let mut here = host(&[(400, false), (0, true)]);
    here.current = vec![Current { member: 0 }].into();
    let loud = need(&[(400, false)], Some(300));
    assert_eq!(NoisyNeighbour::cost(&loud, &here), 0.0);
    assert_eq!(NoisyNeighbour::keep(&loud, &here), Verdict::Keep);
}

#[test]
fn who_has_no_known_noise_makes_the_assumed_one() {
    let unknown = Host {
        vms: vec![Vm {
            noise: None,
            sensitive: None,
        }]
        .into(),
        current: Rows::default(),
    };
    let sensitive = need(&[(0, true)], None);
    assert_eq!(NoisyNeighbour::cost(&sensitive, &unknown), 50.0);
}
