use super::*;

fn vm(cores: i64, gib: i64, limit: Option<f64>) -> Vm {
    Vm {
        cpu: Millicores::cores(cores),
        memory: Bytes::gib(gib),
        limit,
    }
}

fn need(vms: Vec<Vm>, count: &str, assumed_price: Option<f64>) -> Need {
    let settings = Settings {
        count: count.into(),
        assumed_price,
    };
    CostPerHour::prepare(&Request { vms: vms.into() }, &settings).expect("nothing is refused")
}

/// A host of 16 cores and 64 GiB.
fn host(price: Option<f64>, vms: i64) -> Host {
    Host {
        price,
        cpu: Millicores::cores(16),
        memory: Bytes::gib(64),
        vms,
        vms_pending: 0,
        current: Rows::default(),
    }
}

#[test]
fn vms_cost_the_greater_of_their_shares_together() {
    let two = need(vec![vm(1, 8, None), vm(3, 8, None)], "share", None);
    assert_eq!(CostPerHour::cost(&two, &host(Some(8.0), 3)), 2.0);
    let no_cpu_known = Host {
        cpu: Millicores(0),
        ..host(Some(8.0), 0)
    };
    assert_eq!(CostPerHour::cost(&two, &no_cpu_known), 8.0);
}

#[test]
fn a_host_in_use_costs_nothing_more_where_first_use_counts() {
    let one = need(vec![vm(1, 1, None)], "first-use", None);
    assert_eq!(CostPerHour::cost(&one, &host(Some(8.0), 0)), 8.0);
    assert_eq!(CostPerHour::cost(&one, &host(Some(8.0), 1)), 0.0);
    let by_itself = Host {
        current: vec![Current { member: 0 }].into(),
        ..host(Some(8.0), 1)
    };
    assert_eq!(CostPerHour::cost(&one, &by_itself), 8.0);
}

#[test]
fn a_limit_is_about_the_vms_own_share() {
    let limited = |limit| need(vec![vm(4, 4, Some(limit)), vm(8, 8, None)], "share", None);
    let keep = |limit| CostPerHour::keep(&limited(limit), &host(Some(8.0), 0));
    assert_eq!(keep(2.0), Verdict::Keep);
    assert_eq!(keep(1.9), Verdict::Remove(Reason::TooDear));
}

#[test]
fn a_host_without_a_price_is_the_worst_unless_one_is_assumed() {
    let limited = |assumed| need(vec![vm(4, 4, Some(2.0))], "share", assumed);
    let unknown = host(None, 0);
    assert_eq!(CostPerHour::cost(&limited(None), &unknown), f64::INFINITY);
    assert_eq!(
        CostPerHour::keep(&limited(None), &unknown),
        Verdict::Remove(Reason::NoPrice)
    );
    assert_eq!(CostPerHour::cost(&limited(Some(4.0)), &unknown), 1.0);
    assert_eq!(
        CostPerHour::keep(&limited(Some(4.0)), &unknown),
        Verdict::Keep
    );
}
