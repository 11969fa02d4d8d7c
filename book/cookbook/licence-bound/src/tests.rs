use super::*;

fn vms(products: &[Option<&str>]) -> Need {
    let vm = |product: &Option<&str>| Vm {
        product: product.map(Text::from),
    };
    let request = Request {
        vms: products.iter().map(vm).collect(),
    };
    let settings = Settings { reserve: true };
    LicenceBound::prepare(&request, &settings).expect("nothing is refused")
}

/// A host with a licence for so many VMs, some of which run and some are pending.
fn host(licence: Option<i64>, running: usize, pending: usize) -> Host {
    let resident = |pending| Resident {
        product: Some("oracle".into()),
        pending,
    };
    let running = (0..running).map(|_| resident(false));
    Host {
        licences: vec![Licence {
            product: Some("oracle".into()),
            vms: licence,
        }]
        .into(),
        vms: running
            .chain((0..pending).map(|_| resident(true)))
            .collect(),
        current: Rows::default(),
    }
}

const ORACLE: Option<&str> = Some("oracle");

#[test]
fn vms_that_come_together_take_licences_together() {
    let both = vms(&[ORACLE, ORACLE]);
    assert_eq!(
        LicenceBound::keep(&both, &host(Some(2), 0, 0)),
        Verdict::Keep
    );
    assert_eq!(
        LicenceBound::keep(&both, &host(Some(2), 1, 0)),
        Verdict::Remove(Reason::NoneLeft)
    );
}

#[test]
fn a_licence_that_only_a_pending_vm_takes_may_come_free() {
    let verdict = LicenceBound::keep(&vms(&[ORACLE]), &host(Some(1), 0, 1));
    assert_eq!(verdict, Verdict::Remove(Reason::NoneLeftWhilePending));
}

#[test]
fn a_licence_without_a_number_is_good_for_any_number() {
    let verdict = LicenceBound::keep(&vms(&[ORACLE]), &host(None, 50, 5));
    assert_eq!(verdict, Verdict::Keep);
}

#[test]
fn a_vm_that_runs_on_the_host_takes_no_further_licence() {
    let mut full = host(Some(1), 1, 0);
    full.current = vec![Current { member: 0 }].into();
    assert_eq!(LicenceBound::keep(&vms(&[ORACLE]), &full), Verdict::Keep);
}

#[test]
fn vms_that_need_none_of_the_licences_keep_off() {
    let plain = vms(&[None]);
    assert_eq!(
        LicenceBound::keep(&plain, &host(Some(1), 0, 0)),
        Verdict::Remove(Reason::Reserved)
    );
    assert_eq!(LicenceBound::cost(&plain, &host(Some(1), 0, 0)), 1.0);
    assert_eq!(
        LicenceBound::cost(&vms(&[ORACLE]), &host(Some(1), 0, 0)),
        0.0
    );
}
