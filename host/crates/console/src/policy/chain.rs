//! The chain of a policy as a form: its entries in order, with factors and settings.

use std::collections::{BTreeMap, VecDeque};

use maud::{Markup, html};
use serde_json::Value;
use toml_edit::{DocumentMut, Item};

use super::document::{Place, nth, shown};
use super::faults::Faults;
use super::setting::{self, Setting, State, described, invalid, setting_fields, unknown, wrong};
use super::{NotAdded, as_toml, order, rows};
use crate::ask::Ask;
use crate::format::cut;
use crate::url::segment;
use crate::value::{items, text, texts};

/// The lists of a stage, and what they are called.
const LISTS: [(&str, &str, &str); 4] = [
    (
        "filters",
        "Filters",
        "in order: each sees what the ones before left",
    ),
    ("costs", "Costs", "scaled, times the factor"),
    (
        "selections",
        "Selections",
        "in order, by chance where they leave shares",
    ),
    ("effects", "Effects", "what follows from a placement"),
];

/// What is done with costs before they are multiplied by the factor.
const SCALINGS: [(&str, &str); 6] = [
    ("none", "as the unit gives them"),
    ("range", "the range that the unit declares becomes 0 to 1"),
    (
        "min-max",
        "the least of the candidates becomes 0, the greatest 1",
    ),
    ("rank", "the number of candidates that cost less"),
    (
        "stretch",
        "the least of the candidates becomes 1, the greatest 1000",
    ),
    (
        "stretched-rank",
        "stretched, then ranked: costs of one step are equal",
    ),
];

/// Where a filter stands among those of its stage.
const POSITIONS: [(&str, &str); 3] = [
    ("first", "before all others"),
    ("any", "in the order of the list"),
    ("last", "after all others"),
];

/// The chain of a document.
pub(super) struct Chain {
    stages: Vec<Stage>,
}

struct Stage {
    name: Option<String>,
    /// Which candidates go on, where there are several stages.
    keep: Option<String>,
    lists: Vec<(usize, Vec<Entry>)>,
}

struct Entry {
    place: Place,
    unit: String,
    /// What the unit itself is called, which the document may name by another name. None: there is none.
    known_as: Option<String>,
    name: String,
    enabled: bool,
    /// As it is written, number or not.
    factor: String,
    /// The factor in force, if the policy in force has the cost.
    was: Option<String>,
    scaling: String,
    tier: String,
    position: String,
    /// What happens if it fails, if that is written.
    on_failure: Option<String>,
    settings: Vec<Setting>,
}

impl Chain {
    /// The chain of a document in TOML; `in_force` is the document that is in force.
    ///
    /// # Errors
    /// Why it is not shown: a sentence.
    pub(super) async fn read(ask: &Ask, document: &str, in_force: &str) -> Result<Self, String> {
        if document.trim_start().starts_with('{') {
            return Err("the document is written in JSON with a value that the form cannot show, such as null".to_owned());
        }
        // What is read of it is done before anything is waited for.
        let mut stages = stages(document)?;
        tell_what_was(&mut stages, in_force);
        let mut known: BTreeMap<String, Option<Value>> = BTreeMap::new();
        for entry in stages
            .iter_mut()
            .flat_map(|stage| &mut stage.lists)
            .flat_map(|(_, list)| list)
        {
            if !known.contains_key(&entry.unit) {
                let path = format!("/v1/units/{}/inspection", segment(unpinned(&entry.unit)));
                known.insert(entry.unit.clone(), ask.get_if(&path).await);
            }
            let inspected = known.get(&entry.unit).and_then(Option::as_ref);
            entry.known_as = inspected.map(|it| text(it, "name").to_owned());
            let declared = inspected.map_or(&[][..], |it| items(it, "settings"));
            entry.settings = setting::declared(std::mem::take(&mut entry.settings), declared);
        }
        Ok(Self { stages })
    }

    /// The names of all settings that its units have.
    pub(super) fn settings(&self) -> Vec<&str> {
        let lists = self.stages.iter().flat_map(|stage| &stage.lists);
        let entries = lists.flat_map(|(_, entries)| entries);
        let settings = entries.flat_map(|entry| &entry.settings);
        let mut names: Vec<&str> = settings.map(Setting::name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether chance may decide.
    pub(super) fn has_selections(&self) -> bool {
        let lists = self.stages.iter().flat_map(|stage| &stage.lists);
        lists
            .into_iter()
            .any(|(list, entries)| LISTS[*list].0 == "selections" && !entries.is_empty())
    }

    /// The fields, as they stand in the form.
    fn fields(&self) -> Vec<String> {
        let lists = self.stages.iter().flat_map(|stage| &stage.lists);
        let entries = lists.flat_map(|(_, entries)| entries);
        let fields = entries.flat_map(|entry| {
            let keys = entry.settings.iter().flat_map(Setting::keys);
            let settings = keys.map(|key| entry.place.field(&key));
            let own = ["factor", "scaling", "tier", "position", "on-failure"];
            own.map(|key| entry.place.field(key))
                .into_iter()
                .chain(settings)
        });
        fields.collect()
    }

    /// The form, with what is wrong at the fields that it is wrong with: the first of them has the
    /// focus.
    /// `units` are those that can be added; `not_added` is the one that could not be.
    pub(super) fn form(
        &self,
        state: &State<'_>,
        units: &[Value],
        not_added: Option<&NotAdded>,
    ) -> Markup {
        html! {
            @for (number, stage) in self.stages.iter().enumerate() {
                @if self.stages.len() > 1 { h2 { "Stage " (number + 1) @if let Some(name) = &stage.name { ": " (cut(name, 40)) } } }
                @if let Some(keep) = &stage.keep {
                    @let field = format!("stage/{number}/keep");
                    label.lab.small { "Of the hosts that are left, to the next stage go"
                        select.field.small id=(field) name=(field) disabled[!state.may] {
                            @for (word, meaning) in [("all", "all"), ("best", "those of least cost")] { option value=(word) selected[keep == word] { (meaning) } }
                            (unknown(keep, &["all", "best"]))
                        }
                    }
                }
                @for (list, entries) in &stage.lists {
                    @let (key, title, hint) = LISTS[*list];
                    section.panel aria-label=(title) {
                        header { h2 { (title) } span.small.dim { (hint) } }
                        @for (number, entry) in entries.iter().enumerate() { (entry.row(key, number, entries.len(), state)) }
                    }
                }
            }
            @if state.may { (add(units, state, not_added)) }
        }
    }

    /// The first field of the chain that something is wrong with.
    pub(super) fn first_fault(&self, faults: &Faults) -> Option<String> {
        let fields = self.fields();
        let first = faults.first(fields.iter().map(String::as_str));
        first.map(str::to_owned)
    }
}

/// Fields that add a unit to the chain, with the one that could not be added.
fn add(units: &[Value], state: &State<'_>, not_added: Option<&NotAdded>) -> Markup {
    let field = order::ADD_UNIT;
    html! {
        section.panel aria-labelledby="add-title" {
            header { h2 id="add-title" { "Add a unit" } }
            div.in.bar {
                label.lab { "Unit" input.field id=(field) name=(field) list="add-units" size="20" autocomplete="off" value=[not_added.map(|it| it.unit.as_str())]
                    aria-invalid=[invalid(field, state.faults)] aria-describedby=[described(field, false, state.faults)] autofocus[state.first == Some(field)]; }
                datalist id="add-units" { @for unit in units { (choice(unit)) } }
                label.lab { "as" select.field name=(order::ADD_LIST) {
                    @for (list, _, word) in order::KINDS {
                        option value=(list) selected[not_added.is_some_and(|it| it.list == list)] { (word) }
                    }
                } }
                button.btn type="submit" name="deed" value=(order::ADD) { "Add it at the end" }
                (wrong(field, state.faults))
            }
        }
    }
}

/// An option of a list of units: the name of the unit, its kinds and its summary.
pub(super) fn choice(unit: &Value) -> Markup {
    html! { option value=(text(unit, "name")) {
        (texts(unit, "kinds").join(", ")) ": " (cut(text(unit, "summary"), 120))
    } }
}

/// A cost of a policy that has a factor.
pub(crate) struct CostEntry {
    pub(crate) name: String,
    pub(crate) factor: f64,
    /// The field of its factor.
    pub(super) field: String,
}

/// The costs of a document in TOML that are asked, in order.
///
/// # Errors
/// Why they cannot be told: a sentence.
pub(super) fn costs(document: &str) -> Result<Vec<CostEntry>, String> {
    let stages = stages(document)?;
    let lists = stages.into_iter().flat_map(|stage| stage.lists);
    let costs = lists.filter(|(list, _)| LISTS[*list].0 == "costs");
    let entries = costs.flat_map(|(_, entries)| entries);
    let costs = entries
        .filter(|entry| entry.enabled)
        .map(|entry| CostEntry {
            field: entry.place.field("factor"),
            factor: entry.number(),
            name: entry.name,
        });
    Ok(costs.collect())
}

/// The stages of a document; settings are those that it says.
fn stages(document: &str) -> Result<Vec<Stage>, String> {
    let mut document: DocumentMut = document
        .parse()
        .map_err(|_| "the document is not TOML".to_owned())?;
    let count = document.get("stages").map_or(0, len);
    let mut stages = Vec::new();
    if count == 0 {
        let lists = lists(document.as_table_mut(), None);
        let (name, keep) = (None, None);
        return Ok(vec![Stage { name, keep, lists }]);
    }
    for number in 0..count {
        let Some(table) = document.get_mut("stages").and_then(|it| nth(it, number)) else {
            continue;
        };
        let name = table.get("name").and_then(shown);
        let keep = table.get("keep").and_then(shown);
        stages.push(Stage {
            name,
            keep: Some(keep.unwrap_or_else(|| "all".to_owned())),
            lists: lists(table, Some(number)),
        });
    }
    Ok(stages)
}

/// Note the factors in force at the costs of a draft, wherever those stand by now.
fn tell_what_was(stages: &mut [Stage], in_force: &str) {
    let mut known: BTreeMap<String, VecDeque<String>> = BTreeMap::new();
    let in_force = self::stages(&as_toml(in_force)).unwrap_or_default();
    for stage in in_force {
        for (_, list) in stage
            .lists
            .into_iter()
            .filter(|it| LISTS[it.0].0 == "costs")
        {
            for entry in list {
                known.entry(entry.name).or_default().push_back(entry.factor);
            }
        }
    }
    for stage in stages {
        for (_, list) in stage.lists.iter_mut().filter(|it| LISTS[it.0].0 == "costs") {
            for entry in list {
                let of_name = known.get_mut(&entry.name);
                entry.was = of_name.and_then(VecDeque::pop_front);
            }
        }
    }
}

/// How many tables a list has, however it is written.
pub(super) fn len(item: &Item) -> usize {
    let tables = item.as_array_of_tables().map(toml_edit::ArrayOfTables::len);
    let values = item.as_array().map(toml_edit::Array::len);
    tables.or(values).unwrap_or(0)
}

fn lists(table: &mut dyn toml_edit::TableLike, stage: Option<usize>) -> Vec<(usize, Vec<Entry>)> {
    let mut lists = Vec::new();
    for (at, (key, ..)) in LISTS.iter().enumerate() {
        let Some(item) = table.get_mut(key) else {
            continue;
        };
        let entries = (0..len(item)).filter_map(|number| {
            let place = Place {
                stage,
                list: (*key).to_owned(),
                number,
            };
            Some(entry(place, nth(item, number)?))
        });
        let entries: Vec<Entry> = entries.collect();
        if !entries.is_empty() {
            lists.push((at, entries));
        }
    }
    lists
}

/// The name of a unit as a document writes it, without the digest that it is pinned to.
pub(super) fn unpinned(unit: &str) -> &str {
    unit.split('@').next().unwrap_or(unit)
}

fn entry(place: Place, table: &dyn toml_edit::TableLike) -> Entry {
    let said = |key: &str| table.get(key).and_then(shown);
    let unit = said("unit").unwrap_or_default();
    Entry {
        place,
        name: said("name").unwrap_or_else(|| unit.clone()),
        unit,
        known_as: None,
        enabled: said("enabled").is_none_or(|enabled| enabled == "true"),
        factor: said("factor").unwrap_or_else(|| "1".to_owned()),
        was: None,
        scaling: said("scaling").unwrap_or_else(|| "none".to_owned()),
        tier: said("tier").unwrap_or_else(|| "1".to_owned()),
        position: said("position").unwrap_or_else(|| "any".to_owned()),
        on_failure: said("on-failure"),
        settings: setting::written(table),
    }
}

impl Entry {
    fn row(&self, list: &str, number_in_list: usize, of: usize, state: &State<'_>) -> Markup {
        let may = state.may;
        let enabled = self.place.field("enabled");
        let of_entry = self.place.field("entry");
        html! {
            div class={ "entry" @if list != "costs" { " filter" } } data-entry=(of_entry) {
                @if list != "costs" { span.dim.num { (number_in_list + 1) } }
                span {
                    @if let Some(known) = &self.known_as { a href={ "/units/" (segment(known)) } { b { (cut(&self.name, 60)) } } }
                    @else { b { (cut(&self.name, 60)) } }
                    @if self.name != self.unit { span.sub.small.dim { " " (cut(&self.unit, 40)) } }
                    @if let Some(on_failure) = &self.on_failure { span.small.dim { " if it fails: " (cut(on_failure, 40)) } }
                }
                @if list == "costs" { (self.slider(state)) } @else { (self.rank(list, state)) }
                label.lab {
                    span.vh { (cut(&self.name, 60)) " is asked" }
                    input type="hidden" name=(enabled) value="off";
                    input.sw type="checkbox" name=(enabled) value="on" checked[self.enabled] disabled[!may];
                }
                @if may { (self.moves(number_in_list, of)) }
                @if list == "costs" { (self.rank(list, state)) }
                (wrong(&of_entry, state.faults))
            }
            @if list != "effects" || !self.settings.is_empty() { (self.settings_form(list, state)) }
        }
    }

    /// Buttons that move the entry in its list, and what it is dragged by.
    fn moves(&self, number: usize, of: usize) -> Markup {
        let button = |to: usize, way: &str, sign: &str| {
            html! {
                button.btn.quiet.step type="submit" name="deed" value=(order::deed(&self.place, to)) data-way=(way)
                    aria-label={ "Move " (cut(&self.name, 60)) " " (way) } title={ "Move " (way) ": Alt and an arrow key" } { (sign) }
            }
        };
        html! {
            span.moves {
                span.grip.with-script draggable="true" aria-hidden="true" title="Drag to another place" { "⠿" }
                button.btn.quiet.step type="submit" name="deed" value=(order::removal(&self.place)) aria-label={ "Remove " (cut(&self.name, 60)) } title="Remove from the chain" { "✕" }
                @if number > 0 { (button(number - 1, "up", "↑")) }
                @if number + 1 < of { (button(number + 1, "down", "↓")) }
            }
        }
    }

    /// How its costs are scaled and when they count, or where a filter stands.
    fn rank(&self, list: &str, state: &State<'_>) -> Markup {
        let may = state.may;
        let choice = |key: &str, title: &str, value: &str, words: &[(&str, &str)]| {
            let field = self.place.field(key);
            html! {
                label.small.dim.lab { span.vh[key == "position"] { (title) }
                    select.field.small id=(field) name=(field) aria-label={ (title) " of " (cut(&self.name, 60)) } disabled[!may]
                        autofocus[state.first == Some(field.as_str())] aria-invalid=[invalid(&field, state.faults)] aria-describedby=[described(&field, false, state.faults)] {
                        @for (word, meaning) in words { option value=(word) title=(meaning) selected[value == *word] { (word) } }
                        (unknown(value, &words.iter().map(|(word, _)| *word).collect::<Vec<_>>()))
                    }
                }
            }
        };
        html! {
            @match list {
                "costs" => span.rank {
                    (choice("scaling", "Scaling", &self.scaling, &SCALINGS))
                    label.small.dim.lab { "Tier"
                        @let field = self.place.field("tier");
                        input.field.num id=(field) name=(field) value=(self.tier) size="2" inputmode="numeric" readonly[!may]
                            aria-label={ "Tier of " (cut(&self.name, 60)) } autofocus[state.first == Some(field.as_str())] aria-invalid=[invalid(&field, state.faults)]
                            aria-describedby=[described(&field, false, state.faults)];
                    }
                    (wrong(&self.place.field("scaling"), state.faults)) (wrong(&self.place.field("tier"), state.faults))
                },
                "filters" => span.rank {
                    (choice("position", "Stands", &self.position, &POSITIONS))
                    (wrong(&self.place.field("position"), state.faults))
                },
                _ => span {},
            }
        }
    }

    /// The factor, or the usual one where none can be read.
    fn number(&self) -> f64 {
        let number = self.factor.parse().ok();
        number.filter(|it: &f64| it.is_finite()).unwrap_or(1.0)
    }

    fn slider(&self, state: &State<'_>) -> Markup {
        let may = state.may;
        let number = self.number();
        let (least, most) = range(number);
        let field = self.place.field("factor");
        let label = format!("Factor of {}", cut(&self.name, 60));
        html! {
            input.with-script type="range" min=(least) max=(most) step="0.1" value=(number) data-for=(field) aria-label={ (label) ", slider" } disabled[!may];
            input.field.num id=(field) name=(field) aria-invalid=[invalid(&field, state.faults)] aria-describedby=[described(&field, false, state.faults)]
                autofocus[state.first == Some(field.as_str())] value=(self.factor) inputmode="decimal" aria-label=(label) readonly[!may]
                data-was=[self.was.as_deref()];
            (wrong(&field, state.faults))
        }
    }

    /// The settings as the unit declares them, and what happens if it fails.
    fn settings_form(&self, list: &str, state: &State<'_>) -> Markup {
        let on_failure = self.place.field("on-failure");
        let is_wrong = state.faults.are_below(&self.place.field("settings/"))
            || state.faults.are_below(&self.place.field(rows::ROWS))
            || state.faults.at(&on_failure).is_some();
        let given = self.settings.iter().filter(|it| it.is_set());
        let given = given.count() + usize::from(self.on_failure.is_some());
        let of = self.settings.len() + usize::from(list != "effects");
        html! {
            details.settings open[is_wrong] {
                summary.small { "Settings of " (cut(&self.name, 60)) span.dim { " " (given) " of " (of) " are set" } }
                (setting_fields(&self.settings, &|key| self.place.field(key), state))
                @if list != "effects" { div.setting {
                    label.small for=(on_failure) { b { "If the unit fails" } }
                    select.field id=(on_failure) name=(on_failure) disabled[!state.may]
                        autofocus[state.first == Some(on_failure.as_str())] aria-invalid=[invalid(&on_failure, state.faults)] aria-describedby=[described(&on_failure, false, state.faults)] {
                        @let said = self.on_failure.as_deref().unwrap_or_default();
                        @for (word, meaning) in on_failures(list) { option value=(word) selected[said == word] { (meaning) } }
                        (unknown(said, &on_failures(list).map(|(word, _)| word)))
                    }
                    (wrong(&on_failure, state.faults))
                } }
            }
        }
    }
}

/// The range of a factor's slider: up to twice the factor, and below 0 where the factor is. The
/// editor's script applies the same rule to edits in the browser.
fn range(factor: f64) -> (f64, f64) {
    let most = (factor.abs() * 2.0).ceil().max(10.0);
    let least = if factor < 0.0 { -most } else { 0.0 };
    (least, most)
}

/// What may become of a decision in which an entry of that list fails.
fn on_failures(list: &str) -> [(&'static str, &'static str); 3] {
    match list {
        "filters" => [
            ("", "as usual (the decision fails)"),
            ("fail", "the decision fails"),
            ("leave-out", "the decision is made without it"),
        ],
        "selections" => [
            ("", "as usual (hosts of best cost are taken)"),
            ("fail", "the decision fails"),
            ("best-cost", "hosts of best cost are taken"),
        ],
        _ => [
            ("", "as usual (the decision is made without it)"),
            ("fail", "the decision fails"),
            ("leave-out", "the decision is made without it"),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The costs of a draft: name, factor as written, factor in force.
    fn costs(draft: &str, in_force: &str) -> Vec<(String, String, Option<String>)> {
        let mut stages = stages(draft).unwrap();
        tell_what_was(&mut stages, in_force);
        let lists = stages.into_iter().flat_map(|stage| stage.lists);
        let entries = lists.flat_map(|(_, entries)| entries);
        entries
            .map(|entry| (entry.name, entry.factor, entry.was))
            .collect()
    }

    #[test]
    fn a_factor_stays_as_it_was_written_beside_the_one_in_force() {
        let in_force = "[[costs]]\nunit = \"memory\"\nfactor = 2\n[[costs]]\nunit = \"cpu\"\n";
        let draft = "[[costs]]\nunit = \"cpu\"\nfactor = \"\"\n[[costs]]\nunit = \"memory\"\nfactor = \"2,5\"\n[[costs]]\nunit = \"new\"\nfactor = inf\n";
        let told = costs(draft, in_force);
        let text = |text: &str| text.to_owned();
        assert_eq!(
            told,
            [
                (text("cpu"), text(""), Some(text("1"))),
                (text("memory"), text("2,5"), Some(text("2"))),
                (text("new"), text("inf"), None),
            ]
        );
        // So it does where what is in force is written in JSON, or cannot be read.
        let json = "{\"costs\": [{\"unit\": \"memory\", \"factor\": 3}]}";
        let draft = "[[costs]]\nunit = \"memory\"\nfactor = \"much\"\n";
        assert_eq!(costs(draft, json)[0].2.as_deref(), Some("3"));
        assert_eq!(costs(draft, "= no")[0].2, None);
    }

    #[test]
    fn a_slider_goes_further_than_its_factor() {
        assert_eq!(range(2.0), (0.0, 10.0));
        assert_eq!(range(250.0), (0.0, 500.0));
        assert_eq!(range(-4.0), (-10.0, 10.0));
        assert_eq!(range(-7.77), (-16.0, 16.0));
        let slid = |factor: &str| {
            let mut stages = stages(&format!(
                "[[costs]]\nunit = \"memory\"\nfactor = {factor}\n"
            ))
            .unwrap();
            let (_, mut list) = stages[0].lists.remove(0);
            list.remove(0).number()
        };
        assert_eq!(slid("-3.5"), -3.5);
        assert_eq!(slid("inf"), 1.0);
        assert_eq!(slid("\"2,5\""), 1.0);
    }
}
