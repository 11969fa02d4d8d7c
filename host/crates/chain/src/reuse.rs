//! Answers that are kept from decision to decision, so that units are asked only about
//! hosts of which something changed that they read.
//!
//! A unit's answer about a host is a function of what it declares to read. So an answer
//! may be used again while none of that has changed: what it reads of the request is
//! the key under which answers are kept, and what it reads of hosts is compared with
//! the inventory's log of changes. Answers about hosts that stand in a relation to the
//! request (its VMs run there, or it is pinned there) are kept apart from it, so that
//! requests of one shape share answers whatever their relations: if the relation is all that
//! the unit reads of a host, by what it reads; else such hosts are asked about in every
//! decision.
//!
//! Where no host's cost depends on other hosts, the sums of all hosts are kept for each
//! class of requests. A filter that reads nothing of hosts that changes with their VMs is
//! no part of that, once it is asked by requests of many kinds: the hosts that it removes are skipped over in the search for the
//! best, so that classes do not multiply with all that such filters read of requests.
//!
//! In every call a few hosts are asked about whose answers are known. A unit that says
//! something else this time does not depend on what it declares alone: it is put into
//! quarantine, and asked about everything from then on. The decision that shows it is made
//! anew without kept answers. How long a unit can go unnoticed is bounded:
//!
//! - What it says of a host, or of a kind of relation, is asked for again at the latest
//!   after as many further requests of that kind as [`Reuse::checked_within`] says: after
//!   every [`USES_PER_CHECK`]th at most, of [`CHECKED`] hosts in turn. A host that is not
//!   up or stands in a relation to the request at that moment waits for the next round.
//! - What shows only in calls about many hosts, as with a unit that counts rows, shows at
//!   the latest after [`Reuse::whole_after`] requests of a kind: with the next one a fresh
//!   instance of the unit is asked without the cache, about all hosts that its place
//!   in the chain leaves, and held against what is kept.
//!
//! So no answer is used for longer than that, unnoticed, which the unit would not give if it
//! was asked without the cache. An answer that is no more used by then, since the host
//! has changed, is not looked into.

mod among;
mod answers;
mod by_cost;
mod by_relation;
mod class;
mod depends;
mod groups;
mod key;
mod left;
mod store;
mod tournament;

use std::sync::Arc;

use serde::Serialize;

pub(super) use answers::{Answers, FOR_GOOD, Said, Shape, Verdict, Want};
pub(super) use class::{Class, Dirty, KEPT, RemovalCode};
pub(super) use key::key;
pub(super) use left::{Left, Mask};
pub(super) use store::{Found, Store};
pub(super) use tournament::Best;

use super::{Chain, Step};
use placewright_engine::contract::Evaluation;
use placewright_engine::unit::Unit;
use placewright_inventory::{Aspects, ChangeLog, Inventory};

/// How answers are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reuse {
    /// How many bytes kept answers may take. What was not used for longest is given up.
    pub bytes: usize,
    /// After so many requests of one kind that used a unit's kept answers, a fresh instance of
    /// the unit is asked without the cache, and held against what is.
    pub whole_after: u64,
}

impl Default for Reuse {
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            // Among so many decisions one that asks about all hosts costs the others little.
            whole_after: 1 << 14,
        }
    }
}

/// How many hosts with a known answer are asked about in every call besides.
pub(super) const CHECKED: usize = 2;

/// After so many uses of a step's answers some hosts are asked about again, whether or not
/// there is a call anyway.
pub(super) const USES_PER_CHECK: u64 = 64;

impl Reuse {
    /// A kept answer about one of so many hosts (those that were removed since the start
    /// count too) is asked for again after at most so many requests of its kind; that many
    /// later at most it is noticed that a unit says something else when asked about few
    /// hosts.
    pub fn checked_within(hosts: usize) -> u64 {
        USES_PER_CHECK.saturating_mul(hosts.div_ceil(CHECKED).max(1) as u64)
    }
}

/// What keeping answers has brought so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ReuseCounts {
    /// Decisions that were made from kept sums.
    pub from_sums: u64,
    /// All decisions.
    pub decisions: u64,
    /// Kinds of requests for which sums are kept.
    pub classes: usize,
    /// Kinds of requests to filters that are no part of the former: for each of them the
    /// hosts are kept that the filter removes, to be skipped over.
    pub skip_sets: usize,
    /// Bytes that kept answers and sums take.
    pub bytes: usize,
    /// Answers and sums that were given up for want of room.
    pub evicted: u64,
    /// Of these, how many were wanted again. Many mean that `bytes` is too little.
    pub wanted_again: u64,
    /// How often keeping did not pay and was left for a while.
    pub pauses: u64,
}

/// What keeping a unit's answers has brought so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnitReuse {
    /// The unit's name.
    pub unit: Arc<str>,
    /// Hosts that it was asked about, counted in every decision.
    pub asked: u64,
    /// Hosts that it would have been asked about besides.
    pub reused: u64,
    /// Of those asked about, the ones that were asked to see whether it still says the
    /// same.
    pub checked: u64,
}

/// A unit whose answers are not kept any more, because it did not say the same again.
#[derive(Debug, Clone, PartialEq)]
pub struct Quarantined {
    /// The unit's name.
    pub unit: Arc<str>,
    /// The host about which it said something else.
    pub host: Arc<str>,
    /// Which of the runner's decisions showed it, counted from 1.
    pub decision: u64,
}

/// Decisions after which it is judged whether keeping answers pays.
const WINDOW: u64 = 512;

/// Decisions for which it is left if it does not.
const PAUSE: u64 = 8 * WINDOW;

/// Of so few kinds of requests to a filter, each has rather classes of its own: that
/// takes less time than to skip over the hosts that the filter removes, which are often
/// those that would be best, as nothing runs there.
const KINDS_IN_CLASSES: usize = 2;

/// All that is kept for one chain over one inventory.
pub(super) struct Kept {
    options: Reuse,
    /// Of the log of changes that cursors are places in.
    log: Arc<()>,
    /// By place of the step in a runner.
    pub(super) steps: Vec<KeptStep>,
    pub(super) classes: Store<Class>,
    /// What of hosts the choice depends on besides sums, if sums can be kept at all.
    of_choice: Option<Aspects>,
    /// What of hosts a class depends on, if sums can be kept at all.
    pub(super) of_class: Option<Aspects>,
    /// Whether answers may end with time that sums are made of.
    pub(super) is_timed: bool,
    serial: u64,
    /// The bytes that all takes.
    bytes: usize,
    /// A unit did not say the same again: the decision at hand has to be made anew.
    pub(super) differed: bool,
    quarantined: Vec<Quarantined>,
    counts: ReuseCounts,
    /// Until this decision nothing is kept.
    paused_until: u64,
    window: Window,
    /// Room for a key.
    pub(super) words: Vec<u64>,
}

/// Rows that were asked about, and would be without keeping answers.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    asked: u64,
    all: u64,
}

/// What is kept for one step.
pub(super) struct KeptStep {
    pub(super) store: Store<Answers>,
    pub(super) shape: Option<Shape>,
    pub(super) aspects: Aspects,
    pub(super) want: Want,
    /// What it says of a host may be used again of all that stand so to such a request.
    pub(super) is_by_relation: bool,
    may_skip: bool,
    /// Its answers are no part of classes: the hosts that it removes are skipped over.
    pub(super) skips: bool,
    pub(super) is_quarantined: bool,
    unit: Arc<str>,
    asked: u64,
    reused: u64,
    checked: u64,
}

impl Kept {
    /// Nothing yet, for a chain over an inventory.
    pub(super) fn new(chain: &Chain, options: Reuse, inventory: &Inventory) -> Self {
        let mut steps: Vec<(usize, KeptStep)> = Vec::new();
        for step in chain.stages.iter().flat_map(|stage| &stage.steps) {
            steps.push((step.place, KeptStep::new(step, inventory)));
        }
        steps.sort_by_key(|(place, _)| *place);
        let steps: Vec<KeptStep> = steps.into_iter().map(|(_, step)| step).collect();
        let mut kept = Self {
            options,
            log: inventory.changes().identity().clone(),
            of_choice: depends::of_choice(chain, &steps, inventory),
            of_class: None,
            is_timed: false,
            steps,
            classes: Store::default(),
            serial: 1,
            bytes: 0,
            differed: false,
            quarantined: Vec::new(),
            counts: ReuseCounts::default(),
            paused_until: 0,
            window: Window::default(),
            words: Vec::new(),
        };
        kept.class_anew();
        kept
    }

    /// Take over what was kept of another chain over the same inventory, for the steps that
    /// both have, by their places in the old and the new one. Sums are made anew.
    pub(super) fn take_over(
        &mut self,
        mut before: Self,
        steps: &[(usize, usize)],
        chain: &Chain,
        inventory: &Inventory,
    ) {
        if !Arc::ptr_eq(&self.log, &before.log) {
            return;
        }
        for (old, new) in steps {
            self.steps[*new].take_over(&mut before.steps[*old]);
        }
        let still = |it: &Quarantined| {
            let mut steps = self.steps.iter();
            steps.any(|step| step.is_quarantined && step.unit == it.unit)
        };
        self.quarantined = before.quarantined;
        self.quarantined.retain(still);
        self.serial = before.serial;
        self.counts = before.counts;
        self.window = before.window;
        self.paused_until = before.paused_until;
        self.of_choice = depends::of_choice(chain, &self.steps, inventory);
        self.class_anew();
        self.bytes = self.count_bytes();
    }

    /// Begin with classes anew, as other steps are a part of them.
    fn class_anew(&mut self) {
        self.classes = Store::default();
        let in_class = || self.steps.iter().filter(|step| !step.skips);
        self.is_timed = in_class().any(|step| step.want.until);
        self.of_class = self.of_choice.map(|of_choice| {
            let of_steps = in_class().map(|step| step.aspects);
            of_steps.fold(of_choice, |a, b| a | b)
        });
    }

    /// Begin a decision. False if nothing is to be kept in it.
    pub(super) fn begin(&mut self, inventory: &Inventory) -> bool {
        self.counts.decisions += 1;
        if !Arc::ptr_eq(&self.log, inventory.changes().identity()) {
            self.forget();
            self.log = inventory.changes().identity().clone();
        }
        let decisions = self.counts.decisions;
        if decisions.is_multiple_of(WINDOW) {
            let Window { asked, all } = std::mem::take(&mut self.window);
            if asked * 2 > all {
                self.forget();
                self.counts.pauses += 1;
                self.paused_until = decisions + PAUSE;
            }
        }
        decisions >= self.paused_until
    }

    /// Give everything up.
    fn forget(&mut self) {
        for step in &mut self.steps {
            step.store = Store::default();
            step.skips = false;
        }
        self.class_anew();
        self.bytes = 0;
    }

    /// Put the unit of a step into quarantine, which said something else about a host
    /// than before.
    pub(super) fn quarantine(&mut self, unit: &Unit, host: Arc<str>) {
        let name: Arc<str> = unit.description().name.as_str().into();
        tracing::warn!(
            unit = %name,
            host = %host,
            "the unit said something else of a host of which nothing changed that it reads; its answers are not used again"
        );
        for step in self.steps.iter_mut().filter(|step| step.unit == name) {
            step.shape = None;
            step.is_quarantined = true;
            step.store = Store::default();
        }
        self.of_choice = None;
        self.class_anew();
        self.differed = true;
        self.quarantined.push(Quarantined {
            unit: name,
            host,
            decision: self.counts.decisions,
        });
    }

    /// Where the answers of a step under a key are kept, if they are.
    pub(super) fn answers(&mut self, place: usize, key: &[u64], log: &ChangeLog) -> Option<usize> {
        let step = &mut self.steps[place];
        let shape = step.shape?;
        let found = match step.store.find(key, self.counts.decisions) {
            Found::New => return None,
            Found::Kept(found) => found,
            again => {
                self.counts.wanted_again += u64::from(again == Found::Evicted);
                self.serial += 1;
                let answers = Answers::new(shape, step.may_skip, self.serial, log);
                self.bytes += Store::<Answers>::overhead(key);
                let place = step.store.insert(key, answers);
                if step.may_skip && !step.skips && step.store.len() > KINDS_IN_CLASSES {
                    step.skips = true;
                    self.class_anew();
                }
                place
            }
        };
        let step = &mut self.steps[place];
        if let Some(answers) = step.store.get_mut(found) {
            answers.last_used = self.counts.decisions;
            answers.uses += 1;
        }
        Some(found)
    }

    /// Where the sums of a class are kept, if they are.
    pub(super) fn class(&mut self, key: &[u64], tiers: usize, log: &ChangeLog) -> Option<usize> {
        let found = match self.classes.find(key, self.counts.decisions) {
            Found::New => return None,
            Found::Kept(found) => found,
            again => {
                self.counts.wanted_again += u64::from(again == Found::Evicted);
                self.bytes += Store::<Class>::overhead(key);
                let class = Class::new(tiers, self.is_timed, log);
                self.classes.insert(key, class)
            }
        };
        if let Some(class) = self.classes.get_mut(found) {
            class.last_used = self.counts.decisions;
        }
        Some(found)
    }

    /// Note that of `all` hosts a step was asked about some, `checked` of them to see
    /// whether it says the same.
    pub(super) fn count(&mut self, place: usize, all: usize, asked: usize, checked: usize) {
        let (all, asked, checked) = (all as u64, asked as u64, checked as u64);
        let step = &mut self.steps[place];
        step.asked += asked;
        step.checked += checked;
        step.reused += all.saturating_sub(asked - checked);
        self.window.all += all;
        self.window.asked += asked;
    }

    /// Whether a step is to be asked without the cache, before its answers in that
    /// place are used again.
    pub(super) fn is_whole_due(&mut self, step: usize, place: usize) -> bool {
        let after = self.options.whole_after;
        let answers = self.steps[step].store.get_mut(place);
        answers.is_some_and(|answers| answers.is_whole_due(after))
    }

    pub(super) fn decided_from_sums(&mut self) {
        self.counts.from_sums += 1;
    }

    /// So many bytes more are kept.
    pub(super) fn grew(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// End a decision: if too much is kept, give up what was not used for longest, and
    /// some more, so that it is not soon too much again.
    pub(super) fn end(&mut self) {
        if self.bytes <= self.options.bytes {
            return;
        }
        // Some of it may have been given up by the way.
        self.bytes = self.count_bytes();
        let enough = self.options.bytes - self.options.bytes / 8;
        if self.bytes <= self.options.bytes {
            return;
        }
        for (_, step, place) in self.oldest_first() {
            let bytes = match step {
                Some(step) => self.steps[step].store.evict(place, Answers::bytes),
                None => self.classes.evict(place, Class::bytes),
            };
            self.counts.evicted += 1;
            self.bytes = self.bytes.saturating_sub(bytes);
            if self.bytes <= enough {
                break;
            }
        }
    }

    fn count_bytes(&self) -> usize {
        let steps = self.steps.iter();
        let answers: usize = steps.map(|step| step.store.bytes(Answers::bytes)).sum();
        answers + self.classes.bytes(Class::bytes)
    }

    /// When all that is kept was last used, and where it is: of a step, or sums. Of
    /// equally old ones the sums come first: they are made from answers again.
    fn oldest_first(&self) -> Vec<(u64, Option<usize>, usize)> {
        let mut all: Vec<_> = (self.classes.iter())
            .map(|(place, class)| (class.last_used, None, place))
            .collect();
        for (number, step) in self.steps.iter().enumerate() {
            let kept = step.store.iter();
            all.extend(kept.map(|(place, it)| (it.last_used, Some(number), place)));
        }
        all.sort_unstable();
        all
    }

    pub(super) fn counts(&self) -> ReuseCounts {
        let skipping = self.steps.iter().filter(|step| step.skips);
        ReuseCounts {
            classes: self.classes.len(),
            skip_sets: skipping.map(|step| step.store.len()).sum(),
            bytes: self.count_bytes(),
            ..self.counts
        }
    }

    /// What was brought unit by unit, in the order of their first step.
    pub(super) fn units(&self) -> Vec<UnitReuse> {
        let mut units: Vec<UnitReuse> = Vec::new();
        for step in &self.steps {
            let place = units.iter().position(|unit| unit.unit == step.unit);
            let place = place.unwrap_or_else(|| {
                units.push(UnitReuse {
                    unit: step.unit.clone(),
                    asked: 0,
                    reused: 0,
                    checked: 0,
                });
                units.len() - 1
            });
            units[place].asked += step.asked;
            units[place].reused += step.reused;
            units[place].checked += step.checked;
        }
        units
    }

    pub(super) fn quarantined(&self) -> &[Quarantined] {
        &self.quarantined
    }
}

impl KeptStep {
    /// Go on with what was kept for a step that asks the same.
    fn take_over(&mut self, before: &mut Self) {
        self.is_quarantined = before.is_quarantined;
        (self.asked, self.reused, self.checked) = (before.asked, before.reused, before.checked);
        if before.is_quarantined {
            self.shape = None;
        } else if self.shape == before.shape && self.may_skip == before.may_skip {
            self.store = std::mem::take(&mut before.store);
            self.skips = before.skips;
        }
    }

    fn new(step: &Step, inventory: &Inventory) -> Self {
        let plan = &step.plan;
        let shape = depends::shape(step);
        let is_row_wise = step.evaluation == Evaluation::RowWise;
        Self {
            store: Store::default(),
            shape,
            aspects: depends::aspects(plan),
            want: Want {
                costs: step.want.costs,
                until: is_row_wise && plan.reads("request", "now"),
            },
            is_by_relation: shape == Some(Shape::Alike) && depends::is_by_relation(plan),
            may_skip: depends::may_skip(step, shape, inventory),
            skips: false,
            is_quarantined: false,
            unit: step.unit.description().name.as_str().into(),
            asked: 0,
            reused: 0,
            checked: 0,
        }
    }
}
