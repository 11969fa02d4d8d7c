//! Filters, weights and balances of a policy.

use super::write::change;
use super::{entry, find};
use crate::call::{Call, Reply};
use crate::catalogue::{Catalogue, PolicyUnit};
use crate::element::only;
use crate::fault::Fault;
use crate::import::Element;
use crate::import::source::Kind;
use crate::names::Shown;
use crate::tree::Tree;

/// The kind of entry that the path is about.
fn kind(call: &Call) -> Result<Kind, Fault> {
    let list = call.part("list");
    let kind = Kind::ALL.into_iter().find(|kind| kind.list() == list);
    kind.ok_or_else(|| Fault::not_found("collection", list))
}

/// The entries of a kind as they are answered.
pub(super) fn tree(policy: &Shown, kind: Kind, catalogue: &Catalogue) -> Tree {
    let entries = policy.said.of_kind(kind);
    // What the units in force have no name for is not shown.
    let entries = entries.filter(|it| catalogue.get(&it.unit).is_some());
    Tree::list(kind.list(), entries.map(|it| entry(policy, it)))
}

/// `GET /schedulingpolicies/{id}/{list}`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let kind = kind(call)?;
    let catalogue = call.site.catalogue();
    let policy = find(call, &catalogue)?;
    Ok(Reply::ok(tree(&policy, kind, &catalogue)))
}

/// `GET /schedulingpolicies/{id}/{list}/{unit}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    let kind = kind(call)?;
    let catalogue = call.site.catalogue();
    let policy = find(call, &catalogue)?;
    let unit = call.part("entry");
    match policy.said.entry(kind, unit) {
        Some(found) => Ok(Reply::ok(entry(&policy, found))),
        None => Err(Fault::not_found(kind.element(), unit)),
    }
}

/// What a client wants to add.
struct Wanted {
    kind: Kind,
    unit: String,
    number: i64,
}

impl Wanted {
    fn read(kind: Kind, body: &Element) -> Result<Self, Fault> {
        let what = match kind {
            Kind::Filter => "Filter",
            Kind::Weight => "Weight",
            Kind::Balance => "Balance",
        };
        let key = match kind {
            Kind::Filter => "position",
            Kind::Weight => "factor",
            Kind::Balance => "",
        };
        let known = [
            "id",
            "href",
            "name",
            "scheduling_policy_unit",
            "scheduling_policy",
            "link",
            key,
        ];
        only(body, &known)?;
        let unit = body.get("scheduling_policy_unit");
        let unit = unit
            .and_then(|unit| unit.get("id"))
            .or_else(|| body.get("id"));
        let unit = unit.map(|id| id.text.clone()).filter(|id| !id.is_empty());
        let unit = unit.ok_or_else(|| Fault::incomplete(what, "schedulingPolicyUnit.id", "add"))?;
        let usual = if kind == Kind::Weight { 1 } else { 0 };
        let given = body.get(key).map(|it| it.text.as_str());
        let number = match given.filter(|_| !key.is_empty()) {
            None => usual,
            Some(text) => text.trim().parse::<i32>().map(i64::from).map_err(|_| {
                let text = placewright_document::shown(text);
                Fault::syntax(format!("\"{key}\" must be a whole number, not \"{text}\""))
            })?,
        };
        match kind {
            Kind::Filter if !(-1..=1).contains(&number) => Err(Fault::refused(format!(
                "Cannot edit Cluster Policy. The position {number} is none: -1 is first, 1 is last, 0 is anywhere"
            ))),
            Kind::Weight if number < 0 => Err(Fault::refused(
                "Cannot edit Cluster Policy. Factor cannot be negative",
            )),
            _ => Ok(Self { kind, unit, number }),
        }
    }

    /// The policy unit, if it can stand in that list.
    fn found<'c>(&self, catalogue: &'c Catalogue) -> Result<&'c PolicyUnit, Fault> {
        let unit = catalogue.get(&self.unit).ok_or_else(|| {
            let id = placewright_document::shown(&self.unit);
            Fault::refused(format!(
                "Cannot edit Cluster Policy. There is no policy unit \"{id}\""
            ))
        })?;
        match unit.kind == self.kind {
            true => Ok(unit),
            false => Err(Fault::refused(format!(
                "Cannot edit Cluster Policy. The policy unit {} is of the type {} and cannot stand among the {}",
                unit.name,
                unit.kind.unit_type(),
                self.kind.list()
            ))),
        }
    }
}

/// `POST /schedulingpolicies/{id}/{list}`
pub(crate) fn add(call: &Call) -> Result<Reply, Fault> {
    let kind = kind(call)?;
    let wanted = Wanted::read(kind, call.body(kind.element())?)?;
    let changed = change(call, |editable, policy, catalogue| {
        let unit = wanted.found(catalogue)?;
        let taken = policy.said.of_kind(kind);
        let position = wanted.number;
        for other in taken.filter(|_| kind != Kind::Balance) {
            if other.unit == wanted.unit {
                return Err(Fault::refused(format!(
                    "Cannot edit Cluster Policy. The policy unit {} is among the {} already",
                    unit.name,
                    kind.list()
                )));
            }
            if kind == Kind::Filter && position != 0 && other.number == position {
                let end = if position < 0 { "first" } else { "last" };
                return Err(Fault::refused(format!(
                    "Cannot edit Cluster Policy. Only one filter can be {end}"
                )));
            }
        }
        editable.add(unit, wanted.number);
        Ok(())
    })?;
    let added = changed.said.entry(kind, &wanted.unit);
    // A balance that stands for nothing may be no entry at all.
    let tree = added.map_or_else(|| Tree::new(kind.element()), |it| entry(&changed, it));
    Ok(Reply::ok(tree))
}

/// `DELETE /schedulingpolicies/{id}/{list}/{unit}`: as on an engine, also done if it is not
/// there.
pub(crate) fn remove(call: &Call) -> Result<Reply, Fault> {
    let kind = kind(call)?;
    let unit = call.part("entry").to_owned();
    change(call, |editable, policy, catalogue| {
        let said = &policy.said;
        if let Some(entry) = said.entry(kind, &unit) {
            let beside = said.of_kind(kind);
            let beside = beside.filter(|it| it.index == entry.index && it.unit != entry.unit);
            let others: Vec<_> = beside.filter_map(|it| catalogue.get(&it.unit)).collect();
            editable.remove(entry, &others);
        }
        Ok(())
    })?;
    Ok(Reply::complete())
}
