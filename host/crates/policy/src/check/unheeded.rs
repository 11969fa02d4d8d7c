//! What a policy says of single needs that none of its filters checks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Unheeded;
use placewright_document::form::Fields;
use placewright_document::{Content, Problems, Word, alternatives, shown, words};
use placewright_model::schema::Schema;

/// The table `unheeded-needs`: names of needs, each with its word.
pub(super) fn needs(
    policy: &Fields<'_>,
    schema: &Schema,
    problems: &mut Problems,
) -> BTreeMap<Arc<str>, Unheeded> {
    let mut needs = BTreeMap::new();
    let Some(table) = policy.table("unheeded-needs") else {
        return needs;
    };
    for entry in &table.entries {
        let Some(need) = schema.need(&entry.key) else {
            problems.add_misnamed(
                &entry.place,
                format!("there is no need \"{}\"", shown(&entry.key)),
                &entry.key,
                schema.needs().map(|need| &*need.name),
            );
            continue;
        };
        let known = words::<Unheeded>();
        let word = match &entry.node.content {
            Content::Text(word) => Unheeded::from_word(word),
            _ => None,
        };
        match word {
            Some(word) => {
                needs.insert(need.name.clone(), word);
            }
            None => problems.add(
                &entry.node.place,
                format!("\"{}\" must be {}", need.name, alternatives(&known)),
            ),
        }
    }
    needs
}
