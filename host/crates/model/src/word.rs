//! Enumerations that documents write as words.

use super::{Kind, Measure};

/// A value that documents write as one of a few words.
pub trait Word: Copy + PartialEq + Sized + 'static {
    /// Every word with its value.
    const WORDS: &'static [(&'static str, Self)];

    /// The value that is written so.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS
            .iter()
            .find(|(known, _)| *known == word)
            .map(|(_, value)| *value)
    }

    /// How the value is written.
    fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, value)| *value == self)
            .map_or("", |(word, _)| word)
    }
}

/// All words of a type, in the order in which a person should read them.
pub fn words<W: Word>() -> Vec<&'static str> {
    W::WORDS.iter().map(|(word, _)| *word).collect()
}

impl Word for Kind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
        ("text", Self::Text),
    ];
}

/// As documents name them, by what a number of a document counts: CPU in cores, though units
/// see thousandths of them.
impl Word for Measure {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("bytes", Self::Bytes),
        ("cores", Self::Millicores),
        ("seconds", Self::Seconds),
        ("time", Self::Time),
        ("fraction", Self::Fraction),
        ("percent", Self::Percent),
    ];
}
