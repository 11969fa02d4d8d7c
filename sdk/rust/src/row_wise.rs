//! Filters and cost functions that look at one host at a time.

use std::rc::Rc;
use std::sync::Arc;

use crate::call::Call;
use crate::contract::{self, Answers, Evaluation, Judgement, Problem};
use crate::hosts::Hosts;
use crate::judge::{Answer, Given, JudgePart, NotGiven, RowWiseJudge, add_verdicts, indifferent};
use crate::reads::Plan;
use crate::reason::{Reason, Verdict, described};
use crate::request::Request;
use crate::row::Row;
use crate::rows::Rows;
use crate::settings::{self, Settings};

/// The `until` of an answer that time does not change: 2^53 - 1 seconds.
pub const FOR_GOOD: i64 = (1 << 53) - 1;

/// The `until` of an answer that holds for the second of the call only.
pub const THIS_SECOND: i64 = i64::MIN;

/// What a row-wise filter or cost function reads, and what it works out once
/// per call.
///
/// Its answer for a host depends on that host's row, the request and the
/// settings, and on nothing else: other hosts, their number and order do not
/// count. In return it is asked only about hosts that have changed.
pub trait RowWise {
    /// What is read of the request. See [`Request`].
    type Request: Request;
    /// What is read of a host. `()` = nothing: one answer holds for all hosts.
    type Host: Row;
    /// What an admin may set.
    type Settings: Settings;
    /// Why hosts are removed; `()` for a cost function alone.
    type Reason: Reason;
    /// What is worked out before any host is looked at.
    type Need;

    /// Works out what is needed, once per call (and VM).
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if the request or a setting is at fault.
    fn prepare(request: &Self::Request, settings: &Self::Settings) -> Result<Self::Need, Problem>;

    /// For a part that reads `request.now`: the last second at which the answer
    /// for this host still holds if nothing but the time changes; [`FOR_GOOD`] if
    /// time does not change it. Left as it is, an answer holds for
    /// [`THIS_SECOND`] only: always right, and never worth keeping.
    #[inline]
    fn until(need: &Self::Need, host: &Self::Host) -> i64 {
        let _ = (need, host);
        THIS_SECOND
    }
}

/// Verdict and cost of a host; `None` = [`keep`](RowFilter::keep) and [`cost`](RowCost::cost) are to
/// be asked, for this host and for those after it.
pub type Together<P> = fn(
    &<P as RowWise>::Need,
    &<P as RowWise>::Host,
) -> Option<(Verdict<<P as RowWise>::Reason>, f64)>;

/// A filter that looks at one host at a time.
pub trait RowFilter: RowWise {
    /// A function that tells in one go what [`keep`](Self::keep) and [`RowCost::cost`] say
    /// of a host, for a rule that works out much of both at once: it is asked where only one
    /// of the two counts, too. It may leave hosts to those two; `None`, as it is left: all.
    const TOGETHER: Option<Together<Self>> = None;

    /// May the request run on this host?
    fn keep(need: &Self::Need, host: &Self::Host) -> Verdict<Self::Reason>;

    /// What [`keep`](Self::keep) says of each host of a call, in order, for a rule that
    /// takes less time to look at all of them together. `None`, as it is left: they are
    /// looked at one after the other, as they are where costs are asked for, too.
    #[inline]
    fn keep_all(need: &Self::Need, hosts: &Rows<Self::Host>) -> Option<Vec<Verdict<Self::Reason>>> {
        let _ = (need, hosts);
        None
    }
}

/// A cost function that looks at one host at a time.
pub trait RowCost: RowWise {
    /// The least and the greatest cost that it ever returns, if they are fixed.
    const RANGE: Option<(f64, f64)> = None;

    /// What it would cost to run the request on this host; lower is better.
    /// Must be total: it may be asked about hosts that a filter removes, and
    /// returns neither NaN nor -infinity.
    fn cost(need: &Self::Need, host: &Self::Host) -> f64;
}

/// The verdicts of a row-wise part, if it gives any.
pub trait RowVerdicts<P: RowWise>: Answer {
    /// Verdicts and costs in one go.
    const TOGETHER: Option<Together<P>> = None;

    /// May the request run on this host?
    fn keep(need: &P::Need, host: &P::Host) -> Verdict<P::Reason>;

    /// The same of all hosts, where they are looked at together.
    #[inline]
    fn keep_all(need: &P::Need, hosts: &Rows<P::Host>) -> Option<Vec<Verdict<P::Reason>>> {
        let _ = (need, hosts);
        None
    }
}

impl<P: RowFilter> RowVerdicts<P> for Given {
    const TOGETHER: Option<Together<P>> = P::TOGETHER;

    #[inline(always)]
    fn keep(need: &P::Need, host: &P::Host) -> Verdict<P::Reason> {
        P::keep(need, host)
    }

    #[inline]
    fn keep_all(need: &P::Need, hosts: &Rows<P::Host>) -> Option<Vec<Verdict<P::Reason>>> {
        P::keep_all(need, hosts)
    }
}

impl<P: RowWise> RowVerdicts<P> for NotGiven {
    #[inline]
    fn keep(_: &P::Need, _: &P::Host) -> Verdict<P::Reason> {
        Verdict::Keep
    }
}

/// The costs of a row-wise part, if it gives any.
pub trait RowCosts<P: RowWise>: Answer {
    /// The least and the greatest cost.
    const RANGE: Option<(f64, f64)>;

    /// What it would cost to run the request on this host.
    fn cost(need: &P::Need, host: &P::Host) -> f64;
}

impl<P: RowCost> RowCosts<P> for Given {
    const RANGE: Option<(f64, f64)> = P::RANGE;

    #[inline(always)]
    fn cost(need: &P::Need, host: &P::Host) -> f64 {
        P::cost(need, host)
    }
}

impl<P: RowWise> RowCosts<P> for NotGiven {
    const RANGE: Option<(f64, f64)> = None;

    #[inline]
    fn cost(_: &P::Need, _: &P::Host) -> f64 {
        0.0
    }
}

impl<P, V, C> JudgePart for RowWiseJudge<P, V, C>
where
    P: RowWise,
    V: RowVerdicts<P>,
    C: RowCosts<P>,
{
    type Settings = P::Settings;

    fn plan() -> Arc<Plan> {
        Plan::of::<P::Request, P::Host, P::Settings>()
    }

    fn describe(plan: &Plan) -> contract::JudgePart {
        contract::JudgePart {
            answers: Answers {
                verdicts: V::GIVEN,
                costs: C::GIVEN,
            },
            evaluation: Evaluation::RowWise,
            reads: plan.tables().to_vec(),
            reasons: described::<P::Reason>(),
            cost_range: C::RANGE,
        }
    }

    fn judge(call: &Rc<Call>, want: Answers) -> Result<Judgement, Problem> {
        let want = Answers {
            verdicts: want.verdicts && V::GIVEN,
            costs: want.costs && C::GIVEN,
        };
        let plan = call.plan();
        let settings = settings::read::<P::Settings>(call)?;
        let entries = plan.hosts.map_or(1, |hosts| call.rows(hosts));
        let mut judgement = indifferent(want, entries);
        if plan.now.is_some() {
            judgement.until = vec![FOR_GOOD; entries];
        }
        let turns = if P::Request::PER_VM {
            call.members()
        } else {
            1
        };
        for vm in 0..turns {
            let request = P::Request::read(call, &plan.request, vm)?;
            let need = P::prepare(&request, &settings)?;
            let hosts = Hosts::<P> {
                need: &need,
                call,
                number: plan.hosts.unwrap_or_default(),
                entries,
            };
            let together = match (plan.hosts, want.verdicts && !want.costs) {
                (Some(hosts), true) => V::keep_all(&need, &Rows::of_call(call, hosts, 0, entries)),
                _ => None,
            };
            match together {
                Some(verdicts) => add_verdicts(&mut judgement.verdicts, &verdicts)?,
                None => hosts.judge::<V, C>(&mut judgement),
            }
            hosts.until(call.now().unwrap_or(0), &mut judgement.until);
        }
        if judgement.until.iter().all(|&until| until == FOR_GOOD) {
            judgement.until = Vec::new();
        }
        Ok(judgement)
    }
}
