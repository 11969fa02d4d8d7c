//! Rows of the schema's tables: columns by their dotted names, and the rows of
//! the tables below.
//!
//! Nothing here knows a particular table. A dotted name may be written in one
//! (`"memory.total" = 1`) or as tables in each other (`memory = { total = 1 }`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::form::{lower_first, tables};
use super::value::{Expected, shown};
use super::{Content, Entry, Node, Problems, Table, nearest};
use placewright_model::schema::{self, ATTRIBUTE, Column, Schema, Source, attribute_entity};
use placewright_model::{Facts, FactsChange, Kind, Measure, is_rfc3339};

/// Reads rows, and gathers what is wrong with them.
pub struct RowReader<'s> {
    /// The tables and columns that there are.
    pub schema: &'s Schema,
    /// What was wrong so far.
    pub problems: Problems,
    /// The short names of tables, so that all rows share them.
    short_names: BTreeMap<Arc<str>, Arc<str>>,
    /// Columns and tables that the row at hand takes away; None: it takes none away, as it
    /// tells all that there is.
    taken: Option<Vec<Arc<str>>>,
}

impl<'s> RowReader<'s> {
    /// A reader of rows of these tables.
    pub fn new(schema: &'s Schema, problems: Problems) -> Self {
        Self {
            schema,
            problems,
            short_names: BTreeMap::new(),
            taken: None,
        }
    }

    /// What is different in the row of `table` that `entries` belong to: null takes a
    /// column or table away, and so does a list without rows.
    pub fn change<'t>(
        &mut self,
        table: &str,
        entries: impl IntoIterator<Item = &'t Entry>,
        keys: &[&str],
    ) -> FactsChange {
        self.taken = Some(Vec::new());
        let set = self.facts(table, entries, keys);
        let unset = self.taken.take().unwrap_or_default();
        FactsChange { set, unset }
    }

    /// The facts in `entries`, which belong to a row of `table`. `keys` are what
    /// else may stand in such a row: they are suggested, too.
    pub fn facts<'t>(
        &mut self,
        table: &str,
        entries: impl IntoIterator<Item = &'t Entry>,
        keys: &[&str],
    ) -> Facts {
        let mut facts = Facts::new();
        if let Some(table) = self.schema.table(table) {
            let row = Row { table, keys };
            self.entries(&row, "", entries, &mut facts);
        }
        facts
    }

    fn entries<'t>(
        &mut self,
        row: &Row<'_>,
        prefix: &str,
        entries: impl IntoIterator<Item = &'t Entry>,
        facts: &mut Facts,
    ) {
        // Times after RFC 3339 are read last: each is compared with the seconds under its other key.
        let mut times = Vec::new();
        for entry in entries {
            let name = format!("{prefix}{}", entry.key);
            let below = self.schema.table(&format!("{}/{name}", row.table.name));
            if let Some(column) = row.time(&name) {
                times.push((column, entry));
                continue;
            }
            match (row.table.column(&name), below, &entry.node.content) {
                (column, below, Content::Null) => self.null(row, &name, column, below, entry),
                // It is neither a value nor one of those that begin so.
                (Some(_), _, Content::Table(table)) if table.entries.is_empty() => {
                    let message =
                        format!("\"{name}\" is an empty table: give a value, or leave it out");
                    self.problems.add(&entry.place, message);
                }
                (column, _, Content::Table(table))
                    if self.is_prefix(row, &name) || column.is_none() && row.opens(&name) =>
                {
                    self.entries(row, &format!("{name}."), &table.entries, facts);
                }
                (Some(column), ..) => self.column(column.into_owned(), entry, facts),
                (None, Some(below), _) => self.below(below, entry, facts),
                (None, None, _) => self.unknown(row, &name, entry),
            }
        }
        for (column, entry) in times {
            self.time(column, entry, facts);
        }
    }

    /// A time after RFC 3339 beside the same one in seconds, as servers show both: so a row can be
    /// given as it was shown.
    fn time(&mut self, column: &Column, entry: &Entry, facts: &mut Facts) {
        if column.source == Source::Kept {
            return self.kept(&entry.key, entry);
        }
        let is_taken = |taken: &Vec<Arc<str>>| taken.contains(&column.name);
        let given = facts.get(&column.name).cloned();
        let read = match &entry.node.content {
            Content::Null => None,
            other => {
                if !matches!(other, Content::Text(text) if is_rfc3339(text)) {
                    let message = format!(
                        "\"{}\" must be a time after RFC 3339, such as {}; in seconds it stands under \"{}\"",
                        entry.key,
                        Measure::Time.example(),
                        column.name
                    );
                    return self.problems.add(&entry.place, message);
                }
                let expected = expected(column);
                let Some(value) = expected.read(&entry.node, &mut self.problems) else {
                    return;
                };
                Some(value)
            }
        };
        match (given, read) {
            (None, None) => {
                let taken = self.taken.as_mut().filter(|taken| !is_taken(taken));
                if let Some(taken) = taken {
                    taken.push(column.name.clone());
                }
            }
            (None, Some(value)) if !self.taken.as_ref().is_some_and(is_taken) => {
                facts.set(column.name.clone(), value);
            }
            (Some(given), Some(value)) if given == value => {}
            // Within a row that is given as a whole, null is as if nothing were given.
            (Some(_), None) if self.taken.is_none() => {}
            _ => {
                let message = format!(
                    "\"{}\" says another time than \"{}\"; leave one of them out",
                    entry.key, column.name
                );
                self.problems.add(&entry.place, message);
            }
        }
    }

    fn column(&mut self, column: Column, entry: &Entry, facts: &mut Facts) {
        if column.source == Source::Kept {
            return self.kept(&column.name, entry);
        }
        let is_taken = |taken: &Vec<Arc<str>>| taken.contains(&column.name);
        if facts.get(&column.name).is_some() || self.taken.as_ref().is_some_and(is_taken) {
            let message = format!("\"{}\" is given twice", column.name);
            return self.problems.add(&entry.place, message);
        }
        let expected = expected(&column);
        if let Some(value) = expected.read(&entry.node, &mut self.problems) {
            facts.set(column.name.clone(), value);
        }
    }

    /// A column, a table, or all whose names begin with `name` and a dot are taken away.
    fn null(
        &mut self,
        row: &Row<'_>,
        name: &str,
        column: Option<Cow<'_, Column>>,
        below: Option<&Arc<schema::Table>>,
        entry: &Entry,
    ) {
        let names: Vec<Arc<str>> = match (&column, below) {
            (Some(column), _) if column.source == Source::Kept => {
                return self.kept(name, entry);
            }
            (None, Some(below)) if below.source == Source::Kept => {
                return self.kept(name, entry);
            }
            (Some(column), _) => vec![column.name.clone()],
            (None, Some(_)) => vec![name.into()],
            (None, None) => self.longer(row, name),
        };
        if names.is_empty() {
            return self.unknown(row, name, entry);
        }
        // Within a row that is given as a whole, null is as if nothing were given.
        if let Some(taken) = &mut self.taken {
            taken.extend(names);
        }
    }

    /// The columns and tables that may be given and begin with `name` and a dot.
    fn longer(&self, row: &Row<'_>, name: &str) -> Vec<Arc<str>> {
        let given = row.table.columns.iter();
        let given = given.filter(|column| column.source != Source::Kept);
        let below = self.schema.children(&row.table.name);
        let below = below.filter(|table| table.source != Source::Kept);
        given
            .map(|column| column.name.clone())
            .chain(below.map(|table| table.short_name().into()))
            .filter(|other: &Arc<str>| begins(other, name))
            .collect()
    }

    fn kept(&mut self, name: &str, entry: &Entry) {
        let message = match name {
            "forced" => "\"forced\" is set by the server; to choose the host yourself, give \"force\" the host's id".to_owned(),
            _ => format!("\"{name}\" is worked out by the runtime; leave it out"),
        };
        self.problems.add(&entry.place, message);
    }

    fn below(&mut self, below: &schema::Table, entry: &Entry, facts: &mut Facts) {
        let name = self.short_name(below);
        if below.source == Source::Kept {
            return self.kept(&name, entry);
        }
        let taken = self.taken.take();
        let rows = self.rows(below, &name, &entry.node);
        self.taken = taken;
        match &mut self.taken {
            Some(taken) if rows.is_empty() => taken.push(name),
            _ => facts.set_rows(name, rows),
        }
    }

    fn rows(&mut self, below: &schema::Table, name: &str, node: &Node) -> Vec<Facts> {
        let row = Row {
            table: below,
            keys: &[],
        };
        let keys = below.columns.iter().map(|column| &*column.name);
        tables(name, node, keys, &mut self.problems)
            .unwrap_or_default()
            .into_iter()
            .map(|table| {
                let mut facts = Facts::new();
                self.entries(&row, "", &table.entries, &mut facts);
                self.complete(&row, table, &facts);
                facts
            })
            .collect()
    }

    /// Check that a row has what it must have. One whose value is wrong has been
    /// complained of already.
    fn complete(&mut self, row: &Row<'_>, table: &Table, facts: &Facts) {
        for column in &row.table.columns {
            let given = |table: &Table| given(table, &column.name);
            if column.optional
                || column.source != Source::Given
                || facts.get(&column.name).is_some()
                || given(table)
                || column
                    .rfc3339_key()
                    .is_some_and(|key| table.get(&key).is_some())
            {
                continue;
            }
            let message = format!(
                "{} needs \"{}\": {}",
                row.noun(),
                column.name,
                lower_first(&column.meaning)
            );
            self.problems.add(&table.place, message);
        }
    }

    fn unknown(&mut self, row: &Row<'_>, name: &str, entry: &Entry) {
        if self.problems.is_full() {
            return self.problems.count();
        }
        let names = |fits: &dyn Fn(&Column) -> bool, may_be_rows: bool| -> Vec<&str> {
            let columns = row.table.columns.iter();
            let columns = columns.filter(|column| column.source != Source::Kept && fits(column));
            let below = self.schema.children(&row.table.name);
            let below = below.filter(|table| table.source != Source::Kept && may_be_rows);
            (row.keys.iter().copied())
                .chain(columns.map(|column| &*column.name))
                .chain(below.map(|table| table.short_name()))
                .collect()
        };
        let mut right = names(&|column| may_be(column, entry), may_be_rows(entry));
        // What is like none of those whose value could be this one is told all that there are.
        if nearest(name, right.iter().copied()).is_none() {
            right = names(&|_| true, true);
        }
        let right = right.iter().copied();
        let of = (
            name.strip_prefix(ATTRIBUTE),
            attribute_entity(&row.table.name),
        );
        if let (Some(attribute), Some(entity)) = of {
            let message = format!(
                "no attribute \"{}\" is defined; attributes are defined in the cluster's document, under [attributes.{entity}]",
                shown(attribute)
            );
            return self
                .problems
                .add_misnamed(&entry.place, message, name, right);
        }
        let message = format!("{} has no \"{}\"", row.noun(), shown(name));
        if let Some(meant) = row.meant(name) {
            let message = format!("{message}; {meant}");
            return self.problems.add(&entry.place, message);
        }
        match row.hint(name) {
            Some(hint) => {
                let message = format!("{message}; {hint}");
                self.problems
                    .add_misnamed(&entry.place, message, name, right);
            }
            None => self
                .problems
                .add_unknown(&entry.place, message, name, right),
        }
    }

    /// Whether longer names of the row begin with `name` and a dot.
    fn is_prefix(&self, row: &Row<'_>, name: &str) -> bool {
        let longer = |other: &str| begins(other, name);
        row.table.columns.iter().any(|column| longer(&column.name))
            || self
                .schema
                .children(&row.table.name)
                .any(|table| longer(table.short_name()))
    }

    fn short_name(&mut self, table: &schema::Table) -> Arc<str> {
        self.short_names
            .entry(table.name.clone())
            .or_insert_with(|| table.short_name().into())
            .clone()
    }
}

/// What a row is one of.
struct Row<'a> {
    table: &'a schema::Table,
    keys: &'a [&'a str],
}

/// What the value of a column must be.
fn expected(column: &Column) -> Expected<'_> {
    Expected {
        measure: column.measure,
        bounds: column.bounds,
        choices: column.choices,
        ..Expected::of_kind(&column.name, column.kind)
    }
}

impl Row<'_> {
    /// The column of times beside which the same stands after RFC 3339 under this name.
    fn time(&self, name: &str) -> Option<&Column> {
        let before = match name {
            "time" => "at",
            _ => name.strip_suffix("-time")?,
        };
        let mut columns = self.table.columns.iter();
        let column = columns.find(|column| &*column.name == before)?;
        let is_of_it = column.rfc3339_key().is_some_and(|key| key == name);
        is_of_it.then_some(column)
    }

    /// For a sentence: "a host".
    fn noun(&self) -> String {
        match &*self.table.name {
            "hosts" => "a host".to_owned(),
            "members" | "hosts/vms" => "a VM".to_owned(),
            "tenant" => "a tenant".to_owned(),
            "cluster" => "a cluster".to_owned(),
            "request" => "a request".to_owned(),
            _ => format!("a row of \"{}\"", self.table.short_name()),
        }
    }

    /// What is probably meant by a word that is near to none, or to a wrong one.
    fn meant(&self, name: &str) -> Option<&'static str> {
        match (&*self.table.name, name) {
            ("hosts", "memory" | "ram") => {
                Some("how much memory it has is \"memory.total\": memory.total = \"64 GiB\"")
            }
            ("hosts", "cpu" | "cores") => {
                Some("how many cores it has is \"cpu.cores\": cpu.cores = 16")
            }
            ("hosts", "gpu" | "gpu.count") => {
                Some("each of its GPUs is a row of \"gpus\": gpus = [{ index = 0 }]")
            }
            ("members" | "hosts/vms", "gpu" | "gpus") => {
                Some("how many GPUs it needs is \"gpu.count\": gpu.count = 1")
            }
            ("members" | "hosts/vms", "vcpus" | "cpus" | "cores" | "cpu.cores") => {
                Some("how much CPU it needs is \"cpu\": cpu = 4")
            }
            ("members" | "hosts/vms", "ram" | "memory.total") => {
                Some("how much memory it needs is \"memory\": memory = \"8 GiB\"")
            }
            _ => None,
        }
    }

    /// What to do instead, where a name belongs elsewhere.
    fn hint(&self, name: &str) -> Option<&'static str> {
        match (&*self.table.name, name) {
            ("members" | "request", "host") => Some(
                "the policy chooses the host: to choose it yourself, give \"force\" the host's id",
            ),
            ("members", "forced") => {
                Some("to choose the host yourself, give \"force\" the host's id")
            }
            _ => None,
        }
    }

    /// Whether a table under `name` is looked into even though no column is known
    /// to begin so: columns of any name stand there, or belong there.
    fn opens(&self, name: &str) -> bool {
        let watch = &*self.table.name == "hosts" && (name == "watch" || name.starts_with("watch."));
        watch
            || attribute_entity(&self.table.name).is_some()
                && name == ATTRIBUTE.trim_end_matches('.')
    }
}

/// Whether what is written could be a value of the column.
fn may_be(column: &Column, entry: &Entry) -> bool {
    let is_amount = matches!(column.kind, Kind::Integer | Kind::Number);
    match &entry.node.content {
        Content::Integer(_) | Content::Number(_) => is_amount,
        Content::Text(_) => column.kind == Kind::Text || is_amount && column.measure.is_some(),
        Content::Boolean(_) => column.kind == Kind::Boolean,
        // In parts, such as `cpu = { cores = 4 }`.
        Content::Table(_) => true,
        Content::List(_) => false,
        Content::Null => true,
    }
}

/// Whether what is written could be the rows of a table.
fn may_be_rows(entry: &Entry) -> bool {
    matches!(
        entry.node.content,
        Content::Table(_) | Content::List(_) | Content::Null
    )
}

/// Whether a longer name begins with `name` and a dot.
fn begins(longer: &str, name: &str) -> bool {
    let rest = longer.strip_prefix(name);
    rest.is_some_and(|rest| rest.starts_with('.'))
}

/// Whether the dotted `name` stands in a table, in one or as tables in each other.
fn given(table: &Table, name: &str) -> bool {
    let is_value = |node: &Node| !matches!(node.content, Content::Null);
    if table.get(name).is_some_and(is_value) {
        return true;
    }
    name.match_indices('.').any(|(dot, _)| {
        matches!(
            table.get(&name[..dot]).map(|node| &node.content),
            Some(Content::Table(inner)) if given(inner, &name[dot + 1..])
        )
    })
}
