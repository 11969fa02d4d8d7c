//! One call with made-up tables, for those who measure what calls cost.

use super::balance::Balance;
use super::effects::Effects;
use super::explain::Explain;
use super::once::Once;
use super::order::Order;
use super::random::Random;
use super::sample::{self, Variety};
use super::selection::Selection;
use super::tables::Tables;
use super::time;
use placewright_engine::contract::{Answers, Call, Part};
use placewright_engine::unit::{Fault, Instance, Unit};

/// A call of a part whose tables hold what a data centre might.
#[derive(Debug, Clone)]
pub struct MadeUp {
    part: Part,
    tables: Tables,
    call: Call,
}

impl MadeUp {
    /// Tables for a part with so many hosts, or as many as there can be. The same seed
    /// gives the same tables.
    ///
    /// # Errors
    /// If the unit has no such part, or a setting that must be set cannot be guessed,
    /// in a sentence.
    pub fn new(unit: &Unit, part: Part, hosts: usize, seed: u64) -> Result<Self, String> {
        let description = unit.description();
        let usual = Variety {
            hosts,
            ..Variety::default()
        };
        let variety = match part {
            Part::Selection => Selection::variety(usual, description),
            Part::Effects => Effects::variety(usual, description),
            Part::Balance => Balance::variety(usual, description),
            Part::Order => Order::variety(usual, description),
            Part::Explain => Explain::variety(usual, description),
            Part::Judge | Part::Unit | Part::Settings => usual,
        };
        let reads = description
            .reads(part)
            .ok_or_else(|| format!("it has no part {part}"))?;
        let tables = sample::make(description, reads, variety, &mut Random::new(seed))?;
        let call = tables.encode(seed);
        Ok(Self { part, tables, call })
    }

    /// How many hosts, or candidates, the tables hold; 0 for a part that reads none.
    pub fn hosts(&self) -> usize {
        self.tables.candidates()
    }

    /// Ask an instance of the unit for everything that the part can answer, within the
    /// time that a chain has.
    ///
    /// # Errors
    /// However the call ended without an answer that can be used.
    pub fn ask(&self, unit: &Unit, instance: &mut Instance) -> Result<(), Fault> {
        let Self { part, tables, call } = self;
        match part {
            Part::Judge => {
                let judge = unit.description().judge.as_ref();
                let want = judge.map_or(Answers::BOTH, |judge| judge.answers);
                instance
                    .judge(want, call, tables.answers(), time(unit))
                    .map(drop)
            }
            Part::Selection => Selection::ask(instance, call, tables, unit).map(drop),
            Part::Effects => Effects::ask(instance, call, tables, unit).map(drop),
            Part::Balance => Balance::ask(instance, call, tables, unit).map(drop),
            Part::Order => Order::ask(instance, call, tables, unit).map(drop),
            Part::Explain => Explain::ask(instance, call, tables, unit).map(drop),
            Part::Settings => instance.check_settings(call, time(unit)),
            Part::Unit => instance.describe(time(unit)).map(drop),
        }
    }
}
