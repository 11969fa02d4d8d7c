//! Bytes and code of units that nothing leads back to are removed.

use std::collections::BTreeSet;

use super::state::State;
use super::{Library, LibraryEvent};
use crate::history::History;
use placewright_engine::unit::Digest;

/// So many versions of each unit that were in force can be gone back to.
const VERSIONS: usize = 10;

/// So many of all units together, the last ones.
const VERSIONS_OF_ALL: usize = 200;

impl Library {
    /// Remove what nothing leads back to: what is neither in force nor offered, chosen,
    /// pinned or set aside, was not in force lately, and has made no recorded decision. To be
    /// called with the library locked, when what is in force has changed.
    pub(super) fn remove_unneeded(&self, state: &State) {
        let mut needed: BTreeSet<Digest> = state.all().collect();
        needed.extend(lately(&self.lock_history()));
        match self.around.artifacts.keep_only(&needed) {
            Ok(removed) => {
                for digest in removed {
                    self.engine().forget_code(&digest.to_string());
                }
            }
            Err(why) => {
                let why = format!(
                    "units that are no longer needed cannot be removed from the store: {why}"
                );
                self.tell(&LibraryEvent::NotKept { why });
            }
        }
    }
}

/// The versions that can be gone back to.
fn lately(history: &History) -> BTreeSet<Digest> {
    let names: BTreeSet<&str> = history
        .entries()
        .filter_map(|entry| entry.name.as_deref())
        .collect();
    let of_each = names
        .into_iter()
        .flat_map(|name| history.in_force(name).into_iter().take(VERSIONS));
    let candidates: BTreeSet<Digest> = of_each.collect();
    let mut lately = BTreeSet::new();
    for entry in history.entries().rev() {
        if lately.len() == VERSIONS_OF_ALL {
            break;
        }
        if candidates.contains(&entry.digest) {
            lately.insert(entry.digest);
        }
    }
    lately
}
