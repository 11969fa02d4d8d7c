//! Clusters: listed, shown, and given a policy.

mod settings;

use std::sync::Arc;

use super::call::{Call, Reply};
use super::constants;
use super::fault::Fault;
use super::ids;
use super::import::Element;
use super::import::table::THRESHOLDS;
use super::names::{self, Shown};
use super::policies;
use super::search::{Field, Search};
use super::tree::Tree;
use placewright_deployment::{Attach, Cluster, DeploymentError};
use placewright_http::Permission;

/// The most that a cluster's change is begun again because somebody else was faster.
const TRIES: usize = 8;

/// Id of a cluster.
pub(crate) fn id(name: &str) -> String {
    ids::of("cluster", &[name])
}

/// Path of a cluster.
pub(crate) fn href(name: &str) -> String {
    format!("/ovirt-engine/api/clusters/{}", id(name))
}

/// The clusters that the caller is shown, by name.
pub(crate) fn all(call: &Call) -> Vec<Arc<Cluster>> {
    let mut clusters = call.site.deployment.clusters();
    clusters.retain(|cluster| call.caller.sees(cluster.name()));
    clusters
}

/// The cluster of the id in the path.
pub(crate) fn find(call: &Call) -> Result<Arc<Cluster>, Fault> {
    let wanted = call.part("id");
    let found = all(call)
        .into_iter()
        .find(|cluster| id(cluster.name()) == wanted);
    found.ok_or_else(|| Fault::not_found("cluster", wanted))
}

/// `GET /clusters`
pub(crate) fn list(call: &Call) -> Result<Reply, Fault> {
    let fields = |key: &str| match key {
        "name" | "cluster" => Some(Field::Text),
        "id" => Some(Field::Text),
        _ => None,
    };
    let search = Search::read(call, fields)?;
    let found = search.of(all(call), |cluster, key| match key {
        "id" => Some(id(cluster.name())),
        _ => Some(cluster.name().to_string()),
    })?;
    let policies = names::policies(&call.site, &call.caller, &call.site.catalogue());
    let found = found.iter().take(call.most()?);
    let found = found.map(|cluster| tree(call, cluster, &policies));
    Ok(Reply::ok(Tree::list("clusters", found)))
}

/// The clusters in which a policy decides.
pub(crate) fn of_policy(call: &Call, policy: &str) -> Result<Reply, Fault> {
    let policies = names::policies(&call.site, &call.caller, &call.site.catalogue());
    let clusters = all(call).into_iter();
    let clusters = clusters.filter(|cluster| *cluster.settings().policy == *policy);
    let shown = clusters.map(|cluster| tree(call, &cluster, &policies));
    Ok(Reply::ok(Tree::list("clusters", shown)))
}

/// `GET /clusters/{id}`
pub(crate) fn show(call: &Call) -> Result<Reply, Fault> {
    let cluster = find(call)?;
    let policies = names::policies(&call.site, &call.caller, &call.site.catalogue());
    Ok(Reply::ok(tree(call, &cluster, &policies)))
}

/// A cluster as it is answered.
fn tree(call: &Call, cluster: &Cluster, policies: &[Shown]) -> Tree {
    let name = cluster.name();
    let href = href(name);
    let settings = cluster.settings();
    let policy = policies
        .iter()
        .find(|it| *it.record.name == *settings.policy);
    let mut tree = Tree::new("cluster")
        .at(&href, &id(name))
        .text("name", name)
        .text("comment", "")
        .text("description", "")
        .with_all(constants::of_cluster());
    let upgrade = call.site.upgrades().get(name).copied();
    tree = tree.text("upgrade_in_progress", upgrade.is_some());
    if let Some(percent) = upgrade {
        tree = tree.text("upgrade_percent_complete", percent);
    }
    let mut properties = Vec::new();
    if let Some(policy) = policy {
        let id = &policy.said.id;
        let element = Tree::new("scheduling_policy");
        tree = tree.with(element.at(&policies::href(id), id));
        properties = settings::shown(&policy.said, &settings.overrides);
    }
    tree = tree.with(policies::properties(
        "custom_scheduling_policy_properties",
        &properties,
    ));
    for name in ["gluster_volumes", "networks"] {
        if call.follows(name) {
            tree = tree.with(Tree::list(name, []));
        }
    }
    tree.link_below(&href, "affinitygroups")
        .link_below(&href, "upgrade")
}

/// What a client wants of a cluster.
struct Wanted {
    /// The policy by its id, or else by its name.
    policy: Option<(Option<String>, Option<String>)>,
    properties: Vec<(String, String)>,
}

impl Wanted {
    fn read(body: &Element, shown: &Tree) -> Result<Self, Fault> {
        let mut wanted = Self {
            policy: None,
            properties: Vec::new(),
        };
        for element in &body.inside {
            match element.name.as_str() {
                "scheduling_policy" => wanted.policy(element)?,
                "custom_scheduling_policy_properties" => {
                    wanted.properties.extend(policies::properties_of(element)?);
                }
                "id" => {
                    let own = shown.get("id");
                    if own.is_none_or(|own| own.own_text() != element.text) {
                        return Err(Fault::immutable("id of a cluster cannot be changed"));
                    }
                }
                "href" | "link" | "actions" => {}
                _ => unchanged(element, shown, "cluster")?,
            }
        }
        Ok(wanted)
    }

    fn policy(&mut self, element: &Element) -> Result<(), Fault> {
        let text = |key: &str| element.get(key).map(|it| it.text.clone());
        // Version 3 had the name in an element of its own, and three of the properties beside it.
        let name = text("name").or_else(|| text("policy"));
        self.policy = Some((text("id"), name)).filter(|it| it.0.is_some() || it.1.is_some());
        if let Some(properties) = element.get("properties") {
            self.properties.extend(policies::properties_of(properties)?);
        }
        let Some(thresholds) = element.get("thresholds") else {
            return Ok(());
        };
        for (attribute, parameter, each) in THRESHOLDS {
            let Some(given) = thresholds.get(attribute) else {
                continue;
            };
            match given.text.parse::<i64>() {
                Ok(number) if number % each == 0 => {
                    let value = (number / each).to_string();
                    self.properties.push(((*parameter).to_owned(), value));
                }
                _ => {
                    return Err(Fault::syntax(format!(
                        "the threshold \"{attribute}\" must be a whole number that {each} divides"
                    )));
                }
            }
        }
        Ok(())
    }

    /// The policy that is wanted, of those that the caller is shown.
    fn found<'p>(&self, policies: &'p [Shown], now: &str) -> Result<&'p Shown, Fault> {
        let found = match &self.policy {
            None => policies.iter().find(|it| *it.record.name == *now),
            Some((Some(id), _)) => policies.iter().find(|it| it.said.id == *id),
            Some((None, name)) => {
                let name = name.as_deref().unwrap_or_default();
                let exact = policies.iter().find(|it| it.name == name);
                exact.or_else(|| {
                    policies
                        .iter()
                        .find(|it| it.name.eq_ignore_ascii_case(name))
                })
            }
        };
        found.ok_or_else(|| Fault::refused("Cannot edit Cluster. There is no such Cluster Policy"))
    }
}

/// That an element which cannot be changed here is as it is.
fn unchanged(element: &Element, shown: &Tree, inside: &str) -> Result<(), Fault> {
    let name = &element.name;
    let own = shown.get(name);
    let is_same = own.as_ref().is_some_and(|own| {
        element.inside.is_empty() && own.children().is_empty() && own.own_text() == element.text
    });
    if is_same {
        return Ok(());
    }
    match own {
        Some(own) if !element.inside.is_empty() => {
            let mut inside = element.inside.iter();
            inside.try_for_each(|it| unchanged(it, &own, name))
        }
        _ => Err(Fault::refused(format!(
            "Cannot edit Cluster. \"{}\" of \"{inside}\" is not of the scheduling and cannot be changed here",
            placewright_document::shown(name)
        ))),
    }
}

/// `PUT /clusters/{id}`
pub(crate) fn update(call: &Call) -> Result<Reply, Fault> {
    let cluster = find(call)?;
    let body = call.body("cluster")?;
    let name = cluster.name().clone();
    call.is_about_cluster(&name);
    for _ in 0..TRIES {
        let catalogue = call.site.catalogue();
        let policies = names::policies(&call.site, &call.caller, &catalogue);
        let wanted = Wanted::read(body, &tree(call, &cluster, &policies))?;
        call.caller.must(Permission::AttachPolicies, Some(&name))?;
        let now = cluster.settings();
        let policy = wanted.found(&policies, &now.policy)?;
        let is_same = *policy.record.name == *now.policy;
        let known = if is_same {
            now.overrides.clone()
        } else {
            Default::default()
        };
        let overrides = settings::overrides(&policy.said, known, &wanted.properties)?;
        if is_same && overrides == now.overrides {
            break;
        }
        let attached = call.site.deployment.attach(
            &name,
            Attach {
                policy: policy.record.name.to_string(),
                overrides,
                balance: now.balance,
                restart: now.restart,
                statistics_max_age: now.statistics_max_age,
                unmeasured_max_age: now.unmeasured_max_age,
                revision: Some(now.revision),
                by: Some(call.caller.name.clone()),
            },
        );
        match attached {
            Ok(_) => break,
            Err(DeploymentError::Revision { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    show(call)
}
