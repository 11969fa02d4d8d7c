//! Random steps, over few names so that they meet again.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::*;

/// A step of a script.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Commit(Vec<Change>),
    /// Submitted without waiting for it.
    Submit(Vec<Change>),
    Reopen,
}

/// Names of clusters, policies and the rest: few, so that they meet again.
pub(super) fn names() -> BTreeSet<String> {
    ["a", "b", "Straße\u{0}'\"", ""].map(str::to_owned).into()
}

fn name() -> impl Strategy<Value = String> {
    select(names().into_iter().collect::<Vec<_>>())
}

fn digest() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(name())
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![50 => 0..200_u64, 1 => Just(u64::MAX), 1 => Just(i64::MAX as u64)]
}

/// Of a length that reaches beyond a page now and then.
fn body() -> impl Strategy<Value = String> {
    prop_oneof![9 => "\\PC{0,20}", 1 => (0..9_000_usize).prop_map(|n| "x".repeat(n))]
}

prop_compose! {
    fn host()(id in name(), position in any::<i64>(), body in body()) -> HostRow {
        HostRow { id, position, body }
    }
}

prop_compose! {
    fn vm()(id in name(), pending in any::<bool>(), body in body()) -> VmRow {
        VmRow { id, pending, body }
    }
}

prop_compose! {
    fn tenant()(id in name(), body in body()) -> TenantRow {
        TenantRow { id, body }
    }
}

prop_compose! {
    fn group()(id in name(), position in 0..3_i64, body in body()) -> GroupRow {
        GroupRow { id, position, body }
    }
}

prop_compose! {
    fn measured()(id in name(), body in body()) -> MeasuredRow {
        MeasuredRow { id, body }
    }
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (name(), body()).prop_map(|(cluster, body)| Change::PutCluster { cluster, body }),
        1 => name().prop_map(|cluster| Change::RemoveCluster { cluster }),
        12 => of_inventory(),
        12 => of_decisions(),
        8 => of_policies_and_units(),
        2 => (name(), body()).prop_map(|(key, body)| Change::Setting { key, body }),
        1 => name().prop_map(|key| Change::RemoveSetting { key }),
    ]
}

fn of_inventory() -> impl Strategy<Value = Change> {
    prop_oneof![
        2 => (name(), host()).prop_map(|(cluster, HostRow { id, position, body })|
            Change::PutHost { cluster, id, position, body }),
        1 => (name(), name()).prop_map(|(cluster, id)| Change::RemoveHost { cluster, id }),
        4 => (name(), vm()).prop_map(|(cluster, VmRow { id, pending, body })|
            Change::PutVm { cluster, id, pending, body }),
        2 => (name(), name(), any::<bool>()).prop_map(|(cluster, id, pending)|
            Change::RemoveVm { cluster, id, pending }),
        1 => (name(), tenant()).prop_map(|(cluster, TenantRow { id, body })|
            Change::PutTenant { cluster, id, body }),
        1 => (name(), name()).prop_map(|(cluster, id)| Change::RemoveTenant { cluster, id }),
        1 => (name(), group()).prop_map(|(cluster, GroupRow { id, position, body })|
            Change::PutGroup { cluster, id, position, body }),
        1 => (name(), name()).prop_map(|(cluster, id)| Change::RemoveGroup { cluster, id }),
        2 => (name(), measured()).prop_map(|(cluster, MeasuredRow { id, body })|
            Change::PutMeasured { cluster, id, body }),
        1 => (name(), name()).prop_map(|(cluster, id)| Change::RemoveMeasured { cluster, id }),
        1 => (name(), body()).prop_map(|(cluster, body)| Change::PutChain { cluster, body }),
        1 => (
            name(),
            (vec(host(), 0..6), vec(vm(), 0..6)),
            (vec(tenant(), 0..3), vec(group(), 0..3), vec(measured(), 0..3)),
        )
            .prop_map(|(cluster, (hosts, vms), (tenants, groups, measured))|
                Change::ReplaceInventory { cluster, hosts, vms, tenants, groups, measured }),
    ]
}

fn of_decisions() -> impl Strategy<Value = Change> {
    prop_oneof![
        9 => (name(), number(), any::<i64>(), body()).prop_map(|(cluster, number, at, body)|
            Change::RecordDecision { cluster, number, at, body }),
        2 => (name(), number(), any::<i64>(), 0..9_u64).prop_map(
            |(cluster, next_decision, clock, version)| {
                let numbers = (next_decision, clock, version);
                Change::Counter { cluster, counters: counters(numbers) }
            }),
        2 => (name(), number(), body()).prop_map(|(cluster, number, body)|
            Change::PutPlan { cluster, number, body }),
        1 => (name(), number()).prop_map(|(cluster, number)|
            Change::RemovePlan { cluster, number }),
        2 => (name(), name(), body()).prop_map(|(cluster, vm, body)|
            Change::PutEndedReservation { cluster, vm, body }),
        1 => (name(), name()).prop_map(|(cluster, vm)|
            Change::RemoveEndedReservation { cluster, vm }),
        2 => (name(), name(), 0..9_i64, body()).prop_map(|(cluster, key, at, body)|
            Change::Idempotency { cluster, key, at, body }),
        1 => (name(), name()).prop_map(|(cluster, key)|
            Change::ForgetAnswer { cluster, key }),
        1 => (name(), 0..9_i64).prop_map(|(cluster, before)|
            Change::ForgetAnswers { cluster, before }),
    ]
}

fn counters((next_decision, clock, version): (u64, i64, u64)) -> Counters {
    Counters {
        next_decision,
        clock,
        next_plan: version + 1,
        version,
        revision: version + 2,
    }
}

fn of_policies_and_units() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (name(), number(), any::<i64>(), name(), body()).prop_map(
            |(name, revision, at, by, body)| Change::PutPolicy { name, revision, at, by, body }),
        1 => name().prop_map(|name| Change::RemovePolicy { name }),
        2 => (name(), name(), vec(any::<u8>(), 0..99), signature()).prop_map(
            |(digest, name, bytes, signature)|
                Change::PutArtifact { digest, name, bytes, signature }),
        1 => name().prop_map(|digest| Change::RemoveArtifact { digest }),
        2 => (name(), digest(), any::<bool>(), body()).prop_map(|(name, digest, enabled, body)|
            Change::PutUnit { name, digest, enabled, body }),
        1 => name().prop_map(|name| Change::RemoveUnit { name }),
        4 => (name(), digest(), any::<i64>(), name(), body()).prop_map(
            |(name, digest, at, what, body)|
                Change::UnitEvent(UnitEvent { name, digest, at, what, body })),
    ]
}

fn signature() -> impl Strategy<Value = Option<SavedSignature>> {
    let signature = (vec(any::<u8>(), 0..9), digest());
    proptest::option::of(signature.prop_map(|(bytes, signer)| SavedSignature { bytes, signer }))
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let changes = || vec(change(), 0..8);
    prop_oneof![
        8 => changes().prop_map(Step::Commit),
        8 => changes().prop_map(Step::Submit),
        1 => Just(Step::Reopen),
    ]
}
