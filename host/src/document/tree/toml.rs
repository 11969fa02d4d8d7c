//! TOML to a tree.

use ::toml::Spanned;
use ::toml::de::{DeInteger, DeString, DeTable, DeValue};

use super::{Content, DEEPEST, Entry, Node, Positions, Table};
use crate::document::Problems;

/// More mistakes in the writing are not reported: one that confuses the parser
/// brings others that are none.
const MOST_ERRORS: usize = 10;

pub(super) fn parse(text: &str, positions: &Positions<'_>) -> Result<Table, Problems> {
    let (root, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader {
        positions,
        problems: Problems::new(),
        buried: Vec::new(),
    };
    for error in errors.iter().take(MOST_ERRORS) {
        let offset = error.span().map_or(text.len(), |span| span.start);
        let message = format!("this is no TOML: {}", error.message());
        reader.problems.add(&positions.place(offset), message);
    }
    let table = reader.table(0, root.into_inner(), 0);
    reader.dismantle();
    reader.problems.or(table)
}

struct Reader<'p, 't, 'i> {
    positions: &'p Positions<'t>,
    problems: Problems,
    /// Values that stand too deep.
    buried: Vec<DeValue<'i>>,
}

impl<'i> Reader<'_, '_, 'i> {
    fn table(&mut self, offset: usize, table: DeTable<'i>, depth: usize) -> Table {
        let mut entries: Vec<_> = table.into_iter().collect();
        // The parser sorts by key.
        entries.sort_by_key(|(key, _)| key.span().start);
        Table {
            place: self.positions.place(offset),
            entries: entries
                .into_iter()
                .map(|(key, value)| self.entry(key, value, depth))
                .collect(),
        }
    }

    fn entry(
        &mut self,
        key: Spanned<DeString<'i>>,
        value: Spanned<DeValue<'i>>,
        depth: usize,
    ) -> Entry {
        Entry {
            place: self.positions.place(key.span().start),
            key: key.get_ref().as_ref().into(),
            node: self.node(value, depth + 1),
        }
    }

    fn node(&mut self, value: Spanned<DeValue<'i>>, depth: usize) -> Node {
        let offset = value.span().start;
        let place = self.positions.place(offset);
        let value = value.into_inner();
        let content = match value {
            DeValue::Table(_) | DeValue::Array(_) if depth > DEEPEST => {
                self.problems.add(
                    &place,
                    format!("nothing may be nested deeper than {DEEPEST} levels"),
                );
                self.buried.push(value);
                Content::List(Vec::new())
            }
            DeValue::Table(table) => Content::Table(self.table(offset, table, depth)),
            DeValue::Array(list) => Content::List(
                list.into_iter()
                    .map(|value| self.node(value, depth + 1))
                    .collect(),
            ),
            DeValue::String(text) => Content::Text(text.as_ref().into()),
            DeValue::Integer(digits) => integer(&digits),
            DeValue::Float(digits) => Content::Number(digits.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(value) => Content::Boolean(value),
            DeValue::Datetime(time) => Content::Text(time.to_string().into()),
        };
        Node { place, content }
    }

    /// Take apart what stands too deep, level by level: dropping it at once would
    /// recurse, and a document of a few kilobytes can be thousands of levels deep
    /// (dotted keys in tables in dotted keys).
    fn dismantle(&mut self) {
        while let Some(value) = self.buried.pop() {
            match value {
                DeValue::Table(table) => {
                    let values = table.into_iter().map(|(_, value)| value.into_inner());
                    self.buried.extend(values);
                }
                DeValue::Array(list) => {
                    let values = list.into_iter().map(Spanned::into_inner);
                    self.buried.extend(values);
                }
                _ => {}
            }
        }
    }
}

fn integer(digits: &DeInteger<'_>) -> Content {
    match i128::from_str_radix(digits.as_str(), digits.radix()) {
        Ok(value) => match i64::try_from(value) {
            Ok(value) => Content::Integer(value),
            Err(_) => Content::Number(value as f64),
        },
        // So many digits that a float is all that can be said of it.
        Err(_) => Content::Number(digits.as_str().parse().unwrap_or(f64::INFINITY)),
    }
}
