//! Loops over the hosts of a call, for a row-wise part.
//!
//! They say "for all of them" in a way that leaves no bounds to check: all columns and
//! answers are slices of as many values as there are hosts. Each is a function of its own,
//! so that no other loop takes part in what is kept in registers.

use std::mem;
use std::rc::Rc;

use crate::call::Call;
use crate::contract::Judgement;
use crate::reads::UseNumber;
use crate::row::Row;
use crate::row_wise::{RowCosts, RowVerdicts, RowWise, THIS_SECOND};

/// The hosts of one call, for one VM.
pub(crate) struct Hosts<'a, P: RowWise> {
    pub need: &'a P::Need,
    pub call: &'a Rc<Call>,
    pub number: UseNumber,
    pub entries: usize,
}

impl<P: RowWise> Hosts<'_, P> {
    /// Adds the answers that the judgement has places for.
    pub fn judge<V: RowVerdicts<P>, C: RowCosts<P>>(&self, judgement: &mut Judgement) {
        let (verdicts, costs) = (&mut judgement.verdicts, &mut judgement.costs);
        match (verdicts.is_empty(), costs.is_empty()) {
            (true, true) => {}
            // Told in one go, the one that is not asked for costs little, and a loop for each of
            // the two would be a twentieth of the size of such a unit.
            (true, false) if V::TOGETHER.is_some() => {
                self.in_one_go::<V, C>(&mut vec![0; self.entries], costs);
            }
            (false, true) if V::TOGETHER.is_some() => {
                self.in_one_go::<V, C>(verdicts, &mut vec![0.0; self.entries]);
            }
            (false, false) if V::TOGETHER.is_some() => self.in_one_go::<V, C>(verdicts, costs),
            (false, false) => self.both::<V, C>(0, verdicts, costs),
            (false, true) => self.verdicts::<V>(verdicts),
            (true, false) => self.costs::<C>(costs),
        }
    }

    /// Judges all hosts, as many as it may with verdict and cost in one go.
    fn in_one_go<V: RowVerdicts<P>, C: RowCosts<P>>(&self, verdicts: &mut [u8], costs: &mut [f64]) {
        // Mostly no table below the hosts has any row. In a loop for that case the
        // compiler drops what a rule says about such rows.
        let nested = P::Host::DECLARED && self.call.has_nested_rows(self.number);
        let done = match nested {
            true => self.together::<V, true>(verdicts, costs),
            false => self.together::<V, false>(verdicts, costs),
        };
        if done < self.entries {
            self.both::<V, C>(done, verdicts, costs);
        }
    }

    /// Judges hosts, verdict and cost in one go, and returns how many.
    #[inline(never)]
    fn together<V: RowVerdicts<P>, const NESTED: bool>(
        &self,
        verdicts: &mut [u8],
        costs: &mut [f64],
    ) -> usize {
        let Some(together) = V::TOGETHER else {
            return 0;
        };
        let columns = self.columns();
        let verdicts = &mut verdicts[..self.entries];
        let costs = &mut costs[..self.entries];
        for entry in 0..self.entries {
            let host = match NESTED {
                true => P::Host::read(&columns, entry),
                false => P::Host::read_without_nested(&columns, entry),
            };
            let answers = together(self.need, &host);
            // Where there is nothing to drop, not even asking whether there is leaves the
            // values of the host in registers.
            match NESTED || P::Host::COLUMNS_NEED_DROP {
                true => drop(host),
                false => mem::forget(host),
            }
            let Some((verdict, cost)) = answers else {
                return entry;
            };
            if verdicts[entry] == 0 {
                verdicts[entry] = verdict.code();
            }
            costs[entry] += cost;
        }
        self.entries
    }

    /// Judges the hosts from this one on.
    #[inline(never)]
    fn both<V: RowVerdicts<P>, C: RowCosts<P>>(
        &self,
        first: usize,
        verdicts: &mut [u8],
        costs: &mut [f64],
    ) {
        let columns = self.columns();
        let verdicts = &mut verdicts[..self.entries];
        let costs = &mut costs[..self.entries];
        for entry in first..self.entries {
            let host = P::Host::read(&columns, entry);
            if verdicts[entry] == 0 {
                verdicts[entry] = V::keep(self.need, &host).code();
            }
            costs[entry] += C::cost(self.need, &host);
        }
    }

    /// The verdicts of all hosts.
    #[inline(never)]
    fn verdicts<V: RowVerdicts<P>>(&self, verdicts: &mut [u8]) {
        let columns = self.columns();
        let verdicts = &mut verdicts[..self.entries];
        for (entry, verdict) in verdicts.iter_mut().enumerate() {
            if *verdict == 0 {
                let host = P::Host::read(&columns, entry);
                *verdict = V::keep(self.need, &host).code();
            }
        }
    }

    /// The costs of all hosts.
    #[inline(never)]
    fn costs<C: RowCosts<P>>(&self, costs: &mut [f64]) {
        let columns = self.columns();
        let costs = &mut costs[..self.entries];
        for (entry, cost) in costs.iter_mut().enumerate() {
            let host = P::Host::read(&columns, entry);
            *cost += C::cost(self.need, &host);
        }
    }

    #[inline(always)]
    fn columns(&self) -> <P::Host as Row>::Columns<'_> {
        P::Host::columns(self.call, self.number)
    }

    /// Does nothing where the time is not read: the list is empty then.
    #[inline]
    pub fn until(&self, now: i64, until: &mut [i64]) {
        if until.is_empty() {
            return;
        }
        let columns = self.columns();
        for (entry, until) in until.iter_mut().enumerate() {
            let host = P::Host::read(&columns, entry);
            let answer = match P::until(self.need, &host) {
                THIS_SECOND => now,
                answer => answer,
            };
            *until = answer.min(*until);
        }
    }
}
