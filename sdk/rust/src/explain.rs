//! The values behind a judgement, for a person who asks why.

use std::rc::Rc;
use std::sync::Arc;

use crate::call::Call;
use crate::contract::{self, Problem, Value};
use crate::reads::Plan;
use crate::request::Request;
use crate::settings::{self, Settings};

/// What a unit can tell of how it came to its answers. Called only when a person
/// asks.
///
/// ```
/// use placewright_sdk::prelude::*;
///
/// #[derive(Row)]
/// struct Host {
///     #[column("cpu.usage")]
///     load: f64,
/// }
///
/// #[derive(Request)]
/// struct Stage {
///     hosts: Rows<Host>,
/// }
///
/// struct Spread;
///
/// impl Explain for Spread {
///     type Request = Stage;
///     type Settings = ();
///
///     fn explain(stage: &Stage, (): &()) -> Result<Vec<Fact>, Problem> {
///         let sum: f64 = stage.hosts.iter().map(|host| host.load).sum();
///         let mean = sum / stage.hosts.len() as f64;
///         let above = |(row, host): (u32, Host)| {
///             Fact::new("above the mean", host.load - mean).about("hosts", row)
///         };
///         Ok(stage.hosts.numbered().map(above).collect())
///     }
/// }
///
/// # mod unit {
/// # use super::Spread;
/// placewright_sdk::export!(Spread: explain);
/// # }
/// # fn main() {}
/// ```
pub trait Explain {
    /// What is read, usually `#[derive(Request)]` with a field
    /// `hosts: Rows<Host>`: the hosts that the stage considered. If `candidates`
    /// is read, these are the candidates after the stage's costs, and the rows of
    /// `hosts` are the same hosts in the same order.
    type Request: Request;
    /// What an admin may set; the same type in every part of a unit.
    type Settings: Settings;

    /// The values that the unit worked out for this request.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if the request or a setting is at fault.
    fn explain(request: &Self::Request, settings: &Self::Settings) -> Result<Vec<Fact>, Problem>;
}

/// A value that a part worked out.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What it is, in the words of the unit's documentation.
    pub name: String,
    /// What it is about, if it is about one row: a table that the part reads by
    /// name, and the row's number, as [`Rows::numbered`](crate::rows::Rows::numbered)
    /// gives it.
    pub about: Option<(&'static str, u32)>,
    /// The value.
    pub value: Value,
}

impl Fact {
    /// A fact that is about no row.
    pub fn new(name: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            name: name.into(),
            about: None,
            value: value.into(),
        }
    }

    /// This fact about a row of a table.
    #[must_use]
    pub fn about(self, table: &'static str, row: u32) -> Self {
        Self {
            about: Some((table, row)),
            ..self
        }
    }
}

/// Works out what an explain part reads.
pub(crate) fn plan<E: Explain>() -> Arc<Plan> {
    const {
        assert!(
            !E::Request::PER_VM,
            "an explain part is asked once for all VMs: read tables with #[derive(Request)], \
             and `members` as Rows"
        );
    }
    Plan::of::<E::Request, (), E::Settings>()
}

/// The part as it is described to the runtime.
pub(crate) fn describe(plan: &Plan) -> contract::ExplainPart {
    contract::ExplainPart {
        reads: plan.tables().to_vec(),
    }
}

/// Asks for facts and translates them.
pub(crate) fn explain<E: Explain>(call: &Rc<Call>) -> Result<Vec<contract::Fact>, Problem> {
    let settings = settings::read::<E::Settings>(call)?;
    let request = E::Request::read(call, &call.plan().request, 0)?;
    let facts = E::explain(&request, &settings)?;
    let translated = facts.into_iter().map(|fact| translate(fact, call.plan()));
    translated.collect()
}

fn translate(fact: Fact, plan: &Plan) -> Result<contract::Fact, Problem> {
    let about = fact.about.map(|(table, row)| plan.row_of(table, row));
    Ok(contract::Fact {
        name: fact.name,
        about: about.transpose()?,
        value: fact.value,
    })
}
