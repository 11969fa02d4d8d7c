use super::*;

fn need(vms: &[(Option<&str>, bool)], operator_anywhere: bool) -> Need {
    let vm = |(tenant, isolated): &(Option<&str>, bool)| Vm {
        tenant: tenant.map(Text::from),
        isolated: Some(*isolated),
    };
    let request = Request {
        vms: vms.iter().map(vm).collect(),
    };
    let settings = Settings { operator_anywhere };
    TenantIsolation::prepare(&request, &settings).expect("nothing is refused")
}

fn host(vms: &[(Option<&str>, Option<bool>, bool)]) -> Host {
    let resident = |(tenant, isolated, pending): &(Option<&str>, Option<bool>, bool)| Resident {
        tenant: tenant.map(Text::from),
        isolated: *isolated,
        pending: *pending,
    };
    Host {
        vms: vms.iter().map(resident).collect(),
    }
}

const OTHER: Verdict<Reason> = Verdict::Remove(Reason::OtherTenant);

#[test]
fn isolation_holds_in_both_directions() {
    let isolated = need(&[(Some("a"), true)], false);
    let plain = need(&[(Some("a"), false)], false);
    let of_b = host(&[(Some("b"), None, false)]);
    let isolated_b = host(&[(Some("b"), Some(true), false)]);
    assert_eq!(TenantIsolation::keep(&isolated, &of_b), OTHER);
    assert_eq!(TenantIsolation::keep(&plain, &of_b), Verdict::Keep);
    assert_eq!(TenantIsolation::keep(&plain, &isolated_b), OTHER);
    let of_a = host(&[(Some("a"), Some(true), false)]);
    assert_eq!(TenantIsolation::keep(&isolated, &of_a), Verdict::Keep);
}

#[test]
fn who_is_only_pending_may_go_away_again() {
    let isolated = need(&[(Some("a"), true)], false);
    let pending = (Some("b"), None, true);
    assert_eq!(
        TenantIsolation::keep(&isolated, &host(&[pending])),
        Verdict::Remove(Reason::OtherTenantPending)
    );
    let both = host(&[pending, (Some("b"), None, false)]);
    assert_eq!(TenantIsolation::keep(&isolated, &both), OTHER);
}

#[test]
fn the_operators_own_vms_are_a_tenants_or_go_anywhere() {
    let agent = host(&[(None, None, false)]);
    let keep = |anywhere| TenantIsolation::keep(&need(&[(Some("a"), true)], anywhere), &agent);
    assert_eq!(keep(false), OTHER);
    assert_eq!(keep(true), Verdict::Keep);
}

#[test]
fn isolated_vms_of_two_tenants_find_no_host_together() {
    let both = need(&[(Some("a"), true), (Some("b"), false)], false);
    assert_eq!(
        TenantIsolation::keep(&both, &host(&[])),
        Verdict::Remove(Reason::NotTogether)
    );
}

#[test]
fn an_isolated_vm_rather_joins_its_tenant() {
    let isolated = need(&[(Some("a"), true)], false);
    assert_eq!(TenantIsolation::cost(&isolated, &host(&[])), 1.0);
    let of_a = host(&[(Some("a"), None, false)]);
    assert_eq!(TenantIsolation::cost(&isolated, &of_a), 0.0);
    let plain = need(&[(Some("a"), false)], false);
    assert_eq!(TenantIsolation::cost(&plain, &host(&[])), 0.0);
}
