//! Reads traces of VMs: when each came, what it needed, when it left.
//!
//! Two forms of CSV are known and told apart by their headers, plain or gzip:
//! `vm,tenant,core_u,ram_u,prio,start_s,end_s` (Azure Trace for Packing 2020) and
//! `vm,batch,flavor,start_s,dur_s` with a table of flavors beside it (Azure Public
//! Dataset V1). What does not fit is reported with file, line and column.

mod error;
mod forms;
mod rows;
#[cfg(test)]
mod tests;

pub use error::TraceError;
pub use forms::Form;
pub(super) use rows::{Row, Rows};

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forms::{AzurePacking, AzureV1, Flavors};

/// One VM of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceVm {
    /// The line of the file that tells of it.
    pub line: u64,
    /// Who owns it, if the trace says so.
    pub tenant: Option<Arc<str>>,
    /// Millicores.
    pub cpu: i64,
    /// Bytes.
    pub memory: i64,
    /// The second at which it comes; -1: it was there before the trace began.
    pub start: i64,
    /// The second at which it leaves, after its start; none: it stays.
    pub end: Option<i64>,
}

/// A trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The file that it came from.
    pub name: String,
    /// What kind of file that was.
    pub form: Form,
    /// In the order of the file.
    pub vms: Vec<TraceVm>,
    /// How many rows were left out because they are measured on another scale.
    pub other_scale: usize,
}

impl Trace {
    /// Read a trace from a file. One whose VMs name flavors needs `flavors`, or a
    /// file `flavors.csv` or `flavors.csv.gz` beside it. Holds the whole trace in
    /// memory, about 100 bytes per VM.
    ///
    /// # Errors
    /// If a file cannot be read, or is not a trace.
    pub fn open(path: &Path, flavors: Option<&Path>) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        Self::parse(Rows::new(&name, open(path)?)?, || {
            read_flavors(path, flavors)
        })
    }

    /// Read a trace, plain or gzip, whose rows need no table of flavors.
    ///
    /// # Errors
    /// If it cannot be read, or is not a trace, or names flavors.
    pub fn read(name: &str, source: impl Read + Send + 'static) -> Result<Self, TraceError> {
        let rows = Rows::new(name, Box::new(source))?;
        Self::parse(rows, || Err(TraceError::NoFlavors { file: name.into() }))
    }

    fn parse(
        mut rows: Rows,
        flavors: impl FnOnce() -> Result<Flavors, TraceError>,
    ) -> Result<Self, TraceError> {
        let (form, vms, other_scale) = if let Some(columns) = AzurePacking::find(&rows) {
            let (vms, other_scale) = columns.read(&mut rows)?;
            (Form::AzurePacking2020, vms, other_scale)
        } else if let Some(columns) = AzureV1::find(&rows) {
            (Form::AzureV1, columns.read(&mut rows, &flavors()?)?, 0)
        } else {
            return Err(rows.unknown_form());
        };
        if vms.is_empty() {
            return Err(TraceError::Empty {
                file: rows.file().into(),
            });
        }
        Ok(Self {
            name: rows.file().to_owned(),
            form,
            vms,
            other_scale,
        })
    }
}

pub(super) fn open(path: &Path) -> Result<Box<dyn Read + Send>, TraceError> {
    match File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(source) => Err(TraceError::Unreadable {
            file: path.display().to_string(),
            source,
        }),
    }
}

fn read_flavors(trace: &Path, given: Option<&Path>) -> Result<Flavors, TraceError> {
    let path = match given {
        Some(given) => given.to_owned(),
        None => beside(trace).ok_or_else(|| TraceError::NoFlavors {
            file: trace.display().to_string(),
        })?,
    };
    Flavors::read(Rows::new(&path.display().to_string(), open(&path)?)?)
}

/// The table of flavors in the folder of a trace.
fn beside(trace: &Path) -> Option<PathBuf> {
    ["flavors.csv", "flavors.csv.gz"]
        .into_iter()
        .map(|name| trace.with_file_name(name))
        .find(|path| path.is_file())
}
