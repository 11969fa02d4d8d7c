//! How much there is in a document in XML, counted before it is read: a tree takes some hundred
//! bytes for each element and attribute, time for each pair of attributes of an element, and room
//! for each namespace in each element that declares one.

use placewright_document::Bound;

/// Attributes of one element, at most. Engines write three.
const MOST_ATTRIBUTES: usize = 100;

/// Namespaces that a document declares, at most. Engines declare none.
const MOST_NAMESPACES: usize = 100;

/// What a document has too much of, and where the first of it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMuch {
    /// Offset in bytes.
    pub(super) at: usize,
    pub(super) sentence: String,
}

/// Check that there is not too much in a document. What is no XML may be passed over: reading ends
/// where it begins.
pub(super) fn check(text: &str) -> Result<(), TooMuch> {
    let mut bound = Bound::of_xml(text.len());
    let mut namespaces = 0;
    let mut at = 0;
    while let Some(found) = rest(text, at).find('<') {
        at += found;
        let markup = rest(text, at);
        let ends = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        let known = ends.iter().find(|(begin, _)| markup.starts_with(begin));
        let length = match known {
            Some((begin, end)) => through(markup, begin.len(), end),
            None if markup.starts_with("</") => through(markup, 2, ">"),
            // A document type is not read, nor what comes after it.
            None if markup.starts_with("<!") => return Ok(()),
            None => {
                let tag = Tag::of(markup);
                let sentence = match tag {
                    _ if tag.attributes > MOST_ATTRIBUTES => Some(format!(
                        "an element has at most {MOST_ATTRIBUTES} attributes"
                    )),
                    _ if namespaces + tag.namespaces > MOST_NAMESPACES => Some(format!(
                        "a document declares at most {MOST_NAMESPACES} namespaces"
                    )),
                    _ => (0..tag.attributes)
                        .any(|_| !bound.take())
                        .then(|| bound.sentence()),
                };
                if let Some(sentence) = sentence {
                    return Err(TooMuch { at, sentence });
                }
                namespaces += tag.namespaces;
                tag.length
            }
        };
        if !markup.starts_with("</") && !bound.take() {
            let sentence = bound.sentence();
            return Err(TooMuch { at, sentence });
        }
        at += length;
    }
    Ok(())
}

/// A tag that begins an element.
struct Tag {
    length: usize,
    attributes: usize,
    /// Those of the attributes that declare one.
    namespaces: usize,
}

impl Tag {
    /// The tag that a text begins with. Only in the values of attributes may there be a `>`.
    fn of(text: &str) -> Self {
        let mut tag = Self {
            length: 0,
            attributes: 0,
            namespaces: 0,
        };
        while let Some(found) = rest(text, tag.length).find(['>', '"', '\'']) {
            let at = tag.length + found;
            let quote = match text.as_bytes().get(at) {
                Some(b'"') => "\"",
                Some(b'\'') => "'",
                _ => {
                    tag.length = at + 1;
                    return tag;
                }
            };
            let before = text.get(tag.length..at).unwrap_or_default();
            tag.attributes += 1;
            tag.namespaces += usize::from(before.contains("xmlns"));
            tag.length = at + through(rest(text, at), 1, quote);
        }
        tag.length = text.len();
        tag
    }
}

/// What comes from that offset on.
fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// How long a piece of markup is that a text begins with: so many bytes and what comes up to the
/// first `end` behind them; all of the text if there is none.
fn through(text: &str, begin: usize, end: &str) -> usize {
    let found = rest(text, begin).find(end);
    found.map_or(text.len(), |found| begin + found + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(text: &str) -> String {
        check(text).unwrap_err().sentence
    }

    #[test]
    fn elements_attributes_and_comments_are_values_and_what_stands_in_them_is_not() {
        let with = |piece: &str, count| format!("<a>{}</a>", piece.repeat(count));
        for piece in ["<a/>", "<a b=''/>", "<!---->", "<?p?>", "<![CDATA[]]>"] {
            assert!(check(&with(piece, 4_900)).is_ok(), "{piece}");
        }
        for piece in ["<a/>", "<a b=''/>"] {
            let told = sentence(&with(piece, 100_000));
            assert!(told.contains("this one holds more"), "{piece}: {told}");
        }
        // Engines write values that take more room, and may write as many as they like of them.
        assert!(check(&with("<name>web1</name>\n  ", 100_000)).is_ok());
        let inside = "<a/>".repeat(100_000);
        for text in [
            format!("<a><!--{inside}--></a>"),
            format!("<a><![CDATA[{inside}]]></a>"),
            format!("<?p {inside}?><a/>"),
            format!("<a b=\"{inside}\" c='{inside}'/>"),
            // No end of a comment stands in its beginning.
            format!("<a><!-->{inside}--></a>"),
        ] {
            assert_eq!(check(&text), Ok(()), "{}", &text[..12]);
        }
    }

    #[test]
    fn attributes_of_one_element_are_bounded() {
        let with = |count: usize| {
            let attributes: String = (0..count).map(|it| format!(" b{it} = '>'")).collect();
            format!("<a><b{attributes}/></a>")
        };
        assert_eq!(check(&with(MOST_ATTRIBUTES)), Ok(()));
        let told = check(&with(MOST_ATTRIBUTES + 1)).unwrap_err();
        assert_eq!(told.at, 3);
        assert!(told.sentence.contains("attributes"), "{}", told.sentence);
    }

    #[test]
    fn namespaces_of_a_document_are_bounded() {
        let with = |count: usize| {
            let begin: String = (0..count)
                .map(|it| format!("<a xmlns:n{it}='u'>"))
                .collect();
            begin + &"</a>".repeat(count)
        };
        assert_eq!(check(&with(MOST_NAMESPACES)), Ok(()));
        assert!(sentence(&with(MOST_NAMESPACES + 1)).contains("namespaces"));
    }

    #[test]
    fn what_is_cut_off_is_gone_through_to_its_end() {
        for text in [
            "<",
            "<a",
            "<a b",
            "<a b='",
            "<!--",
            "<![CDATA[",
            "<?",
            "</",
            "<!",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }
}
