//! Schemas of what is sent and of what is answered, before and after.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{entries, list};

/// How deep alternatives within alternatives are followed.
const MOST_NESTED: usize = 4;

const PREFIX: &str = "#/components/schemas/";

/// Compares the schemas of two documents.
pub(super) struct Comparison<'a> {
    documents: (&'a Json, &'a Json),
    /// Whether the server sends what is described, and the client reads it.
    is_answer: bool,
    /// Pairs of names that are or were compared.
    seen: BTreeSet<(String, String)>,
    /// What would break a client.
    pub(super) found: Vec<String>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(documents: (&'a Json, &'a Json), is_answer: bool) -> Self {
        Self {
            documents,
            is_answer,
            seen: BTreeSet::new(),
            found: Vec::new(),
        }
    }

    /// Compare the schemas of what stands at `place`.
    pub(super) fn compare(&mut self, place: &str, old: &Json, new: &Json) {
        let (old_name, old) = resolved(old, self.documents.0);
        let (new_name, new) = resolved(new, self.documents.1);
        if let (Some(old), Some(new)) = (old_name, new_name)
            && !self.seen.insert((old.to_owned(), new.to_owned()))
        {
            return;
        }
        let (before, after) = self.documents;
        let (alternatives, now) = (
            alternatives(old, before, MOST_NESTED),
            self::alternatives(new, after, MOST_NESTED),
        );
        if alternatives.len() > 1 || now.len() > 1 {
            return self.compare_alternatives(place, &alternatives, &now);
        }
        self.kinds(place, old, new);
        self.words(place, old, new);
        self.bounds(place, old, new);
        self.properties(place, old, new);
        if let (Some(items), Some(now)) = (old.get("items"), new.get("items")) {
            self.compare(&format!("{place}[]"), items, now);
        }
        let is_object = |it: &&Json| it.is_object();
        let others = (
            old.get("additionalProperties").filter(is_object),
            new.get("additionalProperties").filter(is_object),
        );
        if let (Some(others), Some(now)) = others {
            self.compare(&format!("{place}.*"), others, now);
        }
    }

    /// Each alternative of what is sent must be one still; each of what is answered must have
    /// been one.
    fn compare_alternatives(&mut self, place: &str, old: &[&Json], new: &[&Json]) {
        let (from, to) = match self.is_answer {
            true => (new, old),
            false => (old, new),
        };
        let from = from.iter().flat_map(|one| by_kind(one));
        for one in from {
            let one = &*one;
            let fits = to.iter().any(|other| {
                let other: &Json = other;
                let (old, new) = match self.is_answer {
                    true => (other, one),
                    false => (one, other),
                };
                let mut comparison = Comparison {
                    seen: self.seen.clone(),
                    found: Vec::new(),
                    ..*self
                };
                comparison.compare(place, old, new);
                comparison.found.is_empty()
            });
            if !fits {
                let name = one["$ref"]
                    .as_str()
                    .map_or_else(|| one.to_string(), str::to_owned);
                self.found.push(match self.is_answer {
                    true => format!("{place} may be something new: {name}"),
                    false => format!("{place} may not be this any more: {name}"),
                });
            }
        }
    }

    fn kinds(&mut self, place: &str, old: &Json, new: &Json) {
        let (old, new) = (kinds(old), kinds(new));
        let (from, to) = match self.is_answer {
            true => (new, old),
            false => (old, new),
        };
        // No type is any type.
        if to.is_empty() || from.is_empty() && self.is_answer && to.is_empty() {
            return;
        }
        let is_allowed =
            |kind: &String| to.contains(kind) || kind == "integer" && to.contains("number");
        let is_narrower = from.is_empty() || !from.iter().all(is_allowed);
        if is_narrower {
            let words = |kinds: &BTreeSet<String>| match kinds.is_empty() {
                true => "anything".to_owned(),
                false => kinds.iter().cloned().collect::<Vec<_>>().join(" or "),
            };
            self.found.push(match self.is_answer {
                true => format!("{place} is {}, and was {}", words(&from), words(&to)),
                false => format!(
                    "{place} must be {}, and could be {}",
                    words(&to),
                    words(&from)
                ),
            });
        }
    }

    /// Words that could be sent.
    fn words(&mut self, place: &str, old: &Json, new: &Json) {
        let words = |schema: &Json| match schema.get("const") {
            Some(only) => Some(vec![only.clone()]),
            None => schema.get("enum").map(|it| list(it).to_vec()),
        };
        let (old, new) = (words(old), words(new));
        match (old, new) {
            (None, Some(new)) if !self.is_answer => {
                self.found.push(format!("{place} must be one of {new:?}"));
            }
            (Some(_), None) if self.is_answer => {
                self.found.push(format!("{place} may be any text"));
            }
            (Some(old), Some(new)) if !self.is_answer => {
                let gone = old.iter().filter(|it| !new.contains(it));
                self.found
                    .extend(gone.map(|word| format!("{place} may not be {word} any more")));
            }
            _ => {}
        }
    }

    /// Bounds of what is sent.
    fn bounds(&mut self, place: &str, old: &Json, new: &Json) {
        if self.is_answer {
            return;
        }
        for (bound, is_least) in [
            ("minimum", true),
            ("minLength", true),
            ("minItems", true),
            ("maximum", false),
            ("maxLength", false),
            ("maxItems", false),
        ] {
            let Some(now) = new[bound].as_f64() else {
                continue;
            };
            let is_tighter = old[bound].as_f64().is_none_or(|before| match is_least {
                true => now > before,
                false => now < before,
            });
            if is_tighter {
                self.found.push(format!("{place} has the {bound} {now}"));
            }
        }
    }

    fn properties(&mut self, place: &str, old: &Json, new: &Json) {
        let needed =
            |schema: &Json, name: &str| list(&schema["required"]).iter().any(|it| it == name);
        for (name, schema) in entries(&old["properties"]) {
            let place = format!("{place}.{name}");
            match new["properties"].get(name) {
                None => self.found.push(format!("{place} is gone")),
                Some(now) => {
                    if self.is_answer && needed(old, name) && !needed(new, name) {
                        self.found.push(format!("{place} may be missing"));
                    }
                    self.compare(&place, schema, now);
                }
            }
        }
        if self.is_answer {
            return;
        }
        for name in list(&new["required"]).iter().filter_map(Json::as_str) {
            if !needed(old, name) {
                self.found.push(format!("{place} needs {name}"));
            }
        }
        if new["additionalProperties"] == false
            && old["additionalProperties"] != false
            && old.get("properties").is_some()
        {
            self.found
                .push(format!("{place} takes no other keys any more"));
        }
    }
}

fn resolved<'s>(schema: &'s Json, document: &'s Json) -> (Option<&'s str>, &'s Json) {
    let name = schema["$ref"]
        .as_str()
        .and_then(|it| it.strip_prefix(PREFIX));
    match name.and_then(|name| Some((name, document["components"]["schemas"].get(name)?))) {
        Some((name, schema)) => (Some(name), resolved(schema, document).1),
        None => (None, schema),
    }
}

/// The alternatives of a schema. One that has alternatives of its own is replaced by these, down to
/// [`MOST_NESTED`] levels.
fn alternatives<'s>(schema: &'s Json, document: &'s Json, nested: usize) -> Vec<&'s Json> {
    let either = ["oneOf", "anyOf"].map(|key| list(&schema[key]));
    let either: Vec<&Json> = either.into_iter().flatten().collect();
    if either.is_empty() {
        return vec![schema];
    }
    let all = either.into_iter().flat_map(|one| {
        let below = match nested.checked_sub(1) {
            Some(nested) => alternatives(resolved(one, document).1, document, nested),
            None => Vec::new(),
        };
        // What has one alone keeps its name.
        if below.len() > 1 { below } else { vec![one] }
    });
    all.collect()
}

/// A schema of several types as one for each.
fn by_kind(schema: &Json) -> Vec<Cow<'_, Json>> {
    match schema["type"].as_array().map(Vec::as_slice) {
        Some(kinds) if kinds.len() > 1 => {
            let each = kinds.iter().map(|kind| {
                let mut one = schema.clone();
                one["type"] = kind.clone();
                Cow::Owned(one)
            });
            each.collect()
        }
        _ => vec![Cow::Borrowed(schema)],
    }
}

fn kinds(schema: &Json) -> BTreeSet<String> {
    match &schema["type"] {
        Json::String(kind) => BTreeSet::from([kind.clone()]),
        Json::Array(kinds) => kinds
            .iter()
            .filter_map(Json::as_str)
            .map(str::to_owned)
            .collect(),
        _ => BTreeSet::new(),
    }
}
