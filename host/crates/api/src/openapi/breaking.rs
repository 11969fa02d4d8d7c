//! What of a new contract would break clients of an old one.
//!
//! A client may send whatever the old contract allowed, and gets nothing that the old one did
//! not say; but it passes over keys and words of an answer that it does not know.

mod schemas;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use schemas::Comparison;

/// What would break a client, a sentence each.
pub(super) fn breaking(old: &Json, new: &Json) -> Vec<String> {
    let mut found = Vec::new();
    let known = |document: &Json| -> BTreeSet<String> {
        let schemas = document["components"]["schemas"].as_object();
        schemas.into_iter().flat_map(Map::keys).cloned().collect()
    };
    let gone = known(old)
        .difference(&known(new))
        .cloned()
        .collect::<Vec<_>>();
    found.extend(
        gone.iter()
            .map(|name| format!("the schema {name} is gone: types of clients have its name")),
    );
    for (path, item) in entries(&old["paths"]) {
        for (method, operation) in entries(item) {
            let place = format!("{} {path}", method.to_uppercase());
            match new["paths"][path].get(method) {
                None => found.push(format!("{place} is gone")),
                Some(now) => {
                    let mut comparison = Operation {
                        place,
                        documents: (old, new),
                        found: &mut found,
                    };
                    comparison.compare(operation, now);
                }
            }
        }
    }
    found
}

/// An operation, before and after.
struct Operation<'a> {
    place: String,
    documents: (&'a Json, &'a Json),
    found: &'a mut Vec<String>,
}

impl Operation<'_> {
    fn compare(&mut self, old: &Json, new: &Json) {
        if old["operationId"] != new["operationId"] {
            self.tell(format!(
                "is called {} and not {} any more",
                new["operationId"], old["operationId"]
            ));
        }
        self.parameters(list(&old["parameters"]), list(&new["parameters"]));
        self.body(&old["requestBody"], &new["requestBody"]);
        for (status, answer) in entries(&old["responses"]) {
            match new["responses"].get(status) {
                None => self.tell(format!("does not answer with {status} any more")),
                Some(now) => {
                    let place = format!("answer {status}");
                    self.contents(&place, &answer["content"], &now["content"], true);
                }
            }
        }
    }

    fn tell(&mut self, what: String) {
        self.found.push(format!("{} {what}", self.place));
    }

    fn parameters(&mut self, old: &[Json], new: &[Json]) {
        let named = |all: &[Json], it: &Json| {
            let same = |other: &&Json| (&other["in"], &other["name"]) == (&it["in"], &it["name"]);
            all.iter().find(same).cloned()
        };
        for parameter in old {
            let place = format!("parameter {}", parameter["name"]);
            match named(new, parameter) {
                None => self.tell(format!("has no {place} any more")),
                Some(now) => self.schema(&place, &parameter["schema"], &now["schema"], false),
            }
        }
        for parameter in new.iter().filter(|it| it["required"] == true) {
            let before = named(old, parameter);
            if before.is_none_or(|before| before["required"] != true) {
                self.tell(format!("needs the parameter {}", parameter["name"]));
            }
        }
    }

    fn body(&mut self, old: &Json, new: &Json) {
        if new["required"] == true && old["required"] != true {
            self.tell("needs a body".to_owned());
        }
        if !old.is_null() {
            self.contents("body", &old["content"], &new["content"], false);
        }
    }

    fn contents(&mut self, place: &str, old: &Json, new: &Json, is_answer: bool) {
        for (kind, content) in entries(old) {
            match new.get(kind) {
                None => self.tell(format!("has no {place} in {kind} any more")),
                Some(now) => self.schema(place, &content["schema"], &now["schema"], is_answer),
            }
        }
    }

    fn schema(&mut self, place: &str, old: &Json, new: &Json, is_answer: bool) {
        let mut comparison = Comparison::new(self.documents, is_answer);
        comparison.compare(place, old, new);
        let found = comparison.found;
        found
            .into_iter()
            .for_each(|it| self.tell(format!(": {it}")));
    }
}

fn entries(value: &Json) -> impl Iterator<Item = (&String, &Json)> {
    value.as_object().into_iter().flatten()
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The contract without what is for people.
pub(super) fn skeleton(document: &Json) -> Json {
    match document {
        Json::Object(object) => {
            let kept = object.iter().filter(|(key, value)| {
                let is_for_people = matches!(key.as_str(), "description" | "summary" | "example");
                let is_text = value.is_string() || key.as_str() == "example";
                let is_examples = key.as_str() == "examples" && value.is_array();
                !(is_for_people && is_text || is_examples)
            });
            let kept = kept.map(|(key, value)| (key.clone(), skeleton(value)));
            Json::Object(kept.collect())
        }
        Json::Array(list) => list.iter().map(skeleton).collect(),
        other => other.clone(),
    }
}
