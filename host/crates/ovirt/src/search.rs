//! Searches as oVirt's clients send them: `name=web* and status=up sortby name desc page 2`.

use super::call::Call;
use super::fault::Fault;

/// Elements of a page.
const PAGE: usize = 100;

/// How values under a key are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Text,
    Number,
}

/// What is looked for.
#[derive(Debug, PartialEq)]
pub(crate) struct Search {
    /// One of these must hold; in each, all terms.
    any: Vec<Vec<Term>>,
    sort: Option<(String, Field, bool)>,
    /// From 1.
    page: Option<usize>,
    case_sensitive: bool,
}

#[derive(Debug, PartialEq)]
struct Term {
    key: String,
    field: Field,
    comparison: Comparison,
    value: String,
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
        let mut search = Self::parse(call.query("search").unwrap_or_default(), field)
            .map_err(|why| Fault::refused(format!("the search is not understood: {why}")))?;
        search.case_sensitive = case_sensitive;
        Ok(search)
    }

    fn parse(text: &str, field: impl Fn(&str) -> Option<Field>) -> Result<Self, String> {
        let tokens = tokens(text)?;
        let mut tokens = tokens.into_iter().peekable();
        let mut search = Self {
            any: Vec::new(),
            sort: None,
            page: None,
            case_sensitive: true,
        };
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
                    if field == Field::Number && value.parse::<f64>().is_err() {
                        return Err(format!("a number must stand after \"{key}\""));
                    }
                    all.push(Term {
                        key,
                        field,
                        comparison,
                        value,
                    });
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

    /// What is found; `value` gives what something has under a key.
    pub(crate) fn of<T>(&self, all: Vec<T>, value: impl Fn(&T, &str) -> Option<String>) -> Vec<T> {
        let has =
            |it: &T, term: &Term| term.holds(value(it, &term.key).as_deref(), self.case_sensitive);
        let is_found = |it: &T| {
            self.any.is_empty()
                || self
                    .any
                    .iter()
                    .any(|terms| terms.iter().all(|term| has(it, term)))
        };
        let mut found: Vec<T> = all.into_iter().filter(is_found).collect();
        if let Some((key, field, descends)) = &self.sort {
            found.sort_by(|one, other| {
                let (one, other) = (value(one, key), value(other, key));
                let order = match field {
                    Field::Text => one.cmp(&other),
                    Field::Number => {
                        let number = |it: Option<String>| {
                            it.and_then(|it| it.parse::<f64>().ok()).unwrap_or_default()
                        };
                        number(one).total_cmp(&number(other))
                    }
                };
                if *descends { order.reverse() } else { order }
            });
        }
        match self.page {
            None => found,
            Some(page) => {
                let before = page.saturating_sub(1).saturating_mul(PAGE);
                found.into_iter().skip(before).take(PAGE).collect()
            }
        }
    }
}

impl Term {
    fn holds(&self, value: Option<&str>, case_sensitive: bool) -> bool {
        let value = value.unwrap_or_default();
        if self.field == Field::Number {
            let number = |text: &str| text.parse::<f64>().unwrap_or_default();
            let (is, wanted) = (number(value), number(&self.value));
            return match self.comparison {
                Comparison::Is => is == wanted,
                Comparison::IsNot => is != wanted,
                Comparison::Less => is < wanted,
                Comparison::LessOrIs => is <= wanted,
                Comparison::Greater => is > wanted,
                Comparison::GreaterOrIs => is >= wanted,
            };
        }
        let fits = match case_sensitive {
            true => fits(&self.value, value),
            false => fits(&self.value.to_lowercase(), &value.to_lowercase()),
        };
        fits == (self.comparison == Comparison::Is)
    }
}

/// Whether a text is as a pattern in which `*` stands for any text says.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(place) = rest.find(part) else {
            return false;
        };
        rest = rest.get(place + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
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
        let search = Search::parse(search, field).unwrap();
        let found = search.of(all, |it, key| {
            Some(match key {
                "name" => it.0.to_owned(),
                "status" => it.1.to_owned(),
                _ => it.2.to_string(),
            })
        });
        found.into_iter().map(|it| it.0).collect()
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
            assert!(Search::parse(search, field).is_err(), "{search}");
        }
    }

    #[test]
    fn a_pattern_may_have_several_stars() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
            ("a*a", "a", false),
            ("**", "x", true),
            ("a", "ab", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
