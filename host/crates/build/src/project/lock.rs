//! The `Cargo.lock` of a project in Rust: the crates that the SDK is built with, in the
//! versions that this program was built with.
//!
//! They are in cargo's cache wherever this program, or a unit before, was built from its
//! sources. Written as cargo writes it, so that cargo leaves it as it is.

use std::collections::BTreeSet;

use super::{NAME, ProjectError, carried};

const ENTRY: &str = "[[package]]\n";

/// The crates that the SDK is built with.
pub(super) struct Crates {
    head: &'static str,
    /// All but the project's own.
    entries: Vec<&'static str>,
    own: &'static str,
}

impl Crates {
    /// What the template says.
    pub(super) fn of_sdk() -> Result<Self, ProjectError> {
        let text = carried::template("rust/project/Cargo.lock")?;
        let mut entries = text.split(ENTRY);
        let head = entries.next().unwrap_or_default();
        let (own, entries): (Vec<_>, Vec<_>) = entries.partition(|entry| name(entry) == NAME);
        let own = own.first().copied();
        let own = own.ok_or_else(|| ProjectError::Sdk(format!("Cargo.lock lacks {NAME}")))?;
        Ok(Self { head, entries, own })
    }

    /// Whether one of them is called so.
    pub(super) fn has(&self, crate_name: &str) -> bool {
        self.entries.iter().any(|entry| name(entry) == crate_name)
    }

    /// The file for a project of that name.
    pub(super) fn lock_file(&self, project: &str) -> String {
        let own = self.own.replace(NAME, project);
        let own = own.trim_end();
        // Cargo sorts them by name; several of one name are in order already.
        let mut entries: BTreeSet<(&str, usize, &str)> = BTreeSet::from([(project, 0, own)]);
        let others = self.entries.iter().enumerate();
        entries.extend(others.map(|(at, entry)| (name(entry), at, entry.trim_end())));
        let entries = entries.into_iter();
        let entries: Vec<String> = entries
            .map(|(_, _, entry)| format!("{ENTRY}{entry}"))
            .collect();
        format!("{}{}\n", self.head, entries.join("\n\n"))
    }
}

/// The name of the crate that an entry is about.
fn name(entry: &str) -> &str {
    let line = entry.lines().next().unwrap_or_default();
    let name = line.strip_prefix("name = \"").unwrap_or_default();
    name.strip_suffix('"').unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Package>,
    }

    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
        checksum: Option<String>,
    }

    fn packages(text: &str) -> BTreeMap<(String, String), Option<String>> {
        let lock: Lock = toml::from_str(text).unwrap();
        let packages = lock.package.into_iter();
        packages
            .map(|it| ((it.name, it.version), it.checksum))
            .collect()
    }

    #[test]
    fn the_crates_of_a_project_are_those_that_this_program_is_built_with() {
        let ours = packages(include_str!("../../../../../Cargo.lock"));
        let theirs = packages(&Crates::of_sdk().unwrap().lock_file("zebra"));
        for (package, checksum) in theirs {
            if package.0 != "zebra" {
                assert_eq!(
                    ours.get(&package),
                    Some(&checksum),
                    "{package:?}: begin a unit with `unit new`, run `cargo update` in it with \
                     this version named, and keep its Cargo.lock as the template"
                );
            }
        }
    }

    #[test]
    fn the_entry_of_the_project_stands_where_cargo_puts_it() {
        for project in ["able", "middle", "zebra"] {
            let text = Crates::of_sdk().unwrap().lock_file(project);
            let names: Vec<&str> = text.split(ENTRY).skip(1).map(name).collect();
            assert!(names.is_sorted(), "{names:?}");
            assert!(names.contains(&project));
            assert!(!text.contains(NAME));
        }
    }
}
