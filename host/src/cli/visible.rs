//! Text that a terminal shows as it is: what would move the cursor, turn the direction of
//! writing, change the window's title or not be seen at all is written out instead.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal would do something else than show the character.
fn is_hidden(character: char) -> bool {
    placewright_model::is_hidden(character) && !matches!(character, '\n' | '\t')
}

/// The length of what is shown as it is although it has such a character, if the text begins with
/// it: the end of a line, and a sequence that only chooses colours and weights, as tables have.
fn harmless(text: &str) -> Option<usize> {
    if text.starts_with("\r\n") {
        return Some(2);
    }
    let rest = text.strip_prefix("\u{1b}[")?;
    let end = rest.find(|it: char| !matches!(it, '0'..='9' | ';'))?;
    rest[end..].starts_with('m').then_some(2 + end + 1)
}

/// The text with those characters as `\u{9b}`; colours stay.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    written(text, |out, character| {
        write!(out, "\\u{{{:x}}}", u32::from(character))
    })
}

/// JSON with those characters as `\u009b`, which is the same JSON.
pub(super) fn json(text: &str) -> Cow<'_, str> {
    written(text, |out, character| {
        let mut units = [0; 2];
        let units = character.encode_utf16(&mut units);
        units
            .iter()
            .try_for_each(|unit| write!(out, "\\u{unit:04x}"))
    })
}

fn written(text: &str, write: impl Fn(&mut String, char) -> std::fmt::Result) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let taken = match harmless(rest) {
            Some(length) => {
                out.push_str(&rest[..length]);
                length
            }
            None => {
                if is_hidden(character) {
                    // Writing into a text does not fail.
                    let _ = write(&mut out, character);
                } else {
                    out.push(character);
                }
                character.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_would_act_on_is_written_out_and_colours_stay() {
        for (given, shown) in [
            ("plain é 主机\n\tx", "plain é 主机\n\tx"),
            (
                "\u{1b}[1;31merror:\u{1b}[0m x",
                "\u{1b}[1;31merror:\u{1b}[0m x",
            ),
            ("a\u{1b}]0;title\u{7}b", "a\\u{1b}]0;title\\u{7}b"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("a\u{1b}[31", "a\\u{1b}[31"),
            ("a\r\nb", "a\r\nb"),
            ("a\u{9b}2Jb\u{202e}c\rd", "a\\u{9b}2Jb\\u{202e}c\\u{d}d"),
            ("a\u{200b}b\u{2028}c", "a\\u{200b}b\\u{2028}c"),
        ] {
            assert_eq!(text(given), shown, "{given:?}");
        }
    }

    #[test]
    fn json_stays_what_it_was() {
        let value = serde_json::json!({"id": "a\u{9b}\u{202e}\u{1b}\u{feff}\u{e0041}b"});
        let written = value.to_string();
        let shown = json(&written);
        assert!(!shown.contains(is_hidden));
        let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, value);
    }
}
