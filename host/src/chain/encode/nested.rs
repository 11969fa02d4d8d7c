//! Tables below hosts that the inventory stores in columns.

use super::rows::Level;
use super::{Encoder, HostRows, position};
use crate::chain::plan::ColumnPlan;
use crate::inventory::{Column, Nested};
use crate::model::Kind;

/// The rows below the hosts of the call; the offsets go to `integers`.
pub(super) fn offsets<'a>(
    nested: &'a Nested,
    hosts: HostRows<'_>,
    integers: &mut Vec<i64>,
) -> Level<'a> {
    let mut rows = 0;
    integers.reserve(hosts.len() + 1);
    integers.push(0);
    for slot in hosts.slots() {
        rows += nested.span(slot).len();
        integers.push(rows as i64);
    }
    Level::Nested(nested, rows)
}

impl Encoder<'_, '_> {
    /// Copy a column of the table at hand, which is one of these.
    pub(super) fn nested_column(&mut self, column: &ColumnPlan, index: usize) {
        let Some(Level::Nested(nested, rows)) = self.levels.last() else {
            return;
        };
        let (nested, rows) = (*nested, *rows);
        let stored = nested.column(index);
        let base = match column.kind {
            Kind::Number => self.call.numbers.len(),
            _ => self.call.integers.len(),
        };
        let whole = matches!(self.hosts, HostRows::All(_)) && nested.packed_rows() == Some(rows);
        if whole {
            self.copy(stored, 0..rows);
        } else {
            // Rows of hosts that stand beside each other are copied in one piece.
            let hosts = self.hosts;
            let mut piece = 0..0;
            for slot in hosts.slots() {
                let span = nested.span(slot);
                if span.start != piece.end {
                    self.copy(stored, piece);
                    piece = span;
                } else {
                    piece.end = span.end;
                }
            }
            self.copy(stored, piece);
        }
        if !stored.is_complete() {
            self.nested_absent(column, stored, nested, base);
        }
    }

    fn copy(&mut self, stored: &Column, rows: std::ops::Range<usize>) {
        let call = &mut *self.call;
        match stored.kind() {
            Kind::Number => call.numbers.extend_from_slice(&stored.numbers()[rows]),
            Kind::Text => {
                let texts = self.context.inventory.texts();
                if stored.is_complete() {
                    let codes = stored.integers()[rows].iter();
                    let dictionary = &mut *self.dictionary;
                    call.integers.extend(
                        codes.map(|code| dictionary.inventory_code(*code, texts, &mut call.texts)),
                    );
                    return;
                }
                for row in rows {
                    // What has no text has no code either.
                    let code = stored.integer(row).map_or(0, |code| {
                        self.dictionary.inventory_code(code, texts, &mut call.texts)
                    });
                    call.integers.push(code);
                }
            }
            Kind::Integer | Kind::Boolean => {
                call.integers.extend_from_slice(&stored.integers()[rows]);
            }
        }
    }

    /// Note the rows that have no value, and the hosts whose rows must have one.
    fn nested_absent(
        &mut self,
        column: &ColumnPlan,
        stored: &Column,
        nested: &Nested,
        base: usize,
    ) {
        let absent = stored.absent_rows();
        let mut place = base;
        for (host, slot) in (0u32..).zip(self.hosts.slots()) {
            for row in nested.span(slot) {
                if absent.contains(row) {
                    if column.required {
                        self.incomplete.push(host);
                    }
                    match column.kind {
                        Kind::Number => &mut self.call.absent_numbers,
                        _ => &mut self.call.absent_integers,
                    }
                    .push(position(place));
                }
                place += 1;
            }
        }
    }
}
