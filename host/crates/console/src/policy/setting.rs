//! The settings of a policy's units as fields: what each unit declares, with what the document says.

use maud::{Markup, html};
use serde_json::{Value, json};
use toml_edit::{Item, TableLike};

use super::amount;
use super::document::shown;
use super::faults::Faults;
use super::rows::{self, Rows};
use crate::format::cut;
use crate::value::{items, text};

/// What a form is shown with.
pub(super) struct State<'s> {
    /// Whether anything may be changed.
    pub(super) may: bool,
    pub(super) faults: &'s Faults,
    /// The first field that something is wrong with.
    pub(super) first: Option<&'s str>,
}

/// A setting: what the unit declares, with what the document says.
pub(super) struct Setting {
    /// Its name alone until the unit was asked.
    declared: Value,
    value: Option<String>,
    /// Where it is a table: its rows, if the form can show them.
    rows: Option<Rows>,
}

impl Default for Setting {
    /// One that the document does not give.
    fn default() -> Self {
        Self {
            declared: Value::Null,
            value: None,
            rows: Some(Rows::new()),
        }
    }
}

impl Setting {
    /// What the unit, or the document, calls it.
    pub(super) fn name(&self) -> &str {
        text(&self.declared, "name")
    }

    fn is_table(&self) -> bool {
        !items(&self.declared, "columns").is_empty()
    }

    /// Whether the document gives it.
    pub(super) fn is_set(&self) -> bool {
        let has_rows = self.rows.as_ref().is_some_and(|rows| !rows.is_empty());
        self.value.is_some() || (self.is_table() && (has_rows || self.rows.is_none()))
    }

    /// The keys of its fields.
    pub(super) fn keys(&self) -> Vec<String> {
        let mut keys = vec![format!("settings/{}", self.name())];
        if let (true, Some(rows)) = (self.is_table(), &self.rows) {
            keys.extend(rows::keys(&self.declared, rows));
        }
        keys
    }
}

/// The settings of an entry as the document writes them: what the unit declares is not known yet.
pub(super) fn written(entry: &dyn TableLike) -> Vec<Setting> {
    let settings = entry.get("settings").and_then(Item::as_table_like);
    let settings = settings.into_iter().flat_map(|settings| settings.iter());
    let settings = settings.map(|(name, value)| Setting {
        declared: json!({ "name": name }),
        value: shown(value),
        rows: rows::read(value),
    });
    settings.collect()
}

/// The settings that a unit declares, with what a document gives.
pub(super) fn declared(mut written: Vec<Setting>, declared: &[Value]) -> Vec<Setting> {
    let settings = declared.iter().map(|declared| {
        let name = text(declared, "name");
        let known = written.iter().position(|it| it.name() == name);
        let given = known.map(|known| written.swap_remove(known));
        Setting {
            declared: declared.clone(),
            ..given.unwrap_or_default()
        }
    });
    settings.collect()
}

/// Fields of settings as a unit declares them; `name` gives the name of a field by its key.
pub(super) fn setting_fields(
    settings: &[Setting],
    name: &dyn Fn(&str) -> String,
    state: &State<'_>,
) -> Markup {
    html! {
        @for setting in settings {
            @let declared = &setting.declared;
            @let field = name(&format!("settings/{}", setting.name()));
            @let value = amount::shown(declared, setting.value.as_deref().unwrap_or_default());
            div.setting {
                @if setting.is_table() {
                    span.small { b.mono { (cut(setting.name(), 60)) } }
                    @match &setting.rows {
                        Some(rows) => (rows::form(declared, rows, (&field, name), state)),
                        None => span.small.soft id=(field) { "A table: change it in the document." },
                    }
                } @else {
                    label.small for=(field) { b.mono { (cut(setting.name(), 60)) } }
                    (control(declared, &field, &value, state))
                }
                (wrong(&field, state.faults))
                span.small.dim id={ "hint-" (field) } { (bounds(declared)) }
                span.small.soft { (cut(text(declared, "meaning"), 240)) }
            }
        }
    }
}

/// What is wrong with a field, below it.
pub(super) fn wrong(field: &str, faults: &Faults) -> Markup {
    html! {
        @if let Some(told) = faults.at(field) { p.wrong id={ "wrong-" (field) } { (told) } }
    }
}

pub(super) fn invalid(field: &str, faults: &Faults) -> Option<&'static str> {
    faults.at(field).map(|_| "true")
}

/// The ids of the elements that describe a field: its hint and its error.
pub(super) fn described(field: &str, has_hint: bool, faults: &Faults) -> Option<String> {
    let hint = has_hint.then(|| format!("hint-{field}"));
    let wrong = faults.at(field).map(|_| format!("wrong-{field}"));
    let ids: Vec<String> = [wrong, hint].into_iter().flatten().collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}

/// What a document says and a list does not offer is chosen in it all the same: it stays until somebody
/// chooses something else.
pub(super) fn unknown(said: &str, words: &[&str]) -> Markup {
    html! { @if !words.contains(&said) { option value=(said) selected { (cut(said, 40)) } } }
}

fn control(declared: &Value, field: &str, value: &str, state: &State<'_>) -> Markup {
    let (may, faults) = (state.may, state.faults);
    let is_first = state.first == Some(field);
    let choices = items(declared, "choices");
    let usual = amount::usual(declared, declared["default"].as_str().unwrap_or_default());
    if text(declared, "kind") == "boolean" || !choices.is_empty() {
        let mut words: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        if words.is_empty() {
            words = vec!["true", "false"];
        }
        return html! {
            select.field id=(field) name=(field) aria-invalid=[invalid(field, faults)] aria-describedby=[described(field, true, faults)] autofocus[is_first] disabled[!may] {
                option value="" { "as usual" @if !usual.is_empty() { " (" (cut(&usual, 40)) ")" } }
                @for word in &words { option value=(word) selected[value == *word] { (word) } }
                @if !value.is_empty() { (unknown(value, &words)) }
            }
        };
    }
    html! {
        input.field id=(field) name=(field) value=(value) placeholder=(cut(&usual, 60)) readonly[!may]
            aria-invalid=[invalid(field, faults)] aria-describedby=[described(field, true, faults)] autofocus[is_first];
    }
}

/// What a setting takes, in words.
fn bounds(declared: &Value) -> String {
    let mut said = Vec::new();
    said.extend(amount::measure(declared).map(str::to_owned));
    let bound = |name: &str| {
        declared[name]
            .as_f64()
            .map(|it| amount::bound(declared, it))
    };
    match (bound("least"), bound("greatest")) {
        (Some(least), Some(greatest)) => said.push(format!("from {least} to {greatest}")),
        (Some(least), None) => said.push(format!("at least {least}")),
        (None, Some(greatest)) => said.push(format!("at most {greatest}")),
        (None, None) => {}
    }
    match (declared["default"].as_str(), declared["required"] == true) {
        (_, true) => said.push("must be given".to_owned()),
        (Some(usual), _) => {
            let usual = amount::usual(declared, usual);
            said.push(format!("{} if not given", cut(&usual, 40)));
        }
        (None, _) => said.push("may be left out".to_owned()),
    }
    said.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_list_does_not_offer_stays_chosen() {
        let faults = Faults::default();
        let state = State {
            may: true,
            faults: &faults,
            first: None,
        };
        let declared = serde_json::json!({"name": "strict", "kind": "boolean", "default": "true"});
        let shown = |value| control(&declared, "f", value, &state).into_string();
        let chosen = "<option value=\"maybe\" selected>maybe</option>";
        assert!(shown("maybe").contains(chosen), "{}", shown("maybe"));
        for known in ["", "true"] {
            assert_eq!(shown(known).matches("<option").count(), 3);
        }
        assert_eq!(unknown("best", &["all", "best"]).into_string(), "");
    }
}
