//! What is sent to those who follow an inventory, made and compressed once for all who know the
//! same version.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use axum::body::Bytes;

use placewright_deployment::cluster::{ChangedOfKind, Cluster, EntityKind, Snapshot};
use placewright_http::document::aside;
use placewright_http::problem::Problem;
use placewright_http::shared_stream::{Coding, Part};

use super::InventoryEvent;

/// Changes are sent together for so long at least.
const LEAST_PAUSE: Duration = Duration::from_millis(200);

/// And for so long at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The part of each follower in it, between the two.
const PAUSE_EACH: Duration = Duration::from_millis(1);

/// So many steps from one version to another are remembered of a cluster, for those who come
/// a little later.
const STEPS: usize = 8;

/// Bytes of one step at most; where more has changed at once, whoever follows reads anew.
const LARGEST: usize = 16 << 20;

/// Bytes of all steps of a cluster at most that are remembered or still being sent. Whoever is
/// so slow that they are full reads anew.
const ALL: usize = 64 << 20;

/// What leads from a version to another one.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// The version that it leads to.
    pub(super) version: u64,
    /// The events with what each is about; none: about all.
    pub(super) events: Vec<(Option<EntityKind>, Part)>,
}

impl Frame {
    fn bytes(&self) -> impl Iterator<Item = &Bytes> {
        self.events.iter().map(|(_, part)| part.bytes())
    }

    /// Whoever follows has to read the inventory anew.
    fn reset(coding: Coding, version: u64) -> io::Result<Self> {
        let event = event("reset", InventoryEvent::bare(version));
        Ok(Self {
            version,
            events: vec![(None, Part::new(coding, event)?)],
        })
    }
}

/// An event as it is sent.
pub(super) fn event(name: &str, event: InventoryEvent) -> Bytes {
    // Its texts have no line breaks in JSON.
    let data = serde_json::to_string(&event).unwrap_or_default();
    format!("event: {name}\nid: {}\ndata: {data}\n\n", event.version).into()
}

/// A cluster that is followed, and its frames.
#[derive(Debug)]
struct Followed {
    cluster: Weak<Cluster>,
    shared: Weak<Shared>,
}

/// The frames of all clusters that are followed, by name and coding.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// How many follow, of all clusters.
    followers: Arc<AtomicU32>,
    clusters: Mutex<BTreeMap<(Arc<str>, Coding), Followed>>,
}

impl Frames {
    /// Those of a cluster for one more who follows it.
    pub(super) fn of(&self, cluster: &Arc<Cluster>, coding: Coding) -> Follower {
        self.followers.fetch_add(1, Ordering::Relaxed);
        Follower {
            shared: self.shared(cluster, coding),
            all: self.followers.clone(),
        }
    }

    /// Those of a cluster. They are forgotten when nobody follows it any more.
    fn shared(&self, cluster: &Arc<Cluster>, coding: Coding) -> Arc<Shared> {
        let mut clusters = self.clusters.lock().unwrap_or_else(PoisonError::into_inner);
        clusters.retain(|_, followed| followed.shared.strong_count() > 0);
        // Another cluster may have the name by now.
        if let Some(followed) = clusters.get(&(cluster.name().clone(), coding))
            && let Some(shared) = followed.shared.upgrade()
            && std::ptr::eq(followed.cluster.as_ptr(), Arc::as_ptr(cluster))
        {
            return shared;
        }
        let shared = Arc::new(Shared::new(coding));
        let followed = Followed {
            cluster: Arc::downgrade(cluster),
            shared: Arc::downgrade(&shared),
        };
        clusters.insert((cluster.name().clone(), coding), followed);
        shared
    }
}

/// One who follows a cluster: counted until it is dropped.
#[derive(Debug)]
pub(super) struct Follower {
    shared: Arc<Shared>,
    all: Arc<AtomicU32>,
}

impl Follower {
    /// Changes within this time are sent together. A snapshot is at most this old when it is sent.
    /// Waking each follower costs what making a few decisions does: the more there are, the more
    /// seldom it is done.
    pub(super) fn pause(&self) -> Duration {
        (PAUSE_EACH * self.all.load(Ordering::Relaxed)).clamp(LEAST_PAUSE, LONGEST_PAUSE)
    }

    /// What leads on from a version. None: it is the present one.
    ///
    /// # Errors
    /// If the cluster cannot be read.
    pub(super) async fn after(
        &self,
        cluster: &Cluster,
        version: u64,
    ) -> Result<Option<Frame>, Problem> {
        self.shared.after(cluster, version, self.pause()).await
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The last steps of a cluster, in one coding.
#[derive(Debug)]
pub(super) struct Shared {
    coding: Coding,
    steps: tokio::sync::Mutex<Steps>,
}

#[derive(Debug, Default)]
struct Steps {
    /// The last snapshot that a step led to, and when it was asked for.
    latest: Option<(Instant, Arc<Snapshot>)>,
    /// By the version that each begins after, oldest first.
    last: VecDeque<(u64, Frame)>,
    /// All bytes that were made and may still be held by somebody.
    made: Vec<Bytes>,
}

impl Shared {
    fn new(coding: Coding) -> Self {
        Self {
            coding,
            steps: tokio::sync::Mutex::default(),
        }
    }

    async fn after(
        &self,
        cluster: &Cluster,
        version: u64,
        pause: Duration,
    ) -> Result<Option<Frame>, Problem> {
        // Who waits here finds what the one before made.
        let mut steps = self.steps.lock().await;
        if let Some((_, frame)) = steps.last.iter().find(|(from, _)| *from == version) {
            return Ok(Some(frame.clone()));
        }
        // Those who came at different times know different versions: led to the same one, they get
        // the same steps from then on.
        let snapshot = match steps.latest_after(version, pause) {
            Some(latest) => latest,
            None => {
                let asked = Instant::now();
                let snapshot = cluster.snapshot().await?;
                steps.latest = Some((asked, snapshot.clone()));
                snapshot
            }
        };
        if snapshot.version() == version {
            return Ok(None);
        }
        let coding = self.coding;
        let made = aside(move || step(coding, &snapshot, version).map_err(unpacked)).await?;
        let frame = match steps.has_room_for(&made) {
            true => made,
            false => {
                steps.last.clear();
                Frame::reset(coding, made.version).map_err(unpacked)?
            }
        };
        steps.remember(version, &frame);
        Ok(Some(frame))
    }
}

fn unpacked(error: io::Error) -> Problem {
    Problem::internal(&error)
}

/// What leads from a version to that of a snapshot.
fn step(coding: Coding, snapshot: &Snapshot, from: u64) -> io::Result<Frame> {
    let version = snapshot.version();
    match snapshot.changed_since(from) {
        Some(changed) => frame(coding, version, changed),
        None => Frame::reset(coding, version),
    }
}

/// The events of these changes, or a reset where they are too large.
fn frame(coding: Coding, version: u64, changed: Vec<ChangedOfKind>) -> io::Result<Frame> {
    let mut events = Vec::new();
    let mut bytes = 0;
    for of_kind in changed {
        let event = event(
            of_kind.kind.word(),
            InventoryEvent {
                version,
                items: of_kind.items,
                gone: of_kind.gone,
            },
        );
        bytes += event.len();
        if bytes > LARGEST {
            return Frame::reset(coding, version);
        }
        events.push((Some(of_kind.kind), Part::new(coding, event)?));
    }
    Ok(Frame { version, events })
}

impl Steps {
    /// The last snapshot, if it is a later version and not too old to be sent.
    fn latest_after(&self, version: u64, pause: Duration) -> Option<Arc<Snapshot>> {
        let (asked, latest) = self.latest.as_ref()?;
        let is_fresh = asked.elapsed() < pause && latest.version() > version;
        is_fresh.then(|| latest.clone())
    }

    /// Whether a step may be remembered and sent, beside those that readers still hold.
    fn has_room_for(&mut self, frame: &Frame) -> bool {
        // Bytes that nobody but this list holds are free.
        self.made.retain(|bytes| !bytes.is_unique());
        let held: usize = self.made.iter().map(Bytes::len).sum();
        held + frame.bytes().map(Bytes::len).sum::<usize>() <= ALL
    }

    /// Remember a step from that version on.
    fn remember(&mut self, from: u64, frame: &Frame) {
        while self.last.len() >= STEPS {
            self.last.pop_front();
        }
        self.made.extend(frame.bytes().cloned());
        self.last.push_back((from, frame.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(version: u64, bytes: usize) -> Frame {
        let text = Bytes::from(vec![b'x'; bytes]);
        let part = Part::new(Coding::Plain, text).unwrap();
        Frame {
            version,
            events: vec![(Some(EntityKind::Hosts), part)],
        }
    }

    #[test]
    fn the_last_steps_are_remembered_by_the_version_that_they_begin_after() {
        let mut steps = Steps::default();
        for version in 0..20 {
            steps.remember(version, &sized(version + 1, 10));
        }
        assert_eq!(steps.last.len(), STEPS);
        assert_eq!(steps.last[0].0, 20 - STEPS as u64);
        // What is forgotten and sent takes no room.
        assert!(steps.has_room_for(&sized(21, 10)));
        assert_eq!(steps.made.len(), STEPS);
    }

    #[test]
    fn the_more_follow_the_longer_changes_are_sent_together() {
        let frames = Frames::default();
        let follower = |number: u32| {
            frames.followers.store(number, Ordering::Relaxed);
            Follower {
                shared: Arc::new(Shared::new(Coding::Plain)),
                all: frames.followers.clone(),
            }
        };
        let pause = |number| follower(number).pause();
        assert_eq!(pause(1), LEAST_PAUSE);
        assert_eq!(pause(500), Duration::from_millis(500));
        assert_eq!(pause(1000), LONGEST_PAUSE);
        assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
        let one = follower(1);
        drop(one);
        assert_eq!(frames.followers.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn there_is_no_room_beside_what_slow_readers_hold() {
        let mut steps = Steps::default();
        let part = ALL / 4;
        let slow: Vec<Frame> = (0..4)
            .map(|version| {
                let frame = sized(version + 1, part);
                assert!(steps.has_room_for(&frame));
                steps.remember(version, &frame);
                frame
            })
            .collect();
        assert!(!steps.has_room_for(&sized(5, part)));
        steps.last.clear();
        assert!(!steps.has_room_for(&sized(5, part)));
        drop(slow);
        assert!(steps.has_room_for(&sized(5, part)));
    }

    #[test]
    fn a_step_that_is_too_large_has_readers_read_anew() {
        let changed = |bytes: usize| {
            vec![ChangedOfKind {
                kind: EntityKind::Vms,
                items: vec![serde_json::json!({"id": "v", "name": "x".repeat(bytes)})],
                gone: Vec::new(),
            }]
        };
        for coding in [Coding::Plain, Coding::Gzip] {
            let small = frame(coding, 3, changed(LARGEST / 2)).unwrap();
            assert_eq!(small.events[0].0, Some(EntityKind::Vms));
            let large = frame(coding, 3, changed(LARGEST)).unwrap();
            assert_eq!((large.version, large.events.len()), (3, 1));
            assert_eq!(large.events[0].0, None);
        }
        let reset = Frame::reset(Coding::Plain, 3).unwrap();
        assert!(reset.events[0].1.bytes().starts_with(b"event: reset\n"));
    }

    #[test]
    fn an_event_is_written_in_one_line_of_data() {
        let changed = InventoryEvent {
            version: 7,
            items: vec![serde_json::json!({"id": "a\nb"})],
            gone: vec!["gone".into()],
        };
        let bytes = event("vms", changed);
        assert_eq!(
            std::str::from_utf8(&bytes).unwrap(),
            "event: vms\nid: 7\ndata: {\"version\":7,\"items\":[{\"id\":\"a\\nb\"}],\"gone\":[\"gone\"]}\n\n"
        );
        let reset = event("reset", InventoryEvent::bare(8));
        assert_eq!(
            std::str::from_utf8(&reset).unwrap(),
            "event: reset\nid: 8\ndata: {\"version\":8}\n\n"
        );
    }
}
