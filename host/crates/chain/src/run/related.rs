//! Hosts that stand in a relation to the request, and what steps are known to say of them.

use super::super::Step;
use super::super::reuse::{Answers, Said};
use super::ask::Asker;
use super::kept::Exception;

impl Asker<'_> {
    /// The hosts that stand in a relation to the request which the step reads, by slot,
    /// ascending.
    pub(super) fn related(&self, step: &Step) -> Vec<u32> {
        let Some(hosts) = step.plan.hosts else {
            return Vec::new();
        };
        let mut related: Vec<u32> = Vec::new();
        for table in &step.plan.tables {
            if table.source.is_relation()
                && table.is_below(hosts, &step.plan)
                && let Some(slots) = self.subject.related_slots(table.source)
            {
                related.extend(slots);
            }
        }
        related.sort_unstable();
        related.dedup();
        related
    }

    /// The rows of a host in all relations that the step reads, each table as the number of
    /// its rows and their numbers; into `rows`.
    fn relation_rows(&self, step: &Step, slot: u32, rows: &mut Vec<i64>) {
        rows.clear();
        let Some(hosts) = step.plan.hosts else {
            return;
        };
        for table in &step.plan.tables {
            if !table.is_below(hosts, &step.plan) {
                continue;
            }
            let relation = self.subject.relation(table.source).unwrap_or_default();
            let first = relation.partition_point(|row| row.slot < slot);
            let of_host = relation[first..].iter().take_while(|row| row.slot == slot);
            let count = rows.len();
            rows.push(0);
            for row in of_host {
                rows[count] += 1;
                rows.extend(row.numbers);
            }
        }
    }

    /// Take out of the hosts to be `asked` about those that stand to the request as others
    /// stood to one like it, and tell what the step said of these; by slot, ascending.
    pub(super) fn take_known(
        &self,
        step: &Step,
        answers: &mut Answers,
        related: &[u32],
        asked: &mut Vec<u32>,
    ) -> Vec<Exception> {
        let mut known = Vec::with_capacity(related.len());
        let mut rows = Vec::new();
        asked.retain(|slot| {
            if related.binary_search(slot).is_err() {
                return true;
            }
            self.relation_rows(step, *slot, &mut rows);
            let said = answers.use_by_relation(&rows);
            known.extend(said.map(|said| (*slot, said)));
            said.is_none()
        });
        known
    }

    /// Keep what a step says of a host that stands to the request as it does. False if
    /// something else was said of one that stood so.
    pub(super) fn keep_by_relation(
        &self,
        step: &Step,
        answers: &mut Answers,
        slot: u32,
        said: Said,
    ) -> bool {
        let mut rows = Vec::new();
        self.relation_rows(step, slot, &mut rows);
        let known = answers.said_by_relation(&rows);
        answers.keep_by_relation(&rows, said);
        known.is_none_or(|known| known.agrees(&said))
    }
}
