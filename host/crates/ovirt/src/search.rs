//! Searches as oVirt's clients send them: `name=web* and status=up sortby name desc page 2`.

mod pattern;

use std::cell::OnceCell;
use std::cmp::Ordering;

use super::call::Call;
use super::fault::Fault;
use pattern::Pattern;
use placewright_http::gone::Cancel;

/// Elements of a page.
const PAGE: usize = 100;

/// Terms of a search, at most: each may be looked at for each of what there is.
const MOST_TERMS: usize = 100;

/// How values under a key are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Text,
    Number,
}

/// What is looked for.
#[derive(Debug, PartialEq)]
pub(crate) struct Search {
    /// The keys that terms are about, once each.
    keys: Vec<String>,
    /// One of these must hold; in each, all terms.
    any: Vec<Vec<Term>>,
    sort: Option<(String, Field, bool)>,
    /// From 1.
    page: Option<usize>,
    case_sensitive: bool,
    /// When it ends early.
    cancel: Cancel,
}

/// What must hold of the value under a key.
#[derive(Debug, PartialEq)]
struct Term {
    /// The place of the key among those of the search.
    key: usize,
    test: Test,
}

#[derive(Debug, PartialEq)]
enum Test {
    Number(Comparison, f64),
    /// It is as the pattern says, or it is not.
    Text(Pattern, bool),
}

/// By what something is sorted.
#[derive(Debug)]
enum Rank {
    Text(Option<String>),
    Number(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Is,
    IsNot,
    Less,
    LessOrIs,
    Greater,
    GreaterOrIs,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A word, and whether it stood in quotes.
    Word(String, bool),
    Comparison(Comparison),
}

impl Search {
    /// The search of a request; `field` tells which keys there are.
    ///
    /// # Errors
    /// If it cannot be read: never is something else looked for.
    pub(crate) fn read(call: &Call, field: impl Fn(&str) -> Option<Field>) -> Result<Self, Fault> {
        let case_sensitive = match call.query("case_sensitive") {
            None => true,
            Some(given) if given.eq_ignore_ascii_case("true") => true,
            Some(given) if given.eq_ignore_ascii_case("false") => false,
            Some(_) => return Err(Fault::syntax("\"case_sensitive\" must be true or false")),
        };
        let text = call.query("search").unwrap_or_default();
        let search = Self::parse(text, case_sensitive, field)
            .map_err(|why| Fault::refused(format!("the search is not understood: {why}")))?;
        Ok(Self {
            cancel: call.cancel.clone(),
            ..search
        })
    }

    fn parse(
        text: &str,
        case_sensitive: bool,
        field: impl Fn(&str) -> Option<Field>,
    ) -> Result<Self, String> {
        let tokens = tokens(text)?;
        let mut tokens = tokens.into_iter().peekable();
        let mut search = Self {
            keys: Vec::new(),
            any: Vec::new(),
            sort: None,
            page: None,
            case_sensitive,
            cancel: Cancel::default(),
        };
        let mut terms = 0;
        let known = |key: &str| {
            // Keys of what is listed may be preceded by what it is: "Hosts.name".
            let key = key
                .rsplit('.')
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase();
            match field(&key) {
                Some(field) => Ok((key, field)),
                None => Err(format!(
                    "there is no key \"{}\"",
                    placewright_document::shown(&key)
                )),
            }
        };
        let mut all = Vec::new();
        let mut is_open = false;
        while let Some(token) = tokens.next() {
            let (word, quoted) = match token {
                Token::Word(word, quoted) => (word, quoted),
                Token::Comparison(_) => return Err("a key must stand before it".to_owned()),
            };
            let lower = word.to_ascii_lowercase();
            let is_term = matches!(tokens.peek(), Some(Token::Comparison(_)));
            match lower.as_str() {
                "and" | "or" if !quoted && !is_term => {
                    if all.is_empty() || is_open {
                        return Err(format!("\"{lower}\" stands between two terms"));
                    }
                    if lower == "or" {
                        search.any.push(std::mem::take(&mut all));
                    }
                    is_open = true;
                }
                "sortby" if !quoted && !is_term && !is_open => {
                    let Some(Token::Word(key, _)) = tokens.next() else {
                        return Err("a key must stand after \"sortby\"".to_owned());
                    };
                    let (key, field) = known(&key)?;
                    let direction = match tokens.peek() {
                        Some(Token::Word(word, false)) => word.to_ascii_lowercase(),
                        _ => String::new(),
                    };
                    let descends = direction == "desc";
                    if descends || direction == "asc" {
                        tokens.next();
                    }
                    search.sort = Some((key, field, descends));
                }
                "page" if !quoted && !is_term && !is_open => {
                    let number = match tokens.next() {
                        Some(Token::Word(number, _)) => number.parse().ok(),
                        _ => None,
                    };
                    let page = number.filter(|page| *page > 0);
                    search.page = Some(page.ok_or("a number from 1 must stand after \"page\"")?);
                }
                _ if !is_term => {
                    return Err(format!(
                        "\"{}\" is no term; write for example name=web*",
                        placewright_document::shown(&word)
                    ));
                }
                _ if search.sort.is_some() || search.page.is_some() => {
                    return Err("terms stand before \"sortby\" and \"page\"".to_owned());
                }
                _ => {
                    let (key, field) = known(&word)?;
                    let comparison = match tokens.next() {
                        Some(Token::Comparison(comparison)) => comparison,
                        _ => Comparison::Is,
                    };
                    let Some(Token::Word(value, _)) = tokens.next() else {
                        return Err(format!("a value is missing after \"{key}\""));
                    };
                    let is_equality = matches!(comparison, Comparison::Is | Comparison::IsNot);
                    if field == Field::Text && !is_equality {
                        return Err(format!("\"{key}\" is compared by = or !="));
                    }
                    terms += 1;
                    if terms > MOST_TERMS {
                        return Err(format!("there are at most {MOST_TERMS} terms in one"));
                    }
                    let test = match field {
                        Field::Number => {
                            let number = value.parse().ok();
                            let missing = || format!("a number must stand after \"{key}\"");
                            Test::Number(comparison, number.ok_or_else(missing)?)
                        }
                        Field::Text => {
                            let pattern = Pattern::read(&value, case_sensitive)?;
                            Test::Text(pattern, comparison == Comparison::Is)
                        }
                    };
                    let key = search.place(key);
                    all.push(Term { key, test });
                    is_open = false;
                }
            }
        }
        if is_open {
            return Err("a term is missing at its end".to_owned());
        }
        if !all.is_empty() {
            search.any.push(all);
        }
        Ok(search)
    }

    /// The place of a key among those of the search.
    fn place(&mut self, key: String) -> usize {
        let known = self.keys.iter().position(|known| *known == key);
        known.unwrap_or_else(|| {
            self.keys.push(key);
            self.keys.len() - 1
        })
    }

    /// What is found; `value` gives what something has under a key.
    ///
    /// # Errors
    /// If nobody waits for it any more.
    pub(crate) fn of<T>(
        &self,
        all: Vec<T>,
        value: impl Fn(&T, &str) -> Option<String>,
    ) -> Result<Vec<T>, Fault> {
        let mut found = Vec::new();
        for it in all {
            self.cancel.check()?;
            if self.finds(|key| value(&it, key)) {
                found.push(it);
            }
        }
        if let Some((key, field, descends)) = &self.sort {
            let mut ranked = Vec::with_capacity(found.len());
            for it in found {
                self.cancel.check()?;
                ranked.push((Rank::of(*field, value(&it, key)), it));
            }
            ranked.sort_by(|(one, _), (other, _)| match descends {
                true => one.cmp(other).reverse(),
                false => one.cmp(other),
            });
            found = ranked.into_iter().map(|(_, it)| it).collect();
        }
        Ok(match self.page {
            None => found,
            Some(page) => {
                let before = page.saturating_sub(1).saturating_mul(PAGE);
                found.into_iter().skip(before).take(PAGE).collect()
            }
        })
    }

    /// Whether something with these values is found. Each value is made once at most.
    fn finds(&self, value: impl Fn(&str) -> Option<String>) -> bool {
        let values: Vec<OnceCell<String>> = self.keys.iter().map(|_| OnceCell::new()).collect();
        let has = |term: &Term| {
            let (Some(key), Some(known)) = (self.keys.get(term.key), values.get(term.key)) else {
                return false;
            };
            let value = known.get_or_init(|| {
                let value = value(key).unwrap_or_default();
                match self.case_sensitive {
                    true => value,
                    false => value.to_lowercase(),
                }
            });
            term.test.holds(value)
        };
        self.any.is_empty() || self.any.iter().any(|terms| terms.iter().all(has))
    }
}

impl Test {
    fn holds(&self, value: &str) -> bool {
        match self {
            Self::Text(pattern, expected) => pattern.fits(value) == *expected,
            Self::Number(comparison, wanted) => {
                let is = value.parse::<f64>().unwrap_or_default();
                match comparison {
                    Comparison::Is => is == *wanted,
                    Comparison::IsNot => is != *wanted,
                    Comparison::Less => is < *wanted,
                    Comparison::LessOrIs => is <= *wanted,
                    Comparison::Greater => is > *wanted,
                    Comparison::GreaterOrIs => is >= *wanted,
                }
            }
        }
    }
}

impl Rank {
    fn of(field: Field, value: Option<String>) -> Self {
        match field {
            Field::Text => Self::Text(value),
            Field::Number => {
                let number = value.and_then(|it| it.parse().ok());
                Self::Number(number.unwrap_or_default())
            }
        }
    }

    /// All that is sorted has ranks of one kind.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Number(one), Self::Number(other)) => one.total_cmp(other),
            _ => Ordering::Equal,
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(first) = characters.next() {
        let follows = |characters: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            characters.next_if_eq(&'=').is_some()
        };
        match first {
            _ if first.is_whitespace() => {}
            '=' => tokens.push(Token::Comparison(Comparison::Is)),
            '!' if follows(&mut characters) => tokens.push(Token::Comparison(Comparison::IsNot)),
            '<' => tokens.push(Token::Comparison(match follows(&mut characters) {
                true => Comparison::LessOrIs,
                false => Comparison::Less,
            })),
            '>' => tokens.push(Token::Comparison(match follows(&mut characters) {
                true => Comparison::GreaterOrIs,
                false => Comparison::Greater,
            })),
            '"' => {
                let mut word = String::new();
                loop {
                    match characters.next() {
                        Some('"') => break,
                        Some(character) => word.push(character),
                        None => return Err("a quotation mark is missing at its end".to_owned()),
                    }
                }
                tokens.push(Token::Word(word, true));
            }
            '!' | '(' | ')' | ';' | '\'' => {
                return Err(format!("\"{first}\" has no meaning here"));
            }
            _ => {
                let mut word = String::from(first);
                let goes_on = |c: &char| !c.is_whitespace() && !"=!<>\"()".contains(*c);
                while let Some(character) = characters.next_if(goes_on) {
                    word.push(character);
                }
                tokens.push(Token::Word(word, false));
            }
        }
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use placewright_http::gone::Gone;

    use super::*;

    fn field(key: &str) -> Option<Field> {
        match key {
            "name" | "status" | "cluster" => Some(Field::Text),
            "vms" => Some(Field::Number),
            _ => None,
        }
    }

    fn found(search: &str) -> Vec<&'static str> {
        let all = vec![
            ("web1", "up", 3),
            ("web2", "down", 0),
            ("db one", "up", 12),
            ("Web3", "maintenance", 1),
        ];
        let search = Search::parse(search, true, field).unwrap();
        let found = search.of(all, |it, key| {
            Some(match key {
                "name" => it.0.to_owned(),
                "status" => it.1.to_owned(),
                _ => it.2.to_string(),
            })
        });
        found.unwrap().into_iter().map(|it| it.0).collect()
    }

    #[test]
    fn searches_of_clients_are_understood() {
        for (search, expected) in [
            ("", vec!["web1", "web2", "db one", "Web3"]),
            ("name=web1", vec!["web1"]),
            ("name=\"db one\"", vec!["db one"]),
            ("name = web* and status = up", vec!["web1"]),
            // Terms side by side, with blanks between them.
            ("name=web*  status=down", vec!["web2"]),
            (
                "status=up or status=maintenance",
                vec!["web1", "db one", "Web3"],
            ),
            ("Hosts.status!=up", vec!["web2", "Web3"]),
            ("vms>=3 sortby vms desc", vec!["db one", "web1"]),
            (
                "sortby name asc page 1",
                vec!["Web3", "db one", "web1", "web2"],
            ),
            ("page 2", vec![]),
            ("name=*b*1", vec!["web1"]),
            ("name=and", vec![]),
        ] {
            assert_eq!(found(search), expected, "{search}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for search in [
            "colour=red",
            "web1",
            "name=",
            "=web1",
            "name=web1 and",
            "and name=web1",
            "name=web1 or or name=web2",
            "name=\"web1",
            "name>web1",
            "vms>many",
            "sortby",
            "sortby colour",
            "page 0",
            "page one",
            "(name=web1)",
            "page 1 name=web1",
            "!name=web1",
        ] {
            assert!(Search::parse(search, true, field).is_err(), "{search}");
        }
    }

    #[test]
    fn case_does_not_matter_where_the_search_says_so() {
        let search = Search::parse("name=wEB* and status!=UP", false, field).unwrap();
        let all = vec![("Web1", "up"), ("web2", "down"), ("db", "down")];
        let value =
            |it: &(&str, &str), key: &str| Some(if key == "name" { it.0 } else { it.1 }.to_owned());
        assert_eq!(search.of(all, value), Ok(vec![("web2", "down")]));
    }

    #[test]
    fn terms_and_stars_are_bounded() {
        let terms = |count| vec!["name=a"; count].join(" or ");
        assert!(Search::parse(&terms(MOST_TERMS), true, field).is_ok());
        let refused = Search::parse(&terms(MOST_TERMS + 1), true, field);
        assert!(refused.unwrap_err().contains("at most 100 terms"));
        let side_by_side = "vms=1 ".repeat(MOST_TERMS + 1);
        assert!(Search::parse(&side_by_side, true, field).is_err());
        let stars = format!("name=a and name={}", "a*".repeat(17));
        let refused = Search::parse(&stars, true, field);
        assert!(refused.unwrap_err().contains("at most 16 times"));
    }

    #[test]
    fn a_value_is_made_once_for_all_terms_about_it() {
        let search = Search::parse(&vec!["name=b*"; 50].join(" or "), false, field).unwrap();
        let made = std::cell::Cell::new(0);
        let value = |it: &&str, _: &str| {
            made.set(made.get() + 1);
            Some((*it).to_owned())
        };
        assert_eq!(search.of(vec!["a", "B", "c"], value), Ok(vec!["B"]));
        assert_eq!(made.get(), 3);
        // Nor is it made again and again to be sorted by.
        let search = Search::parse("sortby name desc", true, field).unwrap();
        let all: Vec<&str> = "the quick brown fox jumps".split(' ').collect();
        made.set(0);
        let sorted = search.of(all, value).unwrap();
        assert_eq!(sorted, ["the", "quick", "jumps", "fox", "brown"]);
        assert_eq!(made.get(), 5);
    }

    #[test]
    fn a_search_ends_when_nobody_waits_for_it() {
        for text in ["name=b*", "sortby name"] {
            let gone = Gone::default();
            let search = Search {
                cancel: gone.cancel(),
                ..Search::parse(text, true, field).unwrap()
            };
            assert!(search.of(vec!["a"; 10], |_, _| None).is_ok());
            let (looked, gone) = (std::cell::Cell::new(0), std::cell::Cell::new(Some(gone)));
            let ended = search.of(vec!["a"; 10], |_, _| {
                looked.set(looked.get() + 1);
                if looked.get() == 3 {
                    drop(gone.take());
                }
                None
            });
            assert!(ended.is_err(), "{text}");
            assert_eq!(looked.get(), 3, "{text}");
        }
    }
}
