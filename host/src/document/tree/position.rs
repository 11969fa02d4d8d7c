//! From offsets in a text to lines and characters.

use std::sync::Arc;

use crate::document::Place;

/// After so many bytes the characters so far are noted: a document may be one line.
const STEP: usize = 1024;

/// Where the lines of a text begin, and how many characters come before.
pub(super) struct Positions<'t> {
    text: &'t str,
    file: Arc<str>,
    lines: Vec<usize>,
    /// Characters that begin before each [`STEP`] bytes.
    characters: Vec<usize>,
}

impl<'t> Positions<'t> {
    pub(super) fn new(text: &'t str, file: &str) -> Self {
        let breaks = text.match_indices('\n').map(|(offset, _)| offset + 1);
        let mut sum = 0;
        let mut characters = vec![0];
        for step in text.as_bytes().chunks(STEP) {
            sum += begun(step);
            characters.push(sum);
        }
        Self {
            text,
            file: file.into(),
            lines: std::iter::once(0).chain(breaks).collect(),
            characters,
        }
    }

    /// How many characters begin before the byte at `offset`.
    fn before(&self, offset: usize) -> usize {
        let step = offset / STEP;
        let noted = self.characters.get(step).copied().unwrap_or(0);
        let rest = self.text.as_bytes().get(step * STEP..offset);
        noted + rest.map_or(0, begun)
    }

    /// The place of the byte at `offset`; offsets beyond the end are the end.
    pub(super) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        Place {
            file: self.file.clone(),
            line: number(line),
            column: number(self.before(offset) - self.before(start) + 1),
        }
    }
}

/// How many characters begin in these bytes of UTF-8.
fn begun(bytes: &[u8]) -> usize {
    let continues = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    bytes.iter().filter(|byte| !continues(byte)).count()
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_characters_are_counted_from_one() {
        let positions = Positions::new("a\nüb\n", "f");
        let at = |offset| {
            let place = positions.place(offset);
            (place.line, place.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(1), (1, 2));
        assert_eq!(at(2), (2, 1));
        assert_eq!(at(4), (2, 2));
        assert_eq!(at(6), (3, 1));
        assert_eq!(at(1000), (3, 1));
    }

    #[test]
    fn a_long_line_is_counted_as_a_short_one() {
        let text = "ü".repeat(3 * STEP);
        let positions = Positions::new(&text, "f");
        for character in [0, 1, STEP / 2, STEP, 2 * STEP + 1, 3 * STEP] {
            let place = positions.place(2 * character);
            assert_eq!(place.column as usize, character + 1);
        }
    }
}
