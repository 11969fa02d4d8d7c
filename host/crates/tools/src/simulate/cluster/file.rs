//! Files of events: CSV with named columns, or JSON lines; plain or gzip.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use csv::ReaderBuilder;
use flate2::bufread::MultiGzDecoder;
use placewright_document::{EventReader, FleetEvent, Problems};
use placewright_model::schema::Schema;

/// How a gzip file begins (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A line has so many bytes at most: as many as a document of changes that a server takes.
const LONGEST_LINE: usize = 64 << 20;

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventsForm {
    /// A table with named columns.
    Csv,
    /// A JSON object a line.
    Json,
}

impl EventsForm {
    /// What the name of a file says, `.gz` apart.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" | "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// Why events are not read.
#[derive(Debug, thiserror::Error)]
pub enum EventsError {
    /// The file cannot be read to its end; a damaged gzip file among others.
    #[error("cannot read {file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// A row is none of the table.
    #[error("{file}: {source}")]
    NoTable {
        /// The file.
        file: String,
        /// What is wrong, with the line.
        source: csv::Error,
    },
    /// Events are not as they should be.
    #[error(transparent)]
    Problems(#[from] Problems),
}

/// Read what happens to a cluster that has those tables and columns, and those hosts.
///
/// # Errors
/// If the file cannot be read, and everything that is wrong with the events.
pub fn read_events(
    path: &Path,
    form: EventsForm,
    schema: &Schema,
    hosts: impl IntoIterator<Item = Arc<str>>,
) -> Result<Vec<FleetEvent>, EventsError> {
    let file = path.display().to_string();
    let unreadable = |source| EventsError::Unreadable {
        file: file.clone(),
        source,
    };
    let mut source = BufReader::new(File::open(path).map_err(unreadable)?);
    let is_gzip = source.fill_buf().map_err(unreadable)?.starts_with(&GZIP);
    let source: Box<dyn BufRead> = match is_gzip {
        true => Box::new(BufReader::new(MultiGzDecoder::new(source))),
        false => Box::new(source),
    };
    let mut reader = EventReader::new(&file, schema, hosts);
    let events = match form {
        EventsForm::Json => lines(source, &mut reader).map_err(unreadable)?,
        EventsForm::Csv => {
            rows(source, &mut reader).map_err(|source| EventsError::NoTable { file, source })?
        }
    };
    reader.finish()?;
    Ok(events)
}

fn lines(mut source: Box<dyn BufRead>, reader: &mut EventReader) -> io::Result<Vec<FleetEvent>> {
    let mut events = Vec::new();
    let mut text = String::new();
    for number in 1.. {
        text.clear();
        let mut bounded = io::Read::take(&mut source, LONGEST_LINE as u64 + 1);
        if bounded.read_line(&mut text)? == 0 || reader.is_lost() {
            break;
        }
        if text.len() > LONGEST_LINE {
            let message = format!("line {number} has more than {LONGEST_LINE} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        events.extend(reader.line(number, text.trim_end_matches(['\n', '\r'])));
    }
    Ok(events)
}

fn rows(source: Box<dyn BufRead>, reader: &mut EventReader) -> csv::Result<Vec<FleetEvent>> {
    let mut table = ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(source);
    let header = table.headers()?.clone();
    reader.header(1, header.iter());
    let mut events = Vec::new();
    for record in table.records() {
        if reader.is_lost() {
            break;
        }
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        events.extend(reader.row(line, record.iter()));
    }
    Ok(events)
}
