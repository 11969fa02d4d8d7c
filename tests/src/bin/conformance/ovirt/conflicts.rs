//! Conflicts of affinity groups: the one that is told of first.

use std::collections::BTreeSet;

use placewright_chain::Proposed;
use serde::Deserialize;
use toml::Table;

use super::document::{Document, Entry};
use super::input::{HostInput, Input, VmInput};
use super::outcome::{Ids, Outcome, listed};
use super::vector::Vector;
use crate::units::Units;

const UNIT: &str = "affinity-conflicts";

/// What oVirt calls the kinds of conflict that the unit has, in its order.
const KINDS: &[&str] = &[
    "VM_TO_HOST_CONFLICT_IN_ENFORCING_POSITIVE_AND_NEGATIVE_AFFINITY",
    "VM_TO_HOST_CONFLICT_IN_POSITIVE_AND_NEGATIVE_AFFINITY",
    "VM_TO_HOST_CONFLICTS_POSITIVE_VM_TO_VM_AFFINITY",
    "VM_TO_HOST_CONFLICTS_NEGATIVE_VM_TO_VM_AFFINITY",
    "NON_INTERSECTING_POSITIVE_HOSTS_AFFINITY_CONFLICTS",
    "VM_TO_VM_AFFINITY_CONFLICTS",
];

/// What is expected of the check.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Null: there is no conflict.
    #[serde(deserialize_with = "Option::deserialize")]
    first: Option<Conflict>,
}

/// A conflict, and all that has a part in it.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Conflict {
    kind: String,
    #[serde(default)]
    groups: Ids,
    #[serde(default)]
    hosts: Ids,
    #[serde(default)]
    vms: Ids,
}

/// Run a vector.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn run(vector: &Vector, units: &Units) -> Result<Outcome, String> {
    let expect: Expect = vector.expect()?;
    let unknown = expect
        .first
        .iter()
        .find(|first| !KINDS.contains(&first.kind.as_str()));
    if let Some(Conflict { kind, .. }) = unknown {
        return Err(format!("field expect.first.kind: no kind {kind} is known"));
    }
    let mut input: Input = vector.input()?;
    people(&mut input);
    let policy = Document {
        balance: Some(Entry::new(UNIT, Table::new())),
        ..Document::default()
    };
    let mut scheduler = units.scheduler(input.inventory()?, &policy.text()?)?;
    let proposed = scheduler.balance(input.now()?);
    let proposed = proposed.map_err(|error| error.to_string())?;
    let first = proposed.first().map(|first| Conflict::told(first, units));
    let got = first.transpose()?;
    let mut outcome = Outcome::default();
    let same = expect.first == got;
    outcome.check(
        "first conflict",
        same,
        shown(expect.first.as_ref()),
        shown(got.as_ref()),
    );
    Ok(outcome)
}

/// The unit knows of the VMs that run, so those of the groups do: on a host that no
/// group is about.
fn people(input: &mut Input) {
    const ELSEWHERE: &str = "elsewhere";
    let groups = &input.affinity_groups;
    let hosts: BTreeSet<&String> = groups.iter().flat_map(|group| &group.hosts).collect();
    let known = |id: &str| input.hosts.iter().any(|host| host.id == id);
    let hosts = hosts.into_iter().filter(|id| !known(id)).cloned();
    let hosts: Vec<String> = hosts.chain([ELSEWHERE.to_owned()]).collect();
    let vms: BTreeSet<&String> = groups.iter().flat_map(|group| &group.vms).collect();
    let known = |id: &str| input.vms.iter().any(|vm| vm.id == id);
    let vms: Vec<String> = vms.into_iter().filter(|id| !known(id)).cloned().collect();
    input.hosts.extend(hosts.into_iter().map(|id| HostInput {
        id,
        ..HostInput::default()
    }));
    input.vms.extend(vms.into_iter().map(|id| VmInput {
        id,
        run_on: Some(ELSEWHERE.to_owned()),
        ..VmInput::default()
    }));
}

impl Conflict {
    /// A finding of the unit: its reason is a kind, by its place among the reasons.
    fn told(proposal: &Proposed, units: &Units) -> Result<Self, String> {
        let Proposed::Finding { reason, about } = proposal else {
            return Err(format!("{UNIT} proposes {proposal:?}"));
        };
        let unit = units.generation.get(UNIT);
        let balance = unit.and_then(|unit| unit.description().balance.as_ref());
        let mut reasons = balance.iter().flat_map(|balance| &balance.reasons);
        let place = reasons.position(|known| known.text == *reason);
        let kind = place.and_then(|place| KINDS.get(place));
        let kind = kind.ok_or_else(|| format!("{UNIT} finds that something {reason}"))?;
        let of = |table: &str| {
            let rows = about.iter().filter(|(of, _)| *of == table);
            rows.map(|(_, id)| id.clone()).collect()
        };
        Ok(Self {
            kind: (*kind).to_owned(),
            groups: of("groups"),
            hosts: of("hosts"),
            vms: of("hosts/vms"),
        })
    }
}

fn shown(conflict: Option<&Conflict>) -> String {
    conflict.map_or_else(
        || "none".to_owned(),
        |Conflict {
             kind,
             groups,
             hosts,
             vms,
         }| {
            let [groups, hosts, vms] = [groups, hosts, vms].map(listed);
            format!("{kind}; groups: {groups}; hosts: {hosts}; VMs: {vms}")
        },
    )
}
