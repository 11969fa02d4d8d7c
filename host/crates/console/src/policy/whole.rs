//! What a policy says besides its chain, as a form: ties, balance, settings for all units, watches.

use maud::{Markup, html};
use serde_json::Value;
use toml_edit::{DocumentMut, Item};

use super::chain::{choice, unpinned};
use super::document::{nth, shown};
use super::faults::Faults;
use super::keys::{NEW_NEED, NEW_SETTING, NEW_WATCH, TIES, WATCH};
use super::order;
use super::setting::{self, Setting, State, described, invalid, setting_fields, wrong};
use crate::ask::Ask;
use crate::format::{cut, things};
use crate::url::segment;
use crate::value::{items, text, texts};

/// The rules for ties.
const RULES: [(&str, &str); 4] = [
    ("fewest-vms", "the host with the fewest VMs"),
    ("listed", "the host that was added first"),
    ("id", "the host whose id comes first"),
    ("draw", "one by chance"),
];

/// A choice for the whole policy: the key, what it is called, and its words with their meanings,
/// the usual one first.
type Choice = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const CHOICES: [Choice; 3] = [
    (
        "unheeded",
        "A request with a need that no filter checks",
        &[
            ("refuse", "is refused"),
            ("warn", "is decided, with a warning"),
            ("ignore", "is decided"),
        ],
    ),
    (
        "infinite-costs",
        "A host of infinite cost",
        &[
            ("last-resort", "is taken if there is no other"),
            ("no-place", "is never taken"),
        ],
    ),
    (
        "search",
        "To search a plan for a batch that leaves out less",
        &[
            ("allowed", "is allowed"),
            ("forbidden", "is not: who comes first is served first"),
        ],
    ),
];

/// A table that names one unit.
struct Alone {
    key: &'static str,
    title: &'static str,
    /// What holds without one.
    none: &'static str,
    unit: String,
    /// What the unit itself is called. None: there is none of the name.
    known_as: Option<String>,
    settings: Vec<Setting>,
}

/// What a document says besides its chain.
pub(super) struct Whole {
    description: String,
    ties: Vec<String>,
    /// By the keys of [`CHOICES`].
    words: Vec<String>,
    alone: [Alone; 2],
    settings: Vec<(String, String)>,
    needs: Vec<(String, String)>,
    watches: Vec<[String; 4]>,
}

/// Whether a unit orders batches or proposes moves: it is in no list of the chain then.
fn stands_alone(unit: &Value) -> bool {
    texts(unit, "kinds")
        .iter()
        .any(|kind| matches!(*kind, "order" | "balance"))
}

impl Whole {
    /// What a document in TOML says. None: it cannot be read.
    pub(super) async fn read(ask: &Ask, text: &str) -> Option<Self> {
        let mut whole = read(text)?;
        for alone in &mut whole.alone {
            if alone.unit.is_empty() {
                continue;
            }
            let path = format!("/v1/units/{}/inspection", segment(unpinned(&alone.unit)));
            let inspected = ask.get_if(&path).await;
            alone.take_declared(inspected.as_ref());
        }
        Some(whole)
    }

    /// The first of its fields that something is wrong with.
    pub(super) fn first_fault(&self, faults: &Faults) -> Option<String> {
        let mut fields = vec![TIES.to_owned()];
        fields.extend(CHOICES.iter().map(|(key, ..)| format!("policy/{key}")));
        for alone in &self.alone {
            fields.push(format!("policy/{}/unit", alone.key));
            let settings = alone.settings.iter();
            fields.extend(
                settings
                    .flat_map(Setting::keys)
                    .map(|key| alone.field(&key)),
            );
        }
        let settings = self.settings.iter();
        fields.extend(settings.map(|(name, _)| format!("policy/settings/{name}")));
        for number in 0..self.watches.len() {
            fields.extend(WATCH.iter().map(|key| format!("watch/{number}/{key}")));
        }
        faults
            .first(fields.iter().map(String::as_str))
            .map(str::to_owned)
    }

    /// The form. `units` are those that can be named, `settings` the settings of the chain.
    pub(super) fn form(&self, state: &State<'_>, units: &[Value], settings: &[&str]) -> Markup {
        html! {
            section.panel aria-labelledby="whole" {
                header { h2 id="whole" { "The whole policy" } span.small.dim { "ties, balance, and what holds for all units" } }
                (self.ties(state))
                @for alone in self.alone.iter().rev() { (alone.form(state)) }
                datalist id="units-alone" { @for unit in units.iter().filter(|it| stands_alone(it)) { (choice(unit)) } }
                (self.shared(state, settings))
                (self.watched(state))
                (self.rest(state))
            }
        }
    }

    fn ties(&self, state: &State<'_>) -> Markup {
        let usual = "fewest-vms, then id";
        let now = match self.ties.is_empty() {
            true => format!("as usual: {usual}"),
            false => cut(&self.ties.join(", then "), 80),
        };
        html! {
            details.settings open[state.faults.at(TIES).is_some()] {
                summary.small { "Ties " span.dim { (now) } }
                p.small.soft { "Of hosts that cost the same. A rule decides where those before it leave several; without rules: " (usual) "." }
                div.bar {
                    @for number in 0..RULES.len() {
                        @let rule = self.ties.get(number).map_or("", String::as_str);
                        select.field.small id=[(number == 0).then_some(TIES)] name=(TIES) aria-label={ "Rule " (number + 1) " for ties" } disabled[!state.may]
                            autofocus[number == 0 && state.first == Some(TIES)] aria-invalid=[invalid(TIES, state.faults).filter(|_| number == 0)] aria-describedby=[described(TIES, false, state.faults).filter(|_| number == 0)] {
                            option value="" { @if number == 0 { "as usual" } @else { "–" } }
                            @for (word, meaning) in RULES { option value=(word) selected[rule == word] { (meaning) } }
                            @if !rule.is_empty() && !RULES.iter().any(|(word, _)| *word == rule) { option value=(rule) selected { (cut(rule, 40)) } }
                        }
                    }
                }
                (wrong(TIES, state.faults))
            }
        }
    }

    /// Settings for every unit that has one of the name.
    fn shared(&self, state: &State<'_>, known: &[&str]) -> Markup {
        let is_wrong = state.faults.are_below("policy/settings/");
        html! {
            details.settings open[is_wrong] {
                summary.small { "Settings for all units " span.dim { (self.settings.len()) " set" } }
                p.small.soft { "For every unit of the policy that has a setting of the name; what an entry says itself wins. Emptied, one is no longer set." }
                @for (name, value) in &self.settings {
                    @let field = format!("policy/settings/{name}");
                    (line(&field, name, value, state))
                }
                @if state.may { div.bar {
                    label.lab.small { "Set" input.field.small name=(NEW_SETTING[0]) list="settings-of-units" size="18" autocomplete="off" aria-label="Setting that is added for all units"; }
                    label.lab.small { "to" input.field.small name=(NEW_SETTING[1]) size="10" aria-label="Its value"; }
                    button.btn.small type="submit" name="deed" value="try" data-redraw="It is added to the draft." { "Add" }
                    datalist id="settings-of-units" { @for name in known { option value=(name) {} } }
                } }
            }
        }
    }

    fn watched(&self, state: &State<'_>) -> Markup {
        let is_wrong = state.faults.are_below("watch/");
        html! {
            details.settings open[is_wrong] {
                summary.small { "Watches " span.dim { (things(self.watches.len(), "condition", "conditions")) } }
                p.small.soft { "Conditions of which units read since when they hold: a column of hosts, from a value on, up to one, or outside of two." }
                @for (number, watch) in self.watches.iter().enumerate() {
                    div.bar.watch {
                        @for (key, value) in WATCH.iter().zip(watch) {
                            @let field = format!("watch/{number}/{key}");
                            label.lab.small { (key.replace('-', " "))
                                input.field.small id=(field) name=(field) value=(value) size=(if *key == "column" { "16" } else { "9" }) readonly[!state.may]
                                    aria-label={ (key.replace('-', " ")) " of watch " (cut(&watch[0], 40)) } autofocus[state.first == Some(field.as_str())] aria-invalid=[invalid(&field, state.faults)] aria-describedby=[described(&field, false, state.faults)];
                            }
                            (wrong(&field, state.faults))
                        }
                        @if state.may { button.btn.quiet.step type="submit" name="deed" value={ (order::UNWATCH) (number) } aria-label={ "Remove the watch " (cut(&watch[0], 60)) } title="Remove the watch" { "✕" } }
                    }
                }
                @if state.may { div.bar.watch {
                    @for key in WATCH { label.lab.small { (if key == "name" { "Watch as".to_owned() } else { key.replace('-', " ") })
                        input.field.small name={ (NEW_WATCH) "/" (key) } size=(if key == "column" { "16" } else { "9" }) aria-label={ (key.replace('-', " ")) " of a new watch" }; } }
                    button.btn.small type="submit" name="deed" value="try" data-redraw="It is added to the draft." { "Add" }
                } }
            }
        }
    }

    /// What it is for, needs that are not checked, batches.
    fn rest(&self, state: &State<'_>) -> Markup {
        let is_wrong = CHOICES
            .iter()
            .any(|(key, ..)| state.faults.at(&format!("policy/{key}")).is_some())
            || state.faults.are_below("policy/unheeded-needs/");
        let words = CHOICES[0].2;
        html! {
            details.settings open[is_wrong] {
                summary.small { "Needs, refusals and batches " span.dim { (if self.needs.is_empty() { String::new() } else { things(self.needs.len(), "need", "needs") }) } }
                div.setting {
                    label.small for="policy/description" { b { "What the policy is for" } }
                    textarea.field id="policy/description" name="policy/description" rows=(self.description.lines().count().clamp(1, 8)) cols="60" readonly[!state.may] { "\n" (self.description) }
                }
                @for ((key, title, words), now) in CHOICES.iter().zip(&self.words) {
                    @let field = format!("policy/{key}");
                    div.setting {
                        label.small for=(field) { b { (title) } }
                        select.field id=(field) name=(field) disabled[!state.may] autofocus[state.first == Some(field.as_str())] aria-invalid=[invalid(&field, state.faults)] aria-describedby=[described(&field, false, state.faults)] {
                            @for (word, meaning) in *words { option value=(word) selected[now == word] { (meaning) } }
                            @if !words.iter().any(|(word, _)| now == word) { option value=(now) selected { (cut(now, 40)) } }
                        }
                        (wrong(&field, state.faults))
                    }
                }
                @for (need, now) in &self.needs {
                    @let field = format!("policy/unheeded-needs/{need}");
                    div.setting {
                        label.small for=(field) { b { "With the need " code { (cut(need, 60)) } ", it" } }
                        select.field id=(field) name=(field) disabled[!state.may] autofocus[state.first == Some(field.as_str())] aria-invalid=[invalid(&field, state.faults)] aria-describedby=[described(&field, false, state.faults)] {
                            option value="" { "as all others" }
                            @for (word, meaning) in words { option value=(word) selected[now == word] { (meaning) } }
                            @if !words.iter().any(|(word, _)| now == word) { option value=(now) selected { (cut(now, 40)) } }
                        }
                        (wrong(&field, state.faults))
                    }
                }
                @if state.may { div.bar {
                    label.lab.small { "A request with the need" input.field.small name=(NEW_NEED[0]) size="12" aria-label="Need that is told apart"; }
                    select.field.small name=(NEW_NEED[1]) aria-label="What becomes of a request with it" { @for (word, meaning) in words { option value=(word) { (meaning) } } }
                    button.btn.small type="submit" name="deed" value="try" data-redraw="It is added to the draft." { "Add" }
                } }
            }
        }
    }
}

/// A setting with its value.
fn line(field: &str, name: &str, value: &str, state: &State<'_>) -> Markup {
    html! {
        div.setting {
            label.small for=(field) { b.mono { (cut(name, 60)) } }
            input.field id=(field) name=(field) value=(value) readonly[!state.may]
                autofocus[state.first == Some(field)] aria-invalid=[invalid(field, state.faults)] aria-describedby=[described(field, false, state.faults)];
            (wrong(field, state.faults))
        }
    }
}

impl Alone {
    /// Take what its unit declares. None: there is no such unit, so that there are no fields for its
    /// settings, which the document keeps.
    fn take_declared(&mut self, unit: Option<&Value>) {
        self.known_as = unit.map(|unit| text(unit, "name").to_owned());
        let declared = unit.map_or(&[][..], |unit| items(unit, "settings"));
        self.settings = setting::declared(std::mem::take(&mut self.settings), declared);
    }

    /// The name of a field by its key.
    fn field(&self, key: &str) -> String {
        format!("policy/{}/{key}", self.key)
    }

    fn form(&self, state: &State<'_>) -> Markup {
        let field = format!("policy/{}/unit", self.key);
        let below = format!("policy/{}/", self.key);
        let now = match self.unit.as_str() {
            "" => self.none,
            unit => unit,
        };
        html! {
            details.settings open[state.faults.are_below(&below)] {
                summary.small { (self.title) " " span.dim { (cut(now, 60)) } }
                div.setting {
                    label.small for=(field) { b { "Unit" } }
                    input type="hidden" name={ "policy/" (self.key) "/of" } value=(self.unit);
                    input.field id=(field) name=(field) value=(self.unit) list="units-alone" placeholder=(self.none) readonly[!state.may]
                        autofocus[state.first == Some(field.as_str())] aria-invalid=[invalid(&field, state.faults)] aria-describedby=[described(&field, false, state.faults)];
                    (wrong(&field, state.faults))
                    @if let Some(known) = &self.known_as { span.small { a href={ "/units/" (segment(known)) } { "About the unit" } } }
                }
                (setting_fields(&self.settings, &|key| self.field(key), state))
            }
        }
    }
}

/// Names of settings with what they are set to.
type Pairs = Vec<(String, String)>;

/// What a document says.
fn read(text: &str) -> Option<Whole> {
    let mut document: DocumentMut = text.parse().ok()?;
    let said = |key: &str| document.get(key).and_then(shown).unwrap_or_default();
    let pairs = |item: Option<&Item>| -> Pairs {
        let table = item.and_then(Item::as_table_like);
        let pairs = table.into_iter().flat_map(|it| it.iter());
        pairs
            .filter_map(|(name, value)| Some((name.to_owned(), shown(value)?)))
            .collect()
    };
    let alone = |key: &'static str, title, none| {
        let table = document.get(key).and_then(Item::as_table_like);
        let unit = table.and_then(|it| it.get("unit")).and_then(shown);
        Alone {
            key,
            title,
            none,
            unit: unit.unwrap_or_default(),
            known_as: None,
            settings: table.map_or_else(Vec::new, setting::written),
        }
    };
    let order = alone("order", "Order of batches", "by priority, score and size");
    let balance = alone("balance", "Balance", "none: no moves are proposed");
    let ties = document.get("tie-rule").and_then(Item::as_array);
    let ties = ties
        .into_iter()
        .flatten()
        .filter_map(toml_edit::Value::as_str);
    let words = CHOICES.map(|(key, _, words)| match said(key) {
        nothing if nothing.is_empty() => words[0].0.to_owned(),
        word => word,
    });
    let mut whole = Whole {
        description: said("description"),
        ties: ties.map(str::to_owned).collect(),
        words: words.into(),
        alone: [order, balance],
        settings: pairs(document.get("settings")),
        needs: pairs(document.get("unheeded-needs")),
        watches: Vec::new(),
    };
    let count = document.get("watches").map_or(0, super::chain::len);
    for number in 0..count {
        let Some(watch) = document.get_mut("watches").and_then(|it| nth(it, number)) else {
            continue;
        };
        whole
            .watches
            .push(WATCH.map(|key| watch.get(key).and_then(shown).unwrap_or_default()));
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_is_not_there_has_no_fields_that_would_empty_its_settings() {
        let text = "[balance]\nunit = \"gone\"\nsettings = { weights = [{ account = \"a\" }] }\n";
        let [_, mut balance] = read(text).unwrap().alone;
        balance.take_declared(None);
        assert!(balance.settings.is_empty() && balance.known_as.is_none());
        let [_, mut balance] = read(text).unwrap().alone;
        let columns = serde_json::json!([{"column": "account", "kind": "text"}]);
        let weights = serde_json::json!({"name": "weights", "columns": columns, "table": columns});
        let unit = serde_json::json!({"name": "shares", "settings": [weights]});
        balance.take_declared(Some(&unit));
        assert_eq!(balance.known_as.as_deref(), Some("shares"));
        assert!(balance.settings[0].is_set());
    }
}
