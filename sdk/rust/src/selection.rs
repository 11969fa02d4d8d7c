//! Refinement of the candidates that are left.

use std::rc::Rc;
use std::sync::Arc;

use crate::call::Call;
use crate::contract::{self, Position, Problem};
use crate::reads::Plan;
use crate::request::Request;
use crate::settings::{self, Settings};

/// A unit's refinement of the candidates that the filters left, with the costs
/// of the cost functions at hand.
///
/// ```
/// use placewright_sdk::prelude::*;
///
/// #[derive(Row)]
/// struct Candidate {
///     cost: f64,
/// }
///
/// #[derive(Request)]
/// struct Choice {
///     candidates: Rows<Candidate>,
/// }
///
/// /// Leaves the candidates that cost least, each with the same chance.
/// struct Cheapest;
///
/// impl Selection for Cheapest {
///     type Request = Choice;
///     type Settings = ();
///
///     fn refine(choice: &Choice, (): &()) -> Result<Groups, Problem> {
///         let costs = choice.candidates.iter().map(|candidate| candidate.cost);
///         let least = costs.fold(f64::INFINITY, f64::min);
///         let candidates = choice.candidates.numbered();
///         let cheapest = candidates.filter(|(_, candidate)| candidate.cost == least);
///         Ok(Groups::only(cheapest.map(|(row, _)| row)))
///     }
/// }
///
/// # mod unit {
/// # use super::Cheapest;
/// placewright_sdk::export!(Cheapest: selection);
/// # }
/// # fn main() {}
/// ```
///
/// All VMs of the request are read at once; once for each VM does not compile:
///
/// ```compile_fail
/// # use placewright_sdk::prelude::*;
/// # #[derive(Row)]
/// # struct Vm { memory: Bytes }
/// # struct PerVm;
/// impl Selection for PerVm {
///     type Request = Vm; // a row of `members`
///     type Settings = ();
///
///     fn refine(_: &Vm, (): &()) -> Result<Groups, Problem> {
///         Ok(Groups::default())
///     }
/// }
/// # mod unit {
/// # use super::PerVm;
/// # placewright_sdk::export!(PerVm: selection);
/// # }
/// # fn main() { unit::native_unit().describe(); }
/// ```
pub trait Selection {
    /// What is read, usually `#[derive(Request)]` with a field
    /// `candidates: Rows<Candidate>`. The rows of `candidates` and of `hosts` are
    /// the same hosts in the same order.
    type Request: Request;
    /// What an admin may set; the same type in every part of a unit.
    type Settings: Settings;

    /// Where the unit must stand among the selections of a stage.
    const POSITION: Position = Position::Any;

    /// The candidates in groups, best group first. One that is in no group is no
    /// candidate any more.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if the request or a setting is at fault.
    fn refine(request: &Self::Request, settings: &Self::Settings) -> Result<Groups, Problem>;
}

/// A candidate's share of chance in its group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Row of `candidates`, which is the row of `hosts` too.
    pub candidate: u32,
    /// 0 or more. The shares of a group sum to 1, or are all 0: a group of which
    /// nobody is drawn.
    pub share: f64,
}

/// Candidates in groups, best group first; each candidate at most once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Groups(pub Vec<Vec<Share>>);

impl Groups {
    /// One group of these candidates with equal shares; without any, nobody is
    /// left.
    pub fn only(rows: impl IntoIterator<Item = u32>) -> Self {
        let rows: Vec<u32> = rows.into_iter().collect();
        if rows.is_empty() {
            return Self::default();
        }
        let share = 1.0 / rows.len() as f64;
        let equal = |candidate| Share { candidate, share };
        Self(vec![rows.into_iter().map(equal).collect()])
    }
}

/// Works out what a selection reads.
pub(crate) fn plan<S: Selection>() -> Arc<Plan> {
    const {
        assert!(
            !S::Request::PER_VM,
            "a selection is asked once for all VMs: read tables with #[derive(Request)], \
             and `members` as Rows"
        );
    }
    Plan::of::<S::Request, (), S::Settings>()
}

/// The part as it is described to the runtime.
pub(crate) fn describe<S: Selection>(plan: &Plan) -> contract::SelectionPart {
    contract::SelectionPart {
        reads: plan.tables().to_vec(),
        position: S::POSITION,
    }
}

/// Asks for groups and lays them out.
pub(crate) fn refine<S: Selection>(call: &Rc<Call>) -> Result<contract::Shares, Problem> {
    let settings = settings::read::<S::Settings>(call)?;
    let request = S::Request::read(call, &call.plan().request, 0)?;
    let Groups(groups) = S::refine(&request, &settings)?;
    let mut shares = contract::Shares {
        groups: vec![0],
        rows: Vec::new(),
        shares: Vec::new(),
    };
    for group in groups {
        for Share { candidate, share } in group {
            shares.rows.push(candidate);
            shares.shares.push(share);
        }
        // The contract counts rows in 32 bits.
        shares.groups.push(shares.rows.len() as u32);
    }
    Ok(shares)
}
