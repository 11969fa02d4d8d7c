//! The nodes of the cluster and the lists of pods, as their files give them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::trace::{Row, Rows, TraceError, open};
use placewright_inventory::{Inventory, InventoryError};
use placewright_model::schema::Schema;
use placewright_model::{Facts, GREATEST_INTEGER, Host};

/// The published lists of pods, by the part of their files' names that differs.
pub const WORKLOADS: [&str; 9] = [
    "default",
    "cpu050",
    "cpu200",
    "gpushare40",
    "gpushare100",
    "gpuspec10",
    "gpuspec33",
    "multigpu20",
    "multigpu50",
];

const MIB: i64 = 1 << 20;
/// All of a GPU, in thousandths.
const WHOLE_GPU: i64 = 1000;

const AMOUNT: &str = "a whole number, 0 or more, that a node could have";
const GPUS: &str = "a whole number from 0 to 1000";
const THOUSANDTHS: &str = "a whole number from 0 to 1000, thousandths of a GPU";

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuNode {
    /// Millicores.
    pub cpu: i64,
    /// Bytes.
    pub memory: i64,
    /// How many GPUs it has.
    pub gpus: i64,
    /// Their model; empty if it has none.
    pub model: Arc<str>,
}

/// The nodes of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// The file that they came from.
    pub name: String,
    /// In the order of the file.
    pub nodes: Vec<GpuNode>,
}

impl Nodes {
    /// Read them from a file, plain or gzip.
    ///
    /// # Errors
    /// If it cannot be read, or is no list of nodes.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        Self::parse(Rows::new(&path.display().to_string(), open(path)?)?)
    }

    pub(super) fn parse(mut rows: Rows) -> Result<Self, TraceError> {
        let names = ["cpu_milli", "memory_mib", "gpu", "model"];
        let columns = names.map(|name| rows.column(name));
        let [Some(cpu), Some(memory), Some(gpus), Some(model)] = columns else {
            return Err(rows.other_table("list of nodes", "node,cpu_milli,memory_mib,gpu,model"));
        };
        let mut nodes = Vec::new();
        while let Some(row) = rows.next()? {
            nodes.push(GpuNode {
                cpu: row.integer(cpu, 0, GREATEST_INTEGER, AMOUNT)?,
                memory: memory_of(&row, memory)?,
                gpus: row.integer(gpus, 0, 1000, GPUS)?,
                model: row.text(model).into(),
            });
        }
        let name = rows.file().to_owned();
        match nodes.is_empty() {
            true => Err(TraceError::Empty { file: name }),
            false => Ok(Self { name, nodes }),
        }
    }

    /// Thousandths of all GPUs together.
    pub fn thousandths(&self) -> i64 {
        let gpus = self.nodes.iter().map(|node| node.gpus * WHOLE_GPU);
        gpus.fold(0, i64::saturating_add)
    }

    /// The nodes as the hosts of a cluster. The order of their ids is that of the
    /// file.
    ///
    /// # Errors
    /// If an amount is out of the range that the schema allows.
    pub fn inventory(&self, name: &str) -> Result<Inventory, InventoryError> {
        let mut inventory = Inventory::new(name, Arc::new(Schema::built_in().clone()));
        let digits = self.nodes.len().saturating_sub(1).to_string().len().max(4);
        for (number, node) in self.nodes.iter().enumerate() {
            let cores = node.cpu / 1000 + i64::from(node.cpu % 1000 != 0);
            let mut host = Host::new(format!("openb-node-{number:0digits$}"))
                .with("cpu.cores", cores)
                .with("cpu.total", node.cpu)
                .with("memory.total", node.memory);
            if !node.model.is_empty() {
                host.facts.set("gpu.model", &*node.model);
            }
            let gpus = (0..node.gpus).map(|index| Facts::new().with("index", index));
            host.facts.set_rows("gpus", gpus.collect());
            inventory.add_host(host)?;
        }
        Ok(inventory)
    }
}

/// What a pod asks for. Many pods ask for the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pod {
    /// Millicores.
    pub cpu: i64,
    /// Bytes.
    pub memory: i64,
    /// How many GPUs.
    pub gpus: i64,
    /// Thousandths of each; 0 if it wants none.
    pub share: i64,
    /// The models that it accepts, with | between them; empty: any.
    pub models: Arc<str>,
}

impl Pod {
    /// Thousandths of all its GPUs together.
    pub fn thousandths(&self) -> i64 {
        self.gpus * self.share
    }
}

/// A list of pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodList {
    /// The file that it came from.
    pub name: String,
    /// In the order of the file.
    pub pods: Vec<Pod>,
}

impl PodList {
    /// Read it from a file, plain or gzip.
    ///
    /// # Errors
    /// If it cannot be read, or is no list of pods.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        Self::parse(Rows::new(&path.display().to_string(), open(path)?)?)
    }

    pub(super) fn parse(mut rows: Rows) -> Result<Self, TraceError> {
        let names = [
            "cpu_milli",
            "memory_mib",
            "num_gpu",
            "gpu_milli",
            "gpu_spec",
        ];
        let columns = names.map(|name| rows.column(name));
        let [
            Some(cpu),
            Some(memory),
            Some(gpus),
            Some(share),
            Some(models),
        ] = columns
        else {
            let wanted = "pod,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec";
            return Err(rows.other_table("list of pods", wanted));
        };
        let mut pods = Vec::new();
        while let Some(row) = rows.next()? {
            let count = row.integer(gpus, 0, 1000, GPUS)?;
            let of_each = row.integer(share, 0, WHOLE_GPU, THOUSANDTHS)?;
            if count > 0 && of_each == 0 {
                return Err(row.bad_field(share, "more than 0, as it must be of a pod with GPUs"));
            }
            pods.push(Pod {
                cpu: row.integer(cpu, 0, GREATEST_INTEGER, AMOUNT)?,
                memory: memory_of(&row, memory)?,
                gpus: count,
                share: if count > 0 { of_each } else { 0 },
                models: row.text(models).into(),
            });
        }
        let name = rows.file().to_owned();
        match pods.is_empty() {
            true => Err(TraceError::Empty { file: name }),
            false => Ok(Self { name, pods }),
        }
    }
}

fn memory_of(row: &Row<'_>, column: usize) -> Result<i64, TraceError> {
    Ok(row.integer(column, 0, GREATEST_INTEGER / MIB, AMOUNT)? * MIB)
}

/// The file of that name in a folder, as it is or packed.
pub fn file_in(folder: &Path, name: &str) -> PathBuf {
    let packed = folder.join(format!("{name}.gz"));
    match packed.is_file() {
        true => packed,
        false => folder.join(name),
    }
}
