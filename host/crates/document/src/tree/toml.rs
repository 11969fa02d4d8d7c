//! TOML to a tree.

mod mistakes;

use ::toml::Spanned;
use ::toml::de::{DeInteger, DeString, DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::bound::Bound;
use super::{Content, DEEPEST, Entry, Node, Positions, Table};
use crate::Problems;

/// More mistakes in the writing are not reported: one that confuses the parser
/// brings others that are none.
const MOST_ERRORS: usize = 10;

/// No document has more tokens: the parser takes some hundred bytes for each. A cluster of
/// 10,000 hosts and 50,000 VMs has 3 million.
const MOST_TOKENS: usize = 4_000_000;

/// In longer documents mistakes are looked for before they are read: for each, the parser
/// takes some hundred bytes, and a comment can have one in each letter.
const SHORT: usize = 64 << 10;

pub(super) fn parse(text: &str, positions: &Positions<'_>) -> Result<Table, Problems> {
    let tokens = count(text, positions)?;
    if text.len() > SHORT {
        look_for_mistakes(text, tokens, positions)?;
    }
    let (root, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader {
        positions,
        problems: Problems::new(),
        buried: Vec::new(),
    };
    for error in errors.iter().take(MOST_ERRORS) {
        let offset = error.span().map_or(text.len(), |span| span.start);
        let place = positions.place(offset);
        reader.problems.add(&place, no_toml(error.message()));
    }
    let table = reader.table(0, root.into_inner(), 0);
    reader.dismantle();
    reader.problems.or(table)
}

/// Refuse what would take too much memory to parse, before it is parsed. How many tokens there
/// are.
fn count(text: &str, positions: &Positions<'_>) -> Result<usize, Problems> {
    let mut problems = Problems::new();
    let mut bound = Bound::of_toml(text.len());
    let mut tokens = 0;
    for token in Source::new(text).lex() {
        let place = || positions.place(token.span().start());
        if tokens >= MOST_TOKENS {
            let message = format!(
                "a document in TOML has at most {MOST_TOKENS} words and signs, and this one has more; write it in JSON, or send several documents"
            );
            problems.add(&place(), message);
            break;
        }
        tokens += 1;
        // Each value follows one of these.
        let before_value = matches!(
            token.kind(),
            TokenKind::Equals
                | TokenKind::Comma
                | TokenKind::LeftSquareBracket
                | TokenKind::LeftCurlyBracket
        );
        if before_value && !bound.take() {
            bound.complain(&place(), &mut problems);
            break;
        }
    }
    problems.or(tokens)
}

fn look_for_mistakes(text: &str, tokens: usize, positions: &Positions<'_>) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for mistake in mistakes::find(text, tokens, MOST_ERRORS) {
        problems.add(&positions.place(mistake.offset), no_toml(&mistake.sentence));
    }
    problems.or(())
}

fn no_toml(sentence: &str) -> String {
    format!("this is no TOML: {sentence}")
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
