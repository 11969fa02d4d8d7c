//! The texts of host columns, each stored once.

use std::collections::HashMap;
use std::sync::Arc;

/// Texts by code. Codes are handed out in the order of first use and mean nothing
/// outside their inventory; the table is only looked up in, never walked by hash.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    codes: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

impl Texts {
    /// The code of `text`, a new one if it has none yet.
    pub(super) fn code(&mut self, text: &Arc<str>) -> u32 {
        if let Some(code) = self.codes.get(text) {
            return *code;
        }
        let code = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.codes.insert(text.clone(), code);
        self.texts.push(text.clone());
        code
    }

    /// The code of `text`, if it has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.codes.get(text).copied()
    }

    /// The text with that code.
    pub fn text(&self, code: i64) -> Option<&Arc<str>> {
        self.texts.get(usize::try_from(code).ok()?)
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
