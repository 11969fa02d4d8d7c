//! The names of entries of one kind, each given once.

use std::collections::HashMap;
use std::sync::Arc;

use placewright_document::form::Fields;
use placewright_document::{Place, Problems, shown};

/// The names that are taken.
pub(super) struct EntryNames<'t> {
    taken: HashMap<Arc<str>, &'t Place>,
}

impl<'t> EntryNames<'t> {
    /// Gather the names that the document gives, before any is made up.
    pub(super) fn new<'a>(
        what: &str,
        entries: impl Iterator<Item = &'a Fields<'t>>,
        problems: &mut Problems,
    ) -> Self
    where
        't: 'a,
    {
        let mut taken: HashMap<Arc<str>, &'t Place> = HashMap::new();
        for entry in entries {
            let (Some(name), Some(place)) = (entry.text("name"), entry.place_of("name")) else {
                continue;
            };
            if name.trim().is_empty() {
                problems.add(place, format!("the name of a {what} must not be empty"));
            } else if let Some(first) = taken.get(&name) {
                problems.add(
                    place,
                    format!(
                        "there is a second {what} \"{}\"; the first is at {first}",
                        shown(&name)
                    ),
                );
            } else {
                taken.insert(name, place);
            }
        }
        Self { taken }
    }

    /// The name of an entry: its own, else the default, numbered if it is taken.
    pub(super) fn name(&mut self, entry: &Fields<'t>, default: &str) -> Arc<str> {
        if let Some(name) = entry.text("name") {
            return name;
        }
        let mut name: Arc<str> = default.into();
        let mut number: usize = 2;
        while self.taken.contains_key(&name) {
            name = format!("{default}-{number}").into();
            number += 1;
        }
        self.taken.insert(name.clone(), entry.place);
        name
    }
}
