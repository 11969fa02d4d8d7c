//! Changes of a policy's document that oVirt's clients ask for. All else in it, comments
//! included, stays as it stands.

use serde_json::{Map, Value as Json};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

use super::Entry;
use crate::catalogue::{Catalogue, PolicyUnit};
use crate::import::source::Kind;
use crate::import::table::{WATCHES, Watch};

/// A document that is changed.
#[derive(Debug, Clone)]
pub(crate) struct Editable {
    document: DocumentMut,
}

impl Editable {
    /// A policy of that name in which the mandatory filters stand and nothing else.
    pub(crate) fn new(name: &str, description: &str, catalogue: &Catalogue) -> Self {
        let mut new = Self {
            document: DocumentMut::new(),
        };
        new.name(name);
        new.description(description);
        // As on an engine, what no filter of it checks is not checked.
        new.document["unheeded"] = value("warn");
        for unit in catalogue.mandatory() {
            new.add(unit, 0);
        }
        new
    }

    /// A document to be changed. One in JSON goes on in TOML.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let is_json = text.trim_start().starts_with('{');
        let toml = match is_json {
            false => text.to_owned(),
            true => {
                let read: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
                toml::to_string(&read).map_err(|error| error.to_string())?
            }
        };
        let document = toml
            .parse()
            .map_err(|error: toml_edit::TomlError| error.to_string())?;
        Ok(Self { document })
    }

    /// The text of the document. That it has no filters is what the client wants, and is said.
    pub(crate) fn text(&self) -> String {
        let filters = self.document.get("filters");
        let has_filters = match filters {
            Some(Item::ArrayOfTables(tables)) => !tables.is_empty(),
            Some(_) => true,
            None => self.document.contains_key("stages"),
        };
        if has_filters {
            return self.document.to_string();
        }
        let mut document = self.document.clone();
        document["filters"] = value(Array::new());
        document.to_string()
    }

    /// Call it so.
    pub(crate) fn name(&mut self, name: &str) {
        self.document["name"] = value(name);
    }

    /// Describe it so; by nothing, if that is empty.
    pub(crate) fn description(&mut self, description: &str) {
        match description {
            "" => {
                self.document.remove("description");
            }
            description => self.document["description"] = value(description),
        }
    }

    /// Add a policy unit, at that position or with that factor. A balance replaces another.
    pub(crate) fn add(&mut self, unit: &PolicyUnit, number: i64) {
        let Some(name) = &unit.unit else {
            if unit.kind == Kind::Balance {
                self.document.remove("balance");
            }
            return;
        };
        let mut table = Table::new();
        if let Some(entry) = unit.entry {
            table["name"] = value(entry);
        }
        table["unit"] = value(name.as_str());
        match unit.kind {
            Kind::Filter if number < 0 => table["position"] = value("first"),
            Kind::Filter if number > 0 => table["position"] = value("last"),
            Kind::Filter | Kind::Balance => {}
            Kind::Weight => {
                table["factor"] = value(number);
                if let Some(scaling) = unit.scaling {
                    table["scaling"] = value(scaling);
                }
            }
        }
        set_own(&mut table, unit);
        match unit.kind {
            Kind::Filter => self.push("filters", table),
            Kind::Weight => self.push("costs", table),
            Kind::Balance => self.document["balance"] = Item::Table(table),
        }
        let is_there = self.tables("effects").any(|it| names(it, name));
        if unit.kind == Kind::Filter && unit.has_effects && !is_there {
            let mut effects = Table::new();
            effects["unit"] = value(name.as_str());
            self.push("effects", effects);
        }
        for watch in &unit.watches {
            if !self.tables("watches").any(|it| is_of(it, watch)) {
                let mut table = Table::new();
                table["name"] = value(watch.name);
                table["column"] = value(watch.column);
                self.push("watches", table);
            }
        }
        self.set_watches();
    }

    /// Take a policy unit out. If its entry stands for another one too, that stays.
    pub(crate) fn remove(&mut self, entry: &Entry, others: &[&PolicyUnit]) {
        if entry.kind == Kind::Balance {
            self.document.remove("balance");
            return;
        }
        let key = match entry.kind {
            Kind::Filter => "filters",
            _ => "costs",
        };
        let Some(list) = self.list(key) else { return };
        match (list.get_mut(entry.index), others.first()) {
            (Some(table), Some(other)) => {
                if let Some(name) = other.entry {
                    table["name"] = value(name);
                }
                set_own(table, other);
            }
            (Some(table), None) => {
                let unit = table.get("unit").and_then(Item::as_str).map(str::to_owned);
                list.remove(entry.index);
                if list.is_empty() {
                    self.document.remove(key);
                }
                self.drop_effects(unit.as_deref().unwrap_or_default());
            }
            _ => {}
        }
    }

    /// Take out the effects of a unit that filters no more.
    fn drop_effects(&mut self, unit: &str) {
        if self.tables("filters").any(|it| names(it, unit)) {
            return;
        }
        let Some(effects) = self.list("effects") else {
            return;
        };
        effects.retain(|it| !names(it, unit));
        if effects.is_empty() {
            self.document.remove("effects");
        }
    }

    /// Set this for all units, and nothing else.
    pub(crate) fn settings(&mut self, settings: Vec<(String, Value)>) {
        if settings.is_empty() {
            self.document.remove("settings");
        } else {
            let known = self.document.entry("settings");
            let known = known.or_insert_with(|| Item::Table(Table::new()));
            if !known.is_table_like() {
                *known = Item::Table(Table::new());
            }
            if let Some(table) = known.as_table_like_mut() {
                let is_set = |key: &str| settings.iter().any(|(name, _)| name == key);
                let gone: Vec<String> = table
                    .iter()
                    .filter(|(key, _)| !is_set(key))
                    .map(|(key, _)| key.to_owned())
                    .collect();
                for key in gone {
                    table.remove(&key);
                }
                for (name, set) in settings {
                    table.insert(&name, Item::Value(set));
                }
            }
        }
        self.set_watches();
    }

    /// The limits of watches are those that the properties say.
    fn set_watches(&mut self) {
        let settings = self.document.get("settings").and_then(Item::as_table_like);
        let limit = |(parameter, usual): (&str, &str)| -> Value {
            let known = crate::import::table::PARAMETERS.iter();
            let setting = known.clone().find(|it| it.name == parameter);
            let set = setting.and_then(|it| settings?.get(it.setting)?.as_value());
            let percent = match set {
                Some(Value::String(text)) => return text.value().as_str().into(),
                Some(Value::Integer(number)) => number.value().to_string(),
                Some(Value::Float(number)) => number.value().to_string(),
                _ => usual.to_owned(),
            };
            format!("{percent} %").into()
        };
        let limits: Vec<_> = WATCHES
            .iter()
            .map(|watch| (watch, limit(watch.at_least), limit(watch.at_most)))
            .collect();
        let Some(watches) = self.list("watches") else {
            return;
        };
        for table in watches.iter_mut() {
            let known = limits.iter().find(|(watch, ..)| is_of(table, watch));
            if let Some((_, at_least, at_most)) = known {
                table["at-least"] = value(at_least.clone());
                table["at-most"] = value(at_most.clone());
            }
        }
    }

    fn push(&mut self, key: &str, table: Table) {
        if self.list(key).is_none() {
            self.document[key] = Item::ArrayOfTables(ArrayOfTables::new());
        }
        if let Some(list) = self.list(key) {
            list.push(table);
        }
    }

    /// A list of tables, if there is one, however it is written.
    fn list(&mut self, key: &str) -> Option<&mut ArrayOfTables> {
        if let Some(array) = self.document.get(key)?.as_array() {
            let tables = array.iter().filter_map(Value::as_inline_table).cloned();
            let tables: ArrayOfTables = tables.map(InlineTable::into_table).collect();
            // The key goes, too: it has the blanks of the other form around it.
            self.document.remove(key);
            self.document.insert(key, Item::ArrayOfTables(tables));
        }
        self.document.get_mut(key)?.as_array_of_tables_mut()
    }

    fn tables(&mut self, key: &str) -> impl Iterator<Item = &Table> {
        self.list(key).into_iter().flat_map(|list| list.iter())
    }
}

fn names(table: &Table, unit: &str) -> bool {
    table.get("unit").and_then(Item::as_str) == Some(unit)
}

fn is_of(table: &Table, watch: &Watch) -> bool {
    table.get("name").and_then(Item::as_str) == Some(watch.name)
}

/// Set in an entry what tells a policy unit from others of the same unit.
fn set_own(table: &mut Table, unit: &PolicyUnit) {
    if unit.settings.is_empty() {
        return;
    }
    let settings = unit.settings.iter();
    let settings: InlineTable = settings
        .filter_map(|(name, text)| Some((*name, text.parse::<Value>().ok()?)))
        .collect();
    table["settings"] = value(settings);
}

/// A value of TOML as one of JSON.
pub(crate) fn json_of(value: &Value) -> Json {
    match value {
        Value::String(text) => text.value().as_str().into(),
        Value::Integer(number) => (*number.value()).into(),
        Value::Float(number) => (*number.value()).into(),
        Value::Boolean(boolean) => (*boolean.value()).into(),
        Value::Datetime(time) => time.value().to_string().into(),
        Value::Array(array) => array.iter().map(json_of).collect(),
        Value::InlineTable(table) => {
            let entries = table
                .iter()
                .map(|(key, value)| (key.to_owned(), json_of(value)));
            Json::Object(entries.collect::<Map<_, _>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_without_filters_says_so_and_takes_one_again() {
        let policy = Editable::read("name = \"p\"\n").unwrap();
        assert_eq!(policy.text(), "name = \"p\"\nfilters = []\n");
        let mut policy_again = Editable::read(&policy.text()).unwrap();
        let mut filter = Table::new();
        filter["unit"] = value("memory");
        policy_again.push("filters", filter);
        assert_eq!(
            policy_again.text(),
            "name = \"p\"\n\n[[filters]]\nunit = \"memory\"\n"
        );
        let staged = "[[stages]]\nname = \"main\"\n";
        let policy = Editable::read(staged).unwrap();
        assert_eq!(policy.text(), staged);
    }
}
