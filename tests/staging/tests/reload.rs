//! Files of a watched folder come and go in every way that files do: every sound unit
//! is in force in the end, every other is told of, and the last good one stays.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, SystemTime};

use placewright_engine::generation::Generation;
use placewright_engine::unit::{Digest, Unit};
use placewright_engine::{Engine, Limits};
use placewright_library::live::{
    InMemory, Library, LibraryEvent, LibraryOptions, Surroundings, Watching,
};
use placewright_library::stage::{ReplayReport, Trials};
use placewright_library::watch::Options;
use placewright_tests::component::by_default;
use placewright_tests::units::component;

/// Long enough for any machine; met only by a failure.
const LONG: Duration = Duration::from_secs(300);

/// Runs no policies, though one uses the unit "misbehaving"; sees that generations
/// never go back.
#[derive(Default)]
struct Pretended {
    last: AtomicU64,
}

impl Trials for Pretended {
    fn users(&self, unit: &str) -> Vec<String> {
        let gold = (unit == "misbehaving").then(|| "gold".to_owned());
        gold.into_iter().collect()
    }

    fn policies(&self, candidate: &Generation, _: &[String]) -> Result<(), Vec<String>> {
        match candidate.get("misbehaving") {
            Some(_) => Ok(()),
            None => Err(vec!["gold: there is no unit \"misbehaving\"".to_owned()]),
        }
    }

    fn replay(&self, _: &Generation, _: &[String]) -> ReplayReport {
        ReplayReport::default()
    }

    fn adopt(&self, generation: Arc<Generation>) -> Result<(), String> {
        let before = self.last.swap(generation.number(), Ordering::SeqCst);
        assert!(before < generation.number(), "generations go back");
        Ok(())
    }

    fn impose(&self, generation: Arc<Generation>) {
        self.last.store(generation.number(), Ordering::SeqCst);
    }

    fn enforce(&self, generation: Arc<Generation>, _: &BTreeMap<String, String>) {
        self.last.store(generation.number(), Ordering::SeqCst);
    }
}

/// What was told, and a bell for whoever waits for it.
#[derive(Default)]
struct Told {
    events: Mutex<Vec<LibraryEvent>>,
    more: Condvar,
}

impl Told {
    fn push(&self, event: &LibraryEvent) {
        self.events.lock().unwrap().push(event.clone());
        self.more.notify_all();
    }

    /// Wait until what was told since the last time says so, and forget it.
    fn wait_for(&self, what: &str, mut says: impl FnMut(&[LibraryEvent]) -> bool) {
        let events = self.events.lock().unwrap();
        let (mut events, waited) = self
            .more
            .wait_timeout_while(events, LONG, |events| !says(events))
            .unwrap();
        assert!(!waited.timed_out(), "{what}: {events:#?}");
        events.clear();
    }
}

struct Scene {
    // Dropped first: the folder ends to be watched before it ends to be.
    watching: Watching,
    library: Arc<Library>,
    _trials: Arc<Pretended>,
    told: Arc<Told>,
    home: tempfile::TempDir,
}

impl Scene {
    /// With a folder "units" that holds one sound unit.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("units")).unwrap();
        Self::watch(home, "units")
    }

    fn watch(home: tempfile::TempDir, folder: &str) -> Self {
        let limits = Limits {
            instances: 16,
            memory: 32 << 20,
            ..Limits::default()
        };
        let engine = Engine::new(limits, Some(&home.path().join("code"))).unwrap();
        let told = Arc::new(Told::default());
        let heard = told.clone();
        let around = Surroundings {
            artifacts: Arc::new(InMemory::default()),
            events: Arc::new(move |event, _| heard.push(event)),
            clock: Arc::new(SystemTime::now),
        };
        let options = LibraryOptions::default();
        let base = Unit::load(&engine, &component("misbehaving"), "misbehaving").unwrap();
        let base = Generation::new([base]).unwrap();
        let library = Library::open(engine, &base, options, around).unwrap();
        let trials = Arc::new(Pretended::default());
        let weak: Weak<dyn Trials> = Arc::<Pretended>::downgrade(&trials);
        library.attach(weak);
        let options = Options {
            settle: Duration::from_millis(40),
            ..Options::units(10 << 20)
        };
        let folder = home.path().join(folder);
        let watching = library.watch(&folder, options).unwrap();
        Self {
            watching,
            library,
            _trials: trials,
            told,
            home,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("units").join(name)
    }

    fn in_force(&self, name: &str) -> Option<Digest> {
        let generation = self.library.current();
        generation.get(name).map(|unit| unit.digest())
    }

    fn waits_until_in_force(&self, name: &str, bytes: &[u8]) {
        let digest = Some(Digest::of(bytes));
        let what = format!("{name} {digest:?} comes into force");
        self.told.wait_for(&what, |_| self.in_force(name) == digest);
    }

    fn waits_until_refused(&self, bytes: &[u8]) {
        let wanted = Digest::of(bytes);
        self.told.wait_for("a bad unit is told of", |events| {
            events.iter().any(|event| match event {
                LibraryEvent::Refused { digest, why, .. } => *digest == wanted && why.len() > 10,
                _ => false,
            })
        });
    }

    /// Put a file in its place in one step.
    fn rename_into_place(&self, name: &str, bytes: &[u8]) {
        let aside = self.home.path().join("aside");
        fs::write(&aside, bytes).unwrap();
        fs::rename(aside, self.path(name)).unwrap();
    }

    /// Write a file where it is, in parts.
    fn write_in_parts(&self, name: &str, bytes: &[u8], parts: usize) {
        let mut file = fs::File::create(self.path(name)).unwrap();
        for part in bytes.chunks(bytes.len().div_ceil(parts)) {
            file.write_all(part).unwrap();
            file.sync_data().unwrap();
        }
    }
}

/// The same unit with other bytes: a custom section that says nothing.
fn varied(component: &[u8], variant: u8) -> Vec<u8> {
    let section = [0, 4, 2, b'v', b'n', variant];
    [component, &section].concat()
}

#[cfg(unix)]
fn link(target: &Path, link: &Path) {
    let new = link.with_extension("new-link");
    let _ = fs::remove_file(&new);
    std::os::unix::fs::symlink(target, &new).unwrap();
    fs::rename(new, link).unwrap();
}

/// Numbers that look drawn, the same in each run.
struct Drawn(u64);

impl Drawn {
    /// A linear congruential generator with Knuth's constants: any will do.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

#[cfg(unix)]
#[test]
fn whatever_happens_to_files_good_ones_come_into_force_and_bad_ones_are_told_of() {
    const ROUNDS: usize = 240;
    let scene = Scene::new();
    let plain = component("misbehaving");
    let good: Vec<Vec<u8>> = (0..5).map(|variant| varied(&plain, variant)).collect();
    let mut bad: Vec<Vec<u8>> = ["panics", "answers-nan", "eats-memory", "remembers"]
        .iter()
        .map(|how| by_default(&plain, how))
        .collect();
    bad.push(by_default(&component("unsound"), "counts-rows"));
    bad.push(component("misleading").to_vec());
    bad.push(b"garbage".to_vec());
    bad.push(plain[..plain.len() / 2].to_vec());
    let reader = Reader::start(scene.library.clone());
    let mut drawn = Drawn(7);
    for round in 0..ROUNDS {
        let last = scene.in_force("misbehaving");
        let next = &good[drawn.below(good.len())];
        match drawn.below(7) {
            0 => scene.rename_into_place("a.wasm", next),
            1 => {
                let parts = 2 + drawn.below(9);
                scene.write_in_parts("a.wasm", next, parts);
            }
            2 => {
                let target = scene.home.path().join(format!("target-{round}"));
                fs::write(&target, next).unwrap();
                link(&target, &scene.path("a.wasm"));
            }
            3 => {
                scene.rename_into_place("a.wasm", &good[drawn.below(good.len())]);
                scene.rename_into_place("a.wasm", next);
            }
            4 => {
                let _ = fs::remove_file(scene.path("a.wasm"));
                if drawn.below(2) == 0 {
                    scene.watching.rescan();
                }
                scene.rename_into_place("a.wasm", next);
            }
            _ => {
                let bad = &bad[drawn.below(bad.len())];
                scene.rename_into_place("a.wasm", bad);
                scene.waits_until_refused(bad);
                assert_eq!(scene.in_force("misbehaving"), last, "round {round}");
                scene.rename_into_place("a.wasm", next);
            }
        }
        // What the file held for a moment only has had its turn, or never will.
        scene.watching.rescan();
        scene.waits_until_in_force("misbehaving", next);
    }
    reader.stop();
    let library = scene.library.clone();
    drop(scene);
    assert_eq!(Arc::strong_count(&library), 1, "all threads have ended");
}

/// A thread that takes generations as decisions do.
struct Reader {
    ends: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
}

impl Reader {
    fn start(library: Arc<Library>) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let until = ends.clone();
        let thread = std::thread::spawn(move || {
            let mut last = 0;
            while !until.load(Ordering::Acquire) {
                let generation = library.current();
                assert!(generation.number() >= last, "generations go back");
                last = generation.number();
                let there = generation.get("misbehaving").is_some();
                assert!(there, "a unit in use is missing");
                std::thread::yield_now();
            }
        });
        Self { ends, thread }
    }

    fn stop(self) {
        self.ends.store(true, Ordering::Release);
        self.thread.join().unwrap();
    }
}

#[test]
fn a_unit_that_never_answers_is_refused_and_holds_up_no_other_for_good() {
    let scene = Scene::new();
    let loops = by_default(&component("misbehaving"), "loops-forever");
    scene.rename_into_place("a.wasm", &loops);
    let sound = component("unsound");
    scene.rename_into_place("b.wasm", &sound);
    // Which of them is done first does not matter.
    scene
        .told
        .wait_for("one is refused, and one in force", |events| {
            let refused = events.iter().any(|event| {
            matches!(event, LibraryEvent::Refused { digest, .. } if *digest == Digest::of(&loops))
        });
            refused && scene.in_force("unsound") == Some(Digest::of(&sound))
        });
    let history = scene.library.history();
    let entry = history
        .entries()
        .find(|entry| entry.digest == Digest::of(&loops));
    let outcome = entry
        .map(|entry| entry.outcome.to_string())
        .unwrap_or_default();
    assert!(outcome.starts_with("refused"), "{outcome}");
    assert_eq!(
        scene.in_force("misbehaving"),
        Some(Digest::of(&component("misbehaving")))
    );
}

#[cfg(unix)]
#[test]
fn a_folder_of_links_is_swapped_as_a_whole() {
    let home = tempfile::tempdir().unwrap();
    let (plain, other) = (component("misbehaving"), component("unsound"));
    let mut versions = BTreeMap::new();
    for version in [1, 2] {
        let folder = home.path().join(format!("version-{version}"));
        fs::create_dir(&folder).unwrap();
        let units = [varied(&plain, version), varied(&other, version)];
        fs::write(folder.join("a.wasm"), &units[0]).unwrap();
        fs::write(folder.join("b.wasm"), &units[1]).unwrap();
        versions.insert(version, (folder, units));
    }
    let mounted = home.path().join("units");
    link(&versions[&1].0, &mounted);
    let scene = Scene::watch(home, "units");
    for version in [1, 2, 1, 2, 1] {
        let (folder, units) = &versions[&version];
        link(folder, &mounted);
        scene.waits_until_in_force("misbehaving", &units[0]);
        scene.waits_until_in_force("unsound", &units[1]);
    }
}

#[test]
fn a_unit_in_use_that_is_deleted_stays_until_another_comes() {
    let scene = Scene::new();
    let plain = component("misbehaving");
    let (one, two) = (varied(&plain, 1), varied(&plain, 2));
    scene.rename_into_place("a.wasm", &one);
    scene.waits_until_in_force("misbehaving", &one);
    fs::remove_file(scene.path("a.wasm")).unwrap();
    scene.told.wait_for("the deletion is told of", |events| {
        let kept = |event: &LibraryEvent| matches!(event, LibraryEvent::KeptAlthoughDeleted { .. });
        events.iter().any(kept)
    });
    assert_eq!(scene.in_force("misbehaving"), Some(Digest::of(&one)));
    scene.rename_into_place("c.wasm", &two);
    scene.waits_until_in_force("misbehaving", &two);
}
