//! What is sent: files as they are, and values from the command line.

use std::path::Path;

use placewright_client::Content;
use serde_json::{Map, Value, json};

use crate::cli::failure::Failure;
use crate::cli::units;

/// A document in a file; of another ending than .toml, JSON.
pub(super) fn of_file(file: &Path) -> Result<Content, Failure> {
    let text = units::read(file)?;
    Ok(
        match file.extension().is_some_and(|ending| ending == "toml") {
            true => Content::Toml(text),
            false => Content::Json(text),
        },
    )
}

/// A VM by its id or in a document: a word that is a file is a document.
pub(super) fn of_vm(word: &str) -> Result<Content, Failure> {
    let path = Path::new(word);
    match path.is_file() {
        true => of_file(path),
        false => Ok(Content::Json(json!({"id": word}).to_string())),
    }
}

/// An object of `KEY=VALUE`s: a value that reads as JSON is it, any other is a text.
pub(super) fn of_words(words: &[String]) -> Result<Value, Failure> {
    let mut object = Map::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            return Err(Failure::input_because(format!(
                "\"{word}\" sets nothing: write KEY=VALUE"
            )));
        };
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        if object.insert(key.to_owned(), value).is_some() {
            return Err(Failure::input_because(format!("\"{key}\" is set twice")));
        }
    }
    Ok(object.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_command_line_are_json_or_texts() {
        let words = [
            "state=maintenance",
            "memory=8 GiB",
            "cpu=4",
            "name=\"4\"",
            "zone=null",
        ];
        let words = words.map(str::to_owned);
        assert_eq!(
            of_words(&words).unwrap(),
            json!({"state": "maintenance", "memory": "8 GiB", "cpu": 4, "name": "4", "zone": null})
        );
        assert!(of_words(&["state".to_owned()]).is_err());
        assert!(of_words(&["a=1".to_owned(), "a=2".to_owned()]).is_err());
    }
}
