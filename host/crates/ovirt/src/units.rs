//! Policy units: listed, shown, taken out.

use super::call::{Call, Reply};
use super::catalogue::PolicyUnit;
use super::fault::Fault;
use super::tree::Tree;
use placewright_http::Permission;

/// Path of a policy unit.
pub(crate) fn href(id: &str) -> String {
    format!("/ovirt-engine/api/schedulingpolicyunits/{id}")
}

/// `GET /schedulingpolicyunits`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let catalogue = call.site.catalogue();
    let listed = catalogue.listed().map(tree);
    let selectors = SELECTORS.iter().map(selector);
    let listed = listed.chain(selectors).take(call.most()?);
    Ok(Reply::ok(Tree::list("scheduling_policy_units", listed)))
}

/// `GET /schedulingpolicyunits/{id}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    let id = call.part("id");
    if let Some(known) = SELECTORS.iter().find(|known| known.0 == id) {
        return Ok(Reply::ok(selector(known)));
    }
    let catalogue = call.site.catalogue();
    let unit = catalogue.get(id);
    let unit = unit.ok_or_else(|| Fault::not_found("policy unit", id))?;
    Ok(Reply::ok(tree(unit)))
}

/// What engines choose by among weighed hosts: id, name and description. Clients know no type of
/// units for them, and put them into no policy.
const SELECTORS: [(&str, &str, &str); 2] = [
    (
        "0c89f215-9c4f-4bbb-8419-31a2d43ae7ea",
        "BasicWeighting",
        "Adds the weights of each host up, times their factors; here: the scaling \"none\"",
    ),
    (
        "b280e7de-5df8-401e-b004-a1414d79a687",
        "RankSelector",
        "Ranks the hosts by each weight and adds the ranks up, times their factors",
    ),
];

fn selector((id, name, description): &(&str, &str, &str)) -> Tree {
    Tree::new("scheduling_policy_unit")
        .at(&href(id), id)
        .text("name", name)
        .text("description", description)
        .text("internal", true)
        .text("enabled", true)
        .with(Tree::list("properties", []))
}

/// `DELETE /schedulingpolicyunits/{id}`: the unit is in force no more, whatever it is listed as.
pub(crate) fn remove(call: &Call) -> Result<Reply, Fault> {
    call.caller.must_everywhere(Permission::Administer)?;
    let id = call.part("id");
    if let Some((_, name, _)) = SELECTORS.iter().find(|known| known.0 == id) {
        return Err(Fault::refused(format!(
            "Cannot remove Policy Unit. {name} comes with the program"
        )));
    }
    let catalogue = call.site.catalogue();
    let unit = catalogue.get(id);
    let unit = unit.ok_or_else(|| Fault::not_found("policy unit", id))?;
    let name = match &unit.unit {
        Some(name) if !unit.internal => name,
        _ => {
            return Err(Fault::refused(format!(
                "Cannot remove Policy Unit. {} comes with the program",
                unit.name
            )));
        }
    };
    // Also of policies that decide nowhere: they would be valid no more.
    let users = super::names::policies(&call.site, &call.caller, &catalogue);
    let users = users.iter().filter(|policy| {
        let entries = &policy.said.entries;
        let of_unit = |id: &str| {
            catalogue
                .get(id)
                .is_some_and(|it| it.unit.as_ref() == Some(name))
        };
        entries.iter().any(|entry| of_unit(&entry.unit))
    });
    let users: Vec<&str> = users.map(|policy| &*policy.name).collect();
    if !users.is_empty() {
        return Err(Fault::in_use(format!(
            "Cannot remove Policy Unit. {} is in use by the policies: {}",
            unit.name,
            users.join(", ")
        )));
    }
    let library = call.site.deployment.library();
    let disabled = library.disable(name, &call.caller.name);
    disabled.map_err(|error| Fault::in_use(format!("Cannot remove Policy Unit. {error}")))?;
    Ok(Reply::complete())
}

fn tree(unit: &PolicyUnit) -> Tree {
    let properties = unit.properties.iter();
    let properties = properties.map(|property| {
        Tree::new("property")
            .text("name", property.name())
            .text("value", property.expression())
    });
    Tree::new("scheduling_policy_unit")
        .at(&href(&unit.id), &unit.id)
        .text("name", &unit.name)
        .text("description", &unit.description)
        .text("internal", unit.internal)
        .text("enabled", true)
        .text("type", unit.kind.unit_type())
        .with(Tree::list("properties", properties))
}
