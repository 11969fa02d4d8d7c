//! A unit for tests of the runtime: implements the contract by hand, without the
//! SDK's traits. Its effects reserve memory and declare no table that they write.

#![deny(unsafe_code)]

use placewright_sdk::contract::{
    Change, ColumnRead, Description, EffectsPart, Kind, Operation, Problem, TableRead, Tables,
};

/// What a VM takes of its host beyond its own memory: 1 GiB.
const OVERHEAD: i64 = 1 << 30;

/// The unit.
pub struct Overhead;

impl Overhead {
    /// What it says of itself.
    pub fn description() -> Description {
        let id = ColumnRead {
            column: "id".into(),
            kind: Kind::Text,
            required: true,
            gate: false,
        };
        Description {
            name: "overhead".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            summary: env!("CARGO_PKG_DESCRIPTION").into(),
            aliases: Vec::new(),
            settings: Vec::new(),
            judge: None,
            selection: None,
            effects: Some(EffectsPart {
                reads: vec![TableRead {
                    table: "members".into(),
                    columns: vec![id],
                }],
                writes: Vec::new(),
            }),
            balance: None,
            order: None,
            explain: None,
        }
    }

    /// The same for every VM.
    ///
    /// # Errors
    /// If the tables are not those that it reads.
    pub fn changes(call: &Tables) -> Result<Vec<Change>, Problem> {
        let unfit = || Problem::Failed("the tables are not those that I read".into());
        let members = *call.rows.first().ok_or_else(unfit)?;
        let reserve = |entity| Change {
            write: 0,
            entity,
            operation: Operation::Reserve(("memory".into(), OVERHEAD)),
        };
        Ok((0..members).map(reserve).collect())
    }
}

#[cfg(target_arch = "wasm32")]
mod exports {
    use placewright_sdk::bindings::{self, contract, effects};
    use placewright_sdk::contract::{Change, Description, Problem, Tables};

    use super::Overhead;

    impl contract::exports::placewright::policy::unit::Guest for Overhead {
        fn describe() -> Description {
            Self::description()
        }
    }

    impl effects::exports::placewright::policy::effects::Guest for Overhead {
        fn placed(call: Tables) -> Result<Vec<Change>, Problem> {
            Self::changes(&call)
        }
    }

    bindings::contract::export_unit!(Overhead with_types_in placewright_sdk::bindings::contract);
    bindings::effects::export_effects!(Overhead with_types_in placewright_sdk::bindings::effects);
}
