//! Looks for mistakes in the writing of a document before it is read: of each, the parser of
//! whole documents makes some hundred bytes, and there can be more of them than letters.

use std::cell::RefCell;

use toml_parser::parser::{Event, EventKind, RecursionGuard, ValidateWhitespace, parse_document};
use toml_parser::{Expected, ParseError, Source};

/// As deep as the parser of whole documents goes.
const DEEPEST: u32 = 80;

/// A mistake in the writing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// Where it is in the text, in bytes.
    pub(super) offset: usize,
    pub(super) sentence: String,
}

/// The first mistakes in signs, keys and values, at most so many; what contradicts what stands
/// before is not looked for. Takes 24 bytes for each token, of which the text has `tokens`.
pub(super) fn find(text: &str, tokens: usize, most: usize) -> Vec<Mistake> {
    let source = Source::new(text);
    let mut lexed = Vec::with_capacity(tokens);
    lexed.extend(source.lex());
    let found = RefCell::new(Vec::new());
    let note = |error: ParseError| {
        let mut found = found.borrow_mut();
        if found.len() < most {
            found.push(Mistake::new(&error, text.len()));
        }
    };
    let mut decode = |event: Event| {
        let Some(raw) = source.get(event) else { return };
        match event.kind() {
            EventKind::SimpleKey => raw.decode_key(&mut (), &mut { note }),
            EventKind::Scalar => {
                let _ = raw.decode_scalar(&mut (), &mut { note });
            }
            _ => {}
        }
    };
    let mut receiver = ValidateWhitespace::new(&mut decode, source);
    let mut receiver = RecursionGuard::new(&mut receiver, DEEPEST);
    parse_document(&lexed, &mut receiver, &mut { note });
    found.into_inner()
}

impl Mistake {
    /// Says the same as the parser of whole documents.
    fn new(error: &ParseError, end: usize) -> Self {
        let mut sentence = error.description().to_owned();
        if let Some(expected) = error.expected() {
            let expected: Vec<_> = expected.iter().map(shown).collect();
            let expected = match expected.is_empty() {
                true => "nothing".to_owned(),
                false => expected.join(", "),
            };
            sentence = format!("{sentence}, expected {expected}");
        }
        let span = error.unexpected();
        Self {
            offset: span.map_or(end, |span| span.start()),
            sentence,
        }
    }
}

fn shown(expected: &Expected) -> String {
    match expected {
        Expected::Literal("\n") => "newline".to_owned(),
        Expected::Literal("`") => "'`'".to_owned(),
        Expected::Literal(literal) if literal.chars().all(|it| it.is_ascii_control()) => {
            format!("`{}`", literal.escape_debug())
        }
        Expected::Literal(literal) => format!("`{literal}`"),
        Expected::Description(description) => (*description).to_owned(),
        _ => "something else".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use ::toml::de::DeTable;

    use super::*;

    #[test]
    fn mistakes_are_found_where_the_parser_of_documents_finds_some() {
        for text in [
            "=\n",
            "]\n",
            "a\n",
            "a = x\n",
            "a = 1_\n",
            "a = '\n",
            "'\n = 1",
            "a = \"\\q\"\n",
            "a = \"\u{1}\"\n",
            "#\u{1}\n",
            "a = [1 2]\n",
            "a = {b = 1, , c = 2}\n",
            "[a\nb = 1\n",
            "a.=1\n",
            "\r",
            "a = 1\n[b]\nc = \"d\" # e\n",
        ] {
            let found = find(text, 0, 100);
            let (_, errors) = DeTable::parse_recoverable(text);
            assert_eq!(found.is_empty(), errors.is_empty(), "{text:?}: {found:?}");
            // Beside the first, what confuses one of them may not confuse the other.
            let is_told = |mistake: &Mistake| {
                errors.iter().any(|error| {
                    let offset = error.span().map_or(text.len(), |span| span.start);
                    (offset, error.message()) == (mistake.offset, &*mistake.sentence)
                })
            };
            let agrees = found.is_empty() || found.iter().any(is_told);
            assert!(agrees, "{text:?}: {found:?}, {errors:?}");
        }
    }

    #[test]
    fn only_the_first_are_kept() {
        let found = find(&"=\n".repeat(100_000), 200_000, 10);
        assert_eq!(found.len(), 10);
        assert_eq!(found[0].offset, 0);
        let deep = format!("a = {}", "[".repeat(100_000));
        assert!(!find(&deep, 0, 10).is_empty());
    }
}
