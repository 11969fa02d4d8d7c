//! Tables of a call that say the same in every call of a part: its settings. They are
//! encoded once and copied.

use std::sync::Arc;

use super::rows::Level;
use super::{Context, Dictionary, Encoder, HostRows, position};
use crate::plan::{ReadPlan, Source, TablePlan};
use placewright_engine::contract::Call;
use placewright_inventory::Inventory;
use placewright_model::Kind;
use placewright_policy::Settings;

/// What one table adds to a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fixed {
    rows: u32,
    /// With the places in `texts` where texts stand.
    integers: Vec<i64>,
    numbers: Vec<f64>,
    /// Places in `integers` and `numbers` without a value.
    absent_integers: Vec<u32>,
    absent_numbers: Vec<u32>,
    /// Places in `integers` that hold texts.
    text_places: Vec<usize>,
    texts: Vec<Arc<str>>,
}

/// Encode the settings tables of a plan, whose part is always set so.
pub(crate) fn fix(plan: &mut ReadPlan, settings: &Settings, inventory: &Inventory) {
    let context = Context {
        inventory,
        subject: None,
        settings,
        now: 0,
        candidates: None,
    };
    let of_tables: Vec<Option<Fixed>> = (0..plan.tables.len())
        .map(|table| encoded(plan, table, context))
        .collect();
    for (table, fixed) in plan.tables.iter_mut().zip(of_tables) {
        table.fixed = fixed;
    }
}

/// What a table adds to a call, if it is one of settings. None too if it lacks a value:
/// that is said where the call is made.
fn encoded(plan: &ReadPlan, table: usize, context: Context<'_>) -> Option<Fixed> {
    let is_fixed = |table: &TablePlan| {
        matches!(table.source, Source::Settings | Source::SettingTable) && table.fixed.is_none()
    };
    let of_table = &plan.tables[table];
    if !is_fixed(of_table) {
        return None;
    }
    let (mut call, mut dictionary) = (Call::default(), Dictionary::default());
    let hosts = HostRows::List(&[]);
    let mut encoder = Encoder::new(plan, context, hosts, &mut dictionary, &mut call);
    let mut began = (0, 0);
    for before in &plan.tables[..=table] {
        began = (encoder.call.integers.len(), encoder.call.numbers.len());
        encoder.call.absent_integers.clear();
        encoder.call.absent_numbers.clear();
        if is_fixed(before) {
            encoder.table(plan, before).ok()?;
        } else {
            encoder.skip();
        }
    }
    let (integers, numbers) = began;
    let rows = *call.rows.last()?;
    let relative = |places: &[u32], from: usize| -> Vec<u32> {
        places.iter().map(|place| place - position(from)).collect()
    };
    let absent_integers = relative(&call.absent_integers, integers);
    let mut fixed = Fixed {
        rows,
        integers: call.integers[integers..].to_vec(),
        numbers: call.numbers[numbers..].to_vec(),
        absent_numbers: relative(&call.absent_numbers, numbers),
        text_places: Vec::new(),
        texts: Vec::new(),
        absent_integers,
    };
    fixed.find_texts(of_table, &call.texts);
    Some(fixed)
}

impl Fixed {
    /// How many integers it adds.
    pub(super) fn integers(&self) -> usize {
        self.integers.len()
    }

    /// Note where texts stand, in the order of their places, and give them numbers of
    /// their own in the order in which they come first.
    fn find_texts(&mut self, table: &TablePlan, texts: &[Arc<str>]) {
        let rows = self.rows as usize;
        let in_integers = table.columns.iter().filter(|it| it.kind != Kind::Number);
        let all = in_integers.clone().count() * rows;
        let mut first = self.integers.len() - all;
        for column in in_integers {
            for place in first..first + rows {
                let is_absent = || self.absent_integers.binary_search(&position(place)).is_ok();
                if column.kind != Kind::Text || is_absent() {
                    continue;
                }
                let text = usize::try_from(self.integers[place]).ok();
                let Some(text) = text.and_then(|code| texts.get(code)) else {
                    continue;
                };
                let known = self.texts.iter().position(|known| known == text);
                let known = known.unwrap_or_else(|| {
                    self.texts.push(text.clone());
                    self.texts.len() - 1
                });
                self.integers[place] = known as i64;
                self.text_places.push(place);
            }
            first += rows;
        }
    }
}

impl Encoder<'_, '_> {
    /// Add a table that was encoded before.
    pub(super) fn fixed(&mut self, fixed: &Fixed) {
        let call = &mut *self.call;
        self.levels.push(Level::Empty);
        call.rows.push(fixed.rows);
        let (integers, numbers) = (call.integers.len(), call.numbers.len());
        call.integers.extend_from_slice(&fixed.integers);
        call.numbers.extend_from_slice(&fixed.numbers);
        let (places, from) = (&fixed.absent_integers, position(integers));
        call.absent_integers
            .extend(places.iter().map(|place| place + from));
        let (places, from) = (&fixed.absent_numbers, position(numbers));
        call.absent_numbers
            .extend(places.iter().map(|place| place + from));
        if fixed.texts.is_empty() {
            return;
        }
        let dictionary = &mut *self.dictionary;
        let codes = fixed.texts.iter();
        let codes: Vec<i64> = codes
            .map(|text| dictionary.code(text, &mut call.texts))
            .collect();
        for place in &fixed.text_places {
            let value = &mut call.integers[integers + place];
            *value = codes[*value as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::encode;
    use crate::subject::Subject;
    use placewright_engine::contract::{self, ColumnRead, TableRead};
    use placewright_model::schema::Schema;
    use placewright_model::{Facts, Request, Vm};

    fn read(table: &str, columns: &[(&str, contract::Kind)]) -> TableRead {
        let columns = columns.iter().map(|(column, kind)| ColumnRead {
            column: (*column).to_owned(),
            kind: *kind,
            required: false,
            gate: false,
        });
        TableRead {
            table: table.to_owned(),
            columns: columns.collect(),
        }
    }

    #[test]
    fn settings_that_were_encoded_before_make_the_same_call() {
        use contract::Kind::{Integer, Number, Text};
        let reads = [
            read("members", &[("id", Text), ("attribute.none", Text)]),
            read("settings", &[("word", Text), ("none", Number)]),
            read(
                "settings/shapes",
                &[("models", Text), ("cpu", Integer), ("share", Number)],
            ),
            read("cluster", &[("name", Text)]),
        ];
        let shape = Facts::new().with("cpu", 4);
        let settings = Settings {
            measures: Vec::new(),
            value_names: vec!["word".into(), "none".into()],
            values: vec![Some("b".into()), None],
            table_names: vec!["shapes".into()],
            tables: vec![vec![
                shape.clone().with("models", "a").with("share", 0.5),
                shape.clone(),
                shape.clone().with("models", "b"),
                Facts::new().with("models", "a"),
            ]],
        };
        let mut inventory = Inventory::new("a", Arc::new(Schema::default()));
        let request = Request {
            members: vec![Vm::new("b"), Vm::new("c")],
            ..Request::default()
        };
        let plain = ReadPlan::new(&reads, &mut inventory);
        let fixed = ReadPlan::set(&reads, &settings, &mut inventory);
        let is_fixed: Vec<bool> = fixed.tables.iter().map(|it| it.fixed.is_some()).collect();
        assert_eq!(is_fixed, [false, true, true, false]);
        let subject = Subject::new(&request, &inventory, 0.0);
        let context = Context {
            inventory: &inventory,
            subject: Some(&subject),
            settings: &settings,
            now: 0,
            candidates: None,
        };
        let [plain, fixed] = [plain, fixed].map(|plan| {
            let (mut call, mut dictionary) = (Call::default(), Dictionary::default());
            let hosts = HostRows::List(&[]);
            encode(&plan, context, hosts, &mut dictionary, &mut call).unwrap();
            call
        });
        assert_eq!(plain, fixed);
        assert_eq!(plain.texts.len(), 3);
    }
}
