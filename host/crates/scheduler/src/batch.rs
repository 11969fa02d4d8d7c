//! Many VMs, one turn after the other: each turn sees the ones before it.

mod adopt;
mod joined;
mod requests;
mod whole;

pub use requests::BatchError;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::search::{Search, Tried};
use super::{
    Decision, InterruptedError, MadeOn, PlaceError, Recorded, Scheduler, SchedulerOptions, order,
    place, tenant,
};
use adopt::Adopted;
use joined::Joined;
use placewright_chain::Runner;
use placewright_inventory::Inventory;
use placewright_model::{Facts, NamedVm, Request, Vm};
use placewright_policy as policy;

/// VMs that are to be placed in turns, in the order that the policy gives. Those of one request
/// have one turn, and so have those that hard groups keep together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// The VMs. Each is placed by itself, but for those of one request.
    pub members: Vec<Vm>,
    /// Places of members that go on one host, for each request of several VMs.
    pub together: Vec<Vec<usize>>,
    /// Ids of the members that are placed anew if they run.
    pub again: BTreeSet<Arc<str>>,
    /// By id of a member, what it is to have no more of what the cluster knows of it.
    pub unset: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    /// Those of them that are named only: the cluster must know them.
    pub named: Vec<NamedVm>,
    /// Columns of the table `request`, the same in every turn. If they name no tenant,
    /// it is that of the members of the turn.
    pub facts: Facts,
    /// Seconds since 1970-01-01 UTC at which the decisions are made.
    pub now: i64,
    /// The draw of every turn; None: one is derived for each.
    pub draw: Option<f64>,
    /// Plan as if none of the members had a place: those that run may be moved, or
    /// find no host any more. `hosts/current` still says where they run. Those that are to leave
    /// a host run there until they are moved: a place is reserved only if the policy gives it as
    /// things are, and else the decision says why it is not ([`Decision::unreserved`]).
    pub from_nothing: bool,
    /// Decide, but change nothing.
    pub dry_run: bool,
    /// In which order members have their turns.
    pub order: BatchOrder,
    /// Reserve nothing unless every member finds a host.
    pub all_or_nothing: bool,
    /// Seconds for which places are reserved; 0: until somebody confirms or gives them
    /// back. None: as long as usual.
    pub reserve_for: Option<i64>,
    /// If members are left out, search for a plan that leaves out less, greater
    /// priorities first, with at most so many decisions more. None: no search.
    pub search: Option<usize>,
}

/// In which order the members of a batch have their turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BatchOrder {
    /// As the policy's order unit says. Without one: by priority, then those that run
    /// by their current score, then by size, then as listed.
    #[default]
    Policy,
    /// As listed, whatever the policy says.
    Listed,
}

/// How many decisions a search may make where nobody says: at some 20 µs each, this
/// is a fraction of a second.
pub const SEARCH_DECISIONS: usize = 10_000;

/// What came of a batch.
#[derive(Debug, Clone)]
pub struct Plan {
    /// In the order in which they were decided.
    pub turns: Vec<Turn>,
    /// Ids of the members that the policy's order unit gave no turn.
    pub without_turn: Vec<Arc<str>>,
    /// Whether the places are reserved: not after a dry run, not if all or nothing was asked
    /// for and somebody is left out, and not if a plan from nothing has places that cannot be
    /// reserved as things are. Then decisions say whether theirs is.
    pub reserved: bool,
    /// The copy of the inventory on which it was decided, if it was.
    pub copy: Option<Copied>,
    /// What a search has come to; none if there was no need of one.
    pub searched: Option<Searched>,
    /// Why it ended early, if it did: turns without a decision have none for that, and a
    /// search may have found more.
    pub interrupted: Option<InterruptedError>,
}

/// A copy of the inventory, on which a batch was decided.
#[derive(Debug, Clone)]
pub struct Copied {
    /// As the batch left it.
    pub inventory: Arc<Inventory>,
    /// The version of the inventory of which it was made.
    pub from: u64,
}

/// What a search for a better plan has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Searched {
    /// How many VMs first-come order leaves out.
    pub first_come: usize,
    /// How many VMs the plan leaves out.
    pub left_out: usize,
    /// How many decisions it took.
    pub decisions: usize,
    /// Whether it ended at its bound: one with a greater bound may find more.
    pub bounded: bool,
}

/// One turn of a batch.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Ids of the VMs that were to be placed together.
    pub members: Vec<Arc<str>>,
    /// Where they go, or why there is no decision. Other turns are made all the
    /// same.
    pub outcome: Result<Arc<Decision>, PlaceError>,
}

impl Turn {
    /// Whether there is a decision, and it is that every host is removed.
    pub fn finds_no_host(&self) -> bool {
        matches!(&self.outcome, Ok(decision) if decision.host.is_none())
    }

    /// The host of its members; None: they get none.
    pub fn host(&self) -> Option<&Arc<str>> {
        self.outcome.as_ref().ok()?.host.as_ref()
    }

    fn is_interrupted(&self) -> bool {
        matches!(self.outcome, Err(PlaceError::Interrupted(_)))
    }
}

impl Plan {
    /// The members that get no host, those without a turn included.
    pub fn left_out(&self) -> impl Iterator<Item = &Arc<str>> {
        let turns = self.turns.iter().filter(|turn| turn.host().is_none());
        turns
            .flat_map(|turn| &turn.members)
            .chain(&self.without_turn)
    }

    /// The host of a member; None: it gets none.
    pub fn host(&self, member: &str) -> Option<&Arc<str>> {
        let turn = self.turns.iter().find(|turn| {
            let mut members = turn.members.iter();
            members.any(|known| **known == *member)
        })?;
        turn.host()
    }
}

impl Scheduler {
    /// Place VMs in turns. A turn that comes to no decision or finds no host does not
    /// stop the others. Who runs and finds no host in a plan from nothing goes on
    /// running until somebody stops it.
    ///
    /// # Errors
    /// If the batch is at fault, the policy forbids the search that it asks for, or the
    /// order unit fails; then nothing changes.
    pub fn place_batch(&mut self, batch: Batch) -> Result<Plan, PlaceError> {
        self.place_batch_seen(batch, &mut |_| ())
    }

    /// The same; `turn_begins` is shown the inventory, or the copy on which is decided, as it
    /// is before each turn. Turns of a search are not shown, but those of the first-come
    /// plan before it.
    ///
    /// # Errors
    /// As there.
    pub fn place_batch_seen(
        &mut self,
        batch: Batch,
        turn_begins: &mut dyn FnMut(&Inventory),
    ) -> Result<Plan, PlaceError> {
        let policy = self.chain().policy();
        if batch.search.is_some() && policy.search == policy::Search::Forbidden {
            return Err(PlaceError::SearchForbidden(policy.name.clone()));
        }
        let mut everyone = Request {
            members: batch.members,
            unset: batch.unset,
            named: batch.named,
            facts: batch.facts,
            now: batch.now,
            draw: batch.draw,
            reserve_for: batch.reserve_for,
            ..Request::default()
        };
        place::take_in(&mut self.inventory, &mut everyone)?;
        // What is only tried is tried on a copy.
        let tried = batch.all_or_nothing || batch.search.is_some();
        let apart = batch.dry_run || batch.from_nothing || tried;
        let from = self.inventory.version();
        let mut world = apart.then(|| self.inventory.clone());
        if let (Some(world), true) = (&mut world, batch.from_nothing) {
            vacate(world, &everyone.members)?;
        }
        let inventory = world.as_ref().unwrap_or(&self.inventory);
        let order = self.turns(inventory, &everyone, (batch.order, &batch.together))?;
        let (requests, without_turn) = requests(everyone, order);
        let bound = batch.search.unwrap_or(0);
        self.options.quotas.set_only_tried(batch.dry_run);
        let (mut turns, searched) = match (batch.search, &mut world) {
            (Some(bound), Some(world)) => {
                let (number, start) = (self.next_number, world.clone());
                let (first_come, requests) =
                    self.in_turns(Some(&mut *world), requests, true, turn_begins);
                if !first_come.iter().any(Turn::finds_no_host) {
                    (first_come, None)
                } else {
                    let first_come = (first_come, std::mem::replace(world, start.clone()));
                    let (better, searched) =
                        self.search((&start, number), &requests, first_come, bound);
                    *world = better.world;
                    (better.turns, Some(searched))
                }
            }
            (_, world) => {
                let (turns, _) = self.in_turns(world.as_mut(), requests, false, turn_begins);
                (turns, None)
            }
        };
        self.options.quotas.set_only_tried(false);
        world.as_mut().unwrap_or(&mut self.inventory).reset_batch();
        let search_ended = searched.is_some_and(|it| it.bounded && it.decisions < bound);
        let is_over = search_ended || turns.iter().any(Turn::is_interrupted);
        let interrupted = self.options.cancel.check().err().filter(|_| is_over);
        let complete = without_turn.is_empty() && left_out(&turns) == 0;
        let adopted = match !batch.dry_run && (complete || !batch.all_or_nothing) {
            false => Adopted::Nothing,
            true if batch.from_nothing => {
                self.adopt_as_things_are(&mut turns, batch.all_or_nothing)?
            }
            true if apart => self.adopt(&turns)?,
            true => Adopted::All,
        };
        for turn in &mut turns {
            let Ok(decision) = &mut turn.outcome else {
                continue;
            };
            let is_nothing = adopted == Adopted::Nothing;
            if !is_nothing && !batch.dry_run && !batch.all_or_nothing {
                continue;
            }
            let decision = Arc::make_mut(decision);
            if is_nothing {
                decision.reserved = None;
            }
            if batch.dry_run || batch.all_or_nothing {
                let request = Arc::make_mut(&mut decision.request);
                request.dry_run = batch.dry_run;
                request.all_or_nothing = batch.all_or_nothing;
            }
        }
        let copy = world.map(|world| Copied {
            inventory: Arc::new(world),
            from,
        });
        let made_on = match &copy {
            Some(copy) => {
                self.forget_copies();
                MadeOn::Copy(copy.inventory.clone())
            }
            None => MadeOn::Inventory,
        };
        for decision in turns.iter().filter_map(|turn| turn.outcome.as_ref().ok()) {
            self.record(Recorded {
                decision: decision.clone(),
                made_on: made_on.clone(),
            });
        }
        Ok(Plan {
            turns,
            without_turn,
            reserved: adopted == Adopted::All,
            copy,
            searched,
            interrupted,
        })
    }

    /// The places of the members, turn by turn.
    fn turns(
        &self,
        inventory: &Inventory,
        everyone: &Request,
        (order, together): (BatchOrder, &[Vec<usize>]),
    ) -> Result<Vec<Joined>, PlaceError> {
        let draw = place::draw(&self.options, everyone, self.next_number)?;
        let chain = self.chain();
        let turns = match order {
            BatchOrder::Listed => (0..everyone.members.len())
                .map(|place| vec![place])
                .collect(),
            BatchOrder::Policy if chain.policy().order.is_none() => {
                order::by_importance(inventory, &everyone.members)
            }
            BatchOrder::Policy => {
                chain.turns(inventory, everyone, draw, self.options.chain_limit)?
            }
        };
        let turns = whole::turns(turns, together);
        Ok(joined::turns(inventory, &everyone.members, turns))
    }

    /// Decide one turn after the other, on a copy or else for real. Turns that were joined and
    /// find no host together are divided again. Gives the turns and, if `is_searched`, what each
    /// of them asked.
    fn in_turns(
        &mut self,
        copy: Option<&mut Inventory>,
        requests: Vec<TurnRequest>,
        is_searched: bool,
        turn_begins: &mut dyn FnMut(&Inventory),
    ) -> (Vec<Turn>, Vec<Request>) {
        // Answers about a copy are of no use for the cluster itself.
        let mut of_copy = copy
            .is_some()
            .then(|| self.options.runner(self.chain().clone()));
        let runner = of_copy.as_mut().unwrap_or(&mut self.runner);
        let inventory = copy.unwrap_or(&mut self.inventory);
        let options = &self.options;
        let mut turns = Vec::with_capacity(requests.len());
        let mut asked = Vec::new();
        let mut waiting: VecDeque<TurnRequest> = requests.into();
        let mut has_begun = false;
        while let Some(next) = waiting.pop_front() {
            // What is divided has changed nothing: the first of its turns has begun with it.
            if !std::mem::take(&mut has_begun) {
                turn_begins(inventory);
            }
            let is_joined = next.joined.len() > 1;
            let needed = (is_joined || is_searched).then(|| next.clone());
            let turn = settle_turn(inventory, runner, options, self.next_number, next.request);
            match needed {
                Some(joined) if is_joined && turn.finds_no_host() => {
                    for divided in joined.divided().into_iter().rev() {
                        waiting.push_front(divided);
                    }
                    has_begun = true;
                    continue;
                }
                Some(needed) if is_searched => asked.push(needed.request),
                _ => {}
            }
            self.next_number += u64::from(turn.outcome.is_ok());
            turns.push(turn);
        }
        (turns, asked)
    }

    /// Look for a plan that leaves out less than this first-come one does. Made are its
    /// decisions from the cluster and the number on that the batch began with.
    fn search(
        &mut self,
        (start, number): (&Inventory, u64),
        requests: &[Request],
        (turns, world): (Vec<Turn>, Inventory),
        bound: usize,
    ) -> (Tried, Searched) {
        let runner = Runner::new(self.chain().clone(), self.options.chain_limit);
        let mut search = Search::new(start, requests, &self.options, number, runner, bound);
        let first_come = left_out(&turns);
        let better = search.better_than(turns, world);
        let searched = Searched {
            first_come,
            left_out: better.left_out(),
            decisions: search.decisions,
            bounded: better.left_out() > 0 && search.is_bounded(),
        };
        let decided = better.turns.iter().filter(|turn| turn.outcome.is_ok());
        self.next_number = number + decided.count() as u64;
        (better, searched)
    }
}

/// What a turn asks.
#[derive(Debug, Clone)]
struct TurnRequest {
    request: Request,
    /// How many members each of the turns has that are joined to this one.
    joined: Vec<usize>,
}

impl TurnRequest {
    /// The turns that are joined to this one, each by itself.
    fn divided(self) -> Vec<Self> {
        let Self {
            mut request,
            joined,
        } = self;
        let mut members = std::mem::take(&mut request.members).into_iter();
        let mut unset = std::mem::take(&mut request.unset);
        let turns = joined.into_iter().map(|count| {
            let members: Vec<Vm> = members.by_ref().take(count).collect();
            let ids = members.iter().map(|member| &member.id);
            let unset = ids.filter_map(|id| unset.remove_entry(id)).collect();
            Self {
                request: Request {
                    members,
                    unset,
                    ..request.clone()
                },
                joined: vec![count],
            }
        });
        turns.collect()
    }
}

/// What each turn asks, and the ids of the members that have none. The tenant of a turn
/// is that of its members, if the batch names none.
fn requests(mut everyone: Request, order: Vec<Joined>) -> (Vec<TurnRequest>, Vec<Arc<str>>) {
    let members = std::mem::take(&mut everyone.members).into_iter();
    let mut waiting: Vec<Option<Vm>> = members.map(Some).collect();
    let mut unset = std::mem::take(&mut everyone.unset);
    let turns = order.iter().map(|joined| {
        let mut request = everyone.clone();
        let mut counts = Vec::with_capacity(joined.len());
        for places in joined {
            let before = request.members.len();
            let members = places.iter();
            let members = members.filter_map(|place| waiting.get_mut(*place)?.take());
            request.members.extend(members);
            counts.push(request.members.len() - before);
        }
        let ids = request.members.iter().map(|member| &member.id);
        request.unset = ids.filter_map(|id| unset.remove_entry(id)).collect();
        tenant::agree(&mut request);
        TurnRequest {
            request,
            joined: counts,
        }
    });
    let turns = turns.collect();
    let without_turn = waiting.into_iter().flatten().map(|member| member.id);
    (turns, without_turn.collect())
}

/// Decide one turn and reserve its places in `inventory`, as one of a batch.
pub(super) fn settle_turn(
    inventory: &mut Inventory,
    runner: &mut Runner,
    options: &SchedulerOptions,
    number: u64,
    request: Request,
) -> Turn {
    let ids = request.members.iter().map(|member| member.id.clone());
    let members = ids.collect();
    let outcome = place::place(inventory, runner, options, number, request).map(Arc::new);
    if let Ok(decision) = &outcome
        && let Some(slot) = decision.slot(inventory)
    {
        inventory.count_in_batch(slot, decision.request.members.len());
    }
    Turn { members, outcome }
}

/// How many VMs find no host.
fn left_out(turns: &[Turn]) -> usize {
    let without = turns.iter().filter(|turn| turn.host().is_none());
    without.map(|turn| turn.members.len()).sum()
}

/// Take away the places of those who have one.
fn vacate(world: &mut Inventory, members: &[Vm]) -> Result<(), PlaceError> {
    for member in members {
        if world.pending(&member.id).is_some() {
            world.cancel_vm(&member.id)?;
        }
        if world.running(&member.id).is_some() {
            world.vacate(&member.id)?;
        }
    }
    Ok(())
}
