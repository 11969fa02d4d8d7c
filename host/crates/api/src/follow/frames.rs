//! What is sent to those who follow an inventory, made once for all who know the same version.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use axum::body::Bytes;

use placewright_deployment::cluster::{ChangedOfKind, Cluster, EntityKind, Snapshot};
use placewright_http::document::aside;
use placewright_http::problem::Problem;

use super::{InventoryEvent, PAUSE};

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
    pub(super) events: Vec<(Option<EntityKind>, Bytes)>,
}

impl Frame {
    /// Whoever follows has to read the inventory anew.
    fn reset(version: u64) -> Self {
        Self {
            version,
            events: vec![(None, event("reset", InventoryEvent::bare(version)))],
        }
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

/// The frames of all clusters that are followed, by name.
#[derive(Debug, Default)]
pub(super) struct Frames {
    clusters: Mutex<BTreeMap<Arc<str>, Followed>>,
}

impl Frames {
    /// Those of a cluster. They are forgotten when nobody follows it any more.
    pub(super) fn of(&self, cluster: &Arc<Cluster>) -> Arc<Shared> {
        let mut clusters = self.clusters.lock().unwrap_or_else(PoisonError::into_inner);
        clusters.retain(|_, followed| followed.shared.strong_count() > 0);
        // Another cluster may have the name by now.
        if let Some(followed) = clusters.get(cluster.name())
            && let Some(shared) = followed.shared.upgrade()
            && std::ptr::eq(followed.cluster.as_ptr(), Arc::as_ptr(cluster))
        {
            return shared;
        }
        let shared = Arc::<Shared>::default();
        let followed = Followed {
            cluster: Arc::downgrade(cluster),
            shared: Arc::downgrade(&shared),
        };
        clusters.insert(cluster.name().clone(), followed);
        shared
    }
}

/// The last steps of a cluster.
#[derive(Debug, Default)]
pub(super) struct Shared {
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
    /// What leads on from a version. None: it is the present one.
    ///
    /// # Errors
    /// If the cluster cannot be read.
    pub(super) async fn after(
        &self,
        cluster: &Cluster,
        version: u64,
    ) -> Result<Option<Frame>, Problem> {
        // Who waits here finds what the one before made.
        let mut steps = self.steps.lock().await;
        if let Some((_, frame)) = steps.last.iter().find(|(from, _)| *from == version) {
            return Ok(Some(frame.clone()));
        }
        // Those who came at different times know different versions: led to the same one, they get
        // the same steps from then on.
        let snapshot = match steps.latest_after(version) {
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
        let frame = aside(move || Ok::<_, Problem>(step(&snapshot, version))).await?;
        Ok(Some(steps.remember(version, frame)))
    }
}

/// What leads from a version to that of a snapshot.
fn step(snapshot: &Snapshot, from: u64) -> Frame {
    let version = snapshot.version();
    match snapshot.changed_since(from) {
        Some(changed) => frame(version, changed),
        None => Frame::reset(version),
    }
}

/// The events of these changes, or a reset where they are too large.
fn frame(version: u64, changed: Vec<ChangedOfKind>) -> Frame {
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
            return Frame::reset(version);
        }
        events.push((Some(of_kind.kind), event));
    }
    Frame { version, events }
}

impl Steps {
    /// The last snapshot, if it is a later version and not too old to be sent.
    fn latest_after(&self, version: u64) -> Option<Arc<Snapshot>> {
        let (asked, latest) = self.latest.as_ref()?;
        let is_fresh = asked.elapsed() < PAUSE && latest.version() > version;
        is_fresh.then(|| latest.clone())
    }

    /// Remember a step, or one that has whoever follows read anew if there is no room for it.
    fn remember(&mut self, from: u64, frame: Frame) -> Frame {
        while self.last.len() >= STEPS {
            self.last.pop_front();
        }
        // Bytes that nobody but this list holds are free.
        self.made.retain(|bytes| !bytes.is_unique());
        let size = |bytes: &Bytes| bytes.len();
        let held: usize = self.made.iter().map(size).sum();
        let more: usize = frame.events.iter().map(|(_, bytes)| bytes.len()).sum();
        let frame = match held + more > ALL {
            true => {
                self.last.clear();
                Frame::reset(frame.version)
            }
            false => frame,
        };
        let events = frame.events.iter().map(|(_, bytes)| bytes.clone());
        self.made.extend(events);
        self.last.push_back((from, frame.clone()));
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(version: u64, bytes: usize) -> Frame {
        Frame {
            version,
            events: vec![(Some(EntityKind::Hosts), Bytes::from(vec![b'x'; bytes]))],
        }
    }

    #[test]
    fn the_last_steps_are_remembered_by_the_version_that_they_begin_after() {
        let mut steps = Steps::default();
        for version in 0..20 {
            steps.remember(version, sized(version + 1, 10));
        }
        assert_eq!(steps.last.len(), STEPS);
        assert_eq!(steps.last[0].0, 20 - STEPS as u64);
        // What is forgotten and sent takes no room.
        steps.made.retain(|bytes| !bytes.is_unique());
        assert_eq!(steps.made.len(), STEPS);
    }

    #[test]
    fn readers_that_hold_too_much_are_told_to_read_anew() {
        let mut steps = Steps::default();
        let part = ALL / 4;
        let slow: Vec<Frame> = (0..4)
            .map(|version| steps.remember(version, sized(version + 1, part)))
            .collect();
        assert!(slow.iter().all(|it| it.events[0].0.is_some()));
        let told = steps.remember(4, sized(5, part));
        assert!(told.events[0].1.starts_with(b"event: reset\n"), "{told:?}");
        drop(slow);
        let again = steps.remember(5, sized(6, part));
        assert!(again.events[0].0.is_some());
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
        let small = frame(3, changed(LARGEST / 2));
        assert_eq!(small.events[0].0, Some(EntityKind::Vms));
        let large = frame(3, changed(LARGEST));
        assert_eq!((large.version, large.events.len()), (3, 1));
        assert!(large.events[0].1.starts_with(b"event: reset\n"));
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
