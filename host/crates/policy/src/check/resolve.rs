//! Settings of an entry: the document's values where there are any, else the
//! unit's defaults.

use regex::Regex;

use super::Checker;
use crate::Settings;
use placewright_document::form::{Fields, lower_first, table_of};
use placewright_document::{Content, Expected, Node, Place, Problems, Table, shown};
use placewright_engine::contract::{Description, Setting, SettingColumn};
use placewright_model::{Bounds, Facts, Kind, Measure, Value};

impl<'a> Checker<'a, '_> {
    /// What the unit of an entry is set to.
    pub(super) fn settings(&mut self, unit: &'a Description, draft: &Fields<'_>) -> Settings {
        let own = draft.table("settings");
        self.check_names(unit, own);
        let owner = format!("unit \"{}\"", unit.name);
        let mut settings = Settings::default();
        for setting in &unit.settings {
            let name = setting.name.as_str();
            self.known_settings.insert(name);
            let given = own.and_then(|own| own.get(name));
            let shared = self.shared.and_then(|shared| shared.get(name));
            if given.is_none() && shared.is_some() {
                self.taken_settings.insert(name);
            }
            let node = given.or(shared);
            let reader = SettingReader {
                setting,
                owner: &owner,
                place: own.map_or(draft.place, |own| &own.place),
                problems: &mut self.problems,
            };
            if setting.columns.is_empty() {
                settings.value_names.push(name.into());
                settings.measures.push(measure(setting));
                settings.values.push(reader.value(node));
            } else {
                settings.table_names.push(name.into());
                settings.tables.push(reader.rows(node));
            }
        }
        settings
    }

    fn check_names(&mut self, unit: &Description, own: Option<&Table>) {
        let names = || unit.settings.iter().map(|setting| setting.name.as_str());
        for entry in own.iter().flat_map(|own| &own.entries) {
            if !names().any(|name| *name == *entry.key) {
                let message = format!(
                    "unit \"{}\" has no setting \"{}\"",
                    unit.name,
                    shown(&entry.key)
                );
                self.problems
                    .add_unknown(&entry.place, message, &entry.key, names());
            }
        }
    }
}

fn measure(setting: &Setting) -> Option<Measure> {
    setting.measure.as_deref().and_then(Measure::from_name)
}

/// Reads one setting of one unit.
struct SettingReader<'s> {
    setting: &'s Setting,
    /// The unit, for sentences.
    owner: &'s str,
    /// Where the settings stand, or should.
    place: &'s Place,
    problems: &'s mut Problems,
}

impl SettingReader<'_> {
    fn value(self, node: Option<&Node>) -> Option<Value> {
        let setting = self.setting;
        let Some(node) = node else {
            if setting.default.is_none() && setting.required {
                self.missing();
            }
            return setting.default.as_ref().map(Value::from);
        };
        let choices: Vec<&str> = setting.choices.iter().map(String::as_str).collect();
        let expected = Expected {
            owner: Some(self.owner),
            measure: measure(setting),
            bounds: Bounds {
                least: setting.least,
                greatest: setting.greatest,
            },
            choices: &choices,
            ..Expected::of_kind(&setting.name, Kind::from(setting.kind))
        };
        let value = expected.read(node, self.problems)?;
        if let Value::Text(text) = &value
            && let Some(sentence) = self.against_pattern(text)
        {
            let message = format!("{} {sentence}", expected.subject());
            self.problems.add(&node.place, message);
        }
        Some(value)
    }

    /// What is wrong if the whole of the text does not match the pattern.
    fn against_pattern(&self, text: &str) -> Option<String> {
        let pattern = self.setting.pattern.as_deref()?;
        match Regex::new(&format!("^(?:{pattern})$")) {
            Ok(regex) if regex.is_match(text) => None,
            Ok(_) => Some(format!(
                "must match the pattern {pattern}, and \"{}\" does not",
                shown(text)
            )),
            Err(_) => Some(format!(
                "cannot be checked: the unit's pattern {pattern} is no regular expression"
            )),
        }
    }

    fn rows(mut self, node: Option<&Node>) -> Vec<Facts> {
        let Some(node) = node else {
            if self.setting.required {
                self.missing();
            }
            return Vec::new();
        };
        let name = &self.setting.name;
        let Content::List(list) = &node.content else {
            let message = format!(
                "\"{name}\" of {} must be a list of tables, not {}",
                self.owner,
                node.content.noun()
            );
            self.problems.add(&node.place, message);
            return Vec::new();
        };
        let mut rows = Vec::new();
        for node in list {
            match &node.content {
                Content::Table(table) => rows.push(self.row(table)),
                other => self.problems.add(
                    &node.place,
                    format!(
                        "each entry of \"{name}\" of {} must be {}, not {}",
                        self.owner,
                        table_of(self.setting.columns.iter().map(|column| &*column.name)),
                        other.noun()
                    ),
                ),
            }
        }
        rows
    }

    fn row(&mut self, table: &Table) -> Facts {
        let columns = &self.setting.columns;
        let mut facts = Facts::new();
        for entry in &table.entries {
            match columns.iter().find(|column| *column.name == *entry.key) {
                Some(column) => {
                    let expected = Expected {
                        owner: Some(self.owner),
                        ..Expected::of_kind(&column.name, Kind::from(column.kind))
                    };
                    if let Some(value) = expected.read(&entry.node, self.problems) {
                        facts.set(column.name.as_str(), value);
                    }
                }
                None => self.problems.add_unknown(
                    &entry.place,
                    format!(
                        "a row of \"{}\" of {} has no \"{}\"",
                        self.setting.name,
                        self.owner,
                        shown(&entry.key)
                    ),
                    &entry.key,
                    columns.iter().map(|column| column.name.as_str()),
                ),
            }
        }
        for column in columns.iter().filter(|column| column.required) {
            if table.get(&column.name).is_none() {
                self.incomplete(column, table);
            }
        }
        facts
    }

    fn incomplete(&mut self, column: &SettingColumn, row: &Table) {
        let message = format!(
            "a row of \"{}\" of {} needs \"{}\": {}",
            self.setting.name,
            self.owner,
            column.name,
            lower_first(&column.meaning)
        );
        self.problems.add(&row.place, message);
    }

    fn missing(self) {
        let message = format!(
            "{} needs the setting \"{}\": {}",
            self.owner,
            self.setting.name,
            lower_first(&self.setting.meaning)
        );
        self.problems.add(self.place, message);
    }
}
