//! Asks a step only about hosts whose answers are not known.

use super::super::Step;
use super::super::encode::{self, HostRows};
use super::super::reuse::{self, Answers, CHECKED, Kept, Said, Shape, Verdict};
use super::ask::{Answer, Asker, NoAnswer};
use placewright_engine::contract::Judgement;

/// Most calls are about fewer hosts than this.
const SOME: usize = 64;

/// So many hosts are looked at for some to be asked about again.
const LOOKED_AT: usize = 16;

/// What a step says of a host because of its relation to the request.
pub(super) type Exception = (u32, Said);

/// Why a step's kept answers are of no use.
pub(super) enum NotKept {
    /// The unit said something else than before.
    Differs,
    NoAnswer(NoAnswer),
}

impl From<NoAnswer> for NotKept {
    fn from(no_answer: NoAnswer) -> Self {
        Self::NoAnswer(no_answer)
    }
}

/// Where the answers of a step are kept for the request at hand.
#[derive(Debug, Clone, Copy)]
pub(super) enum Where {
    /// The step has nothing to say to such requests.
    Nothing,
    At(usize),
}

impl Asker<'_> {
    /// Where the answers of a step to this request are kept; None if they are not.
    pub(super) fn kept_at(&mut self, kept: &mut Kept, step: &Step) -> Option<Where> {
        kept.steps[step.place].shape?;
        let mut context = step.context(self.inventory, self.subject);
        if !encode::gates_open(&step.plan, context) {
            return Some(Where::Nothing);
        }
        if kept.steps[step.place].want.until {
            // Answers say themselves how long they hold.
            context.now = 0;
        }
        let call = &mut self.states[step.place].call;
        let mut words = std::mem::take(&mut kept.words);
        // What is missing for a call is said where the call is made.
        let key = reuse::key(&step.plan, context, self.dictionary, call, &mut words);
        let changes = self.inventory.changes();
        let place = key
            .ok()
            .and_then(|()| kept.answers(step.place, &words, changes));
        kept.words = words;
        let place = place?;
        let of_step = &mut kept.steps[step.place];
        let (aspects, want) = (of_step.aspects, of_step.want);
        let slots = self.inventory.slots();
        let now = self.subject.request.now;
        let answers = of_step.store.get_mut(place)?;
        let before = answers.bytes();
        answers.sync(changes, aspects, slots, want, now);
        let grown = answers.bytes().saturating_sub(before);
        kept.grew(grown);
        Some(Where::At(place))
    }

    /// The first host that is up and not among these, which are ascending.
    pub(super) fn first_up_but(&self, slots: &[u32]) -> Option<u32> {
        let mut up = self.inventory.up_slots();
        up.find(|slot| slots.binary_search(slot).is_err())
    }

    /// Make sure that the answers about all `needed` hosts are known, which are up and
    /// ascending. What is said of those `related` to the request is not kept, but given
    /// back. Without kept answers so many as `all` would be asked about.
    pub(super) fn refresh(
        &mut self,
        kept: &mut Kept,
        step: &Step,
        place: usize,
        needed: HostRows<'_>,
        all: usize,
        related: &[u32],
    ) -> Result<Vec<Exception>, NotKept> {
        let shape = kept.steps[step.place].shape;
        if shape == Some(Shape::Request) {
            return self.refresh_request(kept, step, place).map(|()| Vec::new());
        }
        let is_by_relation = kept.steps[step.place].is_by_relation;
        let Some(answers) = kept.steps[step.place].store.get_mut(place) else {
            return Ok(Vec::new());
        };
        let is_known = answers.one().is_some();
        let mut asked: Vec<u32> = Vec::with_capacity(SOME);
        match (answers.stale_slots(), needed) {
            (Some(stale), HostRows::All(_)) if related.is_empty() => {
                asked.extend(stale.ones().map(|slot| slot as u32));
            }
            (Some(stale), HostRows::List(needed)) if related.is_empty() => {
                let needed = needed.iter().copied();
                asked.extend(needed.filter(|slot| stale.contains(*slot as usize)));
            }
            (None, needed) if is_known => {
                let related = related.iter().copied();
                asked.extend(related.filter(|slot| needed.row(*slot).is_some()));
            }
            _ => {
                let mut one_is_asked = false;
                let mut next_related = related.iter().copied().peekable();
                for slot in needed.slots() {
                    while next_related.next_if(|related| *related < slot).is_some() {}
                    if next_related.next_if_eq(&slot).is_some() {
                        asked.push(slot);
                    } else if answers.is_stale(slot) && !one_is_asked {
                        asked.push(slot);
                        // Its answer is that of all others.
                        one_is_asked = shape == Some(Shape::Alike);
                    }
                }
            }
        }
        let is_time_to_check = answers.is_check_due();
        let mut exceptions = match is_by_relation && !is_time_to_check {
            true => self.take_known(step, answers, related, &mut asked),
            false => Vec::new(),
        };
        let mut checked: Vec<u32> = Vec::new();
        if !asked.is_empty() || is_time_to_check {
            if is_time_to_check {
                // Not with other calls: they ask about none whose relation is known.
                answers.checked();
            }
            checked = self.to_check(answers, related);
            for slot in &checked {
                let place = asked.partition_point(|asked| asked < slot);
                asked.insert(place, *slot);
            }
        }
        if !asked.is_empty() {
            let others = self.ask_and_keep(kept, step, place, &asked, related, &checked)?;
            exceptions.extend(others);
            exceptions.sort_unstable_by_key(|(slot, _)| *slot);
        }
        kept.count(step.place, all, asked.len(), checked.len());
        Ok(exceptions)
    }

    /// Some hosts that are not related and whose answers are known, to be asked about again.
    fn to_check(&self, answers: &mut Answers, related: &[u32]) -> Vec<u32> {
        let mut checked = Vec::with_capacity(CHECKED);
        let slots = u32::try_from(self.inventory.slots()).unwrap_or(u32::MAX);
        for _ in 0..LOOKED_AT.min(slots as usize) {
            let slot = answers.next_check % slots.max(1);
            answers.next_check = slot + 1;
            let is_known = !answers.is_stale(slot) && self.inventory.is_up(slot);
            let is_related = || related.binary_search(&slot).is_ok();
            if is_known && !is_related() && !checked.contains(&slot) {
                checked.push(slot);
            }
            if checked.len() == CHECKED {
                break;
            }
        }
        checked
    }

    fn ask_and_keep(
        &mut self,
        kept: &mut Kept,
        step: &Step,
        place: usize,
        asked: &[u32],
        related: &[u32],
        checked: &[u32],
    ) -> Result<Vec<Exception>, NotKept> {
        let Answer::Each {
            judgement, lacking, ..
        } = self.ask_units(step, HostRows::List(asked))?
        else {
            return Ok(Vec::new());
        };
        let mut exceptions = Vec::with_capacity(related.len());
        let is_by_relation = kept.steps[step.place].is_by_relation;
        let Some(answers) = kept.steps[step.place].store.get_mut(place) else {
            return Ok(exceptions);
        };
        let before = answers.bytes();
        let mut differs = None;
        let has_own = answers.stale_slots().is_some();
        if has_own && lacking.is_empty() && related.is_empty() {
            for slot in checked {
                let row = asked.partition_point(|asked| asked < slot);
                if !answers.said(*slot).agrees(&Said::of(&judgement, row)) {
                    differs = differs.max(Some(*slot));
                }
            }
            answers.keep_each(asked, &judgement);
        } else {
            for (number, slot) in asked.iter().enumerate() {
                let is_lacking = lacking.binary_search(&(number as u32)).is_ok();
                let said = match is_lacking {
                    true => Said::lacking(),
                    false => Said::of(&judgement, number),
                };
                if related.binary_search(slot).is_ok() {
                    exceptions.push((*slot, said));
                    if is_by_relation && !self.keep_by_relation(step, answers, *slot, said) {
                        differs = Some(*slot);
                    }
                } else if checked.contains(slot) {
                    if !answers.said(*slot).agrees(&said) {
                        differs = Some(*slot);
                    }
                } else {
                    answers.keep(*slot, said);
                }
            }
        }
        let grown = answers.bytes().saturating_sub(before);
        kept.grew(grown);
        match differs {
            None => Ok(exceptions),
            Some(slot) => Err(self.differs(kept, step, slot)),
        }
    }

    /// Ask a step that says the same of every host, if that is not known any more or it
    /// is time to see whether it still is so.
    fn refresh_request(
        &mut self,
        kept: &mut Kept,
        step: &Step,
        place: usize,
    ) -> Result<(), NotKept> {
        let Some(answers) = kept.steps[step.place].store.get_mut(place) else {
            return Ok(());
        };
        let known = answers.one();
        if known.is_some() && !answers.is_check_due() {
            kept.count(step.place, 1, 0, 0);
            return Ok(());
        }
        answers.checked();
        let Answer::Same(judgement) = self.ask_units(step, HostRows::List(&[]))? else {
            return Ok(());
        };
        let said = Said::of(&judgement, 0);
        kept.count(step.place, 1, 1, usize::from(known.is_some()));
        match known {
            Some(known) if !known.agrees(&said) => Err(self.differs(kept, step, 0)),
            _ => {
                if let Some(answers) = kept.steps[step.place].store.get_mut(place) {
                    answers.keep(0, said);
                }
                Ok(())
            }
        }
    }

    fn differs(&self, kept: &mut Kept, step: &Step, slot: u32) -> NotKept {
        let host = self.inventory.host(slot).map(|host| host.id.clone());
        kept.quarantine(&step.unit, host.unwrap_or_else(|| "".into()));
        NotKept::Differs
    }

    /// Ask a step about these hosts, and take what is known for an answer.
    pub(super) fn ask_kept(
        &mut self,
        kept: &mut Kept,
        step: &Step,
        rows: HostRows<'_>,
    ) -> Result<Answer, NotKept> {
        if rows.len() == 0 {
            // A unit may refuse the request whatever the hosts.
            return Ok(self.ask_units(step, rows)?);
        }
        let place = match self.kept_at(kept, step) {
            Some(Where::Nothing) => return Ok(Answer::Nothing),
            Some(Where::At(place)) => place,
            None => {
                kept.count(step.place, rows.len(), rows.len(), 0);
                return Ok(self.ask_units(step, rows)?);
            }
        };
        let related = self.related(step);
        kept.is_whole_due(step.place, place);
        let answers = kept.steps[step.place].store.get_mut(place);
        if answers.is_some_and(Answers::takes_whole) {
            return self.ask_whole(kept, step, place, rows, &related);
        }
        let exceptions = self.refresh(kept, step, place, rows, rows.len(), &related)?;
        let of_step = &mut kept.steps[step.place];
        let Some(answers) = of_step.store.get_mut(place) else {
            return Ok(self.ask_units(step, rows)?);
        };
        if of_step.shape == Some(Shape::Request) {
            let said = answers.one();
            return Ok(Answer::Same(
                said.map_or_else(Judgement::default, Said::judgement),
            ));
        }
        if let Some(said) = answers.one()
            && said.verdict != Verdict::LACKS
            && exceptions.is_empty()
        {
            return Ok(Answer::Same(said.judgement()));
        }
        // Hosts that are related may stand elsewhere in it.
        let is_ordered = step.is_ranked && exceptions.is_empty();
        let order = is_ordered.then(|| answers.order()).flatten();
        let (order, grown) = order.map_or((None, 0), |(order, grown)| (Some(order), grown));
        let (mut judgement, mut lacking) = gathered(step, answers, rows);
        for (slot, said) in exceptions {
            let Some(row) = rows.row(slot) else {
                continue;
            };
            if let Some(verdict) = judgement.verdicts.get_mut(row) {
                *verdict = said.verdict.code();
            }
            if let Some(cost) = judgement.costs.get_mut(row) {
                *cost = said.cost;
            }
            let row = row as u32;
            lacking.retain(|lacking| *lacking != row);
            if said.verdict == Verdict::LACKS {
                let place = lacking.partition_point(|lacking| *lacking < row);
                lacking.insert(place, row);
            }
        }
        kept.grew(grown);
        Ok(Answer::Each {
            judgement,
            lacking,
            order,
        })
    }
}

impl Asker<'_> {
    /// Ask a step about these hosts without the cache, and hold what it says against
    /// what is.
    fn ask_whole(
        &mut self,
        kept: &mut Kept,
        step: &Step,
        place: usize,
        rows: HostRows<'_>,
        related: &[u32],
    ) -> Result<Answer, NotKept> {
        // Nor does the instance know of earlier calls.
        drop(self.states[step.place].instance.take());
        let answer = self.ask_units(step, rows)?;
        let of_step = &mut kept.steps[step.place];
        let is_by_relation = of_step.is_by_relation;
        let Some(answers) = of_step.store.get_mut(place) else {
            return Ok(answer);
        };
        let mut differs = None;
        let mut compared = 0;
        match &answer {
            Answer::Nothing => {}
            Answer::Same(judgement) => {
                let known = answers.one();
                compared = usize::from(known.is_some());
                if known.is_some_and(|known| !known.agrees(&Said::of(judgement, 0))) {
                    differs = self.first_up_but(&[]);
                }
            }
            Answer::Each {
                judgement, lacking, ..
            } => {
                for (row, slot) in rows.slots().enumerate() {
                    let said = match lacking.binary_search(&(row as u32)) {
                        Ok(_) => Said::lacking(),
                        Err(_) => Said::of(judgement, row),
                    };
                    let agrees = if related.binary_search(&slot).is_ok() {
                        !is_by_relation || self.keep_by_relation(step, answers, slot, said)
                    } else {
                        let is_known = !answers.is_stale(slot);
                        compared += usize::from(is_known);
                        !is_known || answers.said(slot).agrees(&said)
                    };
                    if !agrees {
                        differs = Some(slot);
                    }
                }
            }
        }
        kept.count(step.place, rows.len(), rows.len(), compared);
        match differs {
            None => Ok(answer),
            Some(slot) => Err(self.differs(kept, step, slot)),
        }
    }
}

/// What is known of these hosts, and the rows of those that lack a value.
fn gathered(step: &Step, answers: &Answers, rows: HostRows<'_>) -> (Judgement, Vec<u32>) {
    let mut judgement = Judgement::default();
    let mut lacking = Vec::new();
    let Some((verdicts, costs, _)) = answers.columns() else {
        let said = answers.said(0);
        if step.want.verdicts {
            judgement.verdicts = vec![said.verdict.code(); rows.len()];
        }
        if step.want.costs {
            judgement.costs = vec![said.cost; rows.len()];
        }
        if said.verdict == Verdict::LACKS {
            lacking.extend(0..rows.len() as u32);
        }
        return (judgement, lacking);
    };
    match rows {
        HostRows::All(count) => {
            let verdicts = &verdicts[..count as usize];
            judgement.verdicts = verdicts.iter().map(|verdict| verdict.code()).collect();
            judgement.costs = costs.get(..count as usize).unwrap_or_default().to_vec();
            if verdicts
                .iter()
                .fold(false, |any, verdict| any | (*verdict == Verdict::LACKS))
            {
                let rows = (0u32..).zip(verdicts);
                let rows = rows.filter(|(_, verdict)| **verdict == Verdict::LACKS);
                lacking.extend(rows.map(|(row, _)| row));
            }
        }
        HostRows::List(slots) => {
            let verdicts = (0u32..).zip(slots.iter().map(|slot| verdicts[*slot as usize]));
            let verdicts = verdicts.map(|(row, verdict)| {
                if verdict == Verdict::LACKS {
                    lacking.push(row);
                }
                verdict.code()
            });
            judgement.verdicts = verdicts.collect();
            if step.want.costs {
                judgement.costs = slots.iter().map(|slot| costs[*slot as usize]).collect();
            }
        }
    }
    (judgement, lacking)
}
