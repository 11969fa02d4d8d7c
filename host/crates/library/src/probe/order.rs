//! Tries an order part out.

use super::once::Once;
use super::sample::Variety;
use super::tables::Tables;
use super::time;
use placewright_engine::contract::{Call, Description, Part, Turns};
use placewright_engine::unit::{Fault, Instance, Unit};

pub(super) enum Order {}

/// A batch has so many times the VMs of a request.
const REQUESTS: usize = 4;

impl Once for Order {
    const PART: Part = Part::Order;
    const ANSWERS: &'static str = "answers for made-up batches";
    const OTHER: &'static str = "other turns";
    type Answer = Turns;

    fn variety(variety: Variety, _: &Description) -> Variety {
        Variety {
            members: variety.members * REQUESTS,
            ..variety
        }
    }

    fn ask(instance: &mut Instance, call: &Call, _: &Tables, unit: &Unit) -> Result<Turns, Fault> {
        instance.order(call, time(unit))
    }

    fn same(one: &Turns, other: &Turns) -> bool {
        one == other
    }
}
