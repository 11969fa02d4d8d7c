//! Why a file cannot be replayed.

use std::io;

/// What is wrong with a trace, or with the table of flavors beside it.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read to its end; a damaged gzip file among others.
    #[error("cannot read {file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The header names columns of no known form.
    #[error(
        "{file} is no trace that can be replayed: its first line must name the columns \
         vm,tenant,core_u,ram_u,prio,start_s,end_s or vm,batch,flavor,start_s,dur_s \
         (with --nodes, those of a list of pods), and it names {header}"
    )]
    UnknownForm {
        /// The file.
        file: String,
        /// The columns that it names.
        header: String,
    },
    /// The header names columns of another table than the one that is wanted.
    #[error(
        "{file} is no {wanted}: its first line must name the columns {columns}, \
         and it names {header}"
    )]
    OtherTable {
        /// The file.
        file: String,
        /// What it should be.
        wanted: &'static str,
        /// The columns that it should name.
        columns: &'static str,
        /// The columns that it names.
        header: String,
    },
    /// The header of a table of flavors lacks a column.
    #[error(
        "{file} is no table of flavors: its first line must name the columns flavor,cores,ram_qgib"
    )]
    NotFlavors {
        /// The file.
        file: String,
    },
    /// The trace's VMs name flavors, and nothing says what they are.
    #[error(
        "the VMs of {file} name flavors: put the table flavors.csv or flavors.csv.gz beside it, \
         or say with --flavors where it is"
    )]
    NoFlavors {
        /// The trace.
        file: String,
    },
    /// There is nothing to replay.
    #[error("{file} has no VM that can be replayed")]
    Empty {
        /// The trace.
        file: String,
    },
    /// A row is not one of this table.
    #[error("{file}, line {line}: {message}")]
    BadRow {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// A field does not hold what its column holds.
    #[error("{file}, line {line}, column {column} ({name}): \"{text}\" is not {wanted}")]
    BadField {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: usize,
        /// The column's name.
        name: String,
        /// What stands there.
        text: String,
        /// What should.
        wanted: &'static str,
    },
}
