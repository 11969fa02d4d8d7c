use super::*;

fn request(rule: Option<&str>, hard: bool, here: i64) -> Request {
    Request {
        groups: vec![Group {
            rule: rule.map(Text::from),
            hard,
            here,
        }]
        .into(),
    }
}

/// Hosts of these racks with so many VMs of the group.
fn hosts(hosts: &[(Option<&str>, i64)]) -> Rows<Host> {
    let host = |(rack, vms): &(Option<&str>, i64)| Host {
        rack: rack.map(Text::from),
        members: match vms {
            0 => Rows::default(),
            vms => vec![Members {
                group: 0,
                vms: *vms,
            }]
            .into(),
        },
    };
    hosts.iter().map(host).collect()
}

fn kept(request: &Request, hosts: &Rows<Host>, unknown_rack: &str) -> Vec<bool> {
    let settings = Settings {
        max_skew: 1,
        unknown_rack: unknown_rack.into(),
    };
    let verdicts = RackSpreading::keep(request, hosts, &settings).expect("nothing is refused");
    verdicts.into_iter().map(|it| it == Verdict::Keep).collect()
}

#[test]
fn only_racks_with_the_fewest_take_another() {
    let fleet = hosts(&[(Some("a"), 1), (Some("a"), 0), (Some("b"), 0)]);
    let apart = |hard, here| request(Some("negative"), hard, here);
    assert_eq!(
        kept(&apart(true, 1), &fleet, "own-rack"),
        [false, false, true]
    );
    assert_eq!(kept(&apart(false, 1), &fleet, "own-rack"), [true; 3]);
    assert_eq!(
        kept(&request(Some("positive"), true, 1), &fleet, "own-rack"),
        [true; 3]
    );
    assert_eq!(kept(&request(None, true, 1), &fleet, "own-rack"), [true; 3]);
}

#[test]
fn vms_that_come_together_count_together() {
    let fleet = hosts(&[(Some("a"), 0), (Some("b"), 0)]);
    let pair = request(Some("negative"), true, 2);
    assert_eq!(kept(&pair, &fleet, "own-rack"), [false, false]);
}

#[test]
fn hosts_of_unknown_racks_are_racks_of_their_own_or_left_out() {
    let fleet = hosts(&[(None, 1), (None, 0)]);
    let apart = request(Some("negative"), true, 1);
    assert_eq!(kept(&apart, &fleet, "own-rack"), [false, true]);
    assert_eq!(kept(&apart, &fleet, "left-out"), [false, false]);
    let none = Request {
        groups: Rows::default(),
    };
    assert_eq!(kept(&none, &fleet, "left-out"), [true, true]);
}

#[test]
fn a_rack_costs_what_all_its_hosts_have() {
    let fleet = hosts(&[(Some("a"), 2), (Some("a"), 1), (Some("b"), 0)]);
    let settings = Settings::defaults().expect("all have defaults");
    let soft = request(Some("negative"), false, 1);
    let costs = RackSpreading::cost(&soft, &fleet, &settings).expect("nothing is refused");
    assert_eq!(costs, [3.0, 3.0, 0.0]);
}
