//! What nothing leads back to is removed.

use super::*;

/// The component of "sample" with a section that nobody reads.
fn version(number: u8) -> Vec<u8> {
    let mut bytes = component("sample", "one");
    bytes.extend([0, 3, 1, b'n', number]);
    bytes
}

fn kept(scene: &Scene, bytes: &[u8]) -> bool {
    let kept = scene.artifacts.load(Digest::of(bytes));
    kept.unwrap().is_some()
}

#[test]
fn of_a_unit_that_is_replaced_again_and_again_the_last_versions_are_kept() {
    let scene = Scene::new();
    let pinned = component("other", "pinned");
    scene.sees("u/other.wasm", &pinned);
    scene.library.pin("other", "me").unwrap();
    for number in 0..30 {
        scene.sees("u/a.wasm", &version(number));
    }
    let left: Vec<u8> = (0..30).filter(|it| kept(&scene, &version(*it))).collect();
    assert_eq!(left, (20..30).collect::<Vec<_>>());
    assert!(kept(&scene, &pinned));
    // A start reads what is in force alone.
    let scene = scene.again();
    assert_eq!(scene.in_force("sample"), Some(Digest::of(&version(29))));
    let back = Digest::of(&version(20));
    let rolled = scene.library.rollback("sample", back, "me").unwrap();
    assert!(matches!(rolled.outcome, Outcome::InForce { .. }));
    let gone = Digest::of(&version(3));
    let error = scene.library.rollback("sample", gone, "me").unwrap_err();
    assert!(
        matches!(error, LibraryOperationError::NoDigest { .. }),
        "{error}"
    );
}

#[test]
fn what_was_never_in_force_is_removed_with_the_next_change_and_what_is_not_trusted_stays() {
    let scene = Scene::new();
    scene.sees("u/a.wasm", &version(0));
    scene.library.pin("sample", "me").unwrap();
    let held = Candidate {
        bytes: version(1).into(),
        signature: None,
    };
    let staging = scene.library.upload(&held, "someone");
    assert!(matches!(staging.outcome, Outcome::Held { .. }));
    let other = component("other", "one");
    scene.sees("u/b.wasm", &other);
    assert!(!kept(&scene, &version(1)));
    let trust = crate::trust::Trust {
        revoked: [Digest::of(&other)].into(),
        ..Default::default()
    };
    scene.library.trust(trust).unwrap();
    scene.sees("u/c.wasm", &component("third", "one"));
    assert!(kept(&scene, &other));
}
