//! What `export!` builds on: the way from an export of the component, or from a
//! native caller, to the author's type. Not for use by hand.

use std::sync::{Arc, OnceLock};

use crate::balance::{self, Balance};
use crate::bindings;
use crate::call::Call;
use crate::check::{self, CheckSettings};
use crate::contract::{
    self, Answers, Change, Description, Fact, Judgement, Problem, Proposal, Setting, Shares,
    Tables, Turns,
};
use crate::effects::{self, Effects};
use crate::explain::{self, Explain};
use crate::judge::JudgePart;
use crate::native::{self, NativeUnit};
use crate::order::{self, Order};
use crate::reads::Plan;
use crate::selection::{self, Selection};

/// The plan of a part, worked out at its first call.
pub type PlanOnce = OnceLock<Arc<Plan>>;

/// The types are the same; so all parts of a unit have one type of settings.
pub trait Same<T> {}

impl<T> Same<T> for T {}

/// Who a unit is.
pub struct Identity {
    /// Lower-case words joined by hyphens.
    pub name: &'static str,
    /// Semantic version.
    pub version: &'static str,
    /// One sentence for the admin.
    pub summary: &'static str,
    /// Names or ids of the same rule in other systems.
    pub aliases: &'static [&'static str],
}

/// The parts of a unit, as they are described; none = the unit has no such part.
pub struct Parts {
    /// Filter and cost function.
    pub judge: Option<contract::JudgePart>,
    /// Refinement of the candidates.
    pub selection: Option<contract::SelectionPart>,
    /// What follows from a placement.
    pub effects: Option<contract::EffectsPart>,
    /// Proposals for a cluster that runs.
    pub balance: Option<contract::BalancePart>,
    /// The turns of a batch.
    pub order: Option<contract::OrderPart>,
    /// The values behind a judgement.
    pub explain: Option<contract::ExplainPart>,
}

/// The description of a unit with these settings and parts. Inlined, so that
/// nothing is compiled for the parts that no unit has.
#[inline(always)]
pub fn describe(identity: &Identity, settings: Vec<Setting>, parts: Parts) -> Description {
    Description {
        name: identity.name.to_owned(),
        version: identity.version.to_owned(),
        summary: identity.summary.to_owned(),
        aliases: identity.aliases.iter().map(|&name| name.into()).collect(),
        settings,
        judge: parts.judge,
        selection: parts.selection,
        effects: parts.effects,
        balance: parts.balance,
        order: parts.order,
        explain: parts.explain,
    }
}

/// Describes a judge.
pub fn describe_judge<J: JudgePart>(plan: &PlanOnce) -> contract::JudgePart {
    J::describe(plan.get_or_init(J::plan))
}

/// Describes a selection.
pub fn describe_selection<S: Selection>(plan: &PlanOnce) -> contract::SelectionPart {
    selection::describe::<S>(plan.get_or_init(selection::plan::<S>))
}

/// Describes an effects part.
pub fn describe_effects<E: Effects>(plan: &PlanOnce) -> contract::EffectsPart {
    effects::describe::<E>(plan.get_or_init(effects::plan::<E>))
}

/// Describes a balance part.
pub fn describe_balance<B: Balance>(plan: &PlanOnce) -> contract::BalancePart {
    balance::describe::<B>(plan.get_or_init(balance::plan::<B>))
}

/// Describes an order part.
pub fn describe_order<O: Order>(plan: &PlanOnce) -> contract::OrderPart {
    order::describe(plan.get_or_init(order::plan::<O>))
}

/// Describes an explain part.
pub fn describe_explain<E: Explain>(plan: &PlanOnce) -> contract::ExplainPart {
    explain::describe(plan.get_or_init(explain::plan::<E>))
}

/// Asks a judge.
///
/// # Errors
///
/// As [`NativeUnit::judge`].
pub fn judge<J: JudgePart>(
    plan: &PlanOnce,
    want: Answers,
    call: &native::Call,
) -> Result<Judgement, Problem> {
    let plan = plan.get_or_init(J::plan);
    J::judge(&Call::open(plan, Arc::clone(call.tables()))?, want)
}

/// Asks a selection.
///
/// # Errors
///
/// As [`NativeUnit::refine`].
pub fn refine<S: Selection>(plan: &PlanOnce, call: &native::Call) -> Result<Shares, Problem> {
    let plan = plan.get_or_init(selection::plan::<S>);
    selection::refine::<S>(&Call::open(plan, Arc::clone(call.tables()))?)
}

/// Asks what follows from a placement.
///
/// # Errors
///
/// As [`NativeUnit::placed`].
pub fn placed<E: Effects>(plan: &PlanOnce, call: &native::Call) -> Result<Vec<Change>, Problem> {
    let plan = plan.get_or_init(effects::plan::<E>);
    effects::placed::<E>(&Call::open(plan, Arc::clone(call.tables()))?)
}

/// Asks for proposals.
///
/// # Errors
///
/// As [`NativeUnit::balance`].
pub fn balance<B: Balance>(plan: &PlanOnce, call: &native::Call) -> Result<Vec<Proposal>, Problem> {
    let plan = plan.get_or_init(balance::plan::<B>);
    balance::propose::<B>(&Call::open(plan, Arc::clone(call.tables()))?)
}

/// Asks for turns.
///
/// # Errors
///
/// As [`NativeUnit::order`].
pub fn order<O: Order>(plan: &PlanOnce, call: &native::Call) -> Result<Turns, Problem> {
    let plan = plan.get_or_init(order::plan::<O>);
    order::order::<O>(&Call::open(plan, Arc::clone(call.tables()))?)
}

/// Asks for the values behind a judgement.
///
/// # Errors
///
/// As [`NativeUnit::explain`].
pub fn explain<E: Explain>(plan: &PlanOnce, call: &native::Call) -> Result<Vec<Fact>, Problem> {
    let plan = plan.get_or_init(explain::plan::<E>);
    explain::explain::<E>(&Call::open(plan, Arc::clone(call.tables()))?)
}

/// Checks settings.
///
/// # Errors
///
/// As [`NativeUnit::check`].
pub fn check<K: CheckSettings>(plan: &PlanOnce, call: &native::Call) -> Result<(), String> {
    let plan = plan.get_or_init(Plan::of::<(), (), K::Settings>);
    let call = Call::open(plan, Arc::clone(call.tables())).map_err(check::sentence)?;
    check::check::<K>(&call)
}

/// The author's unit, as `export!` names it.
pub trait Exported: NativeUnit + Default {}

impl<U: Exported> bindings::contract::exports::placewright::policy::unit::Guest for U {
    fn describe() -> Description {
        keep_last_words();
        U::default().describe()
    }
}

impl<U: Exported> bindings::judge::exports::placewright::policy::judge::Guest for U {
    fn judge(want: Answers, call: Tables) -> Result<Judgement, Problem> {
        keep_last_words();
        U::default().judge(want, &native::Call::new(call))
    }
}

impl<U: Exported> bindings::selection::exports::placewright::policy::selection::Guest for U {
    fn refine(call: Tables) -> Result<Shares, Problem> {
        keep_last_words();
        U::default().refine(&native::Call::new(call))
    }
}

impl<U: Exported> bindings::effects::exports::placewright::policy::effects::Guest for U {
    fn placed(call: Tables) -> Result<Vec<Change>, Problem> {
        keep_last_words();
        U::default().placed(&native::Call::new(call))
    }
}

impl<U: Exported> bindings::balance::exports::placewright::policy::balance::Guest for U {
    fn balance(call: Tables) -> Result<Vec<Proposal>, Problem> {
        keep_last_words();
        U::default().balance(&native::Call::new(call))
    }
}

impl<U: Exported> bindings::order::exports::placewright::policy::order::Guest for U {
    fn order(call: Tables) -> Result<Turns, Problem> {
        keep_last_words();
        U::default().order(&native::Call::new(call))
    }
}

impl<U: Exported> bindings::explain::exports::placewright::policy::explain::Guest for U {
    fn explain(call: Tables) -> Result<Vec<Fact>, Problem> {
        keep_last_words();
        U::default().explain(&native::Call::new(call))
    }
}

impl<U: Exported> bindings::settings::exports::placewright::policy::settings::Guest for U {
    fn check(settings: Tables) -> Result<(), String> {
        keep_last_words();
        U::default().check(&native::Call::new(settings))
    }
}

/// Lets a panic say to the log where and why, before the component traps and
/// cannot be asked any more. Nothing to do natively, where a panic is printed.
fn keep_last_words() {
    if !cfg!(target_arch = "wasm32") {
        return;
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let message = panic.payload_as_str().unwrap_or("(no message)");
            let place = panic.location();
            let (file, line) = place.map_or(("unknown", 0), |at| (at.file(), at.line()));
            crate::log::error(&format!("panicked at {file}:{line}: {message}"));
        }));
    });
}
