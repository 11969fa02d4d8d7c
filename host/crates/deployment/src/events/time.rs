//! The time of an event, for programs that do not count seconds.

use serde::{Serialize, Serializer};

/// A time after RFC 3339, from seconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rfc3339(pub i64);

impl Serialize for Rfc3339 {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&placewright_model::rfc3339(self.0))
    }
}
