//! Asks a server what a unit would change.

use std::path::Path;

use placewright_client::{Call, Client, ClientError, ClientOptions, Content};
use serde_json::{Value, json};

use crate::cli::failure::Failure;
use crate::cli::{remote, units};

/// A server, and the token that it is asked with.
pub(super) struct Server<'a> {
    pub(super) url: &'a str,
    pub(super) token: Option<&'a str>,
}

impl Server<'_> {
    /// What the server says of the unit: what was found out about it, and what it would
    /// change. A unit that is refused is no failure.
    pub(super) fn replay(
        &self,
        component: &[u8],
        signature: Option<&Path>,
        decisions: Option<usize>,
        examples: usize,
    ) -> Result<Value, Failure> {
        let options = ClientOptions {
            token: self.token.map(str::to_owned),
            ..ClientOptions::new(self.url)
        };
        let client = Client::new(options).map_err(remote::fault)?;
        let mut call = Call::post(["units", "replay"])
            .query("examples", examples)
            .content(Content::Component(component.to_vec()));
        if let Some(decisions) = decisions {
            call = call.query("decisions", decisions);
        }
        if let Some(file) = signature {
            call = call.header("x-unit-signature", units::read(file)?.trim());
        }
        match client.call(call) {
            Ok(answer) => Ok(answer.body),
            // What was found out about it is told as it is.
            Err(ClientError::Refused(refusal)) if refusal.body.get("steps").is_some() => {
                Ok(json!({ "staging": refusal.body, "clusters": {} }))
            }
            Err(error) => Err(remote::fault(error)),
        }
    }
}
