//! The schemas that the contract of an API has of what documents hold, each under a name.
//!
//! Like those for editors they are made from the forms and tables that documents are read by.
//! For generators of clients a column stands in one way only, under its whole name
//! (`memory.total`), and what occurs in several places is one schema that all of them refer to.

mod entities;
mod examples;
mod rows;

use serde_json::{Map, Value as Json, json};

/// The schemas, by name: `HostDocument` is a host as a document gives it, `Host` one as the
/// server shows it, `HostChange` what is different of one, and so on. They refer to each other
/// below `#/components/schemas`.
pub fn contract() -> Map<String, Json> {
    let mut contract = Contract::default();
    contract.shown();
    contract.documents();
    contract.bodies();
    contract.changes();
    contract.requests();
    contract.schemas
}

/// The schemas that were made so far.
#[derive(Default)]
struct Contract {
    schemas: Map<String, Json>,
}

impl Contract {
    /// Have a schema of that name. Gives what refers to it.
    fn add(&mut self, name: &str, schema: Json) -> Json {
        let known = self
            .schemas
            .entry(name.to_owned())
            .or_insert(schema.clone());
        debug_assert_eq!(*known, schema, "two schemas are called {name}");
        reference(name)
    }
}

/// What refers to the schema of that name.
fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

#[cfg(test)]
mod tests;
