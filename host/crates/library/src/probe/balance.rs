//! Tries a balance part out.

use super::once::Once;
use super::sample::Variety;
use super::tables::Tables;
use super::time;
use placewright_engine::contract::{Call, Description, Part, Proposal};
use placewright_engine::unit::{Fault, Instance, Unit};

pub(super) enum Balance {}

impl Once for Balance {
    const PART: Part = Part::Balance;
    const ANSWERS: &'static str = "answers for made-up clusters";
    const OTHER: &'static str = "other proposals";
    type Answer = Vec<Proposal>;

    fn variety(variety: Variety, _: &Description) -> Variety {
        Variety {
            members: 0,
            ..variety
        }
    }

    fn ask(
        instance: &mut Instance,
        call: &Call,
        _: &Tables,
        unit: &Unit,
    ) -> Result<Vec<Proposal>, Fault> {
        instance.balance(call, time(unit))
    }

    fn same(one: &Vec<Proposal>, other: &Vec<Proposal>) -> bool {
        one == other
    }
}
