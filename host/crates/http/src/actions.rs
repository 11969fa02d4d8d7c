//! What records of the audit log tell that somebody did: the words and the calls that there are.

use std::sync::Arc;

use super::permission::Rule;
use placewright_deployment::EventKind;
use placewright_model::{Word, excerpt, nearest};
use placewright_records::audit::WORDS;

/// Every call that the faces of a server take, as records of the audit log name it: method and
/// route.
#[derive(Debug, Clone)]
pub struct Actions(Arc<[String]>);

impl Actions {
    pub(super) fn new(rules: impl Iterator<Item = &'static Rule>) -> Self {
        let calls = rules.map(|rule| format!("{} {}", rule.method, rule.path));
        Self(calls.collect())
    }

    /// Check that some record may be of an action with this text, in small or capital letters.
    ///
    /// # Errors
    /// A sentence without its full stop that says which actions there are.
    pub fn check(&self, text: &str) -> Result<(), String> {
        let sought = text.to_lowercase();
        let has = |action: &str| action.to_lowercase().contains(&sought);
        if words().any(has) || self.0.iter().any(|call| has(call)) {
            return Ok(());
        }
        let meant = match nearest(text, words()) {
            Some(word) => format!(" (did you mean \"{word}\"?)"),
            None => String::new(),
        };
        Err(format!(
            "no action has \"{}\"{meant}: an action is a method and a route, such as \"POST /v1/clusters/{{cluster}}/place\" or a part of it, or one of the words {}",
            excerpt(text),
            words().collect::<Vec<_>>().join(", ")
        ))
    }
}

/// The words of what is no call.
fn words() -> impl Iterator<Item = &'static str> {
    let events = EventKind::WORDS.iter().map(|(word, _)| *word);
    events.chain(WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::open;

    #[test]
    fn parts_of_words_and_calls_are_taken_and_others_refused_with_what_there_is() {
        const RULES: &[Rule] = &[open("GET", "/v1/ready")];
        let actions = Actions::new(RULES.iter());
        for action in [
            "ready",
            "get /V1",
            "unit-in-force",
            "Server-Started",
            "lost",
        ] {
            assert_eq!(actions.check(action), Ok(()), "{action}");
        }
        let refused = actions.check("unit-in-forse").unwrap_err();
        assert!(
            refused.contains("did you mean \"unit-in-force\"?"),
            "{refused}"
        );
        assert!(refused.contains("server-started"), "{refused}");
    }
}
