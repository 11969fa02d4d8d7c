//! How many values a document may hold: reading one takes some hundred bytes for each,
//! so a document is refused while it is read, before they are all there.

use crate::{Place, Problems};

/// A document may hold so many values, however short it is.
const ALWAYS: usize = 10_000;

/// Beyond that, for each value a document has so many bytes in JSON: ids that differ take
/// more, and so does a key with its value.
const BYTES_IN_JSON: usize = 6;

/// The same in TOML, where values are counted before they are read, from above.
const BYTES_IN_TOML: usize = 4;

/// No document holds more values: with its rows each takes some 400 bytes, and a server is to stay
/// below 1 GiB. A cluster of 10,000 hosts and 300,000 VMs has 2 million.
const MOST: usize = 2_100_000;

/// How many values a document may hold, counted down.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    most: usize,
    left: usize,
}

impl Bound {
    /// For a document in JSON of so many bytes.
    pub(super) fn of_json(bytes: usize) -> Self {
        Self::new(bytes / BYTES_IN_JSON)
    }

    /// For a document in XML of so many bytes, where elements and attributes are values: as many as
    /// in JSON.
    pub fn of_xml(bytes: usize) -> Self {
        Self::of_json(bytes)
    }

    /// For a document in TOML of so many bytes.
    pub(super) fn of_toml(bytes: usize) -> Self {
        Self::new(bytes / BYTES_IN_TOML)
    }

    fn new(values: usize) -> Self {
        let most = ALWAYS.saturating_add(values).min(MOST);
        Self { most, left: most }
    }

    /// How many a document of that size may hold.
    pub fn most(&self) -> usize {
        self.most
    }

    /// One more value. False: it is one too many.
    pub fn take(&mut self) -> bool {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// What is said where it is one too many.
    pub fn sentence(&self) -> String {
        format!(
            "a document of this size holds at most {} values, and this one holds more; send several documents",
            self.most
        )
    }

    /// Complain of one value too many.
    pub(super) fn complain(&self, place: &Place, problems: &mut Problems) {
        problems.add(place, self.sentence());
    }
}
