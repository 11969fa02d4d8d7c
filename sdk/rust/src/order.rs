//! The turns of a batch.

use std::rc::Rc;
use std::sync::Arc;

use crate::call::Call;
use crate::contract::{self, Problem};
use crate::reads::Plan;
use crate::request::Request;
use crate::settings::{self, Settings};

/// A unit's order of the VMs of a batch: who is placed first, and who together.
///
/// ```
/// use placewright_sdk::prelude::*;
///
/// #[derive(Row)]
/// struct Vm {
///     memory: Bytes,
/// }
///
/// #[derive(Request)]
/// struct Batch {
///     #[table("members")]
///     vms: Rows<Vm>,
/// }
///
/// /// Places the VMs with the most memory first, one at a time.
/// struct LargestFirst;
///
/// impl Order for LargestFirst {
///     type Request = Batch;
///     type Settings = ();
///
///     fn order(batch: &Batch, (): &()) -> Result<Vec<Vec<u32>>, Problem> {
///         let mut vms: Vec<(u32, Vm)> = batch.vms.numbered().collect();
///         vms.sort_by_key(|(_, vm)| std::cmp::Reverse(vm.memory));
///         Ok(vms.into_iter().map(|(row, _)| vec![row]).collect())
///     }
/// }
///
/// # mod unit {
/// # use super::LargestFirst;
/// placewright_sdk::export!(LargestFirst: order);
/// # }
/// # fn main() {}
/// ```
pub trait Order {
    /// What is read, usually `#[derive(Request)]` with a field
    /// `#[table("members")] vms: Rows<Vm>`. `hosts` holds the hosts of the
    /// cluster in every state.
    type Request: Request;
    /// What an admin may set; the same type in every part of a unit.
    type Settings: Settings;

    /// Turns in order: rows of `members` that are placed together on one host,
    /// each at most once. A member that is in no turn is not placed.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if the request or a setting is at fault.
    fn order(request: &Self::Request, settings: &Self::Settings) -> Result<Vec<Vec<u32>>, Problem>;
}

/// Works out what an order part reads.
pub(crate) fn plan<O: Order>() -> Arc<Plan> {
    const {
        assert!(
            !O::Request::PER_VM,
            "an order part is asked once for all VMs: read tables with #[derive(Request)], \
             and `members` as Rows"
        );
    }
    Plan::of::<O::Request, (), O::Settings>()
}

/// The part as it is described to the runtime.
pub(crate) fn describe(plan: &Plan) -> contract::OrderPart {
    contract::OrderPart {
        reads: plan.tables().to_vec(),
    }
}

/// Asks for turns and lays them out.
pub(crate) fn order<O: Order>(call: &Rc<Call>) -> Result<contract::Turns, Problem> {
    let settings = settings::read::<O::Settings>(call)?;
    let request = O::Request::read(call, &call.plan().request, 0)?;
    let mut turns = contract::Turns {
        turns: vec![0],
        rows: Vec::new(),
    };
    for turn in O::order(&request, &settings)? {
        turns.rows.extend(turn);
        // The contract counts rows in 32 bits.
        turns.turns.push(turns.rows.len() as u32);
    }
    Ok(turns)
}
