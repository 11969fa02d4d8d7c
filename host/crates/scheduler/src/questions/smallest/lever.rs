//! What can be changed, and how far.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::of_host;
use super::trial::World;
use placewright_chain::Chain;
use placewright_inventory::{Inventory, Shape, ShapeColumn};
use placewright_model::schema::{Column, Source};
use placewright_model::{GREATEST_INTEGER, GroupRule, Measure, Request, Value, Vm};

/// Of a request with more VMs these are tried alone.
pub(super) const MEMBERS: usize = 8;

/// An amount of a host is tried up to so many times what it is.
const TIMES: i64 = 1024;

const MIB: i64 = 1 << 20;

/// Something that can be changed.
#[derive(Debug, Clone)]
pub(super) struct Lever {
    pub(super) place: Place,
    /// What stands there now.
    pub(super) before: Option<Value>,
    pub(super) measure: Option<Measure>,
    pub(super) reach: Reach,
}

/// Where something is changed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    /// A column of that VM of the request.
    Member(usize, Arc<str>, Arc<str>),
    /// All rows of that table of the VM.
    MemberTable(usize, Arc<str>, Arc<str>),
    /// The hosts that the VM is pinned to, or its scores for hosts.
    Pinning(usize, Arc<str>, Arc<str>),
    /// The zone that the request asks for.
    Zone,
    /// The hosts that the request allows.
    Allowed,
    /// A column of the host.
    Host(Arc<str>),
    /// A group whose rules are hard.
    Group(Arc<str>),
    /// A VM that has its place on the host.
    Elsewhere(Arc<str>),
}

impl Place {
    /// Who asks changes the request first.
    pub(super) fn rank(&self) -> u32 {
        match self {
            Self::Member(..) => 0,
            Self::Zone | Self::Allowed | Self::MemberTable(..) | Self::Pinning(..) => 2,
            Self::Host(_) => 4,
            Self::Group(_) => 6,
            Self::Elsewhere(_) => 8,
        }
    }
}

/// How far something can be changed.
#[derive(Debug, Clone)]
pub(super) enum Reach {
    /// To that value, or away.
    Once(Option<Value>),
    /// In steps: from what it is now, which is not enough, as far as it is tried.
    Steps { unit: Unit, from: i64, to: i64 },
}

/// What a step is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    /// So much of an integer.
    Whole(i64),
    /// A hundredth of a number.
    Hundredth,
}

impl Unit {
    fn of(value: &Value, measure: Option<Measure>) -> Option<Self> {
        match (value, measure) {
            (Value::Integer(_), Some(Measure::Bytes)) => Some(Self::Whole(MIB)),
            (Value::Integer(_), _) => Some(Self::Whole(1)),
            (Value::Number(_), _) => Some(Self::Hundredth),
            _ => None,
        }
    }

    /// The value of so many steps.
    pub(super) fn value(self, steps: i64) -> Value {
        match self {
            Self::Whole(unit) => Value::Integer(steps.saturating_mul(unit)),
            Self::Hundredth => Value::Number(steps as f64 / 100.0),
        }
    }

    /// How many whole steps a value is: not more, or not less.
    fn steps(self, value: &Value, up: bool) -> Option<i64> {
        match (self, value) {
            (Self::Whole(unit), Value::Integer(value)) => Some(match up {
                true => value.div_euclid(unit) + i64::from(value.rem_euclid(unit) != 0),
                false => value.div_euclid(unit),
            }),
            (Self::Hundredth, Value::Number(value)) => {
                let steps = value * 100.0;
                let steps = if up { steps.ceil() } else { steps.floor() };
                (steps.abs() < GREATEST_INTEGER as f64).then_some(steps as i64)
            }
            _ => None,
        }
    }
}

impl Lever {
    pub(super) fn once(place: Place, before: Option<Value>, after: Option<Value>) -> Self {
        Self {
            place,
            before,
            measure: None,
            reach: Reach::Once(after),
        }
    }

    /// Less of a value, down to so little; None if it is that little.
    pub(super) fn less(
        place: Place,
        before: Value,
        measure: Option<Measure>,
        least: i64,
    ) -> Option<Self> {
        let unit = Unit::of(&before, measure)?;
        let from = unit.steps(&before, true)?;
        (from > least).then_some(Self {
            place,
            before: Some(before),
            measure,
            reach: Reach::Steps {
                unit,
                from,
                to: least,
            },
        })
    }

    /// More of a value.
    pub(super) fn more(place: Place, before: Value, column: &Column) -> Option<Self> {
        let unit = Unit::of(&before, column.measure)?;
        let from = unit.steps(&before, false)?;
        let greatest = column.bounds.greatest.map_or(i64::MAX, |it| match unit {
            Unit::Whole(unit) => it as i64 / unit,
            Unit::Hundredth => (it * 100.0) as i64,
        });
        let most = match unit {
            Unit::Whole(unit) => GREATEST_INTEGER / unit,
            Unit::Hundredth => GREATEST_INTEGER,
        };
        let to = from.max(1).saturating_mul(TIMES).min(greatest).min(most);
        (to > from).then_some(Self {
            place,
            before: Some(before),
            measure: column.measure,
            reach: Reach::Steps { unit, from, to },
        })
    }

    /// How far it can be turned.
    pub(super) fn furthest(&self) -> i64 {
        match self.reach {
            Reach::Steps { to, .. } => to,
            Reach::Once(_) => 1,
        }
    }

    /// One step less of the change; None if that is none.
    pub(super) fn nearer(&self, at: i64) -> Option<i64> {
        match self.reach {
            Reach::Steps { from, .. } => {
                let nearer = at + (from - at).signum();
                (nearer != from).then_some(nearer)
            }
            Reach::Once(_) => None,
        }
    }
}

/// What must be changed before any filter is asked about the host.
pub(super) fn musts(world: &World<'_>) -> Vec<Lever> {
    let (inventory, host, request) = (&world.inventory, world.host(), world.request());
    let mut musts = Vec::new();
    if let Some(slot) = inventory.slot(host)
        && !inventory.is_up(slot)
    {
        let before = inventory.host_value(slot, "state");
        let place = Place::Host("state".into());
        musts.push(Lever::once(place, before, Some("up".into())));
    }
    if !allows(request, host) {
        musts.push(Lever::once(Place::Allowed, None, None));
    }
    musts
}

/// Whether the request lets its VMs go to that host.
pub(super) fn allows(request: &Request, host: &Arc<str>) -> bool {
    !request.excluded.contains(host)
        && (request.allowed.is_empty() || request.allowed.contains(host))
}

/// The columns that filters of the policy read, each with its table; a table alone with an empty
/// column.
fn reads(chain: &Chain) -> BTreeSet<(String, String)> {
    let policy = chain.policy();
    let filters = policy.stages.iter().flat_map(|stage| &stage.filters);
    let filters = filters.filter(|filter| filter.enabled);
    let names: BTreeSet<&str> = filters.map(|filter| &*filter.unit.name).collect();
    let units = chain.units().into_iter().map(|unit| unit.description());
    let units = units.filter(|it| names.contains(it.name.as_str()));
    let tables = units
        .filter_map(|it| it.judge.as_ref())
        .flat_map(|it| &it.reads);
    let columns = tables.flat_map(|read| {
        let columns = read.columns.iter().map(|it| it.column.clone());
        std::iter::once(String::new())
            .chain(columns)
            .map(|column| (read.table.clone(), column))
    });
    columns.collect()
}

/// What can be changed so that a filter of the policy may answer otherwise.
pub(super) fn levers(world: &World<'_>, chain: &Chain) -> Vec<Lever> {
    let (inventory, request) = (&world.inventory, world.request());
    let reads = reads(chain);
    let mut levers = Vec::new();
    for (number, member) in request.members.iter().enumerate().take(MEMBERS) {
        of_member(&mut levers, inventory, (number, member), &reads);
    }
    if let Some(zone) = request.facts.get("zone")
        && reads.contains(&("request".to_owned(), "zone".to_owned()))
    {
        levers.push(Lever::once(Place::Zone, Some(zone.clone()), None));
    }
    of_host::columns(&mut levers, world, &reads);
    let reads_groups = reads.iter().any(|(table, _)| table.starts_with("groups"));
    if reads_groups {
        of_groups(&mut levers, inventory, request);
    }
    of_host::residents(&mut levers, world);
    levers
}

fn of_member(
    levers: &mut Vec<Lever>,
    inventory: &Inventory,
    (number, member): (usize, &Vm),
    reads: &BTreeSet<(String, String)>,
) {
    let id = &member.id;
    let shape = Shape::of(&member.facts);
    let mut columns: BTreeSet<&str> = BTreeSet::new();
    let mut is_pinned = false;
    let mut is_scored = false;
    for (table, column) in reads {
        match (table.as_str(), column.as_str()) {
            ("members", "vcpus") => columns.extend(["cpu", "sockets", "cores", "threads"]),
            ("members", "exclusive") => columns.extend(["exclusive", "pinning"]),
            ("members", "pinned") | ("hosts/pinned", _) => is_pinned = true,
            ("members", "has-location") | ("hosts/location", _) => is_scored = true,
            ("members", "") => {}
            ("members", column) => drop(columns.insert(column)),
            _ => {}
        }
    }
    for name in columns {
        let Some(column) = inventory.schema().column("members", name) else {
            continue;
        };
        let given = member.facts.get(name).cloned();
        let derived = ShapeColumn::named(name).map(|it| shape.value(it));
        // What follows from something else is changed there.
        let follows = given.is_none() && matches!(name, "sockets" | "cores" | "threads");
        let Some(value) = given.or(derived).filter(|_| !follows) else {
            continue;
        };
        if column.source == Source::Kept || matches!(name, "tenant" | "name") {
            continue;
        }
        let place = Place::Member(number, id.clone(), name.into());
        levers.extend(match &value {
            Value::Integer(_) | Value::Number(_) => {
                Lever::less(place, value, column.measure, least_of(name))
            }
            Value::Boolean(is) => {
                let other = Value::Boolean(!is);
                Some(Lever::once(place, Some(value), Some(other)))
            }
            Value::Text(_) => column
                .optional
                .then(|| Lever::once(place, Some(value), None)),
        });
    }
    for (table, rows) in member.facts.tables() {
        let is_read = |(read, column): &(String, String)| {
            read.strip_prefix("members/") == Some(table)
                || (read == "members" && column.strip_prefix("has-") == Some(table))
        };
        if !rows.is_empty() && reads.iter().any(is_read) {
            let place = Place::MemberTable(number, id.clone(), table.clone());
            levers.push(Lever::once(place, None, None));
        }
    }
    let pinning = &member.pinning;
    let lists = [
        ("pinned", is_pinned && !pinning.pinned.is_empty()),
        ("location", is_scored && !pinning.location.is_empty()),
    ];
    for (list, _) in lists.into_iter().filter(|(_, is_there)| *is_there) {
        let place = Place::Pinning(number, id.clone(), list.into());
        levers.push(Lever::once(place, None, None));
    }
}

/// The least that is tried of a VM's column, in steps: a VM has some CPU and memory.
fn least_of(column: &str) -> i64 {
    let is_of_shape = ShapeColumn::named(column).is_some();
    i64::from(is_of_shape)
}

fn of_groups(levers: &mut Vec<Lever>, inventory: &Inventory, request: &Request) {
    let mut known: BTreeSet<Arc<str>> = BTreeSet::new();
    for member in request.members.iter().take(MEMBERS) {
        for entry in inventory.groups_of(&member.id) {
            let rules = [entry.group.vm_rule, entry.group.host_rule];
            let is_hard = |rule: &GroupRule| {
                let (GroupRule::Positive { hard } | GroupRule::Negative { hard }) = rule;
                *hard
            };
            let is_hard = rules.iter().flatten().any(is_hard);
            if is_hard && known.insert(entry.group.id.clone()) {
                let place = Place::Group(entry.group.id.clone());
                levers.push(Lever::once(place, Some(true.into()), Some(false.into())));
            }
        }
    }
}
