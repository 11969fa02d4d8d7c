//! One column of all hosts, stored so that it crosses to a unit by a copy of memory.

use fixedbitset::FixedBitSet;

use placewright_model::Kind;

/// One value as it is stored: booleans are 0 and 1, texts are codes of
/// [`super::texts::Texts`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell {
    /// A whole number.
    Integer(i64),
    /// Any number.
    Number(f64),
}

#[derive(Debug, Clone)]
enum Values {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
}

/// The values of one column, a row per host slot. A row may lack its value; the
/// slot then holds 0, as in a call.
#[derive(Debug, Clone)]
pub struct Column {
    kind: Kind,
    values: Values,
    absent: FixedBitSet,
    absent_count: usize,
}

impl Column {
    /// A column of `rows` rows without values.
    pub(super) fn absent(kind: Kind, rows: usize) -> Self {
        let values = match kind {
            Kind::Number => Values::Numbers(vec![0.0; rows]),
            _ => Values::Integers(vec![0; rows]),
        };
        let mut absent = FixedBitSet::with_capacity(rows);
        absent.insert_range(..);
        Self {
            kind,
            values,
            absent,
            absent_count: rows,
        }
    }

    /// Add a row without a value.
    pub(super) fn push_absent(&mut self) {
        let row = match &mut self.values {
            Values::Integers(values) => {
                values.push(0);
                values.len() - 1
            }
            Values::Numbers(values) => {
                values.push(0.0);
                values.len() - 1
            }
        };
        self.absent.grow(row + 1);
        self.absent.insert(row);
        self.absent_count += 1;
    }

    /// Set or remove a value; a value of the wrong sort of cell counts as none.
    /// Whether the row has another value now.
    pub(super) fn set(&mut self, row: usize, cell: Option<Cell>) -> bool {
        let old = self.bits(row);
        let present = match (&mut self.values, cell) {
            (Values::Integers(values), Some(Cell::Integer(value))) => {
                values[row] = value;
                true
            }
            (Values::Numbers(values), Some(Cell::Number(value))) => {
                // -0 and 0 are equal but differ in total order, which ties use.
                values[row] = value + 0.0;
                true
            }
            (Values::Integers(values), _) => {
                values[row] = 0;
                false
            }
            (Values::Numbers(values), _) => {
                values[row] = 0.0;
                false
            }
        };
        let was_absent = self.absent.contains(row);
        self.absent.set(row, !present);
        match (was_absent, present) {
            (true, true) => self.absent_count -= 1,
            (false, false) => self.absent_count += 1,
            _ => {}
        }
        was_absent == present || old != self.bits(row)
    }

    fn bits(&self, row: usize) -> u64 {
        match &self.values {
            Values::Integers(values) => values[row].cast_unsigned(),
            Values::Numbers(values) => values[row].to_bits(),
        }
    }

    /// Add to an integer; an absent value counts as 0. Whether the row has another
    /// value now.
    pub(super) fn add(&mut self, row: usize, amount: i64) -> bool {
        let sum = self.integer(row).unwrap_or(0).saturating_add(amount);
        self.set(row, Some(Cell::Integer(sum)))
    }

    /// Put another code in the place of each: the values stay what they are.
    pub(super) fn recode(&mut self, mut code: impl FnMut(i64) -> i64) {
        let Values::Integers(values) = &mut self.values else {
            return;
        };
        for (row, value) in values.iter_mut().enumerate() {
            // What has no text has no code either.
            if !self.absent.contains(row) {
                *value = code(*value);
            }
        }
    }

    /// The kind of the column.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The value of a row.
    pub fn get(&self, row: usize) -> Option<Cell> {
        if self.absent.contains(row) {
            return None;
        }
        match &self.values {
            Values::Integers(values) => values.get(row).copied().map(Cell::Integer),
            Values::Numbers(values) => values.get(row).copied().map(Cell::Number),
        }
    }

    /// The value of a row of an integer, boolean or text column.
    pub fn integer(&self, row: usize) -> Option<i64> {
        match self.get(row) {
            Some(Cell::Integer(value)) => Some(value),
            _ => None,
        }
    }

    /// The value of a row as a number, whichever numeric kind it has.
    pub fn as_number(&self, row: usize) -> Option<f64> {
        Some(match self.get(row)? {
            Cell::Integer(value) => value as f64,
            Cell::Number(value) => value,
        })
    }

    /// All values of an integer, boolean or text column; empty for numbers.
    #[inline]
    pub fn integers(&self) -> &[i64] {
        match &self.values {
            Values::Integers(values) => values,
            Values::Numbers(_) => &[],
        }
    }

    /// All values of a number column; empty for others.
    #[inline]
    pub fn numbers(&self) -> &[f64] {
        match &self.values {
            Values::Integers(_) => &[],
            Values::Numbers(values) => values,
        }
    }

    /// Which rows lack a value.
    #[inline]
    pub fn absent_rows(&self) -> &FixedBitSet {
        &self.absent
    }

    /// Whether no row has a value.
    pub fn is_empty(&self) -> bool {
        self.absent_count == self.absent.len()
    }

    /// Whether every row has a value.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.absent_count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_value_leaves_a_zero_behind() {
        let mut column = Column::absent(Kind::Integer, 2);
        column.set(0, Some(Cell::Integer(7)));
        column.add(1, 3);
        assert!(column.is_complete());
        column.set(0, None);
        assert_eq!(column.integers(), [0, 3]);
        assert_eq!((column.get(0), column.integer(1)), (None, Some(3)));
        assert!(!column.is_complete());
    }

    #[test]
    fn minus_zero_is_stored_as_zero() {
        let mut column = Column::absent(Kind::Number, 1);
        column.set(0, Some(Cell::Number(-0.0)));
        assert_eq!(column.numbers()[0].to_bits(), 0);
    }
}
