//! JSON to a tree. Comments are allowed.
//!
//! The tree is made while the text is read, token by token: nothing else is built of a
//! document, and one with too many values is refused where they become too many.

use std::collections::HashMap;
use std::sync::Arc;

use jsonc_parser::errors::{ParseError, ParseErrorKind as Kind};
use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

use super::bound::Bound;
use super::{Content, DEEPEST, Entry, Node, Nulls, Positions, Table};
use crate::entries::Step;
use crate::{Place, Problems, shown};

const OPTIONS: ScannerOptions = ScannerOptions {
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn parse(
    text: &str,
    positions: &Positions<'_>,
    nulls: Nulls,
) -> Result<Table, Problems> {
    let mut reader = Reader {
        scanner: Scanner::new(text, &OPTIONS),
        last_end: 0,
        positions,
        nulls,
        bound: Bound::of_json(text.len()),
        way: Vec::new(),
        problems: Problems::new(),
    };
    match reader.document() {
        Ok(table) => reader.problems.or(table),
        Err(Stop { at, message }) => {
            // Of all problems this one is told in any case.
            let mut problems = Problems::new();
            problems.add_at(&positions.place(at), &steps(&reader.way), message);
            problems.append(reader.problems);
            problems.or(Table {
                place: positions.place(0),
                entries: Vec::new(),
            })
        }
    }
}

struct Reader<'p, 't> {
    scanner: Scanner<'t>,
    /// Where the token before the last one ends.
    last_end: usize,
    positions: &'p Positions<'t>,
    nulls: Nulls,
    bound: Bound,
    /// The keys and entries that are being read, outermost first. Where the reader stops they
    /// stay as they are.
    way: Vec<Open>,
    problems: Problems,
}

/// What is being read.
enum Open {
    /// The value of a key.
    Key(Arc<str>),
    /// An entry of a list, counted from 0; with its id, if that was read already.
    Entry(usize, Option<Arc<str>>),
}

fn steps(way: &[Open]) -> Vec<Step<'_>> {
    let steps = way.iter().map(|open| match open {
        Open::Key(key) => Step::Key(key),
        Open::Entry(position, id) => Step::Entry(*position, id.as_deref()),
    });
    steps.collect()
}

/// Why the rest of the text is not read.
struct Stop {
    /// Offset in bytes.
    at: usize,
    message: String,
}

impl Stop {
    fn no_json(at: usize, kind: &Kind) -> Self {
        Self {
            at,
            message: format!("this is no JSON: {kind}"),
        }
    }
}

impl From<ParseError> for Stop {
    fn from(error: ParseError) -> Self {
        Self::no_json(error.range().start, error.kind())
    }
}

type Read<T> = Result<T, Stop>;

impl<'t> Reader<'_, 't> {
    /// The next token that is no comment.
    fn next(&mut self) -> Read<Option<Token<'t>>> {
        self.last_end = self.scanner.token_end();
        loop {
            match self.scanner.scan()? {
                Some(Token::CommentLine(_) | Token::CommentBlock(_)) => {}
                token => return Ok(token),
            }
        }
    }

    /// Where the last token begins.
    fn start(&self) -> usize {
        self.scanner.token_start()
    }

    fn place(&self) -> Place {
        self.positions.place(self.start())
    }

    /// The last token does not belong where it stands.
    fn wrong(&self, kind: &Kind) -> Stop {
        Stop::no_json(self.start(), kind)
    }

    fn document(&mut self) -> Read<Table> {
        let table = match self.next()? {
            Some(Token::OpenBrace) => self.table(0)?,
            Some(token) if !begins_value(&token) => return Err(self.unexpected(&token)),
            _ => {
                return Err(Stop {
                    at: self.start(),
                    message: "a document is an object: it begins with { and ends with }".into(),
                });
            }
        };
        match self.next()? {
            None => Ok(table),
            Some(_) => Err(self.wrong(&Kind::MultipleRootJsonValues)),
        }
    }

    fn unexpected(&self, token: &Token<'t>) -> Stop {
        self.wrong(match token {
            Token::CloseBracket => &Kind::UnexpectedCloseBracket,
            Token::CloseBrace => &Kind::UnexpectedCloseBrace,
            Token::Comma => &Kind::UnexpectedComma,
            Token::Colon => &Kind::UnexpectedColon,
            Token::Word(_) => &Kind::UnexpectedWord,
            _ => &Kind::UnexpectedToken,
        })
    }

    /// The rest of an object, after its brace.
    fn table(&mut self, depth: usize) -> Read<Table> {
        let begin = self.start();
        let mut entries: Vec<Entry> = Vec::new();
        let mut known: HashMap<Arc<str>, Place> = HashMap::new();
        let mut token = self.next()?;
        loop {
            let key: Arc<str> = match token {
                Some(Token::CloseBrace) => break,
                Some(Token::String(key)) => key.as_ref().into(),
                None => return Err(Stop::no_json(begin, &Kind::UnterminatedObject)),
                Some(Token::Word(_) | Token::Number(_) | Token::Boolean(_) | Token::Null) => {
                    return Err(self.wrong(&Kind::ExpectedStringObjectProperty));
                }
                Some(_) => return Err(self.wrong(&Kind::UnexpectedTokenInObject)),
            };
            let place = self.place();
            self.way.push(Open::Key(key.clone()));
            let node = self.property(depth)?;
            self.way.pop();
            self.note_id(&key, node.as_ref());
            if let Some(first) = known.get(&key) {
                let message = format!(
                    "the key \"{}\" stands here for the second time; the first is at {first}",
                    shown(&key)
                );
                self.problems.add_at(&place, &steps(&self.way), message);
            } else {
                known.insert(key.clone(), place.clone());
                entries.extend(node.map(|node| Entry { key, place, node }));
            }
            token = self.after_value(&Token::CloseBrace)?;
        }
        Ok(Table {
            place: self.positions.place(begin),
            entries,
        })
    }

    /// If that is the id of an entry of a list, what is wrong with the rest of it is told with it.
    fn note_id(&mut self, key: &str, value: Option<&Node>) {
        if let ("id", Some(Content::Text(text))) = (key, value.map(|it| &it.content))
            && let Some(Open::Entry(_, id @ None)) = self.way.last_mut()
        {
            *id = Some(text.clone());
        }
    }

    /// The value of a key; None: a null that is left out.
    fn property(&mut self, depth: usize) -> Read<Option<Node>> {
        if self.next()? != Some(Token::Colon) {
            return Err(self.wrong(&Kind::ExpectedColonAfterObjectKey));
        }
        match (self.next()?, self.nulls) {
            (None, _) => Err(self.wrong(&Kind::ExpectedObjectValue)),
            (Some(Token::Null), Nulls::LeftOut) => self.count().map(|()| None),
            (Some(Token::Null), Nulls::Kept) => {
                self.count()?;
                Ok(Some(Node {
                    place: self.place(),
                    content: Content::Null,
                }))
            }
            (Some(token), _) => self.node(token, depth + 1).map(Some),
        }
    }

    /// The token after the comma, or the one that ends the list or object.
    fn after_value(&mut self, end: &Token<'t>) -> Read<Option<Token<'t>>> {
        match self.next()? {
            Some(Token::Comma) => {
                let comma = self.start();
                let token = self.next()?;
                match token.as_ref() == Some(end) {
                    true => Err(Stop::no_json(comma, &Kind::TrailingCommasNotAllowed)),
                    false => Ok(token),
                }
            }
            Some(token) if begins_value(&token) || matches!(token, Token::Word(_)) => {
                Err(Stop::no_json(self.last_end, &Kind::ExpectedComma))
            }
            token => Ok(token),
        }
    }

    fn count(&mut self) -> Read<()> {
        match self.bound.take() {
            true => Ok(()),
            false => Err(Stop {
                at: self.start(),
                message: self.bound.sentence(),
            }),
        }
    }

    fn node(&mut self, token: Token<'t>, depth: usize) -> Read<Node> {
        self.count()?;
        let place = self.place();
        let content = match token {
            Token::OpenBrace | Token::OpenBracket if depth > DEEPEST => {
                return Err(Stop {
                    at: self.start(),
                    message: format!("nothing may be nested deeper than {DEEPEST} levels"),
                });
            }
            Token::OpenBrace => Content::Table(self.table(depth)?),
            Token::OpenBracket => Content::List(self.list(depth)?),
            Token::String(text) => Content::Text(text.as_ref().into()),
            Token::Number(digits) => number(digits),
            Token::Boolean(boolean) => Content::Boolean(boolean),
            Token::Null => {
                let message = "null is no value of a list; leave it out";
                self.problems.add_at(&place, &steps(&self.way), message);
                Content::Null
            }
            token => return Err(self.unexpected(&token)),
        };
        Ok(Node { place, content })
    }

    /// The rest of a list, after its bracket.
    fn list(&mut self, depth: usize) -> Read<Vec<Node>> {
        let begin = self.start();
        let mut nodes = Vec::new();
        let mut token = self.next()?;
        loop {
            match token {
                Some(Token::CloseBracket) => return Ok(nodes),
                None => return Err(Stop::no_json(begin, &Kind::UnterminatedArray)),
                Some(token) => {
                    self.way.push(Open::Entry(nodes.len(), None));
                    nodes.push(self.node(token, depth + 1)?);
                    self.way.pop();
                }
            }
            token = self.after_value(&Token::CloseBracket)?;
        }
    }
}

fn begins_value(token: &Token<'_>) -> bool {
    matches!(
        token,
        Token::OpenBrace
            | Token::OpenBracket
            | Token::String(_)
            | Token::Boolean(_)
            | Token::Number(_)
            | Token::Null
    )
}

fn number(digits: &str) -> Content {
    match digits.parse() {
        Ok(integer) => Content::Integer(integer),
        Err(_) => Content::Number(digits.parse().unwrap_or(f64::NAN)),
    }
}
