//! The smallest change that would let a host through which the filters remove: of the request,
//! of the host, of a group, or of two of these.
//!
//! Nothing is worked out from what units say. Each change is tried: the policy's filters are
//! asked about the host again, on a copy of the cluster in which it is made. What is tried are
//! the columns that these filters read, each as far as it goes, and where that helps the least
//! of it that does. The work is bounded by [`TRIALS`].

mod lever;
mod of_host;
mod of_quota;
mod trial;
mod words;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::QuestionError;
use crate::Cancel;
use lever::{Lever, Place, Reach};
pub(super) use of_quota::raises;
use placewright_chain::{Chain, Runner};
use placewright_inventory::Inventory;
use placewright_model::{Request, Value};
use trial::World;

/// The filters are asked about the host so often at most.
const TRIALS: usize = 3000;

/// So many ways are told at most.
const WAYS: usize = 8;

/// So many ways of two changes are looked for at most.
const PAIRS: usize = 3;

/// A way to let a host through that filters remove: one change, or two together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WayIn))]
#[serde(rename_all = "kebab-case")]
pub struct Way {
    /// What is to be changed: all of it.
    pub changes: Vec<Needed>,
    /// Whether the host would then be chosen, too, and not another one.
    pub chosen: bool,
    /// The changes as a sentence, to be completed by a full stop.
    #[cfg_attr(
        feature = "openapi",
        schema(example = "reduce the memory of VM \"web-3\" to 4 GiB")
    )]
    pub sentence: String,
}

impl Way {
    /// That these changes let a host through, which would then be chosen or not.
    pub(super) fn new(changes: Vec<Needed>, chosen: bool) -> Self {
        let sentences = changes.iter().map(|change| change.sentence.as_str());
        Self {
            sentence: sentences.collect::<Vec<_>>().join(", and "),
            changes,
            chosen,
        }
    }
}

/// A change that is needed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = NeededChange))]
#[serde(rename_all = "kebab-case")]
pub struct Needed {
    /// What is changed.
    pub of: Changed,
    /// Id of the VM, host or group, or name of the quota; none for the request as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "web-3"))]
    pub id: Option<Arc<str>>,
    /// The column or table that is changed, as documents call it; `host` if the VM is to run
    /// elsewhere; of a quota `limits.cpu`, `limits.memory`, `limits.gpus` or `limits.vms`.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "memory"))]
    pub column: Arc<str>,
    /// How far it is to be changed.
    pub bound: Limit,
    /// The value of now, as a document may have it; none if it has none, or is a table.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "8 GiB"))]
    pub before: Option<String>,
    /// The value that lets the host through, as a document may have it; none if it is to have
    /// none. One step less of the change does not.
    #[cfg_attr(feature = "openapi", schema(required = true, example = "4 GiB"))]
    pub after: Option<String>,
    /// The change as a sentence, to be completed by a full stop.
    #[cfg_attr(
        feature = "openapi",
        schema(example = "reduce the memory of VM \"web-3\" to 4 GiB")
    )]
    pub sentence: String,
}

/// What a change is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ChangedThing))]
#[serde(rename_all = "kebab-case")]
pub enum Changed {
    /// The request as a whole.
    Request,
    /// A VM: one of the request, or one that has its place on the host.
    Vm,
    /// The host.
    Host,
    /// A group that a VM of the request is in.
    Group,
    /// A quota of a tenant.
    Quota,
}

/// How far something is to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ChangeLimit))]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// To that value or less.
    AtMost,
    /// To that value or more.
    AtLeast,
    /// To that value.
    Exactly,
}

/// A request as it was taken in, and what decides it where.
pub(crate) struct Asked<'a> {
    pub(crate) chain: &'a Arc<Chain>,
    pub(crate) inventory: Inventory,
    pub(crate) request: &'a Request,
    pub(crate) draw: f64,
    pub(crate) host: &'a Arc<str>,
    pub(crate) cancel: &'a Cancel,
}

/// A lever, and how far it is turned.
type Turned<'l> = (&'l Lever, i64);

/// The ways to let the host through, those first that change least. None if it passes the
/// filters as things are, if an administrator chose the host, or if no two changes help.
///
/// # Errors
/// If the question's time is up.
pub(crate) fn ways(asked: Asked<'_>, limit: Duration) -> Result<Vec<Way>, QuestionError> {
    if asked.request.forced.is_some() {
        return Ok(Vec::new());
    }
    let Asked {
        chain,
        inventory,
        request,
        draw,
        host,
        cancel,
    } = asked;
    let runner = Runner::new(chain.clone(), limit);
    let mut world = World::new(runner, inventory, (request, draw, host), (cancel, TRIALS));
    let musts = lever::musts(&world);
    let mut must: Vec<Turned<'_>> = musts.iter().map(|it| (it, it.furthest())).collect();
    if must.len() > 2 || (must.is_empty() && world.passes(&[])?) {
        return Ok(Vec::new());
    }
    let mut found: Vec<Vec<Turned<'_>>> = Vec::new();
    let levers = lever::levers(&world, chain);
    if !must.is_empty() && world.passes(&must)? {
        found.push(std::mem::take(&mut must));
    } else if must.len() < 2 {
        singles(&mut world, &levers, &must, &mut found)?;
        if found.is_empty() && must.is_empty() {
            pairs(&mut world, &levers, &mut found)?;
        }
    }
    tell(&mut world, found)
}

/// Each lever alone, besides what must be.
fn singles<'l>(
    world: &mut World<'_>,
    levers: &'l [Lever],
    must: &[Turned<'l>],
    found: &mut Vec<Vec<Turned<'l>>>,
) -> Result<(), QuestionError> {
    let mut is_off: bool = false;
    for lever in levers {
        let is_vm = matches!(lever.place, Place::Elsewhere(_));
        if is_vm && is_off {
            // They stand smallest first, and one is enough.
            continue;
        }
        if let Some(least) = least(world, lever, must)? {
            is_off |= is_vm;
            let mut way = must.to_vec();
            way.push((lever, least));
            found.push(way);
        }
    }
    Ok(())
}

/// Two levers together, neither of which is enough.
fn pairs<'l>(
    world: &mut World<'_>,
    levers: &'l [Lever],
    found: &mut Vec<Vec<Turned<'l>>>,
) -> Result<(), QuestionError> {
    let levers: Vec<&Lever> = (levers.iter())
        .filter(|it| !matches!(it.place, Place::Elsewhere(_)))
        .collect();
    for (number, one) in levers.iter().enumerate() {
        for other in &levers[number + 1..] {
            if found.len() >= PAIRS {
                return Ok(());
            }
            let Some(first) = least(world, one, &[(*other, other.furthest())])? else {
                continue;
            };
            let turned = (*one, first);
            let Some(second) = least(world, other, &[turned])? else {
                continue;
            };
            // That less of the first is not enough is known beside more of the second.
            let nearer = one.nearer(first);
            let is_less = match nearer {
                Some(nearer) => world.passes(&[(*one, nearer), (*other, second)])?,
                None => false,
            };
            if !is_less {
                found.push(vec![turned, (*other, second)]);
            }
        }
    }
    Ok(())
}

/// How far the lever must be turned at least, beside others; None if that does not help.
fn least(
    world: &mut World<'_>,
    lever: &Lever,
    beside: &[Turned<'_>],
) -> Result<Option<i64>, QuestionError> {
    let mut all = beside.to_vec();
    all.push((lever, lever.furthest()));
    let last = all.len() - 1;
    if !world.passes(&all)? {
        return Ok(None);
    }
    let Reach::Steps { from, to, .. } = lever.reach else {
        return Ok(Some(lever.furthest()));
    };
    // `from` does not let the host through, and `to` does.
    let (mut short, mut enough) = (from, to);
    while short.abs_diff(enough) > 1 {
        let middle = short + (enough - short) / 2;
        all[last].1 = middle;
        match world.passes(&all)? {
            true => enough = middle,
            false => short = middle,
        }
    }
    // When there are no trials left, nothing passes: then it is not the least.
    Ok((!world.is_spent()).then_some(enough))
}

/// The ways for people and programs, each tried beside all hosts.
fn tell(world: &mut World<'_>, mut found: Vec<Vec<Turned<'_>>>) -> Result<Vec<Way>, QuestionError> {
    found.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let mut ways = Vec::new();
    for turned in found {
        if ways.len() >= WAYS {
            break;
        }
        let Some(chosen) = world.decides(&turned)? else {
            continue;
        };
        let host = world.host();
        let changes = turned
            .iter()
            .map(|(lever, at)| words::needed(lever, *at, host));
        ways.push(Way::new(changes.collect(), chosen));
    }
    Ok(ways)
}

/// How much a way changes: the request's own amounts first, by the share that they lose.
fn rank(turned: &[Turned<'_>]) -> f64 {
    let ranks = turned.iter().map(|(lever, at)| {
        let share = match &lever.reach {
            Reach::Steps { from, .. } => {
                let (from, at) = (*from as f64, *at as f64);
                ((from - at).abs() / from.abs().max(at.abs()).max(1.0)).min(1.0)
            }
            Reach::Once(_) => 1.0,
        };
        f64::from(lever.place.rank()) + share
    });
    ranks.sum()
}

/// The value of a lever that is turned so far.
fn value(lever: &Lever, at: i64) -> Option<Value> {
    match &lever.reach {
        Reach::Once(value) => value.clone(),
        Reach::Steps { unit, .. } => Some(unit.value(at)),
    }
}
