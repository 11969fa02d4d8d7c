//! The library with hand-written units and someone who pretends to run policies.

mod trust;
mod unneeded;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use ed25519_dalek::{Signer, SigningKey};

use super::again::Again;
use super::*;
use crate::actor::Actor;
use crate::signature::{Key, Signatures};
use crate::stage::{Failure, Outcome, ReplayReport, Source, Staging, Step, StepOutcome};
use crate::watch::Change;
use placewright_engine::Limits;
use placewright_engine::unit::Digest;
use placewright_engine::unit::Unit;
use placewright_testing::component::Judging;

/// Runs no policies, and answers as it was told to.
#[derive(Default)]
struct Pretended {
    users: Mutex<BTreeMap<String, Vec<String>>>,
    refuses: Mutex<Option<String>>,
    recorded: Mutex<usize>,
    differing: Mutex<usize>,
    failures: Mutex<Vec<Failure>>,
    untried: Mutex<BTreeMap<String, String>>,
    cannot_adopt: Mutex<bool>,
    adopted: Mutex<Vec<u64>>,
    distrusted: Mutex<BTreeMap<String, String>>,
}

impl Trials for Pretended {
    fn users(&self, unit: &str) -> Vec<String> {
        let users = self.users.lock().unwrap();
        users.get(unit).cloned().unwrap_or_default()
    }

    fn policies(&self, _: &Generation, _: &[String]) -> Result<(), Vec<String>> {
        match &*self.refuses.lock().unwrap() {
            Some(why) => Err(vec![why.clone()]),
            None => Ok(()),
        }
    }

    fn replay(&self, _: &Generation, _: &[String]) -> ReplayReport {
        let failures = self.failures.lock().unwrap().clone();
        ReplayReport {
            tried: 10,
            recorded: *self.recorded.lock().unwrap(),
            differing: *self.differing.lock().unwrap(),
            failing: failures.len(),
            failures,
            examples: Vec::new(),
            untried: self.untried.lock().unwrap().clone(),
        }
    }

    fn adopt(&self, generation: Arc<Generation>) -> Result<(), String> {
        if *self.cannot_adopt.lock().unwrap() {
            return Err("the clusters are busy".to_owned());
        }
        self.adopted.lock().unwrap().push(generation.number());
        Ok(())
    }

    fn impose(&self, generation: Arc<Generation>) {
        self.adopted.lock().unwrap().push(generation.number());
    }

    fn enforce(&self, generation: Arc<Generation>, distrusted: &BTreeMap<String, String>) {
        self.adopted.lock().unwrap().push(generation.number());
        self.distrusted.lock().unwrap().clone_from(distrusted);
    }
}

/// An event, and who asked for what it tells of.
type Heard = (LibraryEvent, Option<String>);

struct Scene {
    library: Arc<Library>,
    trials: Arc<Pretended>,
    artifacts: InMemory,
    events: Arc<Mutex<Vec<Heard>>>,
}

fn engine() -> Engine {
    let limits = Limits {
        instances: 8,
        ..Limits::default()
    };
    Engine::new(limits, None).unwrap()
}

/// A component whose reason, and so whose digest, is another one.
fn component(name: &'static str, reason: &'static str) -> Vec<u8> {
    let judging = Judging {
        name,
        reasons: vec![reason],
        ..Judging::default()
    };
    judging.component()
}

fn digest(name: &'static str, reason: &'static str) -> Digest {
    Digest::of(&component(name, reason))
}

impl Scene {
    /// With "sample" embedded.
    fn new() -> Self {
        Self::of(LibraryOptions::default())
    }

    fn of(options: LibraryOptions) -> Self {
        Self::start(options, InMemory::default())
    }

    fn start(options: LibraryOptions, artifacts: InMemory) -> Self {
        let engine = engine();
        let base = Unit::load(&engine, &component("sample", "embedded"), "sample").unwrap();
        Self::with(engine, [base], options, artifacts)
    }

    fn with(
        engine: Engine,
        base: impl IntoIterator<Item = Arc<Unit>>,
        options: LibraryOptions,
        artifacts: InMemory,
    ) -> Self {
        let base = Generation::new(base).unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = events.clone();
        let around = Surroundings {
            artifacts: Arc::new(artifacts.clone()),
            events: Arc::new(move |event, by| {
                let event = (event.clone(), by.map(str::to_owned));
                heard.lock().unwrap().push(event);
            }),
            clock: Arc::new(|| SystemTime::UNIX_EPOCH + Duration::from_secs(1)),
        };
        let library = Library::open(engine, &base, options, around).unwrap();
        let trials = Arc::new(Pretended::default());
        let weak: Weak<dyn Trials> = Arc::<Pretended>::downgrade(&trials);
        library.attach(weak);
        Self {
            library,
            trials,
            artifacts,
            events,
        }
    }

    /// The same after a restart.
    fn again(self) -> Self {
        Self::start(LibraryOptions::default(), self.artifacts)
    }

    fn sees(&self, path: &str, bytes: &[u8]) -> Staging {
        self.sees_signed(path, bytes, None)
    }

    fn sees_signed(&self, path: &str, bytes: &[u8], signature: Option<&[u8]>) -> Staging {
        let change = holds(path, bytes, signature);
        self.library.take(&change).unwrap()
    }

    fn misses(&self, path: &str) {
        let path = PathBuf::from(path);
        assert_eq!(self.library.take(&Change::Gone { path }), None);
    }

    fn is_used(&self, name: &str) {
        let mut users = self.trials.users.lock().unwrap();
        users.insert(name.to_owned(), vec!["gold".to_owned()]);
    }

    fn in_force(&self, name: &str) -> Option<Digest> {
        let generation = self.library.current();
        generation.get(name).map(|unit| unit.digest())
    }

    /// What was told since the last time, in words.
    fn told(&self) -> Vec<String> {
        let mut events = self.events.lock().unwrap();
        events
            .drain(..)
            .map(|(event, _)| event.to_string())
            .collect()
    }

    /// Who asked for all that was told since the last time, of which there is something.
    fn asked(&self) -> Option<String> {
        let mut events = self.events.lock().unwrap();
        let mut asked: Vec<Option<String>> = events.drain(..).map(|(_, by)| by).collect();
        asked.dedup();
        assert_eq!(asked.len(), 1, "{asked:?}");
        asked.pop().flatten()
    }
}

fn holds(path: &str, bytes: &[u8], signature: Option<&[u8]>) -> Change {
    Change::Seen(Seen {
        path: PathBuf::from(path),
        bytes: bytes.into(),
        digest: Digest::of(bytes),
        beside: signature.map(Into::into),
        settled: false,
    })
}

fn why(staging: &Staging) -> &str {
    match &staging.outcome {
        Outcome::Refused { why, .. } | Outcome::Held { why } => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_unit_of_the_folder_takes_the_place_of_the_embedded_one() {
    let scene = Scene::new();
    let before = scene.library.current();
    let staging = scene.sees("u/a.wasm", &component("sample", "one"));
    let replaced = Some(digest("sample", "embedded"));
    assert_eq!(
        staging.outcome,
        Outcome::InForce {
            replaced,
            generation: before.number() + 1
        }
    );
    let steps: Vec<Step> = staging.steps.iter().map(|step| step.step).collect();
    assert_eq!(
        steps,
        [
            Step::Signature,
            Step::Contract,
            Step::Compile,
            Step::Describe,
            Step::Probes,
            Step::Policies,
            Step::Trial,
            Step::InForce
        ]
    );
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "one")));
    // Who holds the generation of before is not disturbed.
    let held = before.get("sample").unwrap();
    assert_eq!(held.digest(), digest("sample", "embedded"));
    assert_eq!(*scene.trials.adopted.lock().unwrap(), [before.number() + 1]);
}

#[test]
fn a_bad_file_leaves_the_last_good_one_in_force_and_is_told_of() {
    let scene = Scene::new();
    scene.sees("u/a.wasm", &component("sample", "one"));
    let number = scene.library.current().number();
    scene.told();
    let staging = scene.sees("u/a.wasm", b"garbage");
    assert_eq!(why(&staging), "it is not a WebAssembly component");
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "one")));
    assert_eq!(scene.library.current().number(), number);
    let told = scene.told();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("u/a.wasm is refused at the step \"contract\""));
    let files = scene.library.files();
    assert_eq!(files[0].trouble.as_deref(), Some(why(&staging)));
    assert_eq!(files[0].offers, Some(digest("sample", "one")));
    scene.sees("u/a.wasm", &component("sample", "two"));
    assert_eq!(scene.library.files()[0].trouble, None);
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "two")));
}

#[test]
fn a_unit_that_does_not_keep_to_what_it_says_is_refused_with_the_claim() {
    let scene = Scene::new();
    // Traps at every call.
    let unit = Judging {
        judge: "unreachable",
        ..Judging::default()
    };
    let staging = scene.sees("u/a.wasm", &unit.component());
    let Outcome::Refused { step, why } = &staging.outcome else {
        panic!("{staging}");
    };
    assert_eq!(*step, Step::Probes);
    assert!(why.contains("judge answers made-up requests: "), "{why}");
}

#[test]
fn a_unit_that_has_passed_the_probes_is_not_probed_again() {
    let scene = Scene::new();
    let one = component("sample", "one");
    scene.sees("u/a.wasm", &one);
    scene.sees("u/a.wasm", &component("sample", "two"));
    let staging = scene.sees("u/a.wasm", &one);
    let probes = staging.steps.iter().find(|step| step.step == Step::Probes);
    let outcome = probes.map(|step| &step.outcome);
    assert!(
        matches!(outcome, Some(StepOutcome::Skipped { .. })),
        "{staging}"
    );
}

#[test]
fn a_deleted_unit_that_policies_use_stays_and_is_told_of() {
    let scene = Scene::new();
    scene.sees("u/a.wasm", &component("other", "one"));
    scene.is_used("other");
    scene.told();
    scene.misses("u/a.wasm");
    assert_eq!(scene.in_force("other"), Some(digest("other", "one")));
    let told = scene.told();
    assert!(
        told[0].ends_with("because these policies use it: gold"),
        "{told:?}"
    );
    let units = scene.library.units();
    assert!(units.iter().any(|unit| unit.kept_although_deleted));
    // Kept over a restart, and let go of when no policy uses it.
    let scene = scene.again();
    assert_eq!(scene.in_force("other"), Some(digest("other", "one")));
    scene.library.sweep();
    assert_eq!(scene.in_force("other"), None);
}

#[test]
fn a_deleted_unit_that_no_policy_uses_makes_room_for_the_embedded_one() {
    let scene = Scene::new();
    scene.sees("u/a.wasm", &component("sample", "one"));
    scene.sees("u/b.wasm", &component("other", "one"));
    scene.misses("u/a.wasm");
    scene.misses("u/b.wasm");
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "embedded")));
    assert_eq!(scene.in_force("other"), None);
    assert!(scene.library.files().is_empty());
}

#[test]
fn a_unit_goes_back_to_an_earlier_digest_until_its_file_changes() {
    let scene = Scene::new();
    let [one, two] = ["one", "two"].map(|reason| component("sample", reason));
    scene.sees("u/a.wasm", &one);
    scene.sees("u/a.wasm", &two);
    let before = scene.library.digest_before("sample").unwrap();
    assert_eq!(before, Digest::of(&one));
    let unknown = scene.library.digest_before("nope").unwrap_err();
    assert!(
        matches!(unknown, LibraryOperationError::NoUnit(_)),
        "{unknown}"
    );
    let staging = scene.library.rollback("sample", before, "me").unwrap();
    assert!(matches!(staging.outcome, Outcome::InForce { .. }));
    assert_eq!(scene.in_force("sample"), Some(Digest::of(&one)));
    // The same file, seen again or after a restart, changes nothing.
    let staging = scene.sees("u/a.wasm", &two);
    assert!(matches!(staging.outcome, Outcome::Held { .. }), "{staging}");
    let scene = scene.again();
    let staging = scene.sees("u/a.wasm", &two);
    assert!(matches!(staging.outcome, Outcome::Held { .. }), "{staging}");
    assert_eq!(scene.in_force("sample"), Some(Digest::of(&one)));
    scene.sees("u/a.wasm", &component("sample", "three"));
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "three")));
    assert_eq!(
        scene.library.history().in_force("sample"),
        [
            digest("sample", "three"),
            Digest::of(&one),
            Digest::of(&two)
        ]
    );
    let unknown = scene
        .library
        .rollback("sample", digest("other", "one"), "me");
    assert!(matches!(
        unknown,
        Err(LibraryOperationError::NoDigest { .. })
    ));
}

#[test]
fn a_pinned_unit_stays_until_the_pin_is_taken_off() {
    let scene = Scene::new();
    scene.sees("u/a.wasm", &component("sample", "one"));
    scene.library.pin("sample", "me").unwrap();
    let staging = scene.sees("u/a.wasm", &component("sample", "two"));
    assert!(why(&staging).starts_with("it is pinned to "), "{staging}");
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "one")));
    let scene = scene.again();
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "one")));
    scene.library.unpin("sample", "me").unwrap();
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "two")));
    let error = scene.library.unpin("sample", "me").unwrap_err().to_string();
    assert_eq!(error, "the unit \"sample\" is not pinned");
}

#[test]
fn all_that_is_told_of_a_change_says_who_asked_for_it() {
    let scene = Scene::new();
    let library = &scene.library;
    scene.sees("u/a.wasm", &component("sample", "of a file"));
    assert_eq!(scene.asked(), None);
    let asked = || scene.asked().unwrap();
    let candidate = Candidate {
        bytes: component("sample", "handed in").into(),
        signature: None,
    };
    library.upload(&candidate, "ada");
    assert_eq!(asked(), "ada");
    let before = digest("sample", "of a file");
    library.rollback("sample", before, "bob").unwrap();
    assert_eq!(asked(), "bob");
    library.pin("sample", "carol").unwrap();
    assert_eq!(asked(), "carol");
    // It is held, since another one is pinned.
    library.upload(&candidate, "dave");
    assert_eq!(asked(), "dave");
    library.unpin("sample", "erin").unwrap();
    assert_eq!(asked(), "erin");
    library.upload(&candidate, "frank");
    assert_eq!(asked(), "frank");
    library.withdraw("sample", "grace").unwrap();
    assert_eq!(asked(), "grace");
    library.disable("sample", "ada").unwrap();
    assert_eq!(asked(), "ada");
    library.enable("sample", "bob").unwrap();
    assert_eq!(asked(), "bob");
}

#[test]
fn a_disabled_unit_is_not_in_force_until_it_is_enabled() {
    let scene = Scene::new();
    scene.library.disable("sample", "me").unwrap();
    assert_eq!(scene.in_force("sample"), None);
    let staging = scene.sees("u/a.wasm", &component("sample", "one"));
    assert_eq!(why(&staging), "units of this name are disabled");
    let scene = scene.again();
    assert_eq!(scene.in_force("sample"), None);
    scene.library.enable("sample", "me").unwrap();
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "one")));
    let error = scene
        .library
        .disable("nothing", "me")
        .unwrap_err()
        .to_string();
    assert_eq!(error, "there is no unit \"nothing\"");
}

#[test]
fn what_policies_need_cannot_be_disabled_or_made_invalid() {
    let scene = Scene::new();
    let problem = "gold: there is no setting \"headroom\"";
    *scene.trials.refuses.lock().unwrap() = Some(problem.to_owned());
    let staging = scene.sees("u/a.wasm", &component("sample", "one"));
    assert_eq!(why(&staging), problem);
    let error = scene
        .library
        .disable("sample", "me")
        .unwrap_err()
        .to_string();
    assert_eq!(error, problem);
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "embedded")));
    // When the policy has changed, the file can be tried again.
    *scene.trials.refuses.lock().unwrap() = None;
    let staging = scene.library.retry(&PathBuf::from("u/a.wasm")).unwrap();
    assert!(matches!(staging.outcome, Outcome::InForce { .. }));
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "one")));
    assert_eq!(scene.library.files()[0].trouble, None);
    assert_eq!(scene.library.retry(&PathBuf::from("u/a.wasm")), None);
}

#[test]
fn a_unit_that_is_only_tried_out_takes_all_steps_but_the_last() {
    let scene = Scene::new();
    let candidate = Candidate {
        bytes: component("sample", "one").into(),
        signature: None,
    };
    *scene.trials.differing.lock().unwrap() = 3;
    let staging = scene.library.try_out(&candidate, "someone");
    assert_eq!(why(&staging), "this was a trial run");
    assert_eq!(staging.steps.last().unwrap().step, Step::Trial);
    assert_eq!(staging.replay.as_ref().unwrap().differing, 3);
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "embedded")));
    assert!(scene.told().is_empty());
    *scene.trials.refuses.lock().unwrap() = Some("gold: no".to_owned());
    let staging = scene.library.try_out(&candidate, "someone");
    assert_eq!(why(&staging), "gold: no");
}

#[test]
fn a_unit_that_changes_too_many_decisions_is_refused() {
    let scene = Scene::of(LibraryOptions {
        require_replay: Some(0.25),
        ..LibraryOptions::default()
    });
    *scene.trials.differing.lock().unwrap() = 3;
    let staging = scene.sees("u/a.wasm", &component("sample", "one"));
    assert_eq!(
        why(&staging),
        "3 of 10 recorded decisions come out differently, and at most 25% may"
    );
    assert_eq!(staging.replay.unwrap().differing, 3);
    *scene.trials.differing.lock().unwrap() = 2;
    let staging = scene.sees("u/a.wasm", &component("sample", "two"));
    assert!(matches!(staging.outcome, Outcome::InForce { .. }));
}

#[test]
fn a_unit_that_fails_on_recorded_decisions_is_refused_with_the_fault_and_the_vm() {
    let scene = Scene::new();
    *scene.trials.recorded.lock().unwrap() = 200;
    *scene.trials.failures.lock().unwrap() = vec![Failure {
        cluster: "north".to_owned(),
        decision: 7,
        vms: vec!["web-1".to_owned()],
        because: "it panicked at src/lib.rs:51".to_owned(),
    }];
    let staging = scene.sees("u/a.wasm", &component("sample", "one"));
    let told = "1 of 10 recorded decisions would fail: decision 7 of cluster \"north\" \
                (VM \"web-1\"): it panicked at src/lib.rs:51; tried were 10 of the newest 200, \
                spread evenly: there was no time for more";
    assert_eq!(why(&staging), told);
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "embedded")));
    let history = scene.library.history();
    let noted = history.of("sample").next_back().unwrap().replay.clone();
    assert_eq!(noted, staging.replay);
    scene.trials.failures.lock().unwrap().clear();
    let staging = scene.sees("u/a.wasm", &component("sample", "two"));
    assert!(matches!(staging.outcome, Outcome::InForce { .. }));
    let history = scene.library.history();
    let noted = history.of("sample").next_back().unwrap().replay.clone();
    assert_eq!(
        noted.unwrap().tried,
        10,
        "what came into force was tried, too"
    );
}

#[test]
fn a_file_that_takes_a_built_in_name_is_told_of_and_there_is_a_short_way_back() {
    let scene = Scene::new();
    scene.is_used("sample");
    scene.sees("u/a.wasm", &component("sample", "one"));
    let told = scene.told().join("\n");
    let sentence = "replaces the unit of that name that comes with the program in gold; DELETE \
                    /v1/units/sample returns to the one that comes with the program";
    assert!(told.contains(sentence), "{told}");
    scene.sees("u/a.wasm", &component("sample", "two"));
    let told = scene.told().join("\n");
    assert!(!told.contains("replaces the unit"), "once: {told}");
    scene.library.withdraw("sample", "somebody").unwrap();
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "embedded")));
    let again = scene.library.withdraw("nobody", "somebody");
    assert!(again.is_err());
    // The file offers something new.
    scene.sees("u/a.wasm", &component("sample", "three"));
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "three")));
    // It is gone, and policies use what it held.
    scene.misses("u/a.wasm");
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "three")));
    scene.library.withdraw("sample", "somebody").unwrap();
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "embedded")));
}

#[test]
fn a_unit_that_not_all_clusters_could_try_is_told_so_and_refused_where_trials_are_required() {
    for (require_replay, refused) in [(None, false), (Some(0.25), true)] {
        let scene = Scene::of(LibraryOptions {
            require_replay,
            ..LibraryOptions::default()
        });
        let busy = ("north".to_owned(), "it is busy".to_owned());
        *scene.trials.untried.lock().unwrap() = BTreeMap::from([busy]);
        let staging = scene.sees("u/a.wasm", &component("sample", "one"));
        let trial = staging.steps.iter().find(|it| it.step == Step::Trial);
        let told =
            "all of 10 recorded decisions come out the same; none of cluster \"north\": it is busy";
        match (&trial.unwrap().outcome, refused) {
            (StepOutcome::Passed { note }, false) => assert_eq!(note.as_deref(), Some(told)),
            (StepOutcome::Failed { why }, true) => {
                assert!(why.starts_with(told), "{why}");
                assert!(why.contains("hand it in again later"), "{why}");
            }
            other => panic!("{other:?}"),
        }
        // The file is tried again by itself.
        assert_eq!(staging.may_pass, refused);
        scene.trials.untried.lock().unwrap().clear();
        let staging = scene.sees("u/a.wasm", &component("sample", "two"));
        assert!(matches!(staging.outcome, Outcome::InForce { .. }));
    }
}

#[test]
fn a_generation_that_is_not_adopted_is_not_in_force() {
    let scene = Scene::new();
    *scene.trials.cannot_adopt.lock().unwrap() = true;
    let before = scene.library.current().number();
    let staging = scene.sees("u/a.wasm", &component("sample", "one"));
    assert_eq!(why(&staging), "the clusters are busy");
    assert_eq!(scene.library.current().number(), before);
    assert_eq!(
        scene.artifacts.recall().unwrap().unwrap().generation,
        before
    );
}

#[test]
fn a_restart_begins_with_what_was_in_force_without_the_folder() {
    let scene = Scene::new();
    scene.sees("u/a.wasm", &component("sample", "one"));
    scene.sees("u/b.wasm", &component("other", "one"));
    let candidate = Candidate {
        bytes: component("third", "one").into(),
        signature: None,
    };
    let staging = scene.library.upload(&candidate, "someone");
    assert!(matches!(staging.outcome, Outcome::InForce { .. }));
    let number = scene.library.current().number();
    let scene = scene.again();
    for name in ["sample", "other", "third"] {
        assert_eq!(scene.in_force(name), Some(digest(name, "one")));
    }
    assert!(scene.library.current().number() > number);
    assert_eq!(scene.library.history().entries().count(), 3);
    scene.library.withdraw("third", "me").unwrap();
    assert_eq!(scene.in_force("third"), None);
}

#[test]
fn nothing_comes_into_force_for_whoever_may_no_more_when_it_is_ready() {
    let scene = Scene::new();
    scene.sees("u/a.wasm", &component("sample", "one"));
    scene.sees("u/a.wasm", &component("sample", "two"));
    let candidate = Candidate {
        bytes: component("sample", "three").into(),
        signature: None,
    };
    let library = &scene.library;
    let bob = Actor::while_it_may("bob".into(), || false);
    let one = digest("sample", "one");
    for staging in [
        library.upload(&candidate, bob.clone()),
        library.upload_overriding_policies(&candidate, bob.clone()),
        library.rollback("sample", one, bob).unwrap(),
    ] {
        let why = why(&staging);
        assert!(why.contains("\"bob\" was taken away"), "{why}");
        assert_eq!(scene.in_force("sample"), Some(digest("sample", "two")));
    }
    let ann = Actor::while_it_may("ann".into(), || true);
    library.rollback("sample", one, ann).unwrap();
    assert_eq!(scene.in_force("sample"), Some(one));
}

#[test]
fn of_two_files_with_one_name_the_first_counts_until_it_is_gone() {
    let scene = Scene::new();
    scene.sees("u/a.wasm", &component("other", "one"));
    let staging = scene.sees("u/b.wasm", &component("other", "two"));
    assert!(why(&staging).contains("as u/a.wasm does"), "{staging}");
    assert_eq!(scene.in_force("other"), Some(digest("other", "one")));
    scene.misses("u/a.wasm");
    assert_eq!(scene.in_force("other"), Some(digest("other", "two")));
    assert_eq!(scene.library.files()[0].trouble, None);
}

#[test]
fn a_file_that_is_renamed_stays_in_force() {
    let scene = Scene::new();
    let one = component("other", "one");
    scene.sees("u/a.wasm", &one);
    let staging = scene.sees("u/b.wasm", &one);
    assert_eq!(staging.outcome, Outcome::Unchanged);
    scene.misses("u/a.wasm");
    assert_eq!(scene.in_force("other"), Some(Digest::of(&one)));
    scene.misses("u/b.wasm");
    assert_eq!(scene.in_force("other"), None);
}

#[test]
fn a_file_whose_unit_changes_its_name_offers_the_old_one_no_more() {
    let scene = Scene::new();
    scene.sees("u/a.wasm", &component("other", "one"));
    scene.sees("u/a.wasm", &component("third", "one"));
    assert_eq!(scene.in_force("other"), None);
    scene.is_used("third");
    scene.sees("u/a.wasm", &component("other", "two"));
    assert_eq!(scene.in_force("third"), Some(digest("third", "one")));
    assert_eq!(scene.in_force("other"), Some(digest("other", "two")));
}

#[test]
fn where_signatures_are_required_only_signed_units_come_in() {
    let secret = SigningKey::from_bytes(&[7; 32]);
    let public = hex::encode(secret.verifying_key().to_bytes());
    let mut options = LibraryOptions::default();
    options.trust.signatures = Signatures {
        keys: vec![Key::new("ops", &public).unwrap()],
        require: true,
    };
    let scene = Scene::of(options);
    let one = component("sample", "one");
    let staging = scene.sees("u/a.wasm", &one);
    assert!(why(&staging).starts_with("it is not signed"), "{staging}");
    let signature = secret.sign(&one).to_bytes();
    let staging = scene.sees_signed("u/a.wasm", &one, Some(&signature));
    assert!(matches!(staging.outcome, Outcome::InForce { .. }));
    assert_eq!(
        staging.steps[0].outcome,
        StepOutcome::Passed {
            note: Some("signed by ops".to_owned())
        }
    );
    // The signature is kept with the unit.
    scene.library.withdraw("sample", "me").unwrap();
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "embedded")));
    let rolled = scene
        .library
        .rollback("sample", Digest::of(&one), "me")
        .unwrap();
    assert_eq!(rolled.source, Source::Rollback);
}

#[test]
fn where_the_version_in_force_is_from_is_told_after_a_rollback_and_a_pin() {
    let scene = Scene::new();
    let library = &scene.library;
    let source = || status_of(library, "sample").source.unwrap();
    let one = component("sample", "one");
    let file = |name: &str| Source::File { path: name.into() };
    // A pin moves nothing: what it is on is from where it was.
    library.pin("sample", "me").unwrap();
    assert_eq!(source(), Source::Embedded);
    library.unpin("sample", "me").unwrap();
    scene.sees("u/a.wasm", &one);
    library.pin("sample", "me").unwrap();
    assert_eq!(source(), file("u/a.wasm"));
    // Its file has something else by now.
    scene.sees("u/a.wasm", &component("sample", "two"));
    assert_eq!(source(), Source::Pin);
    library.unpin("sample", "me").unwrap();
    assert_eq!(source(), file("u/a.wasm"));
    library.rollback("sample", Digest::of(&one), "me").unwrap();
    assert_eq!(source(), Source::Rollback);
    library.pin("sample", "me").unwrap();
    assert_eq!(source(), Source::Rollback);
}

fn status_of(library: &Library, name: &str) -> UnitStatus {
    let found = library.units().into_iter().find(|unit| unit.name == name);
    found.unwrap()
}

#[test]
fn a_staging_is_told_in_lines_and_written_as_json() {
    let scene = Scene::new();
    let staging = scene.sees("u/a.wasm", &component("sample", "one"));
    let text = staging.to_string();
    assert!(text.starts_with("sample "), "{text}");
    assert_eq!(text.lines().count(), 9, "{text}");
    let json = serde_json::to_value(&staging).unwrap();
    assert_eq!(json["steps"][4]["step"], "probes");
    assert_eq!(json["steps"][4]["result"], "passed");
    assert_eq!(json["outcome"]["result"], "in-force");
    assert_eq!(serde_json::from_value::<Staging>(json).unwrap(), staging);
}

#[test]
fn a_file_that_was_refused_for_want_of_time_to_compile_is_tried_again() {
    let limits = Limits {
        compile_time: Duration::ZERO,
        instances: 8,
        ..Limits::default()
    };
    let code = tempfile::tempdir().unwrap();
    let engine = Engine::new(limits, Some(&code.path().join("code"))).unwrap();
    let scene = Scene::with(engine, [], LibraryOptions::default(), InMemory::default());
    let (change, now) = (
        holds("u/a.wasm", &component("sample", "one"), None),
        Instant::now(),
    );
    let Change::Seen(seen) = &change else {
        panic!("{change:?}");
    };
    let again = Mutex::new(Again::default());
    scene.library.take_or_again(&change, &again, now);
    let told = scene.told();
    assert!(told[1].contains("compiling took longer than"), "{told:?}");
    assert!(
        told[2].starts_with("u/a.wasm will be tried again in 1m if it still holds"),
        "{told:?}"
    );
    // The compiler was not stopped, and the code is kept when it is done.
    while scene.library.try_out(&candidate(seen), "me").is_refused() {
        std::thread::yield_now();
    }
    let at = again.lock().unwrap().next().unwrap();
    assert_eq!(at, now + Duration::from_secs(60));
    let due = again.lock().unwrap().due(at).unwrap();
    assert_eq!(due.digest, seen.digest);
    scene.library.take_or_again(&change, &again, at);
    assert_eq!(scene.in_force("sample"), Some(seen.digest));
    assert_eq!(scene.library.files()[0].trouble, None);
    assert_eq!(again.lock().unwrap().next(), None);
}

#[test]
fn a_file_that_waits_for_its_staging_is_told_by_the_name_it_will_have() {
    let scene = Scene::new();
    let path = PathBuf::from("units/late.wasm");
    scene.library.will_stage(path.clone());
    assert_eq!(scene.library.staging().get("late"), Some(&path));
    scene.library.has_staged(&path);
    assert!(scene.library.staging().is_empty());
}

#[test]
fn a_digest_is_found_by_its_beginning() {
    let scene = Scene::new();
    let bytes = component("sample", "no");
    scene.sees("units/sample.wasm", &bytes);
    let digest = Digest::of(&bytes);
    let found = |prefix: &str| scene.library.digest_of("sample", prefix);
    let text = digest.to_string();
    for prefix in [&text[..8], &text[..20], &text, &text.to_uppercase()[..9]] {
        assert_eq!(found(prefix).unwrap(), digest);
    }
    assert!(matches!(
        found(&text[..7]),
        Err(LibraryOperationError::NoPrefix { .. })
    ));
    assert!(matches!(
        found("no digit"),
        Err(LibraryOperationError::NoPrefix { .. })
    ));
    assert!(matches!(
        found("00000000"),
        Err(LibraryOperationError::NoDigest { .. })
    ));
}
