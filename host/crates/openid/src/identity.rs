//! Who somebody is, by the provider's word.

use serde_json::{Map, Value};

use crate::error::OpenIdError;
use crate::options::OpenIdOptions;

/// The most groups of a person that are looked at.
const MOST_GROUPS: usize = 1000;

/// The most bytes of a name.
const LONGEST_NAME: usize = 200;

/// Somebody whom the provider knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// What names it at this provider.
    pub name: String,
    /// The groups that it is in.
    pub groups: Vec<String>,
}

impl Identity {
    /// Whether the claims have all that is asked for.
    pub(crate) fn is_in(claims: &Map<String, Value>, options: &OpenIdOptions) -> bool {
        let wanted = [&options.name_claim, &options.groups_claim];
        wanted.iter().all(|name| claims.contains_key(*name))
    }

    /// Of these claims.
    pub(crate) fn of(
        claims: &Map<String, Value>,
        options: &OpenIdOptions,
    ) -> Result<Self, OpenIdError> {
        let claim = &options.name_claim;
        let Some(name) = claims.get(claim).and_then(Value::as_str) else {
            let sentence = format!("there is no claim \"{claim}\" that is a text");
            return Err(OpenIdError::Nameless(sentence));
        };
        // Whoever may enter any address could otherwise take somebody else's name.
        if claim == "email" && claims.get("email_verified") != Some(&Value::Bool(true)) {
            let sentence = format!("the address \"{}\" is not verified", shown(name));
            return Err(OpenIdError::Nameless(sentence));
        }
        let is_name = !name.trim().is_empty()
            && name.len() <= LONGEST_NAME
            && !name.chars().any(char::is_control);
        if !is_name {
            let sentence = format!(
                "the claim \"{claim}\" must be a text of 1 to {LONGEST_NAME} bytes without control characters"
            );
            return Err(OpenIdError::Nameless(sentence));
        }
        Ok(Self {
            name: name.to_owned(),
            groups: groups(claims.get(&options.groups_claim)),
        })
    }
}

fn shown(text: &str) -> String {
    let signs = text.chars().filter(|sign| !sign.is_control());
    signs.take(LONGEST_NAME).collect()
}

/// A list of texts, or one text: both are in use.
fn groups(claim: Option<&Value>) -> Vec<String> {
    match claim {
        Some(Value::Array(groups)) => {
            let groups = groups.iter().filter_map(Value::as_str);
            groups.take(MOST_GROUPS).map(str::to_owned).collect()
        }
        Some(Value::String(group)) => vec![group.clone()],
        _ => Vec::new(),
    }
}
