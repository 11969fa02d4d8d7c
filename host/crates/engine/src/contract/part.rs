//! The exports that a unit can have.

use std::fmt;

use serde::Serialize;

use super::interface;

/// An exported interface of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Who the unit is; every unit exports it.
    Unit,
    /// Filter and cost function.
    Judge,
    /// Refinement of the candidates.
    Selection,
    /// What follows from a placement.
    Effects,
    /// Proposals for a cluster that runs.
    Balance,
    /// The turns of a batch.
    Order,
    /// The values behind a judgement.
    Explain,
    /// Rules between settings.
    Settings,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Part::Unit,
        Part::Judge,
        Part::Selection,
        Part::Effects,
        Part::Balance,
        Part::Order,
        Part::Explain,
        Part::Settings,
    ];

    /// The interface's name in the package.
    pub fn name(self) -> &'static str {
        match self {
            Part::Unit => "unit",
            Part::Judge => "judge",
            Part::Selection => "selection",
            Part::Effects => "effects",
            Part::Balance => "balance",
            Part::Order => "order",
            Part::Explain => "explain",
            Part::Settings => "settings",
        }
    }

    /// The part whose interface has that name in the package.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// The one function of the interface.
    pub fn function(self) -> &'static str {
        match self {
            Part::Unit => "describe",
            Part::Judge => "judge",
            Part::Selection => "refine",
            Part::Effects => "placed",
            Part::Balance => "balance",
            Part::Order => "order",
            Part::Explain => "explain",
            Part::Settings => "check",
        }
    }

    /// The interface as a component built for the offered version names it.
    pub fn interface(self) -> String {
        interface(self.name())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
