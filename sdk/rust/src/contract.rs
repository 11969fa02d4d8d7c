//! The types of the contract (`placewright:policy`), documented there.
//!
//! Authors meet [`Problem`], [`Position`] and [`Value`]; the others are met by those who call units natively.

pub use crate::bindings::contract::exports::placewright::policy::unit::{
    BalancePart, ColumnRead, Description, EffectsPart, Evaluation, ExplainPart, JudgePart, Moment,
    OrderPart, Position, Reason, Scope, SelectionPart, Setting, SettingColumn, TableRead, Write,
};
pub use crate::bindings::contract::placewright::policy::log::Level;
pub use crate::bindings::contract::placewright::policy::types::{
    Answers, Change, Fact, Finding, HostState, Judgement, Kind, Move, Operation, Problem, Proposal,
    Row, Shares, Tables, Turns, Value,
};

use crate::amounts::{Bytes, Millicores, Seconds};
use crate::text::Text;

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

macro_rules! into_value {
    ($($from:ty: $given:ident => $value:expr),* $(,)?) => {$(
        impl From<$from> for Value {
            fn from($given: $from) -> Self {
                $value
            }
        }
    )*};
}

into_value! {
    i64: whole => Self::Integer(whole),
    f64: number => Self::Number(number),
    bool: boolean => Self::Boolean(boolean),
    Bytes: amount => Self::Integer(amount.0),
    Millicores: amount => Self::Integer(amount.0),
    Seconds: amount => Self::Integer(amount.0),
    String: text => Self::Text(text),
    &str: text => Self::Text(text.to_owned()),
    Text: text => Self::Text(text.as_str().to_owned()),
}
