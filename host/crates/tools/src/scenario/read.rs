//! From the tree of a scenario file to its cases.

mod changes;
mod request;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::expect::Expected;
use super::form::{CASE, FILE};
use super::merge::merged;
use super::open::{Documents, NotNamed};
use super::{Case, GivenPolicy};
use changes::{Changed, change};
use placewright_document::form::Fields;
use placewright_document::{ClusterDocument, Content, Entry, Place, Problems, Table, shown};
use request::asks_for_a_place;

/// The description and the cases of a scenario file.
pub(super) fn scenarios(
    tree: &Table,
    documents: &Documents<'_>,
) -> Result<(Arc<str>, Vec<Case>), Problems> {
    let mut problems = Problems::new();
    let fields = Fields::read(tree, FILE, "a scenario file", &mut problems);
    if let (Some(place), []) = (fields.place_of("cases"), fields.tables("cases")) {
        problems.add(place, "there is no case; begin each one with [[cases]]");
    }
    let cluster = cluster(&fields, documents, &mut problems);
    let policy = policy(&fields, documents, &mut problems);
    let mut cases = Vec::new();
    if let Some((cluster, name)) = &cluster {
        let common = Common {
            documents,
            cluster,
            cluster_name: name,
            policy,
            settings: fields.table("settings"),
        };
        let mut names = BTreeMap::new();
        for (number, table) in fields.tables("cases").iter().enumerate() {
            let mut of_case = Problems::new();
            cases.extend(common.case(number, table, &mut names, &mut of_case));
            problems.append(match table.get("name").map(|node| &node.content) {
                Some(Content::Text(name)) => of_case.within(&format!("case \"{}\"", shown(name))),
                _ => of_case,
            });
        }
    }
    problems.or((fields.text("description").unwrap_or_default(), cases))
}

/// The cluster of all cases and its name, if there is nothing wrong with it.
fn cluster<'t>(
    fields: &Fields<'t>,
    documents: &Documents<'_>,
    problems: &mut Problems,
) -> Option<(Cow<'t, Table>, String)> {
    let node = fields.node("cluster")?;
    let (tree, name) = match &node.content {
        Content::Table(table) => (Cow::Borrowed(table), "scenario".to_owned()),
        Content::Text(path) => {
            let named = told(documents.file(path), &node.place, problems)?;
            (Cow::Owned(named.tree), named.name)
        }
        other => {
            let message = format!(
                "\"cluster\" must be a table or the path of a cluster's document, not {}",
                other.noun()
            );
            problems.add(&node.place, message);
            return None;
        }
    };
    match ClusterDocument::of_tree(&tree, &name) {
        Ok(_) => Some((tree, name)),
        Err(wrong) => {
            problems.append(wrong);
            None
        }
    }
}

/// The policy that a file or a case gives.
fn policy(
    fields: &Fields<'_>,
    documents: &Documents<'_>,
    problems: &mut Problems,
) -> Option<GivenPolicy> {
    let node = fields.node("policy")?;
    match &node.content {
        Content::Table(table) => Some(GivenPolicy {
            tree: Arc::new(table.clone()),
            name: "scenario".to_owned(),
        }),
        Content::Text(policy) => {
            let named = told(documents.policy(policy), &node.place, problems)?;
            Some(GivenPolicy {
                tree: Arc::new(named.tree),
                name: named.name,
            })
        }
        other => {
            let message = format!(
                "\"policy\" must be a table, a file or the name of a policy, not {}",
                other.noun()
            );
            problems.add(&node.place, message);
            None
        }
    }
}

/// What is there, or a problem at the place where it is named.
fn told<T>(named: Result<T, NotNamed>, place: &Place, problems: &mut Problems) -> Option<T> {
    match named {
        Ok(named) => return Some(named),
        Err(NotNamed::Missing(message)) => problems.add(place, message),
        Err(NotNamed::Problems(inside)) => problems.append(inside),
    }
    None
}

/// What the cases of a file have in common.
struct Common<'a> {
    documents: &'a Documents<'a>,
    cluster: &'a Table,
    cluster_name: &'a str,
    policy: Option<GivenPolicy>,
    settings: Option<&'a Table>,
}

impl Common<'_> {
    fn case<'t>(
        &self,
        number: usize,
        table: &'t Table,
        names: &mut BTreeMap<Arc<str>, &'t Place>,
        problems: &mut Problems,
    ) -> Option<Case> {
        let fields = Fields::read(table, CASE, "a case", problems);
        let name = fields.text("name")?;
        if let Some(first) = names.insert(name.clone(), fields.place) {
            let message = format!("there is a second case of this name; the first is at {first}");
            problems.add(fields.place, message);
        }
        let cluster = self.cluster(&fields, problems)?;
        let hosts = cluster.hosts.iter().map(|host| host.id.clone()).collect();
        let policy = policy(&fields, self.documents, problems);
        let expected = fields
            .table("expect")
            .map_or_else(Expected::default, |table| {
                Expected::read(table, &cluster, &hosts, problems)
            });
        let request = match expected.is_of_balance() && !asks_for_a_place(&fields) {
            true => None,
            false => Some(self.request(&fields, &cluster, &hosts, problems)?),
        };
        Some(Case {
            name,
            place: fields.place.clone(),
            number,
            expected,
            request,
            policy: policy.or_else(|| self.policy.clone()),
            settings: self.settings(&fields),
            cluster,
        })
    }

    /// The cluster with what is different in the case.
    fn cluster(&self, fields: &Fields<'_>, problems: &mut Problems) -> Option<ClusterDocument> {
        let mut tree = self.cluster.clone();
        if let Some(changes) = fields.table("cluster") {
            tree = merged(&tree, changes);
        }
        for (key, what) in [("hosts", Changed::Host), ("placed", Changed::Vm)] {
            if let Some(changes) = fields.table(key) {
                change(&mut tree, what, changes, problems);
            }
        }
        match ClusterDocument::of_tree(&tree, self.cluster_name) {
            Ok(mut cluster) => {
                cluster.now = Some(fields.integer("now").or(cluster.now).unwrap_or(0));
                Some(cluster)
            }
            Err(wrong) => {
                problems.append(wrong);
                None
            }
        }
    }

    /// The settings of the file, under those of the case.
    fn settings(&self, fields: &Fields<'_>) -> Table {
        let own = fields.table("settings");
        let mut settings = own.or(self.settings).cloned().unwrap_or_else(|| Table {
            place: fields.place.clone(),
            entries: Vec::new(),
        });
        if let (Some(_), Some(common)) = (own, self.settings) {
            let others = common.entries.iter();
            let others = others.filter(|entry| settings.get(&entry.key).is_none());
            let others: Vec<Entry> = others.cloned().collect();
            settings.entries.extend(others);
        }
        settings
    }
}
