use super::*;

fn settings(count: &str) -> Settings {
    Settings {
        count: count.into(),
        kept_back: 0.0,
        assumed_watts: 500,
        require_budget: false,
    }
}

fn request(vms: &[i64], budget: Option<i64>, measured: Option<i64>) -> Request {
    let vm = |cores: &i64| Vm {
        cpu: Millicores::cores(*cores),
    };
    Request {
        vms: vms.iter().map(vm).collect(),
        racks: vec![Rack {
            name: Some("a".into()),
            budget,
            measured,
        }]
        .into(),
    }
}

/// A host of rack a with 10 cores, which draws 100 W and 20 W more for each core.
fn host(committed: i64, pending: i64) -> Host {
    Host {
        rack: Some("a".into()),
        idle: Some(100),
        full: Some(300),
        total: Millicores::cores(10),
        committed: Millicores::cores(committed),
        pending: Millicores::cores(pending),
        current: Rows::default(),
    }
}

fn verdicts(request: &Request, hosts: Vec<Host>, settings: &Settings) -> Vec<Verdict<Reason>> {
    RackPower::keep(request, &hosts.into(), settings).expect("nothing is refused")
}

const TOO_MUCH: Verdict<Reason> = Verdict::Remove(Reason::TooMuchPower);

#[test]
fn the_hosts_of_a_rack_draw_together_and_so_do_vms_that_come_together() {
    let fleet = || vec![host(5, 0), host(0, 0)];
    let keep = |vms: &[i64], budget| {
        verdicts(
            &request(vms, Some(budget), None),
            fleet(),
            &settings("promised"),
        )
    };
    assert_eq!(keep(&[1], 320), [Verdict::Keep, Verdict::Keep]);
    assert_eq!(keep(&[1], 319), [TOO_MUCH, TOO_MUCH]);
    assert_eq!(keep(&[1, 1], 339), [TOO_MUCH, TOO_MUCH]);
}

#[test]
fn what_is_pending_anywhere_in_the_rack_may_go_away() {
    let fleet = vec![host(0, 0), host(0, 5)];
    let keep = verdicts(
        &request(&[1], Some(250), None),
        fleet,
        &settings("promised"),
    );
    assert_eq!(keep[0], Verdict::Remove(Reason::TooMuchPowerWhilePending));
}

#[test]
fn a_measured_draw_takes_the_place_of_what_was_promised() {
    let fleet = || vec![host(9, 1), host(0, 0)];
    let request = || request(&[1], Some(300), Some(250));
    let keep = |count| verdicts(&request(), fleet(), &settings(count));
    // A host of which all CPU is promised draws no more for one VM more.
    assert_eq!(keep("promised"), [Verdict::Keep, TOO_MUCH]);
    assert_eq!(keep("measured"), [Verdict::Keep, Verdict::Keep]);
}

#[test]
fn a_part_of_the_budget_is_kept_back() {
    let kept_back = Settings {
        kept_back: 0.1,
        ..settings("promised")
    };
    let keep = |budget| {
        verdicts(
            &request(&[1], Some(budget), None),
            vec![host(0, 0)],
            &kept_back,
        )
    };
    assert_eq!(keep(134), [Verdict::Keep]);
    assert_eq!(keep(133), [TOO_MUCH]);
}

#[test]
fn without_a_budget_a_host_is_kept_or_left_out() {
    let require = Settings {
        require_budget: true,
        ..settings("promised")
    };
    let stray = || Host {
        rack: None,
        ..host(0, 0)
    };
    let fleet = || vec![host(0, 0), stray()];
    let none = || request(&[1], None, None);
    assert_eq!(
        verdicts(&none(), fleet(), &settings("promised")),
        [Verdict::Keep, Verdict::Keep]
    );
    assert_eq!(
        verdicts(&none(), fleet(), &require),
        [
            Verdict::Remove(Reason::NoBudget),
            Verdict::Remove(Reason::NoBudget)
        ]
    );
}

#[test]
fn a_host_of_unknown_power_draws_the_assumed_watts_from_the_start() {
    let unknown = Host {
        full: None,
        ..host(0, 0)
    };
    let keep = verdicts(
        &request(&[1], Some(610), None),
        vec![unknown, host(0, 0)],
        &settings("promised"),
    );
    assert_eq!(keep, [Verdict::Keep, TOO_MUCH]);
}
