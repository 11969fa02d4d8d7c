//! What is in force, as a configuration file that gives the same.

use std::path::Path;
use std::time::Duration;

use placewright_document::form::Shape;
use placewright_model::{Measure, Value};
use placewright_records::audit::Destination;

use super::keys;
use super::openid;
use super::options::ServeOption;
use super::settings::Settings;
use super::sources::{Setting, Sources};
use super::tokens::{self, quoted};

/// The configuration file.
pub(super) fn text(sources: &Sources, settings: &Settings) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    for setting in &sources.settings {
        lines.push(line(setting, settings));
    }
    let width = lines.iter().map(|(line, _)| line.chars().count()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for (line, source) in lines {
        text.push_str(&format!("{line:width$}  # {source}\n"));
    }
    let file = sources.file.as_ref();
    let file = file.map_or_else(String::new, |file| format!("# {}\n", file.display()));
    if !sources.revoked.is_empty() {
        let digests: Vec<String> = sources
            .revoked
            .iter()
            .map(|it| format!("\"{it}\""))
            .collect();
        text.push_str(&format!(
            "\n{file}{} = [{}]\n",
            keys::REVOKED,
            digests.join(", ")
        ));
    }
    for token in &sources.tokens {
        text.push_str(&format!("\n{file}{}", tokens::lines(token)));
    }
    for role in &sources.openid_roles {
        text.push_str(&format!("\n{file}{}", openid::lines(role)));
    }
    for key in &sources.trusted_keys {
        text.push_str(&format!(
            "\n{file}[[{}]]\nname = {}\ned25519 = \"{}\"\n",
            keys::KEY,
            quoted(key.name()),
            hex::encode(key.bytes())
        ));
    }
    text
}

fn line(setting: &Setting, settings: &Settings) -> (String, String) {
    let name = setting.option.name;
    let folder = |path: &Path| Some(quoted(&path.to_string_lossy()));
    let value = match (&setting.value, name) {
        (Some(value), _) => Some(written(setting.option, value)),
        (None, "data") => folder(&settings.data),
        (None, "units") => folder(&settings.units),
        (None, "policies") => folder(&settings.policies),
        (None, "cache") => folder(&settings.cache),
        (None, "audit-log") => match &settings.audit {
            Destination::File(options) => folder(&options.path),
            Destination::Off | Destination::Log => None,
        },
        (None, _) => None,
    };
    match value {
        Some(value) => (format!("{name} = {value}"), setting.source.to_string()),
        None => (format!("# {name} ="), "not set".to_owned()),
    }
}

/// A value as people write it, if that says exactly the same.
fn written(option: &ServeOption, value: &Value) -> String {
    let amount = match (option.shape, value) {
        (Shape::Value(_, Some(Measure::Seconds), _), Value::Integer(seconds)) => {
            duration(*seconds as f64)
        }
        (Shape::Value(_, Some(Measure::Seconds), _), Value::Number(seconds)) => duration(*seconds),
        (Shape::Value(_, Some(measure), _), value) => Some(measure.display(value)),
        _ => None,
    };
    let exact = |text: &String| option.parse(text).is_ok_and(|parsed| parsed == *value);
    match amount.filter(exact) {
        Some(amount) => quoted(&amount),
        None => plain(value),
    }
}

fn duration(seconds: f64) -> Option<String> {
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    Some(humantime::format_duration(duration).to_string())
}

fn plain(value: &Value) -> String {
    match value {
        Value::Integer(integer) => integer.to_string(),
        Value::Number(number) => toml::Value::Float(*number).to_string(),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Text(text) => quoted(text),
    }
}
