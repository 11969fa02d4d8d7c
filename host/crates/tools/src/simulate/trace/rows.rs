//! Rows of a CSV file, plain or gzip, whose columns have names.

use std::io::{self, BufRead, BufReader, Read};

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};
use flate2::bufread::MultiGzDecoder;

use super::TraceError;

/// How a gzip file begins (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A CSV file that is read row by row.
pub(in crate::simulate) struct Rows {
    file: String,
    reader: Reader<Box<dyn Read + Send>>,
    header: StringRecord,
    record: StringRecord,
}

/// The row that was read last.
pub(in crate::simulate) struct Row<'a> {
    rows: &'a Rows,
}

impl Rows {
    /// Begin with the header. What the file is, its first bytes say, not its name.
    pub(in crate::simulate) fn new(
        file: &str,
        source: Box<dyn Read + Send>,
    ) -> Result<Self, TraceError> {
        let unreadable = |source| TraceError::Unreadable {
            file: file.to_owned(),
            source,
        };
        let mut source = BufReader::new(source);
        let is_gzip = source.fill_buf().map_err(unreadable)?.starts_with(&GZIP);
        let source: Box<dyn Read + Send> = match is_gzip {
            true => Box::new(MultiGzDecoder::new(source)),
            false => Box::new(source),
        };
        let mut rows = Self {
            file: file.to_owned(),
            reader: ReaderBuilder::new()
                .trim(csv::Trim::All)
                .from_reader(source),
            header: StringRecord::new(),
            record: StringRecord::new(),
        };
        rows.header = match rows.reader.headers() {
            Ok(header) => header.clone(),
            Err(error) => return Err(rows.error(error)),
        };
        Ok(rows)
    }

    /// The file's name.
    pub(in crate::simulate) fn file(&self) -> &str {
        &self.file
    }

    /// The place of the column of that name.
    pub(in crate::simulate) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|known| known == name)
    }

    /// The error for a file whose header says that it is something else.
    pub(in crate::simulate) fn unknown_form(&self) -> TraceError {
        TraceError::UnknownForm {
            file: self.file.clone(),
            header: self.header_shown(),
        }
    }

    /// The error for a file whose header is not that of the table that is wanted.
    pub(in crate::simulate) fn other_table(
        &self,
        wanted: &'static str,
        columns: &'static str,
    ) -> TraceError {
        TraceError::OtherTable {
            file: self.file.clone(),
            wanted,
            columns,
            header: self.header_shown(),
        }
    }

    fn header_shown(&self) -> String {
        let header: String = self
            .header
            .iter()
            .collect::<Vec<_>>()
            .join(",")
            .chars()
            .filter(|c| !c.is_control())
            .take(100)
            .collect();
        match header.is_empty() {
            true => "none".to_owned(),
            false => header,
        }
    }

    /// The next row, or none at the end.
    pub(in crate::simulate) fn next(&mut self) -> Result<Option<Row<'_>>, TraceError> {
        match self.reader.read_record(&mut self.record) {
            Ok(true) => Ok(Some(Row { rows: self })),
            Ok(false) => Ok(None),
            Err(error) => Err(self.error(error)),
        }
    }

    fn error(&self, error: csv::Error) -> TraceError {
        let line = error.position().map_or(1, |position| position.line());
        let file = self.file.clone();
        let message = match error.into_kind() {
            ErrorKind::Io(source) => return TraceError::Unreadable { file, source },
            ErrorKind::UnequalLengths {
                expected_len, len, ..
            } => format!("{len} fields, where the header names {expected_len} columns"),
            ErrorKind::Utf8 { err, .. } => {
                format!("field {} is not text in UTF-8", err.field() + 1)
            }
            other => {
                let source = io::Error::other(format!("{other:?}"));
                return TraceError::Unreadable { file, source };
            }
        };
        TraceError::BadRow {
            file,
            line,
            message,
        }
    }
}

impl Row<'_> {
    /// The line that it stands on, from 1.
    pub(in crate::simulate) fn line(&self) -> u64 {
        let position = self.rows.record.position();
        position.map_or(0, |position| position.line())
    }

    /// What stands in a column.
    pub(in crate::simulate) fn text(&self, column: usize) -> &str {
        self.rows.record.get(column).unwrap_or_default()
    }

    /// The whole number in a column, which must be from `least` to `greatest`.
    pub(in crate::simulate) fn integer(
        &self,
        column: usize,
        least: i64,
        greatest: i64,
        wanted: &'static str,
    ) -> Result<i64, TraceError> {
        let number: Option<i64> = self.text(column).parse().ok();
        number
            .filter(|number| (least..=greatest).contains(number))
            .ok_or_else(|| self.bad_field(column, wanted))
    }

    /// The error for a field that does not hold what it should.
    pub(in crate::simulate) fn bad_field(&self, column: usize, wanted: &'static str) -> TraceError {
        TraceError::BadField {
            file: self.rows.file.clone(),
            line: self.line(),
            column: column + 1,
            name: self.rows.header.get(column).unwrap_or_default().to_owned(),
            text: self.text(column).chars().take(100).collect(),
            wanted,
        }
    }
}
