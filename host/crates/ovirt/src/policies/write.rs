//! Policies are made, changed and taken out: the whole of a change or nothing.

use std::collections::HashSet;

use toml_edit::Value;

use super::{find, href, tree};
use crate::call::{Call, Reply};
use crate::catalogue::{Catalogue, UnitProperty};
use crate::element::only;
use crate::fault::Fault;
use crate::import::Element;
use crate::names::{self, Shown};
use crate::policy::{Editable, Said};
use placewright_deployment::{DeploymentError, Edit, Origin, PolicyUse};

/// How often a change is begun again because somebody else was faster.
const TRIES: usize = 8;

/// Why a change was not made.
enum Refused {
    /// Somebody else has changed the policy since it was read.
    Raced,
    Fault(Fault),
}

impl From<DeploymentError> for Refused {
    fn from(error: DeploymentError) -> Self {
        match error {
            DeploymentError::Revision { .. } => Self::Raced,
            error => Self::Fault(error.into()),
        }
    }
}

/// What may stand in a policy that is sent. What the server alone says is passed over where it
/// is just as it is.
const ELEMENTS: [&str; 14] = [
    "id",
    "href",
    "name",
    "description",
    "comment",
    "locked",
    "default_policy",
    "properties",
    "link",
    "actions",
    "filters",
    "weights",
    "balances",
    "clusters",
];

/// A policy as a client wants it.
struct Wanted {
    name: Option<String>,
    description: Option<String>,
    properties: Option<Vec<(String, String)>>,
}

impl Wanted {
    fn read(body: &Element, known: Option<&Said>) -> Result<Self, Fault> {
        only(body, &ELEMENTS)?;
        let text = |key: &str| body.get(key).map(|it| it.text.clone());
        for list in ["filters", "weights", "balances"] {
            if body.get(list).is_some_and(|it| !it.inside.is_empty()) {
                return Err(Fault::syntax(format!(
                    "the {list} of a policy are changed one by one under their own path"
                )));
            }
        }
        let fixed = [
            ("id", known.map(|said| said.id.clone())),
            (
                "locked",
                known.map(|said| said.locked.is_some().to_string()),
            ),
            (
                "default_policy",
                known.map(|said| said.is_default.to_string()),
            ),
        ];
        for (key, is) in fixed {
            let is = is.unwrap_or_else(|| "false".to_owned());
            let given = text(key).filter(|given| !given.eq_ignore_ascii_case(&is));
            let is_new_id = known.is_none() && key == "id";
            if given.is_some() && !is_new_id {
                return Err(Fault::immutable(format!(
                    "{key} of a scheduling policy cannot be changed"
                )));
            }
        }
        Ok(Self {
            name: text("name"),
            description: text("description"),
            properties: body.get("properties").map(properties).transpose()?,
        })
    }

    /// The settings that the wanted properties are, for a policy of these units.
    fn settings(&self, said: &Said) -> Result<Option<Vec<(String, Value)>>, Fault> {
        let Some(wanted) = &self.properties else {
            return Ok(None);
        };
        let known = || said.settable.iter().flat_map(|it| &it.properties);
        let settings = wanted.iter().map(|(name, text)| {
            let property = known().find(|it| it.name() == name).ok_or_else(|| {
                let mut names: Vec<&str> = known().map(UnitProperty::name).collect();
                names.sort_unstable();
                names.dedup();
                Fault::refused(format!(
                    "Cannot edit Cluster Policy. No policy unit of the policy has the property \"{}\"; they have: {}",
                    placewright_document::shown(name),
                    names.join(", ")
                ))
            })?;
            let value = property.read(text);
            let value = value.map_err(|why| Fault::refused(format!("Cannot edit Cluster Policy. {why}")))?;
            Ok((property.setting().to_owned(), value))
        });
        settings.collect::<Result<Vec<_>, Fault>>().map(Some)
    }
}

/// Names and values of properties that were sent.
pub(crate) fn properties(list: &Element) -> Result<Vec<(String, String)>, Fault> {
    only(list, &["property"])?;
    let mut properties: Vec<(String, String)> = Vec::new();
    let mut names = HashSet::new();
    for property in list.all("property") {
        only(property, &["name", "value"])?;
        let text = |key: &str| property.get(key).map(|it| it.text.clone());
        let name = text("name").filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| Fault::incomplete("Property", "name", "update"))?;
        let value =
            text("value").ok_or_else(|| Fault::incomplete("Property", "value", "update"))?;
        if !names.insert(name.clone()) {
            return Err(Fault::syntax(format!(
                "the property \"{}\" stands twice",
                placewright_document::shown(&name)
            )));
        }
        properties.push((name, value));
    }
    Ok(properties)
}

/// That a name is one, and that of no other policy.
fn check_name(
    call: &Call,
    catalogue: &Catalogue,
    name: &str,
    own: Option<&str>,
) -> Result<(), Fault> {
    if name.trim().is_empty() || name.chars().count() > 128 {
        return Err(Fault::refused(
            "the name of a policy has 1 to 128 characters, and others than blanks",
        ));
    }
    let others = names::policies(&call.site, &call.caller, catalogue);
    let mut others = others.iter().filter(|other| Some(&*other.said.id) != own);
    match others.any(|other| other.name == *name) {
        true => Err(Fault::refused(format!(
            "Cluster policy name is already in use: \"{}\"",
            placewright_document::shown(name)
        ))),
        false => Ok(()),
    }
}

/// `POST /schedulingpolicies`
pub(crate) fn create(call: &Call) -> Result<Reply, Fault> {
    let wanted = Wanted::read(call.body("scheduling_policy")?, None)?;
    let name = wanted.name.clone().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Fault::incomplete("SchedulingPolicy", "name", "add"))?;
    for _ in 0..TRIES {
        let catalogue = call.site.catalogue();
        check_name(call, &catalogue, &name, None)?;
        if wanted.properties.as_ref().is_some_and(|it| !it.is_empty()) {
            return Err(Fault::refused(
                "Cannot add Cluster Policy. A new policy has no policy units that have properties: add them first",
            ));
        }
        let description = wanted.description.clone().unwrap_or_default();
        let edit = Edit {
            name: names::key(&call.site, &name),
            text: Editable::new(&name, &description, &catalogue).text(),
            origin: Origin::Api,
            revision: Some(0),
        };
        match put(call, &edit) {
            Ok(()) => {}
            Err(Refused::Raced) => continue,
            Err(Refused::Fault(fault)) => return Err(fault),
        }
        let catalogue = call.site.catalogue();
        let all = names::policies(&call.site, &call.caller, &catalogue);
        let made = all.iter().find(|shown| *shown.record.name == *edit.name);
        let made = made.ok_or_else(|| Fault::not_found("scheduling policy", &name))?;
        return Ok(Reply::created(
            tree(call, made, &catalogue),
            href(&made.said.id),
        ));
    }
    Err(too_many())
}

/// `PUT /schedulingpolicies/{id}`
pub(crate) fn update(call: &Call) -> Result<Reply, Fault> {
    let body = call.body("scheduling_policy")?;
    let changed = change(call, |editable, policy, catalogue| {
        let wanted = Wanted::read(body, Some(&policy.said))?;
        if let Some(name) = wanted.name.as_deref().filter(|name| *name != policy.name) {
            check_name(call, catalogue, name, Some(&policy.said.id))?;
            editable.name(name);
        }
        if let Some(description) = &wanted.description {
            editable.description(description);
        }
        if let Some(settings) = wanted.settings(&policy.said)? {
            editable.settings(settings);
        }
        Ok(())
    })?;
    let catalogue = call.site.catalogue();
    Ok(Reply::ok(tree(call, &changed, &catalogue)))
}

/// `DELETE /schedulingpolicies/{id}`
pub(crate) fn remove(call: &Call) -> Result<Reply, Fault> {
    let catalogue = call.site.catalogue();
    let policy = find(call, &catalogue)?;
    if let Some(why) = &policy.said.locked {
        return Err(locked(&policy.name, why));
    }
    let name = &policy.record.name;
    call.is_about_policy(name);
    let may = |policy: &PolicyUse| call.caller.may_write_policy(policy).map_err(Fault::from);
    let removed =
        call.site
            .deployment
            .remove_policy_if(name, &Origin::Api, None, (&call.caller.name, may));
    removed?;
    call.site.forget(name);
    Ok(Reply::complete())
}

fn locked(name: &str, why: &str) -> Fault {
    Fault::refused(format!(
        "Cannot edit Cluster Policy. The policy \"{}\" is locked: {why}",
        placewright_document::shown(name)
    ))
}

fn too_many() -> Fault {
    Fault::in_use("others change the policy all the time: try again")
}

fn put(call: &Call, edit: &Edit) -> Result<(), Refused> {
    call.is_about_policy(&edit.name.as_str().into());
    let may = |policy: &PolicyUse| {
        let may = call.caller.may_write_policy(policy);
        may.map_err(|problem| Refused::Fault(problem.into()))
    };
    let deployment = &call.site.deployment;
    deployment
        .put_policy_if(edit, &call.caller.name, may)
        .map(drop)
}

/// Change the policy of the id in the path, all of the change or nothing. If somebody else does
/// so meanwhile, what they have made of it is changed.
///
/// # Errors
/// Those of the change; or if the policy cannot be changed, or could not run as it would be.
pub(super) fn change(
    call: &Call,
    change: impl Fn(&mut Editable, &Shown, &Catalogue) -> Result<(), Fault>,
) -> Result<Shown, Fault> {
    for _ in 0..TRIES {
        let catalogue = call.site.catalogue();
        let policy = find(call, &catalogue)?;
        if let Some(why) = &policy.said.locked {
            return Err(locked(&policy.name, why));
        }
        let mut editable = Editable::read(&policy.record.text).map_err(Fault::refused)?;
        change(&mut editable, &policy, &catalogue)?;
        let edit = Edit {
            name: policy.record.name.to_string(),
            text: editable.text(),
            origin: Origin::Api,
            revision: Some(policy.record.revision),
        };
        if *edit.text == *policy.record.text {
            return Ok(policy);
        }
        match put(call, &edit) {
            Ok(()) => return find(call, &call.site.catalogue()),
            Err(Refused::Raced) => {}
            Err(Refused::Fault(fault)) => return Err(fault),
        }
    }
    Err(too_many())
}
