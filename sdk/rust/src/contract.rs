//! The types of the contract (`placewright:policy`), documented there.
//!
//! Authors meet [`Problem`]; the others are met by those who call units natively.

pub use crate::bindings::contract::exports::placewright::policy::unit::{
    BalancePart, ColumnRead, Description, Evaluation, JudgePart, Reason, Setting, SettingColumn,
    TableRead,
};
pub use crate::bindings::contract::placewright::policy::log::Level;
pub use crate::bindings::contract::placewright::policy::types::{
    Answers, Finding, HostState, Judgement, Kind, Move, Problem, Proposal, Row, Tables, Value,
};

impl Problem {
    /// The request or a setting is at fault: the caller is told this sentence.
    pub fn refused(sentence: impl Into<String>) -> Self {
        Self::Refused(sentence.into())
    }

    /// The unit itself is at fault: its failure policy applies.
    pub fn failed(sentence: impl Into<String>) -> Self {
        Self::Failed(sentence.into())
    }
}
