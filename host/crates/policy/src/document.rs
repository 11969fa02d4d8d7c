//! A policy document, and its way to a policy.

use super::check::{Checker, UnitDescriptions};
use super::form::{BALANCE, COST, EFFECTS, FILTER, ORDER, POLICY, SELECTION, STAGE, WATCH};
use super::{Policy, UnitName};
use placewright_document::form::{Fields, Key};
use placewright_document::{Content, Problems, Table, parse, stem};
use placewright_model::budget::{Collection, Full};
use placewright_model::schema::Schema;

/// A policy document whose keys and words are right. What it names is looked for
/// in [`PolicyDocument::check`].
#[derive(Debug, Clone)]
pub struct PolicyDocument {
    tree: Table,
    file: String,
}

impl Policy {
    /// Read a policy document in TOML or JSON.
    ///
    /// # Errors
    /// Everything that is wrong with it as far as can be seen without units.
    pub fn read(text: &str, file: &str) -> Result<PolicyDocument, Problems> {
        let document = PolicyDocument {
            tree: parse(text, file)?,
            file: file.to_owned(),
        };
        check_entries(&document.tree)?;
        let mut problems = Problems::new();
        Draft::read(&document.tree, &mut problems);
        problems.or(document)
    }

    /// Read a policy document and check it against units and a cluster's schema.
    ///
    /// # Errors
    /// Everything that is wrong with it, at once.
    pub fn load(
        text: &str,
        file: &str,
        units: &dyn UnitDescriptions,
        schema: &Schema,
    ) -> Result<Self, Problems> {
        Self::of_tree(&parse(text, file)?, stem(file), units, schema)
    }

    /// Check a policy document that was parsed already. `name` is what the policy is
    /// called if the document has no name for it.
    ///
    /// # Errors
    /// Everything that is wrong with it, at once.
    pub fn of_tree(
        tree: &Table,
        name: &str,
        units: &dyn UnitDescriptions,
        schema: &Schema,
    ) -> Result<Self, Problems> {
        check_entries(tree)?;
        let mut problems = Problems::new();
        let draft = Draft::read(tree, &mut problems);
        Checker::new(units, schema, &draft, problems).policy(name)
    }
}

impl PolicyDocument {
    pub(super) fn tree(&self) -> &Table {
        &self.tree
    }

    /// Find every unit and setting that the document names, and fill in the
    /// defaults. Costs no call of a unit: rules between settings are not checked.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn check(&self, units: &dyn UnitDescriptions, schema: &Schema) -> Result<Policy, Problems> {
        Policy::of_tree(&self.tree, stem(&self.file), units, schema)
    }
}

impl PolicyDocument {
    /// Check that the document says which filters there are, if only that there are none
    /// (`filters = []`): one that is cut off or empty would let VMs onto every host.
    ///
    /// # Errors
    /// If it says nothing of filters.
    pub fn check_filters(&self) -> Result<(), Problems> {
        let names_filters = |table: &Table| table.get("filters").is_some();
        let stages = match self.tree.get("stages").map(|node| &node.content) {
            Some(Content::List(stages)) => &stages[..],
            _ => &[],
        };
        let mut stages = stages.iter().filter_map(|node| match &node.content {
            Content::Table(stage) => Some(stage),
            _ => None,
        });
        if names_filters(&self.tree) || stages.any(names_filters) {
            return Ok(());
        }
        let what = match self.tree.entries.is_empty() {
            true => "the document is empty",
            false => "the policy has no filters",
        };
        let mut problems = Problems::new();
        problems.add(
            &self.tree.place,
            format!("{what}: every VM would be allowed on every host; if that is meant, write filters = []"),
        );
        problems.or(())
    }
}

/// Check that a document has no more entries than a policy may have, before any is looked at:
/// each decision asks them all, and each change of a unit or a policy checks them all.
fn check_entries(tree: &Table) -> Result<(), Problems> {
    const LISTS: [&str; 5] = ["filters", "costs", "selections", "effects", "watches"];
    let length = |table: &Table, key: &str| match table.get(key).map(|node| &node.content) {
        Some(Content::List(list)) => list.len(),
        _ => 0,
    };
    let entries = |table: &Table| LISTS.map(|key| length(table, key)).iter().sum::<usize>();
    let stages = match tree.get("stages").map(|node| &node.content) {
        Some(Content::List(stages)) => &stages[..],
        _ => &[],
    };
    let of_stages = stages.iter().map(|node| match &node.content {
        Content::Table(stage) => 1 + entries(stage),
        _ => 1,
    });
    let wanted = (entries(tree) + of_stages.sum::<usize>()) as u64;
    let collection = Collection::Entries;
    let bound = collection.bound();
    if wanted <= bound {
        return Ok(());
    }
    let full = Full {
        collection,
        of: None,
        wanted,
        bound,
    };
    let mut problems = Problems::new();
    problems.add(&tree.place, full.to_string());
    problems.or(())
}

/// The tables of a policy document, each read by its form.
pub(super) struct Draft<'t> {
    pub(super) fields: Fields<'t>,
    pub(super) stages: Vec<StageDraft<'t>>,
    pub(super) effects: Vec<Fields<'t>>,
    pub(super) order: Option<Fields<'t>>,
    pub(super) balance: Option<Fields<'t>>,
    pub(super) watches: Vec<Fields<'t>>,
}

/// The tables of a stage.
pub(super) struct StageDraft<'t> {
    pub(super) fields: Fields<'t>,
    pub(super) filters: Vec<Fields<'t>>,
    pub(super) costs: Vec<Fields<'t>>,
    pub(super) selections: Vec<Fields<'t>>,
}

impl<'t> Draft<'t> {
    pub(super) fn read(tree: &'t Table, problems: &mut Problems) -> Self {
        let fields = Fields::read(tree, POLICY, "a policy", problems);
        let stages = if tree.get("stages").is_some() {
            refuse_shorthand(&fields, problems);
            let stages = fields.tables("stages").iter();
            stages
                .map(|table| {
                    let fields = Fields::read(table, STAGE, "a stage", problems);
                    StageDraft::read(fields, problems)
                })
                .collect()
        } else {
            // The document is its only stage; what else it has is not looked at.
            let stage = Fields::split(tree, &STAGE[1..], "a stage", &mut Problems::new()).0;
            vec![StageDraft::read(stage, problems)]
        };
        let effects = fields.tables("effects").iter();
        let effects = effects
            .map(|table| entry(table, EFFECTS, "an effect", problems))
            .collect();
        let mut alone = |key: &str, form: &[Key]| {
            let table = fields.table(key)?;
            Some(entry(table, form, &format!("\"{key}\""), problems))
        };
        let (order, balance) = (alone("order", ORDER), alone("balance", BALANCE));
        let watches = fields
            .tables("watches")
            .iter()
            .map(|table| Fields::read(table, WATCH, "a watch", problems))
            .collect();
        Self {
            fields,
            stages,
            effects,
            order,
            balance,
            watches,
        }
    }
}

impl<'t> StageDraft<'t> {
    fn read(fields: Fields<'t>, problems: &mut Problems) -> Self {
        let mut entries = |key, form, what| -> Vec<Fields<'t>> {
            let tables = fields.tables(key).iter();
            tables
                .map(|table| entry(table, form, what, problems))
                .collect()
        };
        Self {
            filters: entries("filters", FILTER, "a filter"),
            costs: entries("costs", COST, "a cost"),
            selections: entries("selections", SELECTION, "a selection"),
            fields,
        }
    }
}

fn refuse_shorthand(policy: &Fields<'_>, problems: &mut Problems) {
    for key in ["filters", "costs", "selections"] {
        if let Some(place) = policy.place_of(key) {
            problems.add(
                place,
                format!("\"{key}\" beside \"stages\" belongs to no stage; put it into one"),
            );
        }
    }
}

fn entry<'t>(table: &'t Table, form: &[Key], what: &str, problems: &mut Problems) -> Fields<'t> {
    let fields = Fields::read(table, form, what, problems);
    if let (Some(unit), Some(place)) = (fields.text("unit"), fields.place_of("unit"))
        && let Err(error) = unit.parse::<UnitName>()
    {
        problems.add(place, error.to_string());
    }
    fields
}
