//! Filters and cost functions that look at all hosts at once.

use std::rc::Rc;
use std::sync::Arc;

use crate::call::Call;
use crate::contract::{self, Answers, Evaluation, Judgement, Problem};
use crate::judge::{
    Answer, Given, JudgePart, NotGiven, WholeTableJudge, add_verdicts, expect_entries, indifferent,
};
use crate::reads::Plan;
use crate::reason::{Reason, Verdict, described};
use crate::request::Request;
use crate::row::Row;
use crate::rows::Rows;
use crate::settings::{self, Settings};

/// What a whole-table filter or cost function reads.
///
/// Write one only if an answer depends on other hosts: it is asked anew whenever
/// any of them changes. A filter sees the hosts that the filters before it left,
/// a cost function those that all filters left.
pub trait WholeTable {
    /// What is read of the request. See [`Request`].
    type Request: Request;
    /// What is read of each host.
    type Host: Row;
    /// What an admin may set.
    type Settings: Settings;
    /// Why hosts are removed; `()` for a cost function alone.
    type Reason: Reason;
}

/// A filter that looks at all hosts at once.
pub trait TableFilter: WholeTable {
    /// A verdict for each host, in order.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if the request or a setting is at fault.
    fn keep(
        request: &Self::Request,
        hosts: &Rows<Self::Host>,
        settings: &Self::Settings,
    ) -> Result<Vec<Verdict<Self::Reason>>, Problem>;
}

/// A cost function that looks at all hosts at once.
pub trait TableCost: WholeTable {
    /// The least and the greatest cost that it ever returns, if they are fixed.
    const RANGE: Option<(f64, f64)> = None;

    /// A cost for each host, in order; lower is better, neither NaN nor
    /// -infinity.
    ///
    /// # Errors
    ///
    /// [`Problem::Refused`] if the request or a setting is at fault.
    fn cost(
        request: &Self::Request,
        hosts: &Rows<Self::Host>,
        settings: &Self::Settings,
    ) -> Result<Vec<f64>, Problem>;
}

/// The verdicts of a whole-table part, if it gives any.
pub trait TableVerdicts<P: WholeTable>: Answer {
    /// A verdict for each host.
    ///
    /// # Errors
    ///
    /// What the author's function returns.
    fn keep(
        request: &P::Request,
        hosts: &Rows<P::Host>,
        settings: &P::Settings,
    ) -> Result<Vec<Verdict<P::Reason>>, Problem>;
}

impl<P: TableFilter> TableVerdicts<P> for Given {
    fn keep(
        request: &P::Request,
        hosts: &Rows<P::Host>,
        settings: &P::Settings,
    ) -> Result<Vec<Verdict<P::Reason>>, Problem> {
        P::keep(request, hosts, settings)
    }
}

impl<P: WholeTable> TableVerdicts<P> for NotGiven {
    fn keep(
        _: &P::Request,
        _: &Rows<P::Host>,
        _: &P::Settings,
    ) -> Result<Vec<Verdict<P::Reason>>, Problem> {
        Ok(Vec::new())
    }
}

/// The costs of a whole-table part, if it gives any.
pub trait TableCosts<P: WholeTable>: Answer {
    /// The least and the greatest cost.
    const RANGE: Option<(f64, f64)>;

    /// A cost for each host.
    ///
    /// # Errors
    ///
    /// What the author's function returns.
    fn cost(
        request: &P::Request,
        hosts: &Rows<P::Host>,
        settings: &P::Settings,
    ) -> Result<Vec<f64>, Problem>;
}

impl<P: TableCost> TableCosts<P> for Given {
    const RANGE: Option<(f64, f64)> = P::RANGE;

    fn cost(
        request: &P::Request,
        hosts: &Rows<P::Host>,
        settings: &P::Settings,
    ) -> Result<Vec<f64>, Problem> {
        P::cost(request, hosts, settings)
    }
}

impl<P: WholeTable> TableCosts<P> for NotGiven {
    const RANGE: Option<(f64, f64)> = None;

    fn cost(_: &P::Request, _: &Rows<P::Host>, _: &P::Settings) -> Result<Vec<f64>, Problem> {
        Ok(Vec::new())
    }
}

impl<P, V, C> JudgePart for WholeTableJudge<P, V, C>
where
    P: WholeTable,
    V: TableVerdicts<P>,
    C: TableCosts<P>,
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
            evaluation: Evaluation::WholeTable,
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
        let hosts = match plan.hosts {
            Some(number) => Rows::of_call(call, number, 0, entries),
            None => Rows::default(),
        };
        let mut judgement = indifferent(want, entries);
        let turns = if P::Request::PER_VM {
            call.members()
        } else {
            1
        };
        for vm in 0..turns {
            let request = P::Request::read(call, &plan.request, vm)?;
            if want.verdicts {
                let verdicts = V::keep(&request, &hosts, &settings)?;
                add_verdicts(&mut judgement.verdicts, &verdicts)?;
            }
            if want.costs {
                let costs = C::cost(&request, &hosts, &settings)?;
                expect_entries("costs", costs.len(), entries)?;
                for (sum, cost) in judgement.costs.iter_mut().zip(&costs) {
                    *sum += cost;
                }
            }
        }
        // Nothing is known of how such answers age, so one that reads the time
        // holds for this second.
        if let Some(now) = call.now() {
            judgement.until = vec![now; entries];
        }
        Ok(judgement)
    }
}
