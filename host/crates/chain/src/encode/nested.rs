//! Tables below hosts that the inventory stores in columns.

use std::mem;
use std::ops::Range;

use super::rows::Level;
use super::{Encoder, HostRows, position};
use crate::plan::ColumnPlan;
use placewright_inventory::{Column, Nested};
use placewright_model::Kind;

/// The rows below the hosts of the call; the offsets go to `integers`.
pub(super) fn offsets<'a>(
    nested: &'a Nested,
    hosts: HostRows<'_>,
    integers: &mut Vec<i64>,
) -> Level<'a> {
    integers.reserve(hosts.len() + 1);
    let mut rows = 0;
    // Rows of hosts that stand beside each other are copied in one piece.
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut piece = 0..0;
    match (hosts, nested.packed_rows()) {
        (HostRows::All(count), Some(all)) if nested.first_rows().len() == count as usize => {
            rows = all;
            piece = 0..all;
            integers.extend(nested.first_rows().map(i64::from));
            integers.push(all as i64);
        }
        _ => {
            integers.push(0);
            integers.extend(hosts.slots().map(|slot| {
                let span = nested.span(slot);
                rows += span.len();
                if span.start == piece.end {
                    piece.end = span.end;
                } else if !span.is_empty() {
                    pieces.push(mem::replace(&mut piece, span));
                }
                rows as i64
            }));
        }
    }
    pieces.push(piece);
    Level::Nested {
        nested,
        rows,
        pieces,
    }
}

impl Encoder<'_, '_> {
    /// Copy a column of the table at hand, which is one of these.
    pub(super) fn nested_column(&mut self, column: &ColumnPlan, index: usize) {
        let Some(Level::Nested { nested, pieces, .. }) = self.levels.last() else {
            return;
        };
        let nested = *nested;
        let stored = nested.column(index);
        let call = &mut *self.call;
        let base = match column.kind {
            Kind::Number => call.numbers.len(),
            _ => call.integers.len(),
        };
        match stored.kind() {
            Kind::Number => {
                let values = stored.numbers();
                for piece in pieces {
                    call.numbers.extend_from_slice(&values[piece.clone()]);
                }
            }
            Kind::Text => {
                let (texts, codes) = (self.context.inventory.texts(), stored.integers());
                let dictionary = &mut *self.dictionary;
                for piece in pieces {
                    let rows = piece.clone();
                    if stored.is_complete() {
                        let (integers, call_texts) = (&mut call.integers, &mut call.texts);
                        dictionary.inventory_codes(&codes[rows], texts, call_texts, integers);
                    } else {
                        // What has no text has no code either.
                        let code = |code| dictionary.inventory_code(code, texts, &mut call.texts);
                        let mut code = code;
                        let rows = rows.map(|row| stored.integer(row).map_or(0, &mut code));
                        call.integers.extend(rows);
                    }
                }
            }
            Kind::Integer | Kind::Boolean => {
                let values = stored.integers();
                for piece in pieces {
                    call.integers.extend_from_slice(&values[piece.clone()]);
                }
            }
        }
        if !stored.is_complete() {
            self.nested_absent(column, stored, nested, base);
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
