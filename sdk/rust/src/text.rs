//! Texts: codes into the dictionary of a call, or texts of one's own in tests.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use crate::call::Call;

/// A text value. Cheap to clone; two texts of one call are compared by their
/// codes, any others by their characters.
#[derive(Clone)]
pub struct Text(Source);

#[derive(Clone)]
enum Source {
    Call { call: Rc<Call>, code: i64 },
    Own(Rc<str>),
}

impl Text {
    #[inline]
    pub(crate) fn of_call(call: &Rc<Call>, code: i64) -> Self {
        Self(Source::Call {
            call: Rc::clone(call),
            code,
        })
    }

    /// The characters.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Source::Call { call, code } => call.text(*code),
            Source::Own(text) => text,
        }
    }

    /// Whether a text that is not from the call has the same characters: only tests of a unit
    /// make such texts, so this is no part of the loops over hosts.
    #[cold]
    fn has_characters_of(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Source::Own(text.into()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Source::Own(text.into()))
    }
}

impl PartialEq for Text {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Source::Call { call, code }, Source::Call { call: at, code: c })
                if Rc::ptr_eq(call, at) =>
            {
                code == c
            }
            _ => self.has_characters_of(other),
        }
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
