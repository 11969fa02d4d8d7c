//! The JSON Schemas in `host/schemas` are what the code makes.

use std::fs;
use std::path::Path;

use schemars::Schema;

/// Set to 1, it lets the test write the schemas instead of comparing them.
const UPDATE: &str = "UPDATE_SCHEMAS";

/// Compare `schema` with the committed file of that name.
pub fn assert_committed(name: &str, schema: &Schema) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../host/schemas")
        .join(name);
    let made = schema.as_value();
    if std::env::var(UPDATE).is_ok_and(|value| value == "1") {
        fs::write(&path, format!("{made:#}\n")).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let committed: serde_json::Value = serde_json::from_str(&committed).unwrap_or_default();
    assert!(
        committed == *made,
        "host/schemas/{name} is out of date; run `{UPDATE}=1 cargo test json_schema`"
    );
}
