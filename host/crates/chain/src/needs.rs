//! Needs of requests that no filter of the policy checks.
//!
//! Which needs those are depends on the policy and its units alone and is worked out
//! when the chain is made. A request is then looked at for these needs only, so that a
//! policy that checks everything pays nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::{Chain, Stage};
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_inventory::Inventory;
use placewright_model::schema::{Given, Need, Schema};
use placewright_model::serial;
use placewright_model::{Facts, GroupRule, Request, Value, Vm};
use placewright_policy::{Policy, Unheeded};

/// VMs that are named with a need that goes unheeded.
const NAMED: usize = 10;

/// A score for a host of this size stands for infinity, or minus infinity.
const INFINITE_SCORE: u64 = 1_000_000;

/// A need that no filter of the chain checks.
#[derive(Debug, Clone, PartialEq)]
pub struct Unchecked {
    /// The need.
    pub need: Arc<Need>,
    /// What the policy wants of requests with it.
    pub unheeded: Unheeded,
    /// Names of the units at hand that check it, by name.
    pub units: Vec<Arc<str>>,
}

/// A need of a request that no filter of the policy checks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub struct UnheededNeed {
    /// Name of the need.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "zone"))]
    pub need: Arc<str>,
    /// What it is, after "needs".
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "a zone"))]
    pub meaning: Arc<str>,
    /// The first VM of the request that has it.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-3"))]
    pub vm: Arc<str>,
    /// Name of the policy that does not check it.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "general"))]
    pub policy: Arc<str>,
    /// Names of the units at hand that check it.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["zone"])))]
    pub units: Vec<Arc<str>>,
}

impl fmt::Display for UnheededNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "VM \"{}\" needs {} ({}), which no filter of policy \"{}\" checks; ",
            self.vm, self.meaning, self.need, self.policy
        )?;
        match self.units.as_slice() {
            [] => write!(f, "there is no unit that does")?,
            [unit] => write!(f, "the unit {unit} does")?,
            units => write!(f, "units that do: {}", units.join(", "))?,
        }
        Ok(())
    }
}

/// A need of VMs of a cluster that no filter of the policy checks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = UnheededNeedOfCluster))]
#[serde(rename_all = "kebab-case")]
pub struct UnheededInCluster {
    /// Name of the need.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "zone"))]
    pub need: Arc<str>,
    /// What it is, after "needs".
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "a zone"))]
    pub meaning: Arc<str>,
    /// What becomes of a request with it.
    #[serde(serialize_with = "serial::word")]
    #[cfg_attr(feature = "openapi", schema(schema_with = crate::openapi::unheeded))]
    pub unheeded: Unheeded,
    /// How many VMs that have a place have the need.
    #[cfg_attr(feature = "openapi", schema(example = 3))]
    pub count: usize,
    /// The first of these VMs, by id.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["web-3"])))]
    pub vms: Vec<Arc<str>>,
    /// Names of the units at hand that check it.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["zone"])))]
    pub units: Vec<Arc<str>>,
}

/// The needs of the schema that no filter of these stages checks.
pub(super) fn unchecked(
    policy: &Policy,
    stages: &[Stage],
    generation: &Generation,
    schema: &Schema,
) -> Vec<Unchecked> {
    let needs = schema.needs().filter(|need| {
        let mut filters = stages
            .iter()
            .flat_map(|stage| &stage.steps)
            .filter(|step| step.filter.is_some());
        !filters.any(|step| checks(&step.unit, need))
    });
    let unchecked = needs.map(|need| Unchecked {
        unheeded: policy.unheeded(&need.name),
        units: units(generation, need),
        need: need.clone(),
    });
    unchecked.collect()
}

/// Whether a filter with this unit checks the need: whether its verdicts are made from
/// what says it.
fn checks(unit: &Unit, need: &Need) -> bool {
    let judge = unit.description().judge.as_ref();
    let Some(judge) = judge.filter(|judge| judge.answers.verdicts) else {
        return false;
    };
    let reads = judge.reads.iter().flat_map(|read| {
        let columns = read.columns.iter();
        let columns = columns.map(|column| (&*read.table, &*column.column));
        std::iter::once((&*read.table, "")).chain(columns)
    });
    need.is_checked_by(reads)
}

fn units(generation: &Generation, need: &Need) -> Vec<Arc<str>> {
    let units = generation.units().filter(|unit| checks(unit, need));
    let mut names: Vec<Arc<str>> = units
        .map(|unit| unit.description().name.as_str().into())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl Chain {
    /// The needs that no filter of the policy checks, whether anybody has them or not.
    pub fn unchecked_needs(&self) -> &[Unchecked] {
        &self.unchecked
    }

    /// The needs of the request that no filter checks, each with what the policy wants of
    /// such a request. Those that the policy ignores are left out. An administrator who
    /// chose the host answers for all needs.
    pub fn unheeded(
        &self,
        inventory: &Inventory,
        request: &Request,
    ) -> Vec<(Unheeded, UnheededNeed)> {
        if request.forced.is_some() {
            return Vec::new();
        }
        let minded = self.unchecked.iter();
        let minded = minded.filter(|it| it.unheeded != Unheeded::Ignore);
        let unheeded = minded.filter_map(|unchecked| {
            let vm = first_with(&unchecked.need, request, inventory)?;
            Some((unchecked.unheeded, self.unheeded_need(unchecked, vm)))
        });
        unheeded.collect()
    }

    fn unheeded_need(&self, unchecked: &Unchecked, vm: &Vm) -> UnheededNeed {
        UnheededNeed {
            need: unchecked.need.name.clone(),
            meaning: unchecked.need.meaning.clone(),
            vm: vm.id.clone(),
            policy: self.policy.name.clone(),
            units: unchecked.units.clone(),
        }
    }

    /// The needs of VMs that have a place in the cluster which no filter checks, whatever
    /// the policy wants of them, in the order of the schema.
    pub fn unheeded_in(&self, inventory: &Inventory) -> Vec<UnheededInCluster> {
        let mut with_need: BTreeMap<usize, Vec<Arc<str>>> = BTreeMap::new();
        let hosts = inventory.hosts();
        for vm in hosts.flat_map(|(_, host)| inventory.vms_of(host)) {
            let mut request = Request {
                members: vec![(*vm.vm).clone()],
                ..Request::default()
            };
            for column in ["tenant", "zone"] {
                if let Some(value) = vm.vm.facts.get(column) {
                    request.facts.set(column, value.clone());
                }
            }
            for (number, unchecked) in self.unchecked.iter().enumerate() {
                if first_with(&unchecked.need, &request, inventory).is_some() {
                    let vms = with_need.entry(number).or_default();
                    vms.push(vm.vm.id.clone());
                }
            }
        }
        let unheeded = with_need.into_iter().map(|(number, mut vms)| {
            vms.sort_unstable();
            // A VM on the move has two places.
            vms.dedup();
            let count = vms.len();
            vms.truncate(NAMED);
            let unchecked = &self.unchecked[number];
            UnheededInCluster {
                need: unchecked.need.name.clone(),
                meaning: unchecked.need.meaning.clone(),
                unheeded: unchecked.unheeded,
                count,
                vms,
                units: unchecked.units.clone(),
            }
        });
        unheeded.collect()
    }
}

/// The first VM of the request that has the need.
fn first_with<'r>(need: &Need, request: &'r Request, inventory: &Inventory) -> Option<&'r Vm> {
    let mut members = request.members.iter();
    match &need.given {
        Given::Request(column) => members.next().filter(|_| says(&request.facts, column)),
        Given::Bindings => members.next().filter(|_| is_bound(request, inventory)),
        Given::Vm(column) => members.find(|vm| says(&vm.facts, column)),
        Given::VmTable(table) => members.find(|vm| !vm.facts.rows(table).is_empty()),
        Given::Networks => members.find(|vm| {
            let mut nics = vm.facts.rows("nics").iter();
            nics.any(|nic| nic.text("network").is_some())
        }),
        Given::Gpus => members.find(|vm| vm.gpus().is_some_and(|count| count != 0)),
        Given::Location => members.find(|vm| {
            let mut scores = vm.pinning.location.iter();
            scores.any(|(_, score)| score.unsigned_abs() >= INFINITE_SCORE)
        }),
        Given::Pinned => members.find(|vm| !vm.pinning.pinned.is_empty()),
        Given::GroupRule => members.find(|vm| {
            // One VM alone is neither together with others nor apart from them.
            let mut groups = inventory.groups_of(&vm.id);
            groups.any(|entry| entry.group.vms.len() > 1 && is_hard(entry.group.vm_rule))
        }),
        Given::GroupHostRule => members.find(|vm| {
            let mut groups = inventory.groups_of(&vm.id);
            groups.any(|entry| is_hard(entry.group.host_rule))
        }),
    }
}

/// Whether the value of a column asks for something.
fn says(facts: &Facts, column: &str) -> bool {
    match facts.get(column) {
        None => false,
        Some(Value::Integer(value)) => *value != 0,
        Some(Value::Number(value)) => *value != 0.0,
        Some(Value::Boolean(value)) => *value,
        Some(Value::Text(value)) => !value.is_empty(),
    }
}

fn is_bound(request: &Request, inventory: &Inventory) -> bool {
    let tenant = request.facts.text("tenant");
    let tenant = tenant.and_then(|id| inventory.tenant(id));
    tenant.is_some_and(|tenant| {
        let mut bindings = tenant.rows("bindings").iter();
        bindings.any(|binding| binding.get("end").is_none())
    })
}

fn is_hard(rule: Option<GroupRule>) -> bool {
    matches!(
        rule,
        Some(GroupRule::Positive { hard: true } | GroupRule::Negative { hard: true })
    )
}
