//! Where the values of a part's declared tables come from, worked out once.

use std::sync::Arc;

use super::encode::{self, Fixed};
use placewright_engine::contract::{ColumnRead, TableRead};
use placewright_inventory::{Inventory, ShapeColumn};
use placewright_model::Kind;
use placewright_model::schema::short_name;
use placewright_policy::Settings;

/// The declared reads of one part, each table and column with its source.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReadPlan {
    pub(super) tables: Vec<TablePlan>,
    /// The place of `hosts` among the tables, if it is read.
    pub(super) hosts: Option<usize>,
    /// Host columns that a host must have to be asked about at all.
    pub(super) required_host_columns: Vec<usize>,
    /// Columns of which one must be present and true for the part to be asked.
    pub(super) gates: Vec<(usize, usize)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct TablePlan {
    pub(super) name: Arc<str>,
    pub(super) source: Source,
    /// The place of the parent among the tables.
    pub(super) parent: Option<usize>,
    /// Whether it may differ from request to request, and says the same of every
    /// host.
    pub(super) of_request: bool,
    pub(super) columns: Vec<ColumnPlan>,
    /// What it adds to every call, if that is always the same.
    pub(super) fixed: Option<Fixed>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnPlan {
    pub(super) name: Arc<str>,
    pub(super) kind: Kind,
    pub(super) required: bool,
    pub(super) field: Field,
}

/// Which rows a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Request,
    Members,
    Groups,
    GroupVms,
    GroupHosts,
    Tenant,
    Cluster,
    Sources,
    Hosts,
    HostVms,
    /// A table below hosts that the inventory stores in columns, by its number.
    Nested(usize),
    Current,
    Pinned,
    Preferred,
    GroupMembersHere,
    GroupsOfHost,
    Location,
    Bindings,
    Candidates,
    Settings,
    /// A setting that is a table.
    SettingTable,
    /// Rows of facts below the rows of the parent.
    Below,
    /// No rows: the runtime keeps nothing of the kind for this cluster.
    Empty,
}

/// Where a value stands in a row of its table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
    /// A host column, by its number in the inventory.
    HostColumn(usize),
    /// A column of a table below hosts, by its number in that table.
    NestedColumn(usize),
    /// A column of a VM that follows from its shape.
    Shape(ShapeColumn),
    /// What is known by this name.
    Named,
    /// The n-th number of a relation's row.
    Number(usize),
    /// Never present.
    Nothing,
}

impl ReadPlan {
    /// The plan for the `reads` of a part that is set so.
    pub(super) fn set(reads: &[TableRead], settings: &Settings, inventory: &mut Inventory) -> Self {
        let mut plan = Self::new(reads, inventory);
        encode::fix(&mut plan, settings, inventory);
        plan
    }

    /// The plan for `reads`. Host columns that no host has yet are made, so that
    /// they have a number.
    pub(super) fn new(reads: &[TableRead], inventory: &mut Inventory) -> Self {
        let mut tables: Vec<TablePlan> = Vec::with_capacity(reads.len());
        for read in reads {
            let has_children = reads
                .iter()
                .any(|other| other.parent() == Some(&read.table));
            let source = match source(&read.table, inventory) {
                Source::Below if !has_children => {
                    nested(&read.table, inventory).unwrap_or(Source::Below)
                }
                source => source,
            };
            let parent = read
                .parent()
                .and_then(|parent| tables.iter().position(|table| &*table.name == parent));
            let columns = read
                .columns
                .iter()
                .map(|column| ColumnPlan {
                    name: column.column.as_str().into(),
                    kind: column.kind.into(),
                    required: column.required,
                    field: field(source, column, inventory),
                })
                .collect();
            let of_request = match (parent, source) {
                (_, Source::Hosts | Source::Settings | Source::Candidates) => false,
                (Some(parent), _) => tables[parent].of_request,
                (None, _) => !read.table.starts_with("settings/"),
            };
            tables.push(TablePlan {
                name: read.table.as_str().into(),
                source,
                parent,
                of_request,
                columns,
                fixed: None,
            });
        }
        let hosts = tables
            .iter()
            .position(|table| table.source == Source::Hosts);
        let gates = reads
            .iter()
            .enumerate()
            .flat_map(|(table, read)| {
                let gated = read.columns.iter().enumerate();
                gated
                    .filter(|(_, column)| column.gate)
                    .map(move |(column, _)| (table, column))
            })
            .collect();
        let required_host_columns = hosts
            .iter()
            .flat_map(|hosts| &tables[*hosts].columns)
            .filter_map(|column| match column.field {
                Field::HostColumn(index) if column.required => Some(index),
                _ => None,
            })
            .collect();
        Self {
            tables,
            hosts,
            required_host_columns,
            gates,
        }
    }

    /// Whether it reads what the policy's entry of that name says of the candidates.
    pub(super) fn reads_cost(&self, entry: &str) -> bool {
        let of_candidates = |table: &&TablePlan| table.source == Source::Candidates;
        let mut columns = self
            .tables
            .iter()
            .filter(of_candidates)
            .flat_map(|table| &table.columns);
        columns.any(|column| column.name.strip_prefix("cost.") == Some(entry))
    }
}

impl ReadPlan {
    /// Whether it reads that column of that table.
    pub(super) fn reads(&self, table: &str, column: &str) -> bool {
        let mut of_table = self.tables.iter().filter(|it| *it.name == *table);
        of_table.any(|it| it.columns.iter().any(|it| *it.name == *column))
    }
}

impl Source {
    /// Whether rows of the table tell how hosts stand to the request.
    pub(super) fn is_relation(self) -> bool {
        matches!(
            self,
            Source::Current
                | Source::Pinned
                | Source::Preferred
                | Source::GroupMembersHere
                | Source::GroupsOfHost
                | Source::Location
                | Source::Bindings
                | Source::Empty
        )
    }
}

fn source(table: &str, inventory: &Inventory) -> Source {
    match table {
        "request" => Source::Request,
        "members" => Source::Members,
        "groups" => Source::Groups,
        "groups/vms" => Source::GroupVms,
        "groups/hosts" => Source::GroupHosts,
        "tenant" => Source::Tenant,
        "cluster" => Source::Cluster,
        "sources" => Source::Sources,
        "hosts" => Source::Hosts,
        "hosts/vms" => Source::HostVms,
        "hosts/current" => Source::Current,
        "hosts/pinned" => Source::Pinned,
        "hosts/preferred" => Source::Preferred,
        "hosts/group-members" => Source::GroupMembersHere,
        "hosts/group-hosts" => Source::GroupsOfHost,
        "hosts/location" => Source::Location,
        "hosts/bindings" => Source::Bindings,
        "candidates" => Source::Candidates,
        "settings" => Source::Settings,
        _ if table.starts_with("settings/") => Source::SettingTable,
        _ => match inventory.schema().table(table) {
            Some(table) if !table.relation => Source::Below,
            _ => Source::Empty,
        },
    }
}

/// A table right below hosts, stored in columns.
fn nested(table: &str, inventory: &mut Inventory) -> Option<Source> {
    let name = table.strip_prefix("hosts/")?;
    let name = Some(name).filter(|name| !name.contains('/'))?;
    inventory.ensure_nested(name).map(Source::Nested)
}

/// The columns of relations in the order in which [`super::subject`] gives them.
/// Bindings are not among them: they are rows of facts, with texts.
fn relation_columns(source: Source) -> &'static [&'static str] {
    match source {
        Source::Pinned | Source::Preferred => &["member"],
        Source::GroupMembersHere => &["group", "vms", "unmovable"],
        Source::GroupsOfHost => &["group"],
        Source::Location => &["member", "score"],
        Source::GroupVms => &["vm"],
        Source::GroupHosts => &["host"],
        _ => &[],
    }
}

fn field(source: Source, column: &ColumnRead, inventory: &mut Inventory) -> Field {
    let name = column.column.as_str();
    match source {
        Source::Hosts => inventory
            .ensure_column(name)
            .map_or(Field::Nothing, Field::HostColumn),
        Source::Nested(table) => inventory
            .nested(table)
            .column_index(name)
            .map_or(Field::Nothing, Field::NestedColumn),
        Source::Members | Source::HostVms | Source::Current => {
            ShapeColumn::named(name).map_or(Field::Named, Field::Shape)
        }
        _ => match relation_columns(source) {
            [] => Field::Named,
            columns => columns
                .iter()
                .position(|known| *known == name)
                .map_or(Field::Nothing, Field::Number),
        },
    }
}

impl TablePlan {
    /// Whether it stands somewhere below that table of the plan.
    pub(super) fn is_below(&self, table: usize, plan: &ReadPlan) -> bool {
        self.parent
            .is_some_and(|parent| parent == table || plan.tables[parent].is_below(table, plan))
    }

    /// Whether it tells what members hold on their hosts, not only that they run there.
    pub(super) fn is_of_held(&self, plan: &ReadPlan) -> bool {
        let parent = self.parent.map(|parent| &plan.tables[parent]);
        match self.source {
            Source::Current => self.columns.iter().any(|column| &*column.name != "member"),
            Source::Below => parent
                .is_some_and(|parent| parent.source == Source::Current || parent.is_of_held(plan)),
            _ => false,
        }
    }

    /// Whether it stands somewhere below the VMs of hosts.
    pub(super) fn is_of_vms(&self, plan: &ReadPlan) -> bool {
        let parent = self.parent.map(|parent| &plan.tables[parent]);
        parent.is_some_and(|parent| parent.source == Source::HostVms || parent.is_of_vms(plan))
    }

    /// The last part of the table's name: what facts call it.
    pub(super) fn short_name(&self) -> &str {
        short_name(&self.name)
    }
}
