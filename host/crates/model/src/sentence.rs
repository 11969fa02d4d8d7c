//! Sentences of bounded length, made of what others have written.
//!
//! Units, files and documents are quoted in sentences that are kept, logged, sent and stored
//! several times over. Whoever writes a long one must not decide how much that takes.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Bytes of a sentence that are kept.
pub const LONGEST_SENTENCE: usize = 4096;

/// How many characters of a name or text are quoted where it is too long.
const EXCERPT: usize = 40;

/// Room for what is said of the part that is left out.
const REMAINDER: usize = 40;

/// The sentence, with an end that says how much is left out if it has more than
/// [`LONGEST_SENTENCE`] bytes.
pub fn cut(mut sentence: String) -> String {
    if sentence.len() <= LONGEST_SENTENCE {
        return sentence;
    }
    let bytes = sentence.len();
    let end = sentence.floor_char_boundary(LONGEST_SENTENCE - REMAINDER);
    sentence.truncate(end);
    sentence.shrink_to_fit();
    // Writing to a text does not fail.
    let _ = write!(sentence, "… and {} more bytes", bytes - end);
    sentence
}

/// A sentence in one line: control characters in it are escaped, so that what it quotes makes no
/// lines of its own where lines are read.
pub fn one_line(sentence: &str) -> Cow<'_, str> {
    if !sentence.contains(char::is_control) {
        return Cow::Borrowed(sentence);
    }
    let mut line = String::with_capacity(sentence.len() + 8);
    for character in sentence.chars() {
        match character.is_control() {
            true => line.extend(character.escape_debug()),
            false => line.push(character),
        }
    }
    Cow::Owned(line)
}

/// Whether a character turns the direction of writing.
pub fn turns(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Whether a character is not seen as itself where a text is shown: it moves the cursor, breaks the
/// line, turns the direction of writing, or takes no room, so that two names look alike (Unicode's
/// categories Cc, Cf, Zl and Zp).
pub fn is_hidden(character: char) -> bool {
    let is_format = matches!(
        character,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0001}' | '\u{e0020}'..='\u{e007f}'
    );
    is_format || character.is_control()
}

/// Whether a character is hidden and stands in texts as it is, where those below it are escaped or
/// are line breaks and colours of a terminal.
fn is_hidden_above_ascii(character: char) -> bool {
    character >= '\u{7f}' && is_hidden(character)
}

/// A text of several lines and colours in which all other hidden characters are escaped, so that it
/// is read as it stands.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |character, shown| {
        shown.extend(character.escape_unicode());
    })
}

/// A text in JSON in which hidden characters are escaped: whoever reads it as JSON reads the same.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    escaped(json, |character, shown| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a text does not fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

fn escaped(text: &str, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(is_hidden_above_ascii) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_hidden_above_ascii(character) {
            true => escape(character, &mut shown),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// The beginning of a text in one line, with control characters escaped, for a sentence that
/// quotes it.
pub fn excerpt(text: &str) -> String {
    let end = text.char_indices().nth(EXCERPT);
    match end {
        None => text.escape_debug().collect(),
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_is_cut_between_characters_and_says_how_much_is_left_out() {
        let sentence = "ä".repeat(100_000);
        let short = cut(sentence.clone());
        assert!(short.len() <= LONGEST_SENTENCE, "{}", short.len());
        let (kept, end) = short.split_once('…').unwrap();
        assert!(sentence.starts_with(kept));
        let more = sentence.len() - kept.len();
        assert_eq!(end, format!(" and {more} more bytes"));
    }

    #[test]
    fn a_sentence_of_the_greatest_length_stays_as_it_is() {
        let sentence = "a".repeat(LONGEST_SENTENCE);
        assert_eq!(cut(sentence.clone()), sentence);
    }

    #[test]
    fn what_a_sentence_quotes_makes_no_line_of_its_own() {
        assert_eq!(one_line("plain \\n \"é\""), "plain \\n \"é\"");
        assert_eq!(
            one_line("there is no table a\nERROR b\r\u{1b}[0m"),
            "there is no table a\\nERROR b\\r\\u{1b}[0m"
        );
    }

    #[test]
    fn hidden_characters_are_escaped_in_json_so_that_it_says_the_same() {
        let text = "z\u{fc}rich \u{202e}exe\u{2066}\u{200b}\u{2028}\u{9b}\u{e0041}\n";
        let json = serde_json::to_string(text).unwrap();
        let shown = visible_json(&json);
        assert_eq!(
            shown,
            r#""zürich \u202eexe\u2066\u200b\u2028\u009b\udb40\udc41\n""#
        );
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        assert!(matches!(visible_json("\"zürich\""), Cow::Borrowed(_)));
    }

    #[test]
    fn lines_and_colours_of_a_text_stay_and_what_else_is_hidden_is_seen() {
        assert_eq!(
            visible("\u{1b}[31mERROR\u{1b}[0m \u{202e}exe\n"),
            "\u{1b}[31mERROR\u{1b}[0m \\u{202e}exe\n"
        );
    }

    #[test]
    fn an_excerpt_is_one_line_of_few_characters() {
        assert_eq!(excerpt("a\nb\u{1}"), "a\\nb\\u{1}");
        assert_eq!(
            excerpt(&"é".repeat(1 << 20)),
            format!("{}…", "é".repeat(40))
        );
    }
}
