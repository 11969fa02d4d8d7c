//! What follows from a placement.

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use crate::call::Call;
use crate::contract::{self, Change, Operation, Problem};
use crate::reads::Plan;
use crate::request::Request;
use crate::settings::{self, Settings};
use crate::written::{Writes, Written, distinct, number};

/// What a unit writes when a request is placed.
///
/// ```
/// use placewright_sdk::prelude::*;
///
/// #[derive(Row)]
/// struct Vm {
///     #[column("attribute.licence")]
///     licence: Option<Text>,
/// }
///
/// #[derive(Request)]
/// struct Placement {
///     #[table("members")]
///     vms: Rows<Vm>,
/// }
///
/// /// A row of the host's table that says which licences were brought there.
/// #[derive(Written)]
/// #[written(table = "attribute.licences", scope = "host", moment = "running")]
/// struct Licence {
///     name: Text,
///     note: Option<Text>,
/// }
///
/// struct Licences;
///
/// impl Effects for Licences {
///     type Request = Placement;
///     type Settings = ();
///     type Writes = Licence;
///
///     fn placed(placement: &Placement, (): &()) -> Result<Changes<Licence>, Problem> {
///         let mut changes = Changes::new();
///         for name in placement.vms.iter().filter_map(|vm| vm.licence) {
///             let note = Some("brought by a VM".into());
///             changes.append(0, Licence { name, note });
///         }
///         Ok(changes)
///     }
/// }
///
/// # mod unit {
/// # use super::Licences;
/// placewright_sdk::export!(Licences: effects);
/// # }
/// # fn main() {}
/// ```
///
/// Several tables are written with a tuple: `type Writes = (Licence, Note)`. A
/// row of a table that is not among them does not compile:
///
/// ```compile_fail
/// # use placewright_sdk::prelude::*;
/// # #[derive(Written)]
/// # #[written(table = "keys", scope = "vm", moment = "decided")]
/// # struct Key { name: Text }
/// # #[derive(Written)]
/// # #[written(table = "notes", scope = "vm", moment = "decided")]
/// # struct Note { text: Text }
/// let mut changes = Changes::<Key>::new();
/// changes.append(0, Note { text: "not a key".into() });
/// ```
pub trait Effects {
    /// What is read, usually `#[derive(Request)]` with a field
    /// `#[table("members")] vms: Rows<Vm>`. The only row of `hosts` is the host
    /// that was chosen.
    type Request: Request;
    /// What an admin may set; the same type in every part of a unit.
    type Settings: Settings;
    /// The rows that may be written: a type with `#[derive(Written)]`, or a tuple
    /// of up to four.
    type Writes: Writes;

    /// What is to be written with the decision, in order.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if the request or a setting is at fault.
    fn placed(
        request: &Self::Request,
        settings: &Self::Settings,
    ) -> Result<Changes<Self::Writes>, Problem>;
}

/// Changes that follow from a placement or go with a move, in order.
///
/// An entity is the row of `members` for the scopes placement and vm, and 0 for
/// host, tenant and cluster, of which there is one, and for the VM of a move.
pub struct Changes<W> {
    changes: Vec<Change>,
    writes: PhantomData<fn(W)>,
}

impl<W: Writes> Changes<W> {
    /// No changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row to the entity's table.
    pub fn append<R: Written>(&mut self, entity: u32, row: R) {
        self.write::<R>(entity, Operation::Append(row.values()));
    }

    /// Replaces the values of a row, by its number among the rows of the entity.
    pub fn set<R: Written>(&mut self, entity: u32, row_number: u32, row: R) {
        self.write::<R>(entity, Operation::Set((row_number, row.values())));
    }

    /// Removes a row of the table that rows of this type are written to, by its
    /// number among the rows of the entity.
    pub fn remove<R: Written>(&mut self, entity: u32, row_number: u32) {
        self.write::<R>(entity, Operation::Remove(row_number));
    }

    /// Adds to what the placement of a member reserves on the host: the amount's
    /// name and how much of it. This writes no table, and may be said with any
    /// writes.
    pub fn reserve(&mut self, member: u32, amount: &str, value: i64) {
        self.changes.push(Change {
            write: 0,
            entity: member,
            operation: Operation::Reserve((amount.to_owned(), value)),
        });
    }

    fn write<R: Written>(&mut self, entity: u32, operation: Operation) {
        self.changes.push(Change {
            write: const { number(W::WRITES, &R::TABLE) },
            entity,
            operation,
        });
    }
}

impl<W> Changes<W> {
    /// The changes as the contract has them, for tests.
    pub fn into_contract(self) -> Vec<Change> {
        self.changes
    }
}

impl<W> Clone for Changes<W> {
    fn clone(&self) -> Self {
        Self {
            changes: self.changes.clone(),
            writes: PhantomData,
        }
    }
}

impl<W> PartialEq for Changes<W> {
    fn eq(&self, other: &Self) -> bool {
        self.changes == other.changes
    }
}

impl<W> Default for Changes<W> {
    fn default() -> Self {
        Self {
            changes: Vec::new(),
            writes: PhantomData,
        }
    }
}

impl<W> fmt::Debug for Changes<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.changes).finish()
    }
}

/// Works out what an effects part reads.
pub(crate) fn plan<E: Effects>() -> Arc<Plan> {
    const {
        assert!(
            !E::Request::PER_VM,
            "an effects part is asked once for all VMs: read tables with #[derive(Request)], \
             and `members` as Rows"
        );
        assert!(
            distinct(E::Writes::WRITES),
            "two of the written types are of one table, scope and moment: make one of them"
        );
    }
    Plan::of::<E::Request, (), E::Settings>()
}

/// The part as it is described to the runtime.
pub(crate) fn describe<E: Effects>(plan: &Plan) -> contract::EffectsPart {
    contract::EffectsPart {
        reads: plan.tables().to_vec(),
        writes: E::Writes::WRITES.iter().map(|it| it.describe()).collect(),
    }
}

/// Asks for changes.
pub(crate) fn placed<E: Effects>(call: &Rc<Call>) -> Result<Vec<Change>, Problem> {
    let settings = settings::read::<E::Settings>(call)?;
    let request = E::Request::read(call, &call.plan().request, 0)?;
    Ok(E::placed(&request, &settings)?.into_contract())
}
