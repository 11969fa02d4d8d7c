//! Verdicts and their reasons.

use crate::contract;

/// Why a host is removed, or something is proposed. Written with
/// `#[derive(Reason)]` on an enum without data.
///
/// The doc comment of a variant completes the sentence "host h1 ...", for
/// example `/// has too little free memory`. `#[reason(passing)]` marks one that
/// may go away without anything being changed, because it counts what is pending.
///
/// `()` has no reasons, for parts that only give costs.
pub trait Reason {
    /// The sentences in order of their numbers, and whether each is passing; at
    /// most 255.
    const REASONS: &'static [(&'static str, bool)];

    /// The number of this reason, counted from 1.
    fn number(&self) -> u8;
}

impl Reason for () {
    const REASONS: &'static [(&'static str, bool)] = &[];

    /// 255, which the runtime refuses: there is no such reason.
    fn number(&self) -> u8 {
        u8::MAX
    }
}

/// The reasons as they are described to the runtime.
pub(crate) fn described<R: Reason>() -> Vec<contract::Reason> {
    let reason = |&(text, passing): &(&str, bool)| contract::Reason {
        text: text.to_owned(),
        passing,
    };
    R::REASONS.iter().map(reason).collect()
}

/// What a filter says of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<R> {
    /// The request may run there.
    Keep,
    /// It may not, for this reason.
    Remove(R),
}

impl<R> Verdict<R> {
    /// Keep if it holds, else remove for this reason.
    #[inline]
    pub fn keep_if(holds: bool, reason: R) -> Self {
        if holds {
            Self::Keep
        } else {
            Self::Remove(reason)
        }
    }

    /// This verdict, or the other one if this one keeps.
    #[inline]
    pub fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Keep => other(),
            removed => removed,
        }
    }
}

impl<R: Reason> Verdict<R> {
    /// As it is sent: 0 keeps, k removes for the k-th reason.
    #[inline]
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Keep => 0,
            Self::Remove(reason) => reason.number(),
        }
    }
}
