//! `unit new-key`, `unit sign` and `unit verify`: units of a publisher, in a folder.

use std::fs;
use std::path::Path;

use placewright_tests::server::placewright;
use placewright_tests::units::component;
use serde_json::Value;

/// The exit code, what is printed, and the errors of a command that runs in a folder.
fn run(folder: &Path, words: &str) -> (Option<i32>, String, String) {
    let output = placewright(words.split(' '))
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// A folder with a unit and a pair of keys, and the lines that a server needs.
fn published() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.wasm"), component("memory")).unwrap();
    let (code, lines, errors) = run(folder.path(), "unit new-key release.pem");
    assert_eq!(code, Some(0), "{errors}");
    (folder, lines)
}

#[test]
fn a_unit_that_is_signed_is_verified_and_one_that_was_changed_since_is_not() {
    let (folder, lines) = published();
    let public = lines.rsplit('"').nth(1).unwrap().to_owned();
    let signed = run(folder.path(), "unit sign mine.wasm --key release.pem");
    assert_eq!(signed.0, Some(0), "{}", signed.2);
    assert_eq!(
        fs::read(folder.path().join("mine.wasm.sig")).unwrap().len(),
        64
    );
    // The key in both of its forms.
    for key in ["release.pub", &public] {
        let words = format!("unit verify . --trusted-key release={key} --format json");
        let (code, printed, errors) = run(folder.path(), &words);
        assert_eq!(code, Some(0), "{errors}");
        let verified: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(verified[0]["signed-by"], "release");
    }
    // A server takes it in, by the lines that were printed.
    let check = format!("unit check mine.wasm --no-cache --trusted-key release={public}");
    let checked = run(folder.path(), &check);
    assert_eq!(checked.0, Some(0), "{}{}", checked.1, checked.2);
    let file = folder.path().join("mine.wasm");
    let mut bytes = fs::read(&file).unwrap();
    bytes.push(0);
    fs::write(&file, bytes).unwrap();
    let words = "unit verify mine.wasm --trusted-key release=release.pub --format json";
    let (code, printed, _) = run(folder.path(), words);
    assert_eq!(code, Some(1));
    let verified: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(verified[0]["verified"], false);
    let reason = verified[0]["reason"].as_str().unwrap();
    assert!(reason.contains("none of the trusted keys"), "{reason}");
}

#[test]
fn a_private_key_is_readable_for_its_owner_alone_and_never_overwritten() {
    let (folder, lines) = published();
    assert!(
        lines.starts_with("[[trusted-keys]]\nname = \"release\"\n"),
        "{lines}"
    );
    let file = folder.path().join("release.pem");
    let before = fs::read(&file).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    let (code, _, errors) = run(folder.path(), "unit new-key release.pem");
    assert_eq!(code, Some(2));
    assert!(errors.contains("must be a new file"), "{errors}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn what_cannot_be_signed_or_verified_is_refused_with_what_is_wrong() {
    let (folder, _) = published();
    fs::write(folder.path().join("text.wasm"), "no unit").unwrap();
    for (words, code, sentence) in [
        (
            "unit sign mine.wasm --key release.pub",
            2,
            "it is a public key",
        ),
        ("unit sign mine.wasm --key mine.wasm.none", 2, "cannot read"),
        ("unit sign text.wasm --key release.pem", 2, "is no unit"),
        ("unit verify mine.wasm", 2, "--trusted-key NAME=KEY"),
        ("unit verify mine.wasm --trusted-key mine", 2, "has no name"),
        (
            "unit verify mine.wasm --trusted-key a=b",
            2,
            "not an Ed25519 public key",
        ),
    ] {
        let (given, _, errors) = run(folder.path(), words);
        assert_eq!(given, Some(code), "{words}: {errors}");
        assert!(errors.contains(sentence), "{words}: {errors}");
    }
    assert!(!folder.path().join("text.wasm.sig").exists());
    let words = "unit verify mine.wasm --trusted-key release=release.pub";
    let (code, printed, _) = run(folder.path(), words);
    assert_eq!(code, Some(1));
    assert!(printed.contains("not signed"), "{printed}");
}
