//! Lines of fields, and the places where they stand.

use placewright_document::{Place, Problems, shown};
use placewright_model::GREATEST_INTEGER;

const MIB: i64 = 1 << 20;

/// A line of a section.
pub(super) struct Line<'t> {
    file: &'t str,
    number: u32,
    /// Each with the character at which it begins, from 1.
    fields: Vec<(u32, &'t str)>,
}

/// The sections of a file, with their lines.
pub(super) fn sections<'t>(text: &'t str, file: &'t str) -> Vec<Vec<Line<'t>>> {
    let mut sections = vec![Vec::new()];
    for (number, line) in (1..).zip(text.lines()) {
        match (line.is_empty(), sections.last_mut()) {
            (false, Some(section)) => section.push(Line::new(file, number, line)),
            _ => sections.push(Vec::new()),
        }
    }
    sections
}

impl<'t> Line<'t> {
    fn new(file: &'t str, number: u32, line: &'t str) -> Self {
        let mut begin: u32 = 1;
        let fields = line.split('|').map(|field| {
            let this = begin;
            let length = u32::try_from(field.chars().count()).unwrap_or(u32::MAX);
            begin = begin.saturating_add(length).saturating_add(1);
            (this, field)
        });
        Self {
            file,
            number,
            fields: fields.collect(),
        }
    }

    /// Where a field stands; the beginning of the line, if there is none.
    pub(super) fn place(&self, field: usize) -> Place {
        Place {
            file: self.file.into(),
            line: self.number,
            column: self.fields.get(field).map_or(1, |(column, _)| *column),
        }
    }

    /// Whether there are so many fields; else it is a problem that `form` tells how
    /// it should be.
    pub(super) fn has(&self, fields: usize, form: &str, problems: &mut Problems) -> bool {
        let has = self.fields.len() >= fields;
        if !has {
            let message = format!("{form}; here are only {}", self.fields.len());
            problems.add(&self.place(0), message);
        }
        has
    }

    /// A field, if there is one.
    pub(super) fn get(&self, field: usize) -> Option<&'t str> {
        self.fields.get(field).map(|(_, text)| *text)
    }

    /// The whole line.
    pub(super) fn text(&self) -> String {
        let fields: Vec<&str> = self.fields.iter().map(|(_, text)| *text).collect();
        fields.join("|")
    }

    /// The parts of a field, separated by commas.
    pub(super) fn list(&self, field: usize) -> Vec<&'t str> {
        let parts = self.get(field).unwrap_or_default().split(',');
        parts.filter(|part| !part.is_empty()).collect()
    }

    /// A whole number.
    pub(super) fn integer(&self, field: usize, name: &str, problems: &mut Problems) -> Option<i64> {
        let read = self.get(field)?.parse::<i64>().ok();
        let read = read.filter(|value| value.abs() <= GREATEST_INTEGER);
        self.or_problem(read, field, name, "a whole number", problems)
    }

    /// A whole number of things, of MiB of memory or disk, in bytes.
    pub(super) fn mebibytes(
        &self,
        field: usize,
        name: &str,
        problems: &mut Problems,
    ) -> Option<i64> {
        // Ganeti writes totals with a fraction of 0.
        let read = self.get(field)?.parse::<f64>().ok();
        let bytes = read.map(|value| value * MIB as f64);
        let fits = |bytes: &f64| (0.0..=GREATEST_INTEGER as f64).contains(bytes);
        let read = bytes.filter(fits).map(|bytes| bytes as i64);
        self.or_problem(read, field, name, "a number of MiB, 0 or more", problems)
    }

    /// A number, 0 or more.
    pub(super) fn number(&self, field: usize, name: &str, problems: &mut Problems) -> Option<f64> {
        let read = self.get(field)?.parse::<f64>().ok();
        let read = read.filter(|value| (0.0..=GREATEST_INTEGER as f64).contains(value));
        self.or_problem(read, field, name, "a number, 0 or more", problems)
    }

    /// Y or N.
    pub(super) fn flag(&self, field: usize, name: &str, problems: &mut Problems) -> Option<bool> {
        let read = match self.get(field)? {
            "Y" => Some(true),
            "N" => Some(false),
            _ => None,
        };
        self.or_problem(read, field, name, "Y or N", problems)
    }

    fn or_problem<T>(
        &self,
        read: Option<T>,
        field: usize,
        name: &str,
        wanted: &str,
        problems: &mut Problems,
    ) -> Option<T> {
        if read.is_none() {
            let text = shown(self.get(field).unwrap_or_default()).clone();
            let number = field + 1;
            problems.add(
                &self.place(field),
                format!("field {number} is the {name}, and must be {wanted}, not \"{text}\""),
            );
        }
        read
    }
}
