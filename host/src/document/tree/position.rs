//! From offsets in a text to lines and characters.

use std::sync::Arc;

use crate::document::Place;

/// Where the lines of a text begin.
pub(super) struct Positions<'t> {
    text: &'t str,
    file: Arc<str>,
    lines: Vec<usize>,
}

impl<'t> Positions<'t> {
    pub(super) fn new(text: &'t str, file: &str) -> Self {
        let breaks = text.match_indices('\n').map(|(offset, _)| offset + 1);
        Self {
            text,
            file: file.into(),
            lines: std::iter::once(0).chain(breaks).collect(),
        }
    }

    /// The place of the byte at `offset`; offsets beyond the end are the end.
    pub(super) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or("");
        Place {
            file: self.file.clone(),
            line: number(line),
            column: number(before.chars().count() + 1),
        }
    }
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
}
