//! What is sent: files as they are, and values from the command line.

use std::fs;
use std::path::Path;

use placewright_client::{Call, ClientError, Content};
use serde_json::{Map, Value, json};

use super::{Session, fault};
use crate::cli::failure::Failure;
use crate::cli::units;

/// A document in a file; of another ending than .toml, JSON.
pub(super) fn of_file(file: &Path) -> Result<Content, Failure> {
    // What is no regular file, such as a pipe, is written while it is read.
    let text = match file.is_file() {
        true => units::read(file)?,
        false => fs::read_to_string(file).map_err(|error| {
            let error = anyhow::Error::new(error);
            Failure::input(error.context(format!("cannot read {}", file.display())))
        })?,
    };
    Ok(
        match file.extension().is_some_and(|ending| ending == "toml") {
            true => Content::Toml(text),
            false => Content::Json(text),
        },
    )
}

/// A VM by its id or in a document: a word that is a file, or a pipe, is a document. An id must be
/// that of a VM which the cluster knows: the server would take any other for a new VM.
pub(super) fn of_vm(session: &Session, cluster: &str, word: &str) -> Result<Content, Failure> {
    let path = Path::new(word);
    // Ids may be the names of folders: "." and ".." always are.
    let is_folder = path.is_dir();
    if path.exists() && !is_folder {
        return of_file(path);
    }
    let known = Call::get(["clusters", cluster, "vms", word]).repeatable();
    match session.client.call(known) {
        Ok(_) => Ok(Content::Json(json!({"id": word}).to_string())),
        Err(ClientError::Refused(refusal)) if refusal.status == 404 && is_folder => {
            let sentence = format!("{word} is a folder: give a file, or the id of a VM");
            Err(Failure::input_because(sentence))
        }
        Err(ClientError::Refused(refusal)) if refusal.status == 404 => {
            Err(Failure::input_because(format!(
                "\"{word}\" is neither a file nor the id of a VM that is known: {}",
                refusal.detail
            )))
        }
        Err(error) => Err(fault(error)),
    }
}

/// The same request for VMs that may run already: they are placed again.
pub(super) fn again(content: Content) -> Content {
    match &content {
        Content::Json(text) => match serde_json::from_str(text) {
            Ok(Value::Object(mut request)) => {
                request.insert("again".to_owned(), true.into());
                Content::Json(Value::from(request).to_string())
            }
            // The server says what is wrong with it.
            _ => content,
        },
        Content::Toml(text) => match text.parse::<toml::Table>() {
            Ok(mut request) => {
                request.insert("again".to_owned(), true.into());
                Content::Toml(request.to_string())
            }
            Err(_) => content,
        },
        Content::Component(_) => content,
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
