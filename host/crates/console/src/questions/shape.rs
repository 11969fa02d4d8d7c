//! The VM that a question is about: what its form says besides cores and memory.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use crate::ask::Ask;
use crate::format::cut;
use crate::policy::in_json;

/// Columns that have a field of their own: the name, the label, and how wide the field is.
const FIELDS: [(&str, &str, &str); 7] = [
    ("gpu.count", "GPUs", "4"),
    ("gpu-model", "of the model", "10"),
    ("gpu.share", "thousandths of each", "5"),
    ("pages", "Huge pages", "6"),
    ("page-size", "of the size", "8"),
    ("zone", "Zone", "8"),
    ("tenant", "Tenant", "10"),
];
const COLUMNS: &str = "columns";

/// The field of a form that has the value at a path in a VM.
pub(super) fn field(path: &str) -> &str {
    let column = path.split('[').next().unwrap_or(path);
    match column {
        "huge-pages" if path.ends_with("size") => "page-size",
        "huge-pages" => "pages",
        "gpu-models" => "gpu-model",
        column if FIELDS.iter().any(|(name, ..)| *name == column) => column,
        "cpu" | "memory" => column,
        "id" => "vm",
        _ => COLUMNS,
    }
}

/// The part of a form that is opened for more; `wrong` are the names of fields with which something
/// is wrong.
pub(super) fn more(ask: &Ask, wrong: &[String]) -> Markup {
    let invalid = |name: &str| wrong.iter().any(|it| it == name).then_some("true");
    let said = |name: &str| ask.param(name).unwrap_or_default();
    let is_open = FIELDS.iter().any(|(name, ..)| ask.param(name).is_some());
    html! {
        details.more open[is_open || ask.param(COLUMNS).is_some()] {
            summary { "More that it needs" }
            div.bar {
                @for (name, label, size) in FIELDS {
                    label.lab { (label) input.field name=(name) size=(size) value=(said(name))
                        placeholder=[(name == "page-size").then_some("1 GiB")] aria-invalid=[invalid(name)]; }
                }
            }
            label.lab { "Any other column of a VM, in TOML"
                textarea.field.ids name=(COLUMNS) rows="3" spellcheck="false" aria-invalid=[invalid(COLUMNS)]
                    placeholder="exclusive = true" { (said(COLUMNS)) }
            }
        }
    }
}

/// A number where it is one; else the text, which the API reads or refuses with a reason.
fn number(text: &str) -> Value {
    text.trim()
        .parse::<u64>()
        .map_or_else(|_| text.into(), Value::from)
}

/// The VM that a form describes.
///
/// # Errors
/// What is wrong with the form: a sentence.
pub(super) fn vm(ask: &Ask, id: &str) -> Result<Value, String> {
    of(id, |name| ask.param(name))
}

fn of<'f>(id: &str, said: impl Fn(&str) -> Option<&'f str>) -> Result<Value, String> {
    let mut vm = Map::new();
    if let Some(text) = said(COLUMNS) {
        let columns = in_json(text);
        let columns = columns.as_ref().and_then(Value::as_object);
        let columns = columns.ok_or_else(|| {
            format!(
                "\"{}\" is not TOML: write a column a line, such as exclusive = true",
                cut(text, 80)
            )
        })?;
        vm.extend(columns.clone());
    }
    vm.insert("id".to_owned(), id.into());
    for name in ["cpu", "memory", "zone", "tenant"] {
        if let Some(value) = said(name) {
            vm.insert(name.to_owned(), value.into());
        }
    }
    for name in ["gpu.count", "gpu.share"] {
        if let Some(value) = said(name) {
            vm.insert(name.to_owned(), number(value));
        }
    }
    if let Some(model) = said("gpu-model") {
        vm.insert("gpu-models".to_owned(), json!([{"model": model}]));
    }
    match (said("pages"), said("page-size")) {
        (Some(count), Some(size)) => {
            let pages = json!([{"size": size, "count": number(count)}]);
            vm.insert("huge-pages".to_owned(), pages);
        }
        (None, None) => {}
        _ => return Err("huge pages need how many there are, and the size of one".to_owned()),
    }
    Ok(vm.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(said: &[(&str, &'static str)]) -> Result<Value, String> {
        of("room", |name| {
            let found = said.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| *value)
        })
    }

    #[test]
    fn a_form_describes_a_vm_with_whatever_it_needs() {
        let said = [
            ("cpu", "4"),
            ("gpu.count", "2"),
            ("gpu-model", "A100"),
            ("pages", "8"),
            ("page-size", "1 GiB"),
            (
                "columns",
                "exclusive = true\nspecs = [{ key = \"a\", value = \"b\" }]",
            ),
        ];
        assert_eq!(
            vm(&said).unwrap(),
            json!({"id": "room", "cpu": "4", "gpu.count": 2, "gpu-models": [{"model": "A100"}],
                "huge-pages": [{"size": "1 GiB", "count": 8}], "exclusive": true,
                "specs": [{"key": "a", "value": "b"}]})
        );
        assert!(
            vm(&[("pages", "8")])
                .unwrap_err()
                .contains("the size of one")
        );
        assert!(vm(&[("columns", "x")]).unwrap_err().contains("is not TOML"));
    }
}
