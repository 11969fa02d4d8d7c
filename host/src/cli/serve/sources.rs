//! Brings together what the file, the environment and the flags say.

use std::fmt;
use std::path::{Path, PathBuf};

use placewright_document::form::{Key, Shape, key};
use placewright_document::{Place, Problems, Table, form, nearest, parse};
use placewright_engine::unit::Digest;
use placewright_http::{GroupRole, Token};
use placewright_library::signature::Key as Signer;
use placewright_model::Value;

use super::arguments::Given;
use super::keys;
use super::openid;
use super::options::{OPTIONS, ServeOption};
use super::tokens;
use crate::cli::failure::Failure;
use crate::cli::units;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nobody gave one.
    Default,
    /// The configuration file.
    File(Place),
    /// The environment's variable.
    Environment(String),
    /// The flag.
    Flag(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(place) => write!(f, "{place}"),
            Self::Environment(variable) => f.write_str(variable),
            Self::Flag(name) => write!(f, "--{name}"),
        }
    }
}

/// An option with the value that is in force.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The option.
    pub option: &'static ServeOption,
    /// None: there is none, or it depends on others.
    pub value: Option<Value>,
    /// Where the value comes from.
    pub source: Source,
}

/// Everything that is said of the configuration.
#[derive(Debug)]
pub(crate) struct Sources {
    /// In the order of the options.
    pub settings: Vec<Setting>,
    /// Who may call.
    pub tokens: Vec<Token>,
    /// What people may do who sign in by the provider.
    pub openid_roles: Vec<GroupRole>,
    /// Whose signatures are trusted.
    pub trusted_keys: Vec<Signer>,
    /// Units that are never let in.
    pub revoked: Vec<Digest>,
    /// The configuration file.
    pub file: Option<PathBuf>,
}

impl Sources {
    /// The setting of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.settings
            .iter()
            .find(|setting| setting.option.name == name)
    }
}

/// Read the file, and lay what is given over it.
pub(super) fn gather(file: Option<&Path>, given: &Given) -> Result<Sources, Failure> {
    let text = file.map(units::read).transpose()?;
    of_text(file.zip(text.as_deref()), given)
}

/// The same, of a file that was read.
pub(super) fn of_text(file: Option<(&Path, &str)>, given: &Given) -> Result<Sources, Failure> {
    let mut sources = Sources {
        settings: OPTIONS.iter().map(of_default).collect(),
        tokens: Vec::new(),
        openid_roles: Vec::new(),
        trusted_keys: Vec::new(),
        revoked: Vec::new(),
        file: file.map(|(path, _)| path.to_owned()),
    };
    let mut complaints = Vec::new();
    if let Some((path, text)) = file
        && let Err(problems) = sources.take_file(text, &path.display().to_string())
    {
        complaints.push(problems.to_string());
    }
    for value in &given.values {
        let setting = sources
            .settings
            .iter_mut()
            .find(|setting| setting.option.name == value.name);
        let Some(setting) = setting else { continue };
        setting.source = match value.by_environment {
            true => Source::Environment(setting.option.variable()),
            false => Source::Flag(value.name),
        };
        match setting.option.parse(&value.text) {
            Ok(value) => setting.value = Some(value),
            Err(sentence) => complaints.push(format!("{}: {sentence}", setting.source)),
        }
    }
    match complaints.is_empty() {
        true => Ok(sources),
        false => Err(Failure::input_because(complaints.join("\n"))),
    }
}

/// Variables of the environment that look like misspelt ones of ours, with the names that
/// were probably meant. Others that begin alike are none of our business: orchestrators
/// make such variables of the names of services.
pub(super) fn misspelt(variables: impl Iterator<Item = String>) -> Vec<(String, String)> {
    let mut known: Vec<String> = OPTIONS.iter().map(ServeOption::variable).collect();
    known.push("PLACEWRIGHT_CONFIG".to_owned());
    let ours = variables.filter(|name| name.starts_with("PLACEWRIGHT_") && !known.contains(name));
    let mut found: Vec<(String, String)> = ours
        .filter_map(|name| {
            let near = nearest(&name, known.iter().map(String::as_str))?.to_owned();
            // The common beginning makes all of them near.
            let differ = strsim::damerau_levenshtein(&name, &near);
            (differ <= 2).then_some((name, near))
        })
        .collect();
    found.sort();
    found
}

fn of_default(option: &'static ServeOption) -> Setting {
    let value = option.default.and_then(|text| option.parse(text).ok());
    Setting {
        option,
        value,
        source: Source::Default,
    }
}

impl Sources {
    fn take_file(&mut self, text: &str, file: &str) -> Result<(), Problems> {
        let tree = parse(text, file)?;
        let mut problems = Problems::new();
        let fields = form::Fields::read(&tree, &form(), "the configuration", &mut problems);
        for setting in &mut self.settings {
            let Some(node) = fields.node(setting.option.name) else {
                continue;
            };
            if let Some(value) = setting.option.read(node, &mut problems) {
                setting.value = Some(value);
                setting.source = Source::File(node.place.clone());
            }
        }
        let own = rows(fields.tables(tokens::KEY), tokens::KEY, &mut problems);
        self.tokens = tokens::read(&own.iter().collect::<Vec<_>>(), &mut problems);
        let own = rows(fields.tables(openid::KEY), openid::KEY, &mut problems);
        self.openid_roles = openid::read(&own.iter().collect::<Vec<_>>(), &mut problems);
        let own = rows(fields.tables(keys::KEY), keys::KEY, &mut problems);
        self.trusted_keys = keys::read(&own.iter().collect::<Vec<_>>(), &mut problems);
        self.revoked = keys::read_revoked(&fields, &mut problems);
        problems.or(())
    }
}

/// The rows of a list without options of the server: these belong above the first list, and
/// whoever appends a token to a file soon writes one below it.
fn rows(tables: &[&Table], list: &str, problems: &mut Problems) -> Vec<Table> {
    let is_option = |key: &str| OPTIONS.iter().any(|option| option.name == key);
    let tables = tables.iter().map(|table| {
        let mut own = (*table).clone();
        own.entries.retain(|entry| {
            let belongs = !is_option(&entry.key);
            if !belongs {
                let sentence = format!(
                    "\"{}\" is an option of the server, but stands in a [[{list}]] here: move it above the first line in [[ ]]",
                    entry.key
                );
                problems.add(&entry.place, sentence);
            }
            belongs
        });
        own
    });
    tables.collect()
}

/// The keys of the file.
fn form() -> Vec<Key> {
    let options = OPTIONS
        .iter()
        .map(|option| key(option.name, Shape::Any, option.meaning));
    let lists = [
        key(tokens::KEY, Shape::Tables(tokens::FORM), "Who may call"),
        key(
            openid::KEY,
            Shape::Tables(openid::FORM),
            "What people may do who sign in by the OpenID Connect provider",
        ),
        key(
            keys::KEY,
            Shape::Tables(keys::FORM),
            "Whose signatures are trusted",
        ),
        key(
            keys::REVOKED,
            Shape::Texts,
            "Units that are never admitted, by their digests",
        ),
    ];
    options.chain(lists).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_variables_are_recognised_and_others_left_alone() {
        let names = [
            "PLACEWRIGHT_LISEN",
            "PLACEWRIGHT_LISTEN",
            "PLACEWRIGHT_SERVICE_HOST",
            "PLACEWRIGHT_PORT_7425_TCP_ADDR",
            "LISEN",
        ];
        let found = misspelt(names.into_iter().map(str::to_owned));
        let expected = ("PLACEWRIGHT_LISEN".into(), "PLACEWRIGHT_LISTEN".into());
        assert_eq!(found, [expected]);
    }
}
