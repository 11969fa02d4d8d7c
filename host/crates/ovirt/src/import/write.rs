//! The policy document.

use std::fmt::{self, Display, Formatter};

use super::carry::{Carried, Entry, Loss};
use super::one_line;
use super::source::Policy;

/// The document, in TOML.
pub struct Document<'c> {
    /// What was carried over.
    pub policy: &'c Policy,
    /// What became of it.
    pub carried: &'c Carried,
}

impl Display for Document<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { policy, carried } = self;
        writeln!(f, "# Carried over from a scheduling policy of oVirt.")?;
        for loss in &carried.losses {
            writeln!(f, "# Lost: {}", one_line(&loss.sentence))?;
        }
        writeln!(f, "name = {}", text(&policy.name))?;
        if !policy.description.is_empty() {
            writeln!(f, "description = {}", text(&policy.description))?;
        }
        if carried.filters.is_empty() {
            writeln!(f, "filters = []")?;
        }
        if !carried.settings.is_empty() {
            writeln!(f, "\n[settings]")?;
            for (name, value) in &carried.settings {
                writeln!(f, "{name} = {value}")?;
            }
        }
        list(f, "filters", &carried.filters)?;
        list(f, "costs", &carried.costs)?;
        list(f, "effects", &carried.effects)?;
        if let Some(balance) = &carried.balance {
            writeln!(f)?;
            if let Some(beside) = &carried.beside {
                writeln!(
                    f,
                    "# oVirt keeps up affinity besides, as the unit {beside} does."
                )?;
            }
            writeln!(f, "[balance]\n{balance}")?;
        }
        list(f, "watches", &carried.watches)
    }
}

fn list(f: &mut Formatter<'_>, key: &str, entries: &[Entry]) -> fmt::Result {
    entries
        .iter()
        .try_for_each(|entry| writeln!(f, "\n[[{key}]]\n{entry}"))
}

impl Display for Entry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().map(|name| ("name", text(name)));
        let unit = self.unit.as_deref().map(|unit| ("unit", text(unit)));
        let settings = self.settings.iter();
        let settings: Vec<_> = settings
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let settings =
            (!settings.is_empty()).then(|| ("settings", format!("{{ {} }}", settings.join(", "))));
        let keys = name
            .into_iter()
            .chain(unit)
            .chain(self.keys.iter().cloned());
        let lines: Vec<_> = keys
            .chain(settings)
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        f.write_str(&lines.join("\n"))
    }
}

impl Display for Loss {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "warning: {place}: {}", self.sentence),
            None => write!(f, "warning: {}", self.sentence),
        }
    }
}

/// A text in TOML.
fn text(text: &str) -> String {
    toml::Value::from(text).to_string()
}
