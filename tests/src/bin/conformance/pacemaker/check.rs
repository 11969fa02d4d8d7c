//! What would make no sense in a case: names that name nothing, or two things.

use std::collections::BTreeSet;

use super::case::{Case, Kind, STOPPED};

/// Names that were met so far.
type Names<'a> = BTreeSet<&'a str>;

impl Case {
    /// Accepts the case.
    ///
    /// # Errors
    /// The field that is wrong, and what is wrong with it.
    pub(super) fn check(&self) -> Result<(), String> {
        let nodes = self.check_nodes()?;
        let resources = self.check_resources(&nodes)?;
        self.check_groups(&nodes, &resources)?;
        self.check_kind()?;
        self.check_expected(&nodes, &resources)
    }

    fn check_nodes(&self) -> Result<Names<'_>, String> {
        let mut nodes = Names::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let name = || format!("field nodes[{number}].name");
            if node.name == STOPPED {
                return Err(format!(
                    "{}: no node may be called \"{STOPPED}\", which says that a resource has none",
                    name()
                ));
            }
            add(&mut nodes, &node.name, "node", name)?;
        }
        Ok(nodes)
    }

    fn check_resources(&self, nodes: &Names<'_>) -> Result<Names<'_>, String> {
        if self.resources.is_empty() {
            return Err("field resources: there is none".to_owned());
        }
        let mut resources = Names::new();
        for (number, resource) in self.resources.iter().enumerate() {
            let field = |field: &str| format!("field resources[{number}].{field}");
            add(&mut resources, &resource.id, "resource", || field("id"))?;
            if let Some(on) = resource.node() {
                find(nodes, on, "node", || field("on"))?;
            }
            for node in resource.loc.keys() {
                find(nodes, node, "node", || field(&format!("loc.{node}")))?;
            }
        }
        Ok(resources)
    }

    fn check_groups(&self, nodes: &Names<'_>, resources: &Names<'_>) -> Result<(), String> {
        // A colocation may name either.
        let mut ids = resources.clone();
        let mut grouped = Names::new();
        for (number, group) in self.groups.iter().enumerate() {
            let field = |field: &str| format!("field groups[{number}].{field}");
            add(&mut ids, &group.id, "resource or group", || field("id"))?;
            for (place, member) in group.members.iter().enumerate() {
                let field = || field(&format!("members[{place}]"));
                find(resources, member, "resource", field)?;
                add(&mut grouped, member, "place in a group of", field)?;
            }
            for node in group.loc.keys() {
                find(nodes, node, "node", || field(&format!("loc.{node}")))?;
            }
        }
        for (number, colocation) in self.colocations.iter().enumerate() {
            let field = |field: &str| format!("field colocations[{number}].{field}");
            find(&ids, &colocation.rsc, "resource or group", || field("rsc"))?;
            find(&ids, &colocation.with, "resource or group", || {
                field("with")
            })?;
        }
        Ok(())
    }

    fn check_kind(&self) -> Result<(), String> {
        let wrong = match self.kind {
            Kind::Primitive if !self.groups.is_empty() => "primitive, but there are groups",
            Kind::Group if self.groups.is_empty() => "group, but there is none",
            Kind::Primitive if !self.colocations.is_empty() => {
                "primitive, but there are colocations"
            }
            Kind::Colocation if self.colocations.is_empty() => "colocation, but there is none",
            _ => return Ok(()),
        };
        Err(format!("field kind: {wrong}"))
    }

    fn check_expected(&self, nodes: &Names<'_>, resources: &Names<'_>) -> Result<(), String> {
        for (resource, node) in &self.expect {
            let field = || format!("field expect.{resource}");
            find(resources, resource, "resource", field)?;
            if node != STOPPED {
                find(nodes, node, "node", field)?;
            }
        }
        let missing = |resource: &&&str| !self.expect.contains_key(**resource);
        match resources.iter().find(missing) {
            Some(resource) => Err(format!("field expect: nothing of resource \"{resource}\"")),
            None => Ok(()),
        }
    }
}

fn add<'a>(
    names: &mut Names<'a>,
    name: &'a str,
    what: &str,
    field: impl Fn() -> String,
) -> Result<(), String> {
    match names.insert(name) {
        true => Ok(()),
        false => Err(format!("{}: a second {what} \"{name}\"", field())),
    }
}

fn find(
    names: &Names<'_>,
    name: &str,
    what: &str,
    field: impl Fn() -> String,
) -> Result<(), String> {
    match names.contains(name) {
        true => Ok(()),
        false => Err(format!("{}: there is no {what} \"{name}\"", field())),
    }
}
