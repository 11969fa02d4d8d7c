//! Proposals for a cluster that runs.

use std::rc::Rc;
use std::sync::Arc;

use crate::call::Call;
use crate::contract::{self, Problem, Scope};
use crate::effects::Changes;
use crate::reads::Plan;
use crate::reason::{Reason, described};
use crate::request::Request;
use crate::settings::{self, Settings};
use crate::written::{Writes, WrittenTable, distinct};

/// A unit's proposals for a cluster that runs.
pub trait Balance {
    /// What is read, usually `#[derive(Request)]` with a field
    /// `#[table("hosts")] hosts: Rows<Host>`. There is no request: `members` has
    /// no rows.
    type Request: Request;
    /// What an admin may set; the same type in every part of a unit.
    type Settings: Settings;
    /// Why something is proposed.
    type Reason: Reason;
    /// The rows that moves may write, all of scope vm: a type with
    /// `#[derive(Written)]`, a tuple of up to four, or `()` for nothing.
    type Writes: Writes;

    /// Proposals in order of preference.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if a setting is at fault.
    fn balance(
        request: &Self::Request,
        settings: &Self::Settings,
    ) -> Result<Proposals<Self>, Problem>;
}

/// What a balance part proposes.
pub type Proposals<B> = Vec<Proposal<<B as Balance>::Reason, <B as Balance>::Writes>>;

/// One proposal. Row numbers are those that
/// [`Rows::numbered`](crate::rows::Rows::numbered) gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposal<R, W = ()> {
    /// Move a VM to another host, or change with it what only a move changes.
    Move {
        /// Row of `hosts/vms`.
        vm: u32,
        /// Rows of `hosts` that the chain may choose from; empty = any host.
        among: Vec<u32>,
        /// Rows of `hosts` of which the chain's own choice must be one for the
        /// move to be made; empty = any choice will do.
        accept: Vec<u32>,
        /// What is written of the VM together with the move (entity 0). With
        /// changes, the VM may stay on its host.
        changes: Changes<W>,
        /// Why.
        reason: R,
    },
    /// Bring a host into another state.
    HostState {
        /// Row of `hosts`.
        host: u32,
        /// One of the states of `hosts.state`.
        state: String,
        /// Why.
        reason: R,
    },
    /// Tell an operator, with nothing to do about it here.
    Finding {
        /// What.
        reason: R,
        /// What it is about: tables by name, and rows in them.
        rows: Vec<(&'static str, u32)>,
    },
}

/// Works out what a balance part reads.
pub(crate) fn plan<B: Balance>() -> Arc<Plan> {
    const {
        assert!(
            !B::Request::PER_VM,
            "a balance part has no VM to be placed: read tables with #[derive(Request)]"
        );
        assert!(
            distinct(B::Writes::WRITES),
            "two of the written types are of one table, scope and moment: make one of them"
        );
        assert!(
            of_the_vm(B::Writes::WRITES),
            "a balance part writes for the VM that it moves: use scope = \"vm\""
        );
    }
    Plan::of::<B::Request, (), B::Settings>()
}

const fn of_the_vm(writes: &[WrittenTable]) -> bool {
    let mut number = 0;
    while number < writes.len() {
        if !matches!(writes[number].scope, Scope::Vm) {
            return false;
        }
        number += 1;
    }
    true
}

/// The part as it is described to the runtime.
pub(crate) fn describe<B: Balance>(plan: &Plan) -> contract::BalancePart {
    contract::BalancePart {
        reads: plan.tables().to_vec(),
        writes: B::Writes::WRITES.iter().map(|it| it.describe()).collect(),
        reasons: described::<B::Reason>(),
    }
}

/// Asks for proposals and translates them.
pub(crate) fn propose<B: Balance>(call: &Rc<Call>) -> Result<Vec<contract::Proposal>, Problem> {
    let settings = settings::read::<B::Settings>(call)?;
    let request = B::Request::read(call, &call.plan().request, 0)?;
    let proposals = B::balance(&request, &settings)?;
    let translated = proposals.into_iter().map(|it| translate(it, call.plan()));
    translated.collect()
}

fn translate<R: Reason, W: Writes>(
    proposal: Proposal<R, W>,
    plan: &Plan,
) -> Result<contract::Proposal, Problem> {
    Ok(match proposal {
        Proposal::Move {
            vm,
            among,
            accept,
            changes,
            reason,
        } => contract::Proposal::Move(contract::Move {
            vm,
            among,
            accept,
            changes: changes.into_contract(),
            reason: reason.number(),
        }),
        Proposal::HostState {
            host,
            state,
            reason,
        } => contract::Proposal::HostState(contract::HostState {
            host,
            state,
            reason: reason.number(),
        }),
        Proposal::Finding { reason, rows } => contract::Proposal::Finding(contract::Finding {
            reason: reason.number(),
            rows: rows
                .into_iter()
                .map(|(table, row)| plan.row_of(table, row))
                .collect::<Result<_, _>>()?,
        }),
    })
}
