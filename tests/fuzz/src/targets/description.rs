//! Descriptions that a unit gives of itself: arbitrary values through the component's boundary.

use arbitrary::Unstructured;
use placewright_engine::contract::Part;
use placewright_engine::unit::{LoadError, Unit, UnitShown};

use crate::guest::{Contract, Describing};
use crate::world::forgetful;

/// Greatest number of bytes in what is said of a description. Names and texts have bounds, and so
/// has the number of problems that are told.
const SAID: usize = 1 << 20;

/// A unit is described or refused with a sentence of bounded length.
pub(crate) fn description(input: &[u8]) {
    let image = Contract::get().arbitrary(Part::Unit, &mut Unstructured::new(input));
    let Some(bytes) = Describing::get().with(&image) else {
        return;
    };
    match Unit::load(forgetful(), &bytes, "fuzzed.wasm") {
        Ok(unit) => {
            let shown = serde_json::to_string(&UnitShown::new(&unit)).expect("it can be shown");
            assert!(shown.len() < SAID, "{} bytes are shown", shown.len());
            assert!(unit.name().len() < 1024, "{}", unit.name());
        }
        Err(refused) => {
            let said = refused.to_string();
            assert!(said.len() < SAID, "{} bytes are said", said.len());
            // The component itself is sound, whatever it says of itself.
            let described = matches!(
                refused.error,
                LoadError::Describe(_) | LoadError::Description(_)
            );
            assert!(described, "{said}");
        }
    }
}
