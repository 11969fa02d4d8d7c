//! The known forms of traces, and their units of measure.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::rows::{Row, Rows};
use super::{TraceError, TraceVm};
use placewright_model::GREATEST_INTEGER;

/// A quarter GiB: both forms count memory in it.
const QUARTER_GIB: i64 = 256 << 20;

/// 100 `core_u` are one core of the packing trace. The trace publishes fractions of
/// unnamed servers; read so, its common shapes are those that the provider sells.
const MILLICORES_PER_CORE_U: i64 = 10;

/// VMs of this size (`core_u`, `ram_u`) belong to a type of server that is measured
/// on another scale than the rest of the packing trace.
const OTHER_SCALE: (i64, i64) = (2, 8);

const AMOUNT: &str = "a whole number, 0 or more, that a host could have";
const TIME: &str = "a time in whole seconds, 0 or more, or -1";

/// What kind of trace a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Azure Trace for Packing 2020: sizes in the rows, tenants, ends.
    #[serde(rename = "azure-packing-2020")]
    AzurePacking2020,
    /// Azure Public Dataset V1: sizes by flavor, durations.
    #[serde(rename = "azure-v1-2017")]
    AzureV1,
}

impl Form {
    /// Whether VMs larger than a host are left out of a replay, instead of being
    /// rejected: the packing trace has VMs of several types of servers.
    pub fn leaves_out_larger(self) -> bool {
        self == Form::AzurePacking2020
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::AzurePacking2020 => "azure-packing-2020",
            Form::AzureV1 => "azure-v1-2017",
        })
    }
}

/// Where the packing trace's columns stand.
pub(super) struct AzurePacking {
    tenant: Option<usize>,
    core_u: usize,
    ram_u: usize,
    start: usize,
    end: usize,
}

impl AzurePacking {
    /// The columns, if the header names them.
    pub(super) fn find(rows: &Rows) -> Option<Self> {
        Some(Self {
            tenant: rows.column("tenant"),
            core_u: rows.column("core_u")?,
            ram_u: rows.column("ram_u")?,
            start: rows.column("start_s")?,
            end: rows.column("end_s")?,
        })
    }

    /// All VMs but those of another scale, and how many these are.
    pub(super) fn read(&self, rows: &mut Rows) -> Result<(Vec<TraceVm>, usize), TraceError> {
        let (mut vms, mut other_scale) = (Vec::new(), 0);
        let mut tenants: HashSet<Arc<str>> = HashSet::new();
        while let Some(row) = rows.next()? {
            let core_u = amount(&row, self.core_u, MILLICORES_PER_CORE_U)?;
            let ram_u = amount(&row, self.ram_u, QUARTER_GIB)?;
            let start = time(&row, self.start)?;
            let end = time(&row, self.end)?;
            if (core_u, ram_u) == OTHER_SCALE {
                other_scale += 1;
                continue;
            }
            vms.push(TraceVm {
                line: row.line(),
                tenant: self
                    .tenant
                    .map(|tenant| shared(row.text(tenant), &mut tenants)),
                cpu: core_u * MILLICORES_PER_CORE_U,
                memory: ram_u * QUARTER_GIB,
                start,
                end: (end != -1).then(|| end.max(start + 1)),
            });
        }
        Ok((vms, other_scale))
    }
}

/// Where the columns of Azure Public Dataset V1 stand.
pub(super) struct AzureV1 {
    flavor: usize,
    start: usize,
    duration: usize,
}

impl AzureV1 {
    /// The columns, if the header names them.
    pub(super) fn find(rows: &Rows) -> Option<Self> {
        Some(Self {
            flavor: rows.column("flavor")?,
            start: rows.column("start_s")?,
            duration: rows.column("dur_s")?,
        })
    }

    /// All VMs.
    pub(super) fn read(
        &self,
        rows: &mut Rows,
        flavors: &Flavors,
    ) -> Result<Vec<TraceVm>, TraceError> {
        let mut vms = Vec::new();
        while let Some(row) = rows.next()? {
            let (cpu, memory) = flavors
                .sizes
                .get(row.text(self.flavor))
                .copied()
                .ok_or_else(|| row.bad_field(self.flavor, "in the table of flavors"))?;
            let start = time(&row, self.start)?;
            let duration = time(&row, self.duration)?;
            vms.push(TraceVm {
                line: row.line(),
                tenant: None,
                cpu,
                memory,
                start,
                end: (duration != -1).then(|| start + duration.max(1)),
            });
        }
        Ok(vms)
    }
}

/// Millicores and bytes of each flavor.
pub(super) struct Flavors {
    sizes: BTreeMap<String, (i64, i64)>,
}

impl Flavors {
    /// Read the table.
    pub(super) fn read(mut rows: Rows) -> Result<Self, TraceError> {
        let columns = ["flavor", "cores", "ram_qgib"].map(|name| rows.column(name));
        let [Some(flavor), Some(cores), Some(memory)] = columns else {
            return Err(TraceError::NotFlavors {
                file: rows.file().to_owned(),
            });
        };
        let mut sizes = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let cpu = amount(&row, cores, 1000)? * 1000;
            let bytes = amount(&row, memory, QUARTER_GIB)? * QUARTER_GIB;
            let known = sizes.insert(row.text(flavor).to_owned(), (cpu, bytes));
            if known.is_some() {
                return Err(row.bad_field(flavor, "a flavor of its own: it is there twice"));
            }
        }
        Ok(Self { sizes })
    }
}

/// An amount of which one is worth `of` in our own measure.
fn amount(row: &Row<'_>, column: usize, of: i64) -> Result<i64, TraceError> {
    row.integer(column, 0, GREATEST_INTEGER / of, AMOUNT)
}

/// A time or a duration; the bound leaves room for their sum.
fn time(row: &Row<'_>, column: usize) -> Result<i64, TraceError> {
    row.integer(column, -1, GREATEST_INTEGER / 4, TIME)
}

/// The text, held once however often it occurs.
fn shared(text: &str, known: &mut HashSet<Arc<str>>) -> Arc<str> {
    if let Some(known) = known.get(text) {
        return known.clone();
    }
    let text: Arc<str> = text.into();
    known.insert(text.clone());
    text
}
