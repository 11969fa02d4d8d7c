//! Reads the text files of Ganeti's htools into the content of a cluster's document.
//!
//! A file has five sections with an empty line between them: node groups, nodes,
//! instances, tags of the cluster, and policies of groups, a line each, fields
//! separated by `|`. htools(1) and hbal(1) describe fields and tags. What only
//! Ganeti knows becomes attributes; what its tags mean for each node and instance is
//! worked out here.

mod attributes;
mod instances;
mod lines;
mod nodes;
mod tags;

use std::collections::BTreeMap;

use instances::Instances;
use lines::{Line, sections};
use nodes::{Nodes, Policy};
use placewright_document::{ClusterDocument, Place, Problems, shown, stem};
use placewright_model::Facts;
use tags::ClusterTags;

const SECTIONS: usize = 4;

/// Read a text file of Ganeti's htools; of several groups of nodes, only the one
/// of that name or id.
///
/// # Errors
/// Everything that is wrong with it, with line and field.
pub fn read(text: &str, file: &str, group: Option<&str>) -> Result<ClusterDocument, Problems> {
    let mut problems = Problems::new();
    let sections = sections(text, file);
    let end = Place {
        file: file.into(),
        line: u32::try_from(text.lines().count().max(1)).unwrap_or(u32::MAX),
        column: 1,
    };
    if sections.len() < SECTIONS {
        problems.add(
                &end,
                format!(
                    "a file of htools has {SECTIONS} sections or more with an empty line between them: groups, nodes, instances, tags and policies; this one has {}",
                    sections.len()
                ),
            );
        return Err(problems);
    }
    let schema = attributes::schema().map_err(|error| {
        problems.add(&end, error.to_string());
        problems.clone()
    })?;
    let groups = groups(&sections[0], &mut problems);
    let tags = ClusterTags::new(&sections[3]);
    let policies = policies(sections.get(SECTIONS), &groups, &mut problems);
    let mut nodes = Nodes::read(&sections[1], &groups, &policies, &tags, &mut problems);
    let mut instances = Instances::read(&sections[2], &nodes, &tags, &mut problems);
    if let Err(problem) = nodes.choose(group, &groups) {
        problems.add(&end, problem);
    }
    instances.keep_on(&nodes);
    let (hosts, vms) = (nodes.hosts(&instances), instances.vms(&nodes));
    problems.or(ClusterDocument {
        name: stem(file).into(),
        now: None,
        seed: 0,
        schema,
        facts: Facts::new(),
        tenants: BTreeMap::new(),
        hosts,
        vms,
        groups: Vec::new(),
    })
}

/// Names of groups by their ids.
type Groups = BTreeMap<String, String>;

fn groups(lines: &[Line<'_>], problems: &mut Problems) -> Groups {
    let mut groups = Groups::new();
    for line in lines {
        line.has(
            4,
            "a group has the fields name, id, policy and tags",
            problems,
        );
        if let (Some(name), Some(id)) = (line.get(0), line.get(1)) {
            groups.insert(id.to_owned(), name.to_owned());
        }
    }
    groups
}

/// The policies of groups, by their names.
fn policies(
    lines: Option<&Vec<Line<'_>>>,
    groups: &Groups,
    problems: &mut Problems,
) -> BTreeMap<String, Policy> {
    let mut policies = BTreeMap::new();
    for line in lines.into_iter().flatten() {
        if !line.has(
            6,
            "a policy has the fields owner, standard, limits, disk templates, vCPU ratio and spindle ratio",
            problems,
        ) {
            continue;
        }
        let owner = line.get(0).unwrap_or_default();
        if !owner.is_empty() && !groups.values().any(|name| name == owner) {
            let known = groups.values().map(String::as_str);
            let message = format!("there is no group \"{}\"", shown(owner));
            problems.add_misnamed(&line.place(0), message, owner, known);
        }
        let cpu_ratio = line.number(4, "vCPU ratio", problems);
        let spindle_ratio = line.number(5, "spindle ratio", problems);
        if let (Some(cpu_ratio), Some(spindle_ratio)) = (cpu_ratio, spindle_ratio) {
            let policy = Policy {
                cpu_ratio,
                spindle_ratio,
            };
            policies.insert(owner.to_owned(), policy);
        }
    }
    policies
}
