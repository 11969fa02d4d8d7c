//! From offsets in a text to lines and characters.

use std::cell::Cell;
use std::sync::Arc;

use crate::Place;

/// After so many bytes it is noted where they stand: a document may be one line, or millions.
const STEP: usize = 1024;

/// Finds the line and the character of an offset.
pub(super) struct Positions<'t> {
    text: &'t str,
    file: Arc<str>,
    /// Lines of the file before the text.
    lines_before: usize,
    /// What comes before each [`STEP`] bytes.
    steps: Vec<Before>,
    /// The offset that was asked for last, and what comes before it: the next one is mostly
    /// a few bytes on.
    last: Cell<(usize, Before)>,
}

/// What comes before a byte of the text.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    /// Ends of lines.
    breaks: usize,
    /// Characters that begin in its line.
    characters: usize,
}

impl Before {
    /// What comes before the byte after these, too.
    fn and(self, bytes: &[u8]) -> Self {
        let breaks = bytes.iter().filter(|byte| **byte == b'\n').count();
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => Self {
                breaks: self.breaks + breaks,
                characters: bytes.get(last + 1..).map_or(0, begun),
            },
            None => Self {
                characters: self.characters + begun(bytes),
                ..self
            },
        }
    }
}

impl<'t> Positions<'t> {
    pub(super) fn new(text: &'t str, file: &str) -> Self {
        Self::after(0, text, file.into())
    }

    /// Of a text before which so many lines of the file stand.
    pub(super) fn after(lines_before: usize, text: &'t str, file: Arc<str>) -> Self {
        let mut before = Before::default();
        let mut steps = vec![before];
        for step in text.as_bytes().chunks(STEP) {
            before = before.and(step);
            steps.push(before);
        }
        Self {
            text,
            file,
            lines_before,
            steps,
            last: Cell::default(),
        }
    }

    /// The place of the byte at `offset`; offsets beyond the end are the end.
    pub(super) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let step = offset / STEP;
        let (from, noted) = match self.last.get() {
            (last, before) if (step * STEP..=offset).contains(&last) => (last, before),
            _ => (
                step * STEP,
                self.steps.get(step).copied().unwrap_or_default(),
            ),
        };
        let rest = self.text.as_bytes().get(from..offset);
        let before = noted.and(rest.unwrap_or_default());
        self.last.set((offset, before));
        Place {
            file: self.file.clone(),
            line: number(self.lines_before.saturating_add(before.breaks + 1)),
            column: number(before.characters + 1),
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
    fn the_order_of_questions_does_not_matter() {
        let text = "aü\n".repeat(STEP);
        let all = Positions::new(&text, "f");
        for offset in [
            7,
            9,
            8,
            8,
            0,
            3 * STEP,
            STEP - 1,
            STEP,
            STEP + 1,
            STEP - 2,
            4 * STEP,
        ] {
            let alone = Positions::new(&text, "f").place(offset);
            assert_eq!(all.place(offset), alone, "{offset}");
        }
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

    #[test]
    fn many_lines_are_counted_as_few() {
        let text = "ü\n".repeat(3 * STEP);
        let positions = Positions::new(&text, "f");
        for line in [0, 1, STEP / 3, STEP, 2 * STEP + 1, 3 * STEP] {
            let place = positions.place(3 * line);
            assert_eq!((place.line as usize, place.column), (line + 1, 1));
        }
    }
}
