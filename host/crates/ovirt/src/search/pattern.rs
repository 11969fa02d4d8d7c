//! Patterns in which `*` stands for any text.

/// How often `*` may stand in a pattern: each is looked for in each value.
const MOST_STARS: usize = 16;

/// A pattern, taken apart once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// What stands before the first `*`.
    begin: String,
    /// What stands behind each of them.
    rest: Vec<String>,
}

impl Pattern {
    /// The pattern that a text is. Where case does not matter, values are to be given in small
    /// letters.
    ///
    /// # Errors
    /// If `*` stands in it too often.
    pub(super) fn read(text: &str, case_sensitive: bool) -> Result<Self, String> {
        let text = match case_sensitive {
            true => text.to_owned(),
            false => text.to_lowercase(),
        };
        let mut parts = text.split('*').map(str::to_owned);
        let begin = parts.next().unwrap_or_default();
        let rest: Vec<String> = parts.collect();
        match rest.len() <= MOST_STARS {
            true => Ok(Self { begin, rest }),
            false => Err(format!("* stands at most {MOST_STARS} times in a value")),
        }
    }

    /// Whether a text is as it says.
    pub(super) fn fits(&self, text: &str) -> bool {
        let Some(mut rest) = text.strip_prefix(self.begin.as_str()) else {
            return false;
        };
        let Some((last, parts)) = self.rest.split_last() else {
            return rest.is_empty();
        };
        for part in parts {
            let Some(place) = rest.find(part.as_str()) else {
                return false;
            };
            rest = rest.get(place + part.len()..).unwrap_or_default();
        }
        rest.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_may_have_several_stars() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
            ("a*a", "a", false),
            ("**", "x", true),
            ("a", "ab", false),
            ("", "", true),
        ] {
            let read = Pattern::read(pattern, true).unwrap();
            assert_eq!(read.fits(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn stars_are_bounded() {
        assert!(Pattern::read(&"*".repeat(MOST_STARS), true).is_ok());
        assert!(Pattern::read(&"*".repeat(MOST_STARS + 1), true).is_err());
    }
}
