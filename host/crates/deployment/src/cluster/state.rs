//! The state that a cluster's thread owns.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::answers::Answers;
use super::breaker::Breakers;
use super::done::{SERVER, Told};
use super::durable::Rows;
use super::ended::EndedReservations;
use super::failures::Failures;
use super::glance::Glance;
use super::host_states::HostStates;
use super::lost::Lost;
use super::past::SavedChain;
use super::plans::Plans;
use super::recently_changed::RecentlyChanged;
use super::restarts::Restarts;
use super::shadow::Shadow;
use super::{Attached, ClusterSettings, Snapshot, durable};
use crate::Authority;
use crate::Clock;
use crate::DeploymentError;
use crate::alarm::Alarm;
use crate::events::{EventKind, Events, News};
use crate::in_force::InForce;
use crate::quotas::ClusterLedger;
use crate::returns::Returns;
use crate::turns::{Answer, Share};
use placewright_chain::{Chain, UnheededInCluster};
use placewright_engine::generation::Generation;
use placewright_inventory::{Inventory, Touched};
use placewright_model::budget::Collection;
use placewright_model::schema::Schema;
use placewright_policy::Policy;
use placewright_records::telemetry::{
    ClusterMeter, Outcome, QuotaRefusals, StoreMetrics, UnitFamilies,
};
use placewright_records::traces;
use placewright_scheduler::Scheduler;
use placewright_store::{Change, Counters, Store};
use placewright_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use placewright_sync::{ArcSwap, ArcSwapOption};

/// Versions of the inventory are reserved so many at a time: a version that only the clock
/// has brought costs no write, and a restart skips what was left.
const VERSIONS: u64 = 1 << 16;

/// So many revisions are skipped after a start: clients may have been told of some that were
/// not kept any more, and of others after that they must not be told by the same numbers.
const SKIPPED_REVISIONS: u64 = 1 << 16;

/// What units have worked is counted after so many turns that changed something.
const COUNTED: u64 = 32;

/// A cluster as its thread knows it.
pub struct ClusterState {
    pub(super) name: Arc<str>,
    pub(super) scheduler: Scheduler,
    /// Why nothing can be decided, if the cluster's policy cannot run.
    pub(super) broken: Option<String>,
    pub(super) attached: Attached,
    /// The policy that is to decide; without what fails, it may be less.
    pub(super) policy: Arc<Policy>,
    pub(super) breakers: Breakers,
    /// How many units of the chain were told of as quarantined.
    quarantined: usize,
    pub(super) settings: ClusterSettings,
    pub(super) generation: Arc<Generation>,
    pub(super) store: Store,
    pub(super) events: Arc<Events>,
    pub(super) meter: Arc<ClusterMeter>,
    pub(super) units: UnitFamilies,
    pub(super) quota_refusals: QuotaRefusals,
    kept: StoreMetrics,
    /// What was counted of each unit so far.
    pub(super) counted: BTreeMap<Arc<str>, (u64, u64, u64, Duration)>,
    pub(super) clock: Clock,
    /// The tables and columns that documents are read with.
    pub(super) schema: Arc<ArcSwap<Schema>>,
    pub(super) plans: Plans,
    pub(super) shadow: Option<Shadow>,
    pub(super) answers: Answers,
    pub(super) ended: EndedReservations,
    pub(super) longest_reservation: Option<i64>,
    /// Says whether a token may operate here still.
    pub(super) authority: Authority,
    /// What is in force by now, and what was when the last turn began.
    pub(super) in_force: Arc<ArcSwap<InForce>>,
    pub(super) adopted: Arc<InForce>,
    /// The number of the latter, for whoever looks on.
    pub(super) adopted_number: Arc<AtomicU64>,
    /// The policy that decides, with what is different here, for whoever looks on; None: none
    /// can run.
    pub(super) ruling: Arc<ArcSwapOption<Policy>>,
    /// What is published after each turn, and the last copy for those who read.
    pub(super) glance: Arc<Glance>,
    pub(super) snapshot: Arc<ArcSwapOption<Snapshot>>,
    /// Wall time that one turn may take for decisions.
    pub(super) turn: Duration,
    /// Set, it ends the turn that is under way at its next decision.
    pub(super) cut_off: Arc<std::sync::atomic::AtomicBool>,
    /// How often units have failed lately, and whom to tell.
    pub(super) failures: Failures,
    pub(super) returns: Arc<Returns>,
    /// What tenants hold, in the ledger of all clusters.
    pub(super) ledger: Arc<ClusterLedger>,
    alarm: Arc<Alarm>,
    /// What the alarm is set to.
    due: Option<i64>,
    /// Who has the turn.
    pub(super) by: Arc<str>,
    /// Of what this turn did: what is told when it is kept.
    pub(super) news: Vec<News>,
    /// The states of hosts, as they were told last.
    pub(super) host_states: HostStates,
    /// The VMs that the server restarts by itself, if it does.
    pub(super) restarts: Restarts,
    /// Of what this turn changed: what is to be kept besides the inventory.
    pub(super) changes: Vec<Change>,
    /// What changed in the inventory up to the version `noted`.
    pub(super) touched: Touched,
    /// What changed before.
    pub(super) recently_changed: Arc<RecentlyChanged>,
    pub(super) noted: u64,
    /// What the store has failed to keep, rows apart.
    pub(super) lost: Arc<Lost>,
    /// Whether all rows are to be kept anew.
    pub(super) everything: Arc<AtomicBool>,
    /// Whether rows have changed in this turn.
    pub(super) rows_changed: bool,
    /// The chain that was kept last.
    kept_chain: Option<Arc<Chain>>,
    /// Where the numbers stand, as it was kept last.
    counters: Counters,
    /// How many revisions are left out before the next one.
    skipped: u64,
    pub(super) changed: watch::Sender<u64>,
    /// How often the cluster has changed since its thread began.
    pub(super) turns_with_changes: u64,
}

/// What a new state is made of.
pub struct Parts {
    pub scheduler: Scheduler,
    pub broken: Option<String>,
    pub attached: Attached,
    pub settings: ClusterSettings,
    pub generation: Arc<Generation>,
    pub store: Store,
    pub events: Arc<Events>,
    pub meter: Arc<ClusterMeter>,
    pub units: UnitFamilies,
    pub quota_refusals: QuotaRefusals,
    pub kept: StoreMetrics,
    pub clock: Clock,
    pub alarm: Arc<Alarm>,
    pub(crate) returns: Arc<Returns>,
    pub(crate) ledger: Arc<ClusterLedger>,
    pub longest_reservation: Option<i64>,
    /// Bytes of the answers that are given again.
    pub answers: u64,
    /// Says whether a token may operate here still.
    pub authority: Authority,
    /// Wall time that one turn may take for decisions.
    pub turn: Duration,
    /// What is in force by now.
    pub in_force: Arc<ArcSwap<InForce>>,
    /// What was, when the scheduler was made.
    pub adopted: Arc<InForce>,
}

impl ClusterState {
    /// The state of a cluster that is made or read.
    pub fn new(parts: Parts) -> Self {
        let inventory = parts.scheduler.inventory();
        let policy = parts.scheduler.chain().policy().clone();
        let host_states = HostStates::of(inventory);
        let schema = inventory.schema().clone();
        Self {
            breakers: Breakers::default(),
            quarantined: 0,
            units: parts.units,
            quota_refusals: parts.quota_refusals,
            kept: parts.kept,
            counted: BTreeMap::new(),
            name: inventory.name().clone(),
            noted: inventory.version(),
            recently_changed: Arc::new(RecentlyChanged::since(inventory.version())),
            scheduler: parts.scheduler,
            broken: parts.broken,
            attached: parts.attached,
            settings: parts.settings,
            generation: parts.generation,
            store: parts.store,
            events: parts.events,
            meter: parts.meter,
            clock: parts.clock,
            schema: Arc::new(ArcSwap::new(schema)),
            plans: Plans::default(),
            shadow: None,
            answers: Answers::within(parts.answers),
            ended: EndedReservations::default(),
            longest_reservation: parts.longest_reservation,
            authority: parts.authority,
            turn: parts.turn,
            ruling: Arc::new(ArcSwapOption::new(Some(policy.clone()))),
            adopted_number: Arc::new(AtomicU64::new(parts.adopted.number)),
            in_force: parts.in_force,
            adopted: parts.adopted,
            cut_off: Arc::default(),
            glance: Arc::default(),
            snapshot: Arc::new(ArcSwapOption::new(None)),
            policy,
            failures: Failures::default(),
            returns: parts.returns,
            ledger: parts.ledger,
            alarm: parts.alarm,
            due: None,
            by: SERVER.into(),
            news: Vec::new(),
            host_states,
            restarts: Restarts::default(),
            changes: Vec::new(),
            touched: Touched::default(),
            lost: Arc::default(),
            everything: Arc::default(),
            rows_changed: false,
            kept_chain: None,
            counters: Counters::default(),
            skipped: 0,
            changed: watch::Sender::new(0),
            turns_with_changes: 0,
        }
    }

    /// Keep all rows with the next change, whatever was kept before.
    pub(crate) fn keep_everything(&mut self) {
        self.everything.store(true, Ordering::Release);
    }

    /// Numbers go on from these.
    pub(crate) fn resume(&mut self, counters: Counters) {
        self.scheduler.resume(counters.next_decision);
        self.plans.resume(counters.next_plan);
        let inventory = self.scheduler.inventory_mut();
        inventory.begin_at(counters.version);
        self.noted = inventory.version();
        self.recently_changed.forget(self.noted);
        if counters.revision == 0 {
            // A version of the program has kept it that did not keep all of this.
            self.keep_everything();
        }
        self.counters = counters;
        self.skipped = SKIPPED_REVISIONS;
    }

    /// Have revisions above this one only, for a cluster that is new.
    pub(crate) fn revise_from(&mut self, revision: u64) {
        self.counters.revision = revision;
    }

    /// Where the numbers stand, if that is to be kept: the clock alone is no reason.
    fn counters_to_keep(&mut self) -> Option<Change> {
        let revision = self.kept_revision();
        if mem::take(&mut self.rows_changed) {
            self.skipped = 0;
        }
        let version = self.inventory().version();
        let counters = Counters {
            next_decision: self.scheduler.next_number(),
            clock: self.inventory().clock(),
            next_plan: self.plans.next(),
            version: match version < self.counters.version {
                true => self.counters.version,
                false => version.saturating_add(VERSIONS),
            },
            revision,
        };
        let before = Counters {
            clock: counters.clock,
            ..self.counters
        };
        self.counters = counters;
        (counters != before).then(|| Change::Counter {
            cluster: self.name.to_string(),
            counters,
        })
    }

    /// Name of the cluster.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The cluster as it is.
    pub fn inventory(&self) -> &Inventory {
        self.scheduler.inventory()
    }

    /// What decides.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The needs of VMs that have a place which no filter of the policy checks.
    pub fn unheeded(&self) -> Vec<UnheededInCluster> {
        self.scheduler.chain().unheeded_in(self.inventory())
    }

    /// How it is set.
    pub fn settings(&self) -> &ClusterSettings {
        &self.settings
    }

    /// What it decides by.
    pub fn attached(&self) -> &Attached {
        &self.attached
    }

    /// Why nothing can be decided, if the policy cannot run.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    pub(super) fn meter(&self) -> &Arc<ClusterMeter> {
        &self.meter
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Seconds since 1970-01-01 UTC.
    pub(super) fn now(&self) -> i64 {
        (self.clock)()
    }

    /// Bring the inventory to the present: reservations that have expired end.
    pub(crate) fn advance(&mut self) -> i64 {
        let now = self.now();
        self.heed_clock(now);
        self.advance_to(now);
        now
    }

    /// Let the ledger of all clusters have what tenants hold here.
    pub(super) fn settle_holdings(&mut self) {
        self.ledger.settle(self.scheduler.inventory_mut());
    }

    /// Be given a turn when the next reservation ends, statistics become outdated, or what came
    /// to run counts as measured.
    pub(super) fn set_alarm(&mut self) {
        let inventory = self.inventory();
        let times = [
            inventory.next_expiry(),
            inventory.next_outdated(),
            inventory.next_measured(),
        ];
        let due = times.into_iter().flatten().min();
        if due != self.due {
            self.due = due;
            self.alarm.set(&self.name, due);
        }
        self.restarts.publish(self.settings.restart);
    }

    /// The same when the alarm has rung: it is set anew, whatever it was set to.
    pub(crate) fn ring(&mut self) {
        self.due = None;
        self.advance();
    }

    /// Bring the inventory to a time: reservations that have expired by then end.
    pub(super) fn advance_to(&mut self, now: i64) {
        for expired in self.scheduler.inventory_mut().advance(now) {
            self.reservation_expired(expired, now);
        }
    }

    pub(super) fn must_decide(&self) -> Result<(), DeploymentError> {
        match &self.broken {
            None => Ok(()),
            Some(why) => Err(DeploymentError::NoPolicy {
                cluster: self.name.clone(),
                why: why.clone(),
            }),
        }
    }

    pub(super) fn tell(&self, kind: EventKind, message: String) {
        let news = News {
            kind,
            cluster: Some(self.name.clone()),
            message,
            ..News::default()
        };
        self.events.tell(self.now(), news);
    }

    /// Do the work of a turn, and answer when what it changed is kept. Work that only reads is answered also if
    /// nothing can be kept: what there is to keep then is of others before it.
    pub(super) fn run<R: Send + 'static>(
        &mut self,
        share: Share,
        work: impl FnOnce(&mut Self) -> Result<R, DeploymentError>,
        answer: Answer<R, DeploymentError>,
    ) {
        self.take_over();
        let outcome = work(self);
        self.continue_plans();
        self.settle_holdings();
        self.scheduler.inventory_mut().drop_unused_texts();
        self.keep_rows();
        let mut changes = mem::take(&mut self.changes);
        changes.extend(self.counters_to_keep());
        self.scheduler.forget_the_past();
        let repeats = mem::take(&mut self.answers.repeats);
        let news = self.take_news();
        self.set_alarm();
        // Before the answer: whoever has it and reads sees what it says.
        self.publish_counts();
        if changes.is_empty() {
            return match repeats {
                // Nobody is told of it again before it is kept.
                true => self.keep(changes, news, (share, outcome), answer),
                false => {
                    news.tell();
                    answer.give(outcome);
                }
            };
        }
        self.turns_with_changes += 1;
        self.changed.send_replace(self.turns_with_changes);
        self.measure();
        if self.turns_with_changes.is_multiple_of(COUNTED) {
            self.measure_units();
        }
        self.tell_quarantined();
        self.keep(changes, news, (share, outcome), answer);
    }

    /// Have these changes kept, and all before them; then answer.
    fn keep<R: Send + 'static>(
        &self,
        changes: Vec<Change>,
        news: Told,
        (share, outcome): (Share, Result<R, DeploymentError>),
        answer: Answer<R, DeploymentError>,
    ) {
        let (everything, lost) = (self.everything.clone(), self.lost.clone());
        let (metrics, submitted) = (self.kept.clone(), Instant::now());
        metrics.submitted();
        let writing = traces::writing();
        self.store.submit_and_return(changes, move |kept, changes| {
            drop(writing);
            metrics.kept(submitted.elapsed(), kept.is_ok());
            answer.give(match kept {
                Ok(()) => {
                    news.tell();
                    outcome
                }
                Err(error) => {
                    // What the store lacks is not known: it gets all rows with the
                    // next change, and what is no row once more. What is at fault would be
                    // so again.
                    if !error.refuses_change() {
                        lost.take_in(changes);
                    }
                    everything.store(true, Ordering::Release);
                    match share {
                        Share::Reads => outcome,
                        Share::Work => outcome.and(Err(DeploymentError::NotKept(error))),
                    }
                }
            });
        });
    }

    pub(super) fn measure(&self) {
        let inventory = self.inventory();
        self.meter.holds(
            inventory.host_count(),
            inventory.running_count(),
            inventory.pending_count(),
        );
        for (collection, bytes, bound) in self.budgets() {
            self.meter.takes(collection, bytes, bound);
        }
    }

    /// Bytes that the collections of the cluster take which are counted in bytes, and how many
    /// they may.
    fn budgets(&self) -> [(Collection, u64, u64); 8] {
        let inventory = self.inventory();
        let (texts, of_texts) = inventory.text_bytes();
        let bounds = inventory.bounds();
        let (journal, unstored) = (Collection::Journal, Collection::Unstored);
        let plans = Collection::Plans;
        [
            (Collection::Inventory, inventory.bytes(), bounds.inventory),
            (
                Collection::Columns,
                inventory.column_bytes(),
                bounds.columns,
            ),
            (Collection::Texts, texts, of_texts),
            (journal, inventory.journal_bytes(), journal.bound()),
            (unstored, self.lost.bytes(), unstored.bound()),
            (plans, self.plan_bytes(), plans.bound()),
            (
                Collection::Answers,
                self.answers.bytes(),
                self.answers.bound(),
            ),
            (
                Collection::Decisions,
                self.scheduler.recorded_bytes(),
                self.scheduler.options().recorded_bytes,
            ),
        ]
    }

    /// Count what units have worked since the last time. A new chain begins from nothing.
    pub(super) fn measure_units(&mut self) {
        let reused = self.scheduler.unit_reuse();
        // A unit may be called for several entries.
        let mut worked: BTreeMap<Arc<str>, (u64, u64, Duration)> = BTreeMap::new();
        for time in self.scheduler.times() {
            let (calls, rows, took) = worked.entry(time.unit.clone()).or_default();
            *calls += time.calls;
            *rows += time.rows;
            *took += time.time;
        }
        for (unit, (calls, rows, took)) in worked {
            let kept = reused.iter().filter(|it| it.unit == unit);
            let kept: u64 = kept.map(|it| it.reused).sum();
            let now = (calls, rows, kept, took);
            let before = self.counted.insert(unit.clone(), now);
            let before = before.filter(|it| it.0 <= now.0).unwrap_or_default();
            self.units.of(&unit).worked(
                now.0 - before.0,
                now.1.saturating_sub(before.1),
                now.2.saturating_sub(before.2),
                now.3.saturating_sub(before.3),
            );
        }
    }

    /// Tell of units whose answers are not kept any more.
    fn tell_quarantined(&mut self) {
        let quarantined = self.scheduler.quarantined();
        if quarantined.len() <= self.quarantined {
            self.quarantined = quarantined.len();
            return;
        }
        let new: Vec<_> = quarantined[self.quarantined..].to_vec();
        self.quarantined = quarantined.len();
        self.publish_health();
        for quarantined in new {
            let news = News {
                kind: EventKind::UnitQuarantined,
                cluster: Some(self.name.clone()),
                message: format!(
                    "it answered differently for host \"{}\" although nothing had changed: its answers are no longer cached",
                    quarantined.host
                ),
                unit: Some(quarantined.unit),
                ..News::default()
            };
            self.events.tell(self.now(), news);
        }
    }

    /// Have the rows kept that have changed so far.
    pub(super) fn keep_rows(&mut self) {
        self.note();
        self.tell_host_states();
        let touched = Arc::new(mem::take(&mut self.touched));
        let rows = match self.everything.swap(false, Ordering::AcqRel) {
            true => {
                self.recently_changed.forget(self.noted);
                let lost = self.once_more();
                self.changes.extend(lost);
                Rows::now(self).everything()
            }
            false => {
                self.recently_changed.record(self.noted, &touched);
                Rows::now(self).touched(&touched)
            }
        };
        let everything = matches!(rows[..], [_, Change::ReplaceInventory { .. }]);
        self.rows_changed |= !rows.is_empty();
        self.changes.extend(rows);
        if everything {
            self.kept_chain = None;
            self.keep_plans();
        }
    }

    pub(super) fn kept_revision(&self) -> u64 {
        match self.rows_changed {
            true => self.counters.revision + self.skipped + 1,
            false => self.counters.revision,
        }
    }

    /// A decision has ended. One that was only tried is none of those by which somebody sees how
    /// the cluster fares.
    pub(super) fn count_decision(&self, outcome: Outcome, dry_run: bool) {
        self.meter.decided(outcome);
        if !dry_run {
            self.glance.rates().decided(self.now(), outcome);
        }
    }

    /// Before a decision: have kept on what it is made, and by what.
    pub(super) fn keep_situation(&mut self) {
        self.keep_rows();
        let chain = self.scheduler.chain().clone();
        let is_kept = self.kept_chain.as_ref();
        if is_kept.is_some_and(|kept| Arc::ptr_eq(kept, &chain)) {
            return;
        }
        let saved = SavedChain::of(&chain, &self.generation);
        self.keep_embedded(&saved);
        self.changes.push(Change::PutChain {
            cluster: self.name.to_string(),
            body: durable::json(&saved),
        });
        self.kept_chain = Some(chain);
    }

    /// Take note of what has changed in the inventory so far.
    pub(super) fn note(&mut self) {
        if let Some(touched) = self.touched_since_noted() {
            self.take_note(touched);
        }
    }

    /// The same of statistics, which have rows of their own: of the hosts nothing else has changed.
    pub(super) fn note_measured(&mut self) {
        if let Some(mut touched) = self.touched_since_noted() {
            touched.noted.append(&mut touched.hosts);
            self.take_note(touched);
        }
    }

    /// None: everything may have changed.
    fn touched_since_noted(&mut self) -> Option<Touched> {
        let version = self.inventory().version();
        let since = std::mem::replace(&mut self.noted, version).min(version);
        let touched = self.inventory().touched_since(since);
        if touched.is_none() {
            self.everything.store(true, Ordering::Release);
        }
        touched
    }

    fn take_note(&mut self, touched: Touched) {
        self.touched.hosts.extend(touched.hosts);
        self.touched.vms.extend(touched.vms);
        self.touched.tenants.extend(touched.tenants);
        self.touched.groups.extend(touched.groups);
        self.touched.noted.extend(touched.noted);
        self.touched.measured_vms.extend(touched.measured_vms);
        self.touched.facts |= touched.facts;
    }
}

/// Nothing is paused in a cluster that is not there.
impl Drop for ClusterState {
    fn drop(&mut self) {
        self.forget_faults();
    }
}
