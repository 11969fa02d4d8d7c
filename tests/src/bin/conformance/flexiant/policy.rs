//! The policies under test: those that come with the program.

use placewright_plugins as plugins;
use toml::{Table, Value};

use super::form::{Config, Mebibytes, Rounds};

/// The policy `flexiant` as it is.
pub(super) fn flexiant() -> Result<String, String> {
    embedded("flexiant").map(str::to_owned)
}

/// The policy for clusters with local storage.
pub(super) fn local_storage() -> Result<String, String> {
    embedded("flexiant-local-storage").map(str::to_owned)
}

/// The policy `flexiant` with all settings of a case.
pub(super) fn of(config: &Config) -> Result<String, String> {
    let rounds = Rounds {
        msav_steps: config.msav_steps,
        initial_msav: config.initial_msav,
        final_msav: config.final_msav,
    };
    let mut settings = rounds_of(&rounds);
    settings.push(overhead(config.overhead_mb));
    with(settings)
}

/// The policy `flexiant` with these rounds.
pub(super) fn of_rounds(rounds: &Rounds) -> Result<String, String> {
    with(rounds_of(rounds))
}

/// The policy `flexiant` with this overhead.
pub(super) fn of_overhead(amount: Mebibytes) -> Result<String, String> {
    with(vec![overhead(amount)])
}

fn rounds_of(rounds: &Rounds) -> Vec<(&'static str, Value)> {
    vec![
        ("steps", Value::Integer(rounds.msav_steps)),
        ("initial", Value::Float(rounds.initial_msav)),
        ("final", Value::Float(rounds.final_msav)),
    ]
}

fn overhead(amount: Mebibytes) -> (&'static str, Value) {
    ("overhead", Value::Integer(amount.bytes()))
}

fn embedded(name: &str) -> Result<&'static str, String> {
    let policy = plugins::policy(name);
    policy
        .map(|policy| policy.text)
        .ok_or_else(|| format!("no policy {name} comes with the program"))
}

/// The policy `flexiant` with these settings in the place of its own.
fn with(settings: Vec<(&str, Value)>) -> Result<String, String> {
    let mut document: Table = embedded("flexiant")?
        .parse()
        .map_err(|error| format!("policy flexiant: {error}"))?;
    let own = document.get_mut("settings").and_then(Value::as_table_mut);
    let own = own.ok_or("the policy flexiant has no settings")?;
    for (name, value) in settings {
        if own.insert(name.to_owned(), value).is_none() {
            return Err(format!("the policy flexiant does not set {name}"));
        }
    }
    toml::to_string(&document).map_err(|error| error.to_string())
}
