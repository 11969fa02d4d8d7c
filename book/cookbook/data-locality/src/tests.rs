use super::*;

fn wanted(name: &str, gib: Option<i64>, zone: Option<&str>) -> Wanted {
    Wanted {
        name: Some(name.into()),
        size: gib.map(Bytes::gib),
        zone: zone.map(Text::from),
    }
}

fn need(vms: Vec<Vec<Wanted>>, fetch_once: bool) -> Need {
    let vm = |datasets: Vec<Wanted>| Vm {
        datasets: datasets.into(),
    };
    let request = Request {
        vms: vms.into_iter().map(vm).collect(),
    };
    let settings = Settings {
        near: 0.25,
        assumed_size: Bytes::gib(1),
        fetch_once,
    };
    DataLocality::prepare(&request, &settings).expect("nothing is refused")
}

/// The cost of a host in GiB.
fn cost(need: &Need, zone: Option<&str>, held: &[&str]) -> f64 {
    let row = |name: &&str| Held {
        name: Some((*name).into()),
    };
    let host = Host {
        zone: zone.map(Text::from),
        datasets: held.iter().map(row).collect(),
    };
    DataLocality::cost(need, &host) / Bytes::gib(1).0 as f64
}

#[test]
fn what_the_host_holds_is_free_and_what_is_near_is_cheaper() {
    let need = need(
        vec![vec![
            wanted("here", Some(100), None),
            wanted("near", Some(8), Some("z1")),
            wanted("far", Some(2), Some("z2")),
        ]],
        true,
    );
    assert_eq!(cost(&need, Some("z1"), &["here"]), 2.0 + 2.0);
    assert_eq!(cost(&need, None, &["here"]), 10.0);
    assert_eq!(cost(&need, None, &[]), 110.0);
}

#[test]
fn no_zone_is_not_the_zone_of_a_host_without_one() {
    let need = need(vec![vec![wanted("data", Some(4), None)]], true);
    assert_eq!(cost(&need, None, &[]), 4.0);
}

#[test]
fn data_of_unknown_size_has_the_assumed_one_and_without_a_name_none() {
    let nameless = Wanted {
        name: None,
        ..wanted("", Some(9), None)
    };
    let need = need(vec![vec![wanted("data", None, None), nameless]], true);
    assert_eq!(cost(&need, None, &[]), 1.0);
}

#[test]
fn vms_that_come_together_fetch_the_same_once_or_each() {
    let both = || {
        let data = || vec![wanted("data", Some(4), None)];
        vec![data(), data()]
    };
    assert_eq!(cost(&need(both(), true), None, &[]), 4.0);
    assert_eq!(cost(&need(both(), false), None, &[]), 8.0);
}
