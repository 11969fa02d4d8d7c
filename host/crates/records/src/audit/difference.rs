//! What a row was before a change, and what it is after it.

use serde_json::{Map, Value};

use super::record::bounded;

/// The columns that differ between two rows, as the one and the other has them, each in JSON and
/// in bounds. A row that is missing on one side stands whole on the other.
pub fn difference(
    before: Option<&Value>,
    after: Option<&Value>,
) -> (Option<String>, Option<String>) {
    let text = |row: Option<&Value>, other: Option<&Value>| match row? {
        Value::Object(columns) => {
            let other = other.and_then(Value::as_object);
            let differing = columns
                .iter()
                .filter(|(name, value)| other.and_then(|other| other.get(*name)) != Some(value));
            let differing: Map<String, Value> = differing
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            Some(bounded(&Value::from(differing).to_string()))
        }
        row => Some(bounded(&row.to_string())),
    };
    (text(before, after), text(after, before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_recorded_of_a_row_that_changes() {
        let before = json!({"id": "h1", "state": "up", "cpu.cores": 8, "zone": "a"});
        let after = json!({"id": "h1", "state": "maintenance", "cpu.cores": 8});
        let (was, is) = difference(Some(&before), Some(&after));
        assert_eq!(was.as_deref(), Some(r#"{"state":"up","zone":"a"}"#));
        assert_eq!(is.as_deref(), Some(r#"{"state":"maintenance"}"#));
        let same = difference(Some(&before), Some(&before));
        assert_eq!(same, (Some("{}".to_owned()), Some("{}".to_owned())));
    }

    #[test]
    fn a_row_that_is_new_or_gone_is_recorded_whole_and_in_bounds() {
        let row = json!({"id": "t"});
        let text = Some(r#"{"id":"t"}"#.to_owned());
        assert_eq!(difference(None, Some(&row)), (None, text.clone()));
        assert_eq!(difference(Some(&row), None), (text, None));
        let long = json!({"id": "x".repeat(1 << 20)});
        let (_, is) = difference(None, Some(&long));
        assert!(is.unwrap().len() < 300);
    }
}
