//! What was let in is asked for trust again at every way into force.

use std::collections::BTreeSet;

use super::*;
use crate::trust::Trust;

/// Signs units, under a name.
struct Person {
    name: &'static str,
    secret: SigningKey,
}

fn person(name: &'static str) -> Person {
    let seed = name.bytes().cycle().take(32).collect::<Vec<u8>>();
    let secret = SigningKey::from_bytes(&seed.try_into().unwrap());
    Person { name, secret }
}

impl Person {
    fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.secret.sign(bytes).to_bytes().to_vec()
    }

    fn upload(&self, scene: &Scene, bytes: &[u8]) -> Staging {
        upload(scene, bytes, Some(self.sign(bytes)))
    }
}

fn upload(scene: &Scene, bytes: &[u8], signature: Option<Vec<u8>>) -> Staging {
    let candidate = Candidate {
        bytes: bytes.into(),
        signature: signature.map(Into::into),
    };
    scene.library.upload(&candidate, "someone")
}

/// Only what these have signed is trusted.
fn signed_by(people: &[&Person]) -> Trust {
    let keys = people.iter().map(|person| {
        let public = hex::encode(person.secret.verifying_key().to_bytes());
        Key::new(person.name, &public).unwrap()
    });
    let signatures = Signatures {
        keys: keys.collect(),
        require: true,
    };
    Trust {
        signatures,
        ..Trust::default()
    }
}

fn options(trust: Trust) -> LibraryOptions {
    LibraryOptions {
        trust,
        ..LibraryOptions::default()
    }
}

fn is_in_force(staging: &Staging) -> bool {
    matches!(staging.outcome, Outcome::InForce { .. })
}

/// What is said of the unit of that name.
fn status(scene: &Scene, name: &str) -> UnitStatus {
    let units = scene.library.units();
    units.into_iter().find(|unit| unit.name == name).unwrap()
}

#[test]
fn what_came_in_unsigned_is_not_in_force_after_a_start_that_requires_signatures() {
    let ada = person("ada");
    let scene = Scene::new();
    assert!(is_in_force(
        &scene.sees("u/a.wasm", &component("sample", "one"))
    ));
    let other = component("other", "one");
    assert!(is_in_force(&upload(&scene, &other, None)));
    let scene = Scene::start(options(signed_by(&[&ada])), scene.artifacts);
    let embedded = digest("sample", "embedded");
    assert_eq!(scene.in_force("sample"), Some(embedded));
    assert_eq!(scene.in_force("other"), None);
    let told = scene.told().join("\n");
    assert!(
        told.contains("sample") && told.contains("is no longer trusted: it is not signed"),
        "{told}"
    );
    let short = embedded.short();
    assert!(
        told.contains(&format!("{short} decides in its place")),
        "{told}"
    );
    assert!(told.contains("policies that need it cannot run"), "{told}");
    // What is told of it is so.
    let file = &scene.library.files()[0];
    assert_eq!((&file.name, file.offers), (&None, None));
    assert_eq!(file.holds, Some(digest("sample", "one")));
    let trouble = file.trouble.as_deref().unwrap();
    assert!(trouble.starts_with("it is not signed"), "{trouble}");
    assert_eq!(status(&scene, "other").in_force, None);
    let refused = status(&scene, "other").not_trusted.unwrap();
    assert_eq!(refused.digest, Digest::of(&other));
    // It comes back with the trust, also over another restart.
    let scene = Scene::start(LibraryOptions::default(), scene.artifacts);
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "one")));
    assert_eq!(scene.in_force("other"), Some(Digest::of(&other)));
    assert_eq!(status(&scene, "other").not_trusted, None);
}

#[test]
fn what_came_in_signed_is_in_force_after_a_start_that_requires_signatures() {
    let (ada, bob) = (person("ada"), person("bob"));
    let scene = Scene::of(options(signed_by(&[&ada, &bob])));
    let one = component("sample", "one");
    assert!(is_in_force(&ada.upload(&scene, &one)));
    let trust = || options(signed_by(&[&ada]));
    let scene = Scene::start(trust(), scene.artifacts);
    assert_eq!(scene.in_force("sample"), Some(Digest::of(&one)));
    // A signature that nobody has checked does not take the place of one that was.
    let forged = KeptSignature {
        bytes: bob.sign(&one),
        signer: None,
    };
    let digest = Digest::of(&one);
    scene.artifacts.store(digest, &one, Some(&forged)).unwrap();
    let scene = Scene::start(trust(), scene.artifacts);
    assert_eq!(scene.in_force("sample"), Some(digest));
}

#[test]
fn without_its_key_a_unit_is_not_in_force_from_then_on_and_the_version_before_decides() {
    let (ada, bob) = (person("ada"), person("bob"));
    let scene = Scene::of(options(signed_by(&[&ada, &bob])));
    let (one, two) = (component("sample", "one"), component("sample", "two"));
    assert!(is_in_force(&ada.upload(&scene, &one)));
    assert!(is_in_force(&bob.upload(&scene, &two)));
    // Whatever policies say.
    *scene.trials.refuses.lock().unwrap() = Some("gold: it needs it".to_owned());
    scene.is_used("sample");
    scene.told();
    scene.library.trust(signed_by(&[&ada])).unwrap();
    assert_eq!(scene.in_force("sample"), Some(Digest::of(&one)));
    let adopted = scene.trials.adopted.lock().unwrap().last().copied();
    assert_eq!(adopted, Some(scene.library.current().number()));
    let reasons = scene.trials.distrusted.lock().unwrap().clone();
    assert!(reasons["sample"].contains("signed by bob"), "{reasons:?}");
    let told = scene.told().join("\n");
    let decides = format!("{} decides in its place", Digest::of(&one).short());
    assert!(told.contains(&decides), "{told}");
    // It comes in by no way.
    *scene.trials.refuses.lock().unwrap() = None;
    let refused = bob.upload(&scene, &two);
    assert!(
        why(&refused).contains("none of the trusted keys (ada)"),
        "{refused}"
    );
    let refused = scene
        .library
        .rollback("sample", Digest::of(&two), "me")
        .unwrap();
    assert!(
        why(&refused).contains("none of the trusted keys (ada)"),
        "{refused}"
    );
    scene.library.pin("sample", "me").unwrap();
    scene.library.unpin("sample", "me").unwrap();
    scene.library.disable("sample", "me").unwrap();
    scene.library.enable("sample", "me").unwrap();
    assert_eq!(scene.in_force("sample"), Some(Digest::of(&one)));
    // After a restart neither.
    let scene = Scene::start(options(signed_by(&[&ada])), scene.artifacts);
    assert_eq!(scene.in_force("sample"), Some(Digest::of(&one)));
}

#[test]
fn a_unit_that_is_trusted_again_is_in_force_again_as_it_was() {
    let (ada, bob) = (person("ada"), person("bob"));
    let scene = Scene::of(options(signed_by(&[&ada, &bob])));
    let (one, two) = (component("sample", "one"), component("sample", "two"));
    let signature = bob.sign(&one);
    assert!(is_in_force(&scene.sees_signed(
        "u/a.wasm",
        &one,
        Some(&signature)
    )));
    assert!(is_in_force(&bob.upload(&scene, &two)));
    scene.library.pin("sample", "me").unwrap();
    scene.library.trust(signed_by(&[&ada])).unwrap();
    assert_eq!(scene.in_force("sample"), Some(digest("sample", "embedded")));
    assert!(!status(&scene, "sample").pinned);
    scene.library.trust(signed_by(&[&ada, &bob])).unwrap();
    assert_eq!(scene.in_force("sample"), Some(Digest::of(&two)));
    assert!(status(&scene, "sample").pinned);
    assert_eq!(scene.library.files()[0].offers, Some(Digest::of(&one)));
    assert_eq!(scene.library.files()[0].trouble, None);
}

#[test]
fn a_file_that_is_signed_by_a_trusted_key_now_is_in_force_again() {
    let ada = person("ada");
    let scene = Scene::new();
    let one = component("other", "one");
    assert!(is_in_force(&scene.sees("u/a.wasm", &one)));
    scene.library.trust(signed_by(&[&ada])).unwrap();
    assert_eq!(scene.in_force("other"), None);
    let signature = ada.sign(&one);
    let staging = scene.sees_signed("u/a.wasm", &one, Some(&signature));
    assert!(is_in_force(&staging), "{staging}");
    assert_eq!(status(&scene, "other").not_trusted, None);
    let scene = Scene::start(options(signed_by(&[&ada])), scene.artifacts);
    assert_eq!(scene.in_force("other"), Some(Digest::of(&one)));
}

#[test]
fn a_file_that_is_gone_comes_back_with_no_trust() {
    let ada = person("ada");
    let scene = Scene::new();
    assert!(is_in_force(
        &scene.sees("u/a.wasm", &component("other", "one"))
    ));
    scene.library.trust(signed_by(&[&ada])).unwrap();
    scene.misses("u/a.wasm");
    scene.library.trust(Trust::default()).unwrap();
    assert_eq!(scene.in_force("other"), None);
    assert!(scene.library.files().is_empty());
}

#[test]
fn a_revoked_unit_is_not_in_force_though_it_comes_with_the_program() {
    let scene = Scene::new();
    let embedded = digest("sample", "embedded");
    let trust = Trust {
        revoked: BTreeSet::from([embedded]),
        ..Trust::default()
    };
    scene.library.trust(trust.clone()).unwrap();
    assert_eq!(scene.in_force("sample"), None);
    let told = scene.told().join("\n");
    assert!(told.contains("it is revoked"), "{told}");
    let refused = scene.library.rollback("sample", embedded, "me").unwrap();
    assert!(why(&refused).starts_with("it is revoked"), "{refused}");
    let refused = upload(&scene, &component("sample", "embedded"), None);
    assert!(why(&refused).starts_with("it is revoked"), "{refused}");
    let scene = Scene::start(options(trust), scene.artifacts);
    assert_eq!(scene.in_force("sample"), None);
    scene.library.trust(Trust::default()).unwrap();
    assert_eq!(scene.in_force("sample"), Some(embedded));
}

#[test]
fn trust_that_makes_no_sense_changes_nothing() {
    let scene = Scene::new();
    let one = component("sample", "one");
    assert!(is_in_force(&upload(&scene, &one, None)));
    scene.library.trust(signed_by(&[])).unwrap_err();
    assert_eq!(scene.in_force("sample"), Some(Digest::of(&one)));
}
