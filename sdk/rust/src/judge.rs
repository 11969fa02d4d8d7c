//! What row-wise and whole-table judges have in common.

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use crate::call::Call;
use crate::contract::{self, Answers, Judgement, Problem};
use crate::reads::Plan;
use crate::reason::{Reason, Verdict};
use crate::settings::Settings;

/// A part that answers about hosts, as `export!` puts it together: the author's
/// type, and which of the two answers it gives.
pub trait JudgePart {
    /// What an admin may set.
    type Settings: Settings;

    /// Works out what the part reads.
    fn plan() -> Arc<Plan>;

    /// The part as it is described to the runtime.
    fn describe(plan: &Plan) -> contract::JudgePart;

    /// Answers.
    ///
    /// # Errors
    ///
    /// What the author's functions return, and [`Problem::Failed`] if the call
    /// or an answer has not the declared shape.
    fn judge(call: &Rc<Call>, want: Answers) -> Result<Judgement, Problem>;
}

/// Stands for an answer that a part gives, or not: [`Given`], [`NotGiven`].
pub trait Answer {
    /// Is it given?
    const GIVEN: bool;
}

/// The part gives this answer.
pub struct Given;

/// The part does not give this answer.
pub struct NotGiven;

impl Answer for Given {
    const GIVEN: bool = true;
}

impl Answer for NotGiven {
    const GIVEN: bool = false;
}

/// A row-wise judge of the author's type `P`, with verdicts `V` and costs `C`
/// [`Given`] or [`NotGiven`].
pub struct RowWiseJudge<P, V, C>(PhantomData<(P, V, C)>);

/// A whole-table judge, likewise.
pub struct WholeTableJudge<P, V, C>(PhantomData<(P, V, C)>);

/// A judgement of this many entries that keeps everything at cost 0.
pub(crate) fn indifferent(want: Answers, entries: usize) -> Judgement {
    let entries_if = |wanted: bool| if wanted { entries } else { 0 };
    Judgement {
        verdicts: vec![0; entries_if(want.verdicts)],
        costs: vec![0.0; entries_if(want.costs)],
        until: Vec::new(),
    }
}

/// Lets the verdicts of one VM remove the hosts that are kept so far.
pub(crate) fn add_verdicts<R: Reason>(
    codes: &mut [u8],
    verdicts: &[Verdict<R>],
) -> Result<(), Problem> {
    expect_entries("verdicts", verdicts.len(), codes.len())?;
    for (code, verdict) in codes.iter_mut().zip(verdicts) {
        if *code == 0 {
            *code = verdict.code();
        }
    }
    Ok(())
}

pub(crate) fn expect_entries(what: &str, given: usize, entries: usize) -> Result<(), Problem> {
    if given == entries {
        return Ok(());
    }
    Err(Problem::failed(format!(
        "gave {given} {what} for {entries} hosts"
    )))
}
