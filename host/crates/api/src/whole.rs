//! Whole numbers: 8 and 8.0 are the same, as in documents.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Number;

/// A number of things, if one is given.
pub(super) fn number_if_any<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<usize>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let whole = number.as_u64().or_else(|| {
        let number = number.as_f64()?;
        // Beyond that not every whole number is one of these.
        let is_whole = number.fract() == 0.0 && (0.0..=9e15).contains(&number);
        is_whole.then_some(number as u64)
    });
    whole
        .and_then(|whole| usize::try_from(whole).ok())
        .map(Some)
        .ok_or_else(|| D::Error::custom(format!("{number} is no whole number from 0 on")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Wanted {
        #[serde(default, deserialize_with = "number_if_any")]
        moves: Option<usize>,
    }

    #[test]
    fn a_whole_number_may_have_a_point() {
        let read = |text: &str| serde_json::from_str::<Wanted>(text).map(|it| it.moves);
        assert_eq!(read("{}").unwrap(), None);
        assert_eq!(read("{\"moves\": null}").unwrap(), None);
        assert_eq!(read("{\"moves\": 8}").unwrap(), Some(8));
        assert_eq!(read("{\"moves\": 8.0}").unwrap(), Some(8));
        for wrong in ["8.5", "-1", "-1.0", "1e30", "\"8\""] {
            assert!(read(&format!("{{\"moves\": {wrong}}}")).is_err(), "{wrong}");
        }
    }
}
