//! Which part of a unit is asked.

use clap::ValueEnum;
use placewright_engine::contract::{Answers, Description, Evaluation, Part};
use placewright_engine::unit::Unit;

use crate::cli::failure::Failure;

/// A part that can be asked about a cluster, as the command line calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PartArg {
    /// Which hosts are kept
    Filter,
    /// What each host costs
    Cost,
    /// Which candidates come first, and with which chance
    Selection,
    /// What is written if the VM is placed on the host
    Effects,
    /// In which order VMs are placed
    Order,
    /// What is to be moved
    Balance,
}

/// The part, and what is wanted of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) part: Part,
    /// Of a judge.
    pub(super) want: Answers,
}

impl PartArg {
    fn asked(self) -> Asked {
        let (part, want) = match self {
            Self::Filter => (Part::Judge, Answers::VERDICTS),
            Self::Cost => (Part::Judge, Answers::COSTS),
            Self::Selection => (Part::Selection, Answers::BOTH),
            Self::Effects => (Part::Effects, Answers::BOTH),
            Self::Order => (Part::Order, Answers::BOTH),
            Self::Balance => (Part::Balance, Answers::BOTH),
        };
        Asked { part, want }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Cost => "cost",
            Self::Selection => "selection",
            Self::Effects => "effects",
            Self::Order => "order",
            Self::Balance => "balance",
        }
    }

    fn is_of(self, unit: &Description) -> bool {
        let answers = unit.judge.as_ref().map(|judge| judge.answers);
        match self {
            Self::Filter => answers.is_some_and(|answers| answers.verdicts),
            Self::Cost => answers.is_some_and(|answers| answers.costs),
            other => unit.describes(other.asked().part),
        }
    }
}

impl Asked {
    /// The part that is wanted; if none is, filter and cost function or the first other one.
    pub(super) fn of(unit: &Unit, wanted: Option<PartArg>) -> Result<Self, Failure> {
        let unit = unit.description();
        let parts = PartArg::value_variants().iter().copied();
        let parts: Vec<PartArg> = parts.filter(|part| part.is_of(unit)).collect();
        if let Some(wanted) = wanted {
            if parts.contains(&wanted) {
                return Ok(wanted.asked());
            }
            let names: Vec<&str> = parts.iter().map(|part| part.name()).collect();
            return Err(Failure::input_because(format!(
                "unit \"{}\" has no part {}; it has {}",
                unit.name,
                wanted.name(),
                match names.is_empty() {
                    true => "none that can be asked about a cluster".to_owned(),
                    false => names.join(", "),
                }
            )));
        }
        let first = parts.first().ok_or_else(|| {
            Failure::input_because(format!(
                "unit \"{}\" has no part that can be asked about a cluster",
                unit.name
            ))
        })?;
        let mut asked = first.asked();
        // A cost function that goes by the whole table is asked about what filters leave.
        if let Some(judge) = &unit.judge
            && asked.part == Part::Judge
            && judge.evaluation == Evaluation::RowWise
        {
            asked.want = judge.answers;
        }
        Ok(asked)
    }

    /// What is asked of a judge, in words.
    pub(super) fn answers(self) -> Vec<&'static str> {
        if self.part != Part::Judge {
            return Vec::new();
        }
        let filter = self.want.verdicts.then_some("filter");
        let cost = self.want.costs.then_some("cost function");
        filter.into_iter().chain(cost).collect()
    }
}
