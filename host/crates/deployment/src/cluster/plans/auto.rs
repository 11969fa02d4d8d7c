//! Plans that go on by themselves: as moves are confirmed, the next ones are begun.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Begin, MoveNamed};

/// How a plan goes on, as the request said that had it begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Auto {
    /// Only these moves; None: all.
    moves: Option<Vec<MoveNamed>>,
    max_in_flight: Option<usize>,
    reserve_for: Option<i64>,
    /// Who asked for it.
    pub(super) by: Arc<str>,
}

impl Auto {
    pub(super) fn new(begin: &Begin, by: &Arc<str>) -> Self {
        Self {
            moves: begin.moves.clone(),
            max_in_flight: begin.max_in_flight,
            reserve_for: begin.reserve_for,
            by: by.clone(),
        }
    }

    /// What is begun next.
    pub(super) fn begin(&self) -> Begin {
        Begin {
            moves: self.moves.clone(),
            max_in_flight: self.max_in_flight,
            reserve_for: self.reserve_for,
            auto: None,
        }
    }
}
