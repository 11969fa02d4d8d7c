//! Tries an effects part out.

use super::once::Once;
use super::sample::Variety;
use super::tables::Tables;
use super::time;
use placewright_engine::contract::{Call, Change, Description, Part};
use placewright_engine::unit::{Fault, Instance, Unit};

pub(super) enum Effects {}

impl Once for Effects {
    const PART: Part = Part::Effects;
    const ANSWERS: &'static str = "answers for made-up placements";
    const OTHER: &'static str = "other changes";
    type Answer = Vec<Change>;

    /// The only row of `hosts` is the host that was chosen.
    fn variety(variety: Variety, _: &Description) -> Variety {
        Variety {
            hosts: 1,
            ..variety
        }
    }

    fn ask(
        instance: &mut Instance,
        call: &Call,
        tables: &Tables,
        unit: &Unit,
    ) -> Result<Vec<Change>, Fault> {
        instance.placed(call, tables.members, time(unit))
    }

    fn same(one: &Vec<Change>, other: &Vec<Change>) -> bool {
        one == other
    }
}
