//! What happens in a deployment, told to whoever listens.

mod audited;
mod keys;
mod kind;

pub use kind::EventKind;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, PoisonError};

use serde::Serialize;
use tokio::sync::broadcast;

use placewright_document::Word;
use placewright_model::budget::Collection;
use placewright_model::{Rfc3339, cut, one_line};
use placewright_records::audit::{Audit, Source, Unchanged};
use placewright_store::{Change, Store, StoreError};
use placewright_sync::Mutex;

/// Numbers are reserved in the store so many at a time: it costs no write an event, and a
/// restart skips what was left.
const RESERVED: u64 = 1 << 16;

/// Where the store has the number below which others may have been given away.
const KEY: &str = "events";

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Event {
    /// Counts up, also over restarts, which skip some numbers.
    #[schema(example = 17)]
    pub number: u64,
    /// When, in seconds since 1970-01-01 UTC; `time` is the same.
    #[schema(example = 1764000000)]
    pub at: i64,
    /// When it happened.
    #[schema(value_type = String, format = DateTime)]
    pub time: Rfc3339,
    /// What happened; the kind says which of the keys below an event may have.
    pub kind: EventKind,
    /// The cluster that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "north")]
    pub cluster: Option<Arc<str>>,
    /// The unit that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "memory")]
    pub unit: Option<Arc<str>>,
    /// The policy that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "general")]
    pub policy: Option<Arc<str>>,
    /// The VM that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "web-3")]
    pub vm: Option<Arc<str>>,
    /// The host that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "h1")]
    pub host: Option<Arc<str>>,
    /// The decision that it follows from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 17)]
    pub decision: Option<u64>,
    /// The plan of moves that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 4)]
    pub plan: Option<u64>,
    /// Who did it: the name of a token, `anonymous` where there are none, `periodic` for what
    /// is done from time to time, `restart` for restarts that the server begins by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "ci")]
    pub by: Option<Arc<str>>,
    /// A sentence for people of at most 4 KiB.
    #[schema(example = "VM web-3 is placed on h1")]
    pub message: String,
}

/// An event that is about to be told.
#[derive(Debug, Clone, Default)]
pub struct News {
    /// What kind of thing happened.
    pub kind: EventKind,
    /// The cluster that it happened in, if it did in one.
    pub cluster: Option<Arc<str>>,
    /// The unit that it is about, if it is about one.
    pub unit: Option<Arc<str>>,
    /// The policy that it is about, if it is about one.
    pub policy: Option<Arc<str>>,
    /// Id of the VM that it is about, if it is about one.
    pub vm: Option<Arc<str>>,
    /// Id of the host that it is about, if it is about one.
    pub host: Option<Arc<str>>,
    /// Number of the decision that it is about, if it is about one.
    pub decision: Option<u64>,
    /// Number of the plan that it is about, if it is about one.
    pub plan: Option<u64>,
    /// Name of the token of whoever did it, if somebody did.
    pub by: Option<Arc<str>>,
    /// What happened: a sentence.
    pub message: String,
    /// Whether nothing is different for it but what is listed, as for a plan of which nothing was begun: whoever
    /// calls can have it happen without end, and its record in the audit log gives way to others.
    pub has_changed_nothing: bool,
}

/// The events of a deployment.
#[derive(Debug)]
pub struct Events {
    told: Mutex<Told>,
    listeners: broadcast::Sender<Arc<Event>>,
    /// Where numbers are reserved; None: they begin anew with each process.
    store: Option<Store>,
    /// Where those are recorded that the records of calls do not tell of.
    audit: Audit,
}

#[derive(Debug, Default)]
struct Told {
    /// The number of the last event; 0 before the first.
    number: u64,
    /// No number above this one is reserved.
    reserved: u64,
    /// Those that are remembered, by their cluster; None: of the server.
    last: HashMap<Option<Arc<str>>, VecDeque<Arc<Event>>>,
    /// How many those are.
    count: usize,
    /// By cluster, the number of the last one that is not remembered any more.
    gone: HashMap<Option<Arc<str>>, u64>,
    /// None up to that number is remembered.
    before: u64,
}

/// What a listener gets.
#[derive(Debug)]
pub struct Listening {
    /// Whether some of the events that it asked for are no longer remembered: then the
    /// number of the last of those.
    pub lost: Option<u64>,
    /// Those that are remembered.
    pub missed: Vec<Arc<Event>>,
    /// Those to come.
    pub to_come: broadcast::Receiver<Arc<Event>>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            told: Mutex::default(),
            listeners: broadcast::channel(Collection::Events.most()).0,
            store: None,
            audit: Audit::default(),
        }
    }
}

impl Events {
    /// Events whose numbers go on after those that were given away before.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn kept(store: &Store) -> Result<Self, StoreError> {
        let settings = store.load()?.settings;
        let number = settings.get(KEY).and_then(|number| number.parse().ok());
        let number: u64 = number.unwrap_or(0);
        let reserved = number.saturating_add(RESERVED);
        store.commit(vec![reserve(reserved)])?;
        let told = Told {
            number,
            reserved,
            before: number,
            ..Told::default()
        };
        Ok(Self {
            told: Mutex::new(told),
            store: Some(store.clone()),
            ..Self::default()
        })
    }

    /// The same, recorded.
    #[must_use]
    pub fn recorded(self, audit: Audit) -> Self {
        Self { audit, ..self }
    }

    /// Reserve numbers up to this one. Nobody waits for it: those that are reserved
    /// already last for long.
    fn reserve(&self, number: u64) {
        if let Some(store) = &self.store {
            store.submit(vec![reserve(number)], |kept| {
                if let Err(error) = kept {
                    tracing::error!(%error, "numbers of events may repeat after a restart");
                }
            });
        }
    }

    /// Tell of something that happened at `at` (seconds).
    pub fn tell(&self, at: i64, news: News) {
        let news = News {
            message: cut(news.message),
            ..news
        };
        log(&news);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.number += 1;
        let to_reserve = told.reserves();
        let has_changed_nothing = news.has_changed_nothing;
        let event = Arc::new(Event {
            number: told.number,
            at,
            time: Rfc3339(at),
            kind: news.kind,
            cluster: news.cluster,
            unit: news.unit,
            policy: news.policy,
            vm: news.vm,
            host: news.host,
            decision: news.decision,
            plan: news.plan,
            by: news.by,
            message: news.message,
        });
        debug_assert!(
            event.unknown_keys().is_empty(),
            "events of the kind {} have no {:?}",
            event.kind.word(),
            event.unknown_keys()
        );
        told.remember(event.clone());
        if self.audit.is_on()
            && let Some(record) = audited::record(&event)
        {
            match has_changed_nothing {
                false => self.audit.record(record),
                true => {
                    let source = Source {
                        token: record.by.clone(),
                        address: None,
                    };
                    self.audit
                        .record_unchanged(&source, Unchanged::Failed, || record);
                }
            }
        }
        // Under the lock, so that listeners get events in the order of their numbers.
        // Without listeners nobody is told.
        let _ = self.listeners.send(event);
        drop(told);
        if let Some(number) = to_reserve {
            self.reserve(number);
        }
    }

    /// The events after number `after` that are remembered, and those to come; without a
    /// number only those to come.
    pub fn listen(&self, after: Option<u64>) -> Listening {
        self.listen_as(after, |_| true)
    }

    /// The same for somebody who is told of some clusters only: those of others are not missed.
    pub fn listen_as(&self, after: Option<u64>, sees: impl Fn(&str) -> bool) -> Listening {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let after = after.unwrap_or(told.number);
        let gone = told.gone.iter();
        let gone = gone.filter(|(cluster, _)| cluster.as_deref().is_none_or(&sees));
        let before = gone.map(|(_, number)| *number).max();
        let before = before.unwrap_or(0).max(told.before);
        // A number that was never given is one of another deployment.
        let lost = after < before || after > told.number;
        let from = if lost { before } else { after };
        Listening {
            lost: lost.then_some(before),
            missed: told.since(from),
            to_come: self.listeners.subscribe(),
        }
    }

    /// All events that are remembered, by number.
    pub fn remembered(&self) -> Vec<Arc<Event>> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.since(0)
    }

    /// The number of the last event; 0 before the first.
    pub fn last(&self) -> u64 {
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .number
    }
}

impl Told {
    /// The events after that number that are remembered, by number.
    fn since(&self, number: u64) -> Vec<Arc<Event>> {
        let all = self.last.values().flatten();
        let mut since: Vec<_> = all.filter(|it| it.number > number).cloned().collect();
        since.sort_unstable_by_key(|event| event.number);
        since
    }

    /// Remember one more. Where there are too many, the oldest one of the cluster with the most
    /// goes: what happens in one cluster displaces nothing of another.
    fn remember(&mut self, event: Arc<Event>) {
        let of = event.cluster.clone();
        let own = self.last.entry(of.clone()).or_default();
        own.push_back(event);
        self.count += 1;
        if self.count <= Collection::Events.most() {
            return;
        }
        // Whoever has more than its part need not look for somebody with still more.
        let is_above = own.len() > Collection::Events.most() / self.last.len();
        let payer = match is_above {
            true => Some(of),
            false => {
                let most = self.last.iter().max_by_key(|(_, events)| events.len());
                most.map(|(of, _)| of.clone())
            }
        };
        let Some(payer) = payer else { return };
        let Some(events) = self.last.get_mut(&payer) else {
            return;
        };
        if let Some(oldest) = events.pop_front() {
            self.count -= 1;
            self.gone.insert(payer.clone(), oldest.number);
        }
        if events.is_empty() {
            self.last.remove(&payer);
        }
        // Of clusters that have long been silent, or are gone, it is not remembered one by one.
        if self.gone.len() > Collection::Events.most() {
            let first = self.gone.iter().min_by_key(|(_, number)| **number);
            if let Some((of, number)) = first.map(|(of, number)| (of.clone(), *number)) {
                self.gone.remove(&of);
                self.before = self.before.max(number);
            }
        }
    }

    /// Take note that numbers are reserved up to the one that is given, if it is time to.
    fn reserves(&mut self) -> Option<u64> {
        let left = self.reserved.saturating_sub(self.number);
        if left > RESERVED / 2 {
            return None;
        }
        self.reserved = self.reserved.max(self.number).saturating_add(RESERVED);
        Some(self.reserved)
    }
}

impl Event {
    /// Tells a listener that it has missed events up to that number, which are not
    /// remembered: what it knows may be out of date.
    pub fn reset(number: u64, at: i64) -> Self {
        Self {
            number,
            at,
            time: Rfc3339(at),
            kind: EventKind::Reset,
            cluster: None,
            unit: None,
            policy: None,
            vm: None,
            host: None,
            decision: None,
            plan: None,
            by: None,
            message: format!(
                "events up to number {number} are no longer stored: read again what you follow"
            ),
        }
    }
}

/// Write it into the log.
fn log(news: &News) {
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                kind = news.kind.word(),
                cluster = news.cluster.as_deref(),
                unit = news.unit.as_deref(),
                policy = news.policy.as_deref(),
                vm = news.vm.as_deref(),
                host = news.host.as_deref(),
                decision = news.decision,
                plan = news.plan,
                by = news.by.as_deref(),
                "{}",
                one_line(&news.message)
            )
        };
    }
    match news.kind {
        kind if kind.is_warning() => line!(warn),
        kind if kind.is_frequent() => line!(debug),
        _ => line!(info),
    }
}

fn reserve(number: u64) -> Change {
    Change::Setting {
        key: KEY.to_owned(),
        body: number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use placewright_records::audit::{AuditFileOptions, Destination};
    use placewright_records::telemetry::AuditMetrics;
    use placewright_store::StoreOptions;

    fn numbers(listening: &Listening) -> Vec<u64> {
        listening.missed.iter().map(|event| event.number).collect()
    }

    fn news(message: &str) -> News {
        News {
            kind: EventKind::UnitSeen,
            message: message.to_owned(),
            ..News::default()
        }
    }

    #[test]
    fn of_events_that_changed_nothing_some_have_records_and_of_changes_each() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let destination = Destination::File(AuditFileOptions {
            path: path.clone(),
            size: 1 << 30,
            files: 2,
            age: Duration::ZERO,
            spare: 0,
        });
        let audit = Audit::open(&destination, AuditMetrics::default()).unwrap();
        let events = Events::default().recorded(audit.clone());
        let made = |has_changed_nothing| News {
            kind: EventKind::PlanMade,
            cluster: Some("c".into()),
            plan: Some(1),
            by: Some("op".into()),
            message: "made".to_owned(),
            has_changed_nothing,
            ..News::default()
        };
        for number in 0..1000 {
            events.tell(number, made(true));
        }
        for number in 0..100 {
            events.tell(number, made(false));
        }
        assert!(audit.end(Duration::from_secs(60)));
        let text = std::fs::read_to_string(path).unwrap();
        let told = text.matches("\"what\":\"plan-made\"").count();
        assert!((101..200).contains(&told), "{told}");
        assert_eq!(events.last(), 1100);
    }

    #[test]
    fn whoever_comes_back_misses_nothing_that_is_remembered() {
        let events = Events::default();
        for number in 0..3 {
            events.tell(number, news(&number.to_string()));
        }
        let mut listening = events.listen(Some(1));
        assert_eq!(numbers(&listening), [2, 3]);
        assert_eq!(listening.lost, None);
        events.tell(9, news("later"));
        assert_eq!(listening.to_come.try_recv().unwrap().number, 4);
        assert_eq!(events.last(), 4);
        assert_eq!(numbers(&events.listen(None)), [0; 0]);
    }

    #[test]
    fn the_memory_of_events_is_bounded() {
        let events = Events::default();
        for number in 0..2000 {
            events.tell(number, news("again"));
        }
        let first = 2001 - Collection::Events.most() as u64;
        let listening = events.listen(Some(first - 1));
        assert_eq!(listening.lost, None);
        assert_eq!(listening.missed.len(), Collection::Events.most());
        assert_eq!(listening.missed[0].number, first);
        assert_eq!(events.listen(Some(first - 2)).lost, Some(first - 1));
    }

    #[test]
    fn what_happens_in_one_cluster_displaces_nothing_of_another() {
        let events = Events::default();
        let of = |cluster: &str| News {
            kind: EventKind::InventoryChanged,
            cluster: Some(cluster.into()),
            ..news("of a cluster")
        };
        events.tell(0, news("of the server"));
        events.tell(0, of("quiet"));
        for _ in 0..3000 {
            events.tell(0, of("loud"));
        }
        let remembered = events.remembered();
        assert_eq!(remembered.len(), Collection::Events.most());
        let first: Vec<u64> = remembered.iter().take(2).map(|it| it.number).collect();
        assert_eq!(first, [1, 2]);
        // Whoever sees the loud one has missed some of it, and nobody else has.
        assert!(events.listen(Some(0)).lost.is_some());
        let listening = events.listen_as(Some(0), |cluster| cluster == "quiet");
        assert_eq!(listening.lost, None);
        assert_eq!(numbers(&listening)[..2], [1, 2]);
    }

    #[test]
    fn long_sentences_are_cut_before_they_are_remembered_and_sent() {
        let events = Events::default();
        events.tell(0, news(&"x".repeat(1 << 20)));
        let missed = &events.listen(Some(0)).missed;
        assert!(missed[0].message.len() <= placewright_model::LONGEST_SENTENCE);
    }

    #[test]
    fn numbers_go_on_after_a_restart_and_who_has_missed_some_is_told() {
        let store = Store::in_memory(StoreOptions::default()).unwrap();
        let events = Events::kept(&store).unwrap();
        for number in 0..RESERVED as i64 {
            events.tell(number, news("again"));
        }
        let last = events.last();
        drop(events);
        // Numbers are reserved without waiting: what is committed after them waits for them.
        let after = Change::Setting {
            key: "after".to_owned(),
            body: String::new(),
        };
        store.commit(vec![after]).unwrap();
        let events = Events::kept(&store).unwrap();
        let listening = events.listen(Some(last));
        assert_eq!(listening.lost, Some(events.last()));
        events.tell(0, news("first after the restart"));
        let listening = events.listen(Some(last));
        assert_eq!(numbers(&listening), [events.last()]);
        assert!(events.last() > last);
        assert_eq!(listening.lost, Some(events.last() - 1));
        assert_eq!(events.listen(Some(events.last())).lost, None);
        assert!(events.listen(Some(u64::MAX)).lost.is_some());
    }
}
