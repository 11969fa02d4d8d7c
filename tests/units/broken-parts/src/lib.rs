//! A unit for tests of the runtime: implements selection, effects, order and explain
//! by hand, without the SDK's traits, and answers what the contract rules out. Its
//! setting `how` says in which way.

#![deny(unsafe_code)]

mod answers;
mod description;

use placewright_sdk::contract::{Change, Fact, Problem, Shares, Tables, Turns};

use answers::Asked;

/// All ways to be wrong, and one to be right. None is longer than the first, which a
/// test can put another in place of.
const HOWS: [&str; 14] = [
    "keeps-everything",
    // selection and order
    "offsets-fall",
    // selection
    "sums-to-half",
    "candidate-twice",
    "shares-missing",
    "first-row-only",
    // effects
    "no-write",
    "wrong-kind",
    "values-missing",
    "remembers",
    // order
    "member-twice",
    // explain
    "fact-no-row",
    "fact-no-table",
    // each of them
    "traps",
];

/// The unit.
pub struct BrokenParts;

impl BrokenParts {
    /// Groups and shares.
    ///
    /// # Errors
    /// If the tables are not those that it reads.
    pub fn shares(call: &Tables) -> Result<Shares, Problem> {
        Ok(Asked::read(call)?.shares())
    }

    /// Changes.
    ///
    /// # Errors
    /// If the tables are not those that it reads.
    pub fn changes(call: &Tables) -> Result<Vec<Change>, Problem> {
        Ok(Asked::read(call)?.changes())
    }

    /// Turns.
    ///
    /// # Errors
    /// If the tables are not those that it reads.
    pub fn turns(call: &Tables) -> Result<Turns, Problem> {
        Ok(Asked::read(call)?.turns())
    }

    /// Facts.
    ///
    /// # Errors
    /// If the tables are not those that it reads.
    pub fn facts(call: &Tables) -> Result<Vec<Fact>, Problem> {
        Ok(Asked::read(call)?.facts())
    }
}

#[cfg(target_arch = "wasm32")]
mod exports {
    use placewright_sdk::bindings::{self, contract, effects, explain, order, selection};
    use placewright_sdk::contract::{Change, Description, Fact, Problem, Shares, Tables, Turns};

    use super::BrokenParts;

    impl contract::exports::placewright::policy::unit::Guest for BrokenParts {
        fn describe() -> Description {
            Self::description()
        }
    }

    impl selection::exports::placewright::policy::selection::Guest for BrokenParts {
        fn refine(call: Tables) -> Result<Shares, Problem> {
            Self::shares(&call)
        }
    }

    impl effects::exports::placewright::policy::effects::Guest for BrokenParts {
        fn placed(call: Tables) -> Result<Vec<Change>, Problem> {
            Self::changes(&call)
        }
    }

    impl order::exports::placewright::policy::order::Guest for BrokenParts {
        fn order(call: Tables) -> Result<Turns, Problem> {
            Self::turns(&call)
        }
    }

    impl explain::exports::placewright::policy::explain::Guest for BrokenParts {
        fn explain(call: Tables) -> Result<Vec<Fact>, Problem> {
            Self::facts(&call)
        }
    }

    bindings::contract::export_unit!(
        BrokenParts with_types_in placewright_sdk::bindings::contract
    );
    bindings::selection::export_selection!(
        BrokenParts with_types_in placewright_sdk::bindings::selection
    );
    bindings::effects::export_effects!(
        BrokenParts with_types_in placewright_sdk::bindings::effects
    );
    bindings::order::export_order!(BrokenParts with_types_in placewright_sdk::bindings::order);
    bindings::explain::export_explain!(
        BrokenParts with_types_in placewright_sdk::bindings::explain
    );
}
