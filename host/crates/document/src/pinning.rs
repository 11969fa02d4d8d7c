//! The hosts that a VM names: where it may run, and where it would rather.

use super::form::{Fields, INTEGER, Key, Shape, TEXT, key, required};
use super::{Place, Problems};
use placewright_model::Pinning;

/// The hosts that a VM is pinned to.
pub(super) const PINNED: Key = key(
    "pinned",
    Shape::Texts,
    "Ids of the hosts that it is pinned to",
)
.such_as("h1");

/// The hosts that a VM prefers.
pub(super) const PREFERRED: Key = key(
    "preferred",
    Shape::Texts,
    "Ids of the hosts that it prefers",
)
.such_as("h2");

const SCORE: &[Key] = &[
    required("host", TEXT, "Id of the host").such_as("h1"),
    required("score", INTEGER, "The score; ±1000000 stand for infinity").such_as("100"),
];

/// The scores that a VM has for hosts.
pub(super) const LOCATION: Key = key(
    "location",
    Shape::Tables(SCORE),
    "Scores that it has for hosts; several for one host all count",
);

/// The hosts that a VM names. Each is shown to `check` with its place.
pub(super) fn pinning(
    vm: &Fields<'_>,
    problems: &mut Problems,
    check: impl Fn(&str, &Place, &mut Problems),
) -> Pinning {
    for (host, place) in vm.texts(PINNED.name).iter().chain(vm.texts(PREFERRED.name)) {
        check(host, place, problems);
    }
    let mut location = Vec::new();
    for table in vm.tables(LOCATION.name) {
        let fields = Fields::read(table, SCORE, "a row of \"location\"", problems);
        if let (Some(host), Some(place)) = (fields.text("host"), fields.place_of("host")) {
            check(&host, place, problems);
            location.extend(fields.integer("score").map(|score| (host, score)));
        }
    }
    Pinning {
        pinned: vm.list(PINNED.name),
        preferred: vm.list(PREFERRED.name),
        location,
    }
}
