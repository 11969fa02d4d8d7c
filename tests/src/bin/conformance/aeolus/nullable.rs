//! Fields that a vector must have, and that may be null.

use serde::{Deserialize, Deserializer};

/// A value or null. Unlike with an `Option` alone, the field must be there.
pub(super) fn nullable<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}
