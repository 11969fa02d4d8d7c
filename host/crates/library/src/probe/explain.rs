//! Tries an explain part out.

use super::once::Once;
use super::sample::Variety;
use super::tables::Tables;
use super::time;
use placewright_engine::contract::{Call, Description, Fact, Part, Value};
use placewright_engine::unit::{Fault, Instance, Unit};

pub(super) enum Explain {}

impl Once for Explain {
    const PART: Part = Part::Explain;
    const ANSWERS: &'static str = "answers for made-up requests";
    const OTHER: &'static str = "other facts";
    type Answer = Vec<Fact>;

    /// Candidates are told as they were before any selection.
    fn variety(variety: Variety, _: &Description) -> Variety {
        Variety {
            grouped: false,
            ..variety
        }
    }

    fn ask(
        instance: &mut Instance,
        call: &Call,
        _: &Tables,
        unit: &Unit,
    ) -> Result<Vec<Fact>, Fault> {
        instance.explain(call, time(unit))
    }

    fn same(one: &Vec<Fact>, other: &Vec<Fact>) -> bool {
        let facts = one.iter().zip(other);
        one.len() == other.len() && facts.into_iter().all(|(one, other)| same_fact(one, other))
    }
}

/// A fact may be any number, NaN included.
fn same_fact(one: &Fact, other: &Fact) -> bool {
    let same_value = match (&one.value, &other.value) {
        (Value::Number(one), Value::Number(other)) => one.to_bits() == other.to_bits(),
        (one, other) => one == other,
    };
    one.name == other.name && one.about == other.about && same_value
}
