//! Stores that programs of before have written, and what becomes of one of a later program.
//! `tests/store-of-now` makes them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use placewright_tests::repository;
use placewright_tests::server::{Server, placewright};
use serde_json::{Map, Value};

use super::backup::{run, text};
use super::deployment::{Api, vm};
use super::folder;

/// No reservation of a store has ended since it was written.
const WORDS: [&str; 2] = ["--reservation", "0"];

/// Where the version of the schema stands in a file of SQLite, in four bytes.
const VERSION: std::ops::Range<usize> = 60..64;

/// The folders of stores, by the version of their schema.
fn stores() -> Vec<(u32, PathBuf)> {
    let folders = fs::read_dir(repository().join("host/tests/stores")).unwrap();
    let folders = folders.map(|it| it.unwrap().path());
    let mut stores: Vec<(u32, PathBuf)> = folders
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name.parse().unwrap(), path)
        })
        .collect();
    stores.sort();
    stores
}

/// The store of such a folder, as a file in `home`.
fn unpacked(folder: &Path, home: &Path) -> PathBuf {
    let packed = File::open(folder.join("store.db.gz")).unwrap();
    let path = home.join("store.db");
    io::copy(
        &mut GzDecoder::new(packed),
        &mut File::create(&path).unwrap(),
    )
    .unwrap();
    path
}

/// The version of the schema that `placewright store check` tells.
fn version(store: &Path) -> u32 {
    let checked = run(&["store", "check", text(store), "--format", "json"], 0);
    let checked: Value = serde_json::from_str(&checked).unwrap();
    u32::try_from(checked["version"].as_u64().unwrap()).unwrap()
}

/// What differs between an answer of before and one of now. Answers may have got new keys; the
/// version of an inventory skips some numbers at each start.
fn differences(place: &str, before: &Value, now: &Value) -> Vec<String> {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            let pairs = before.iter();
            let pairs = pairs.flat_map(|(key, value)| {
                let found = now.get(key).unwrap_or(&Value::Null);
                differences(&format!("{place}/{key}"), value, found)
            });
            pairs.collect()
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            let pairs = before.iter().zip(now).enumerate();
            let pairs = pairs.flat_map(|(number, (before, now))| {
                differences(&format!("{place}/{number}"), before, now)
            });
            pairs.collect()
        }
        (Value::Number(before), Value::Number(now))
            // 0 and 0.0 are the same number.
            if before.as_f64() == now.as_f64()
                || (place.ends_with("/counted/version") && now.as_u64() >= before.as_u64()) =>
        {
            Vec::new()
        }
        (before, now) if before == now => Vec::new(),
        (before, now) => vec![format!("{place}: {before} before, {now} now")],
    }
}

#[test]
fn a_store_that_a_program_of_before_has_written_serves_with_all_that_it_held() {
    for (written, folder) in stores() {
        let home = super::folder();
        let store = unpacked(&folder, home.path());
        assert_eq!(version(&store), written);
        let data = home.path().join("data");
        run(&["restore", text(&store), "--data", text(&data)], 0);
        let answers = fs::read_to_string(folder.join("answers.json")).unwrap();
        let answers: Map<String, Value> = serde_json::from_str(&answers).unwrap();
        assert!(answers.len() > 10, "{written}");
        // The first start may change the store, the second finds it changed.
        for _ in 0..2 {
            let server = Server::start(&data, &WORDS);
            let api = Api::of(&server);
            for (path, before) in &answers {
                let now = api.get(path);
                assert_eq!(now.status, 200, "{written}: {path}: {now:?}");
                let differing = differences(path, before, &now.body);
                assert!(differing.is_empty(), "{written}: {}", differing.join("\n"));
            }
        }
        // It goes on: the next decision has the next number, and what was decided is made again.
        let server = Server::start(&data, &WORDS);
        let api = Api::of(&server);
        let decisions = answers["/v1/clusters/c/decisions"]["items"]
            .as_array()
            .unwrap();
        let last = decisions[0]["number"].as_u64().unwrap();
        let again = api.send("POST", "/v1/clusters/c/decisions/1/replay", &Value::Null);
        assert_eq!(again.status, 200, "{written}: {again:?}");
        assert_eq!(again.body["same"], true, "{written}: {again:?}");
        let placed = api.send("POST", "/v1/clusters/c/place", &vm("new"));
        assert_eq!(placed.status, 200, "{written}: {placed:?}");
        assert_eq!(placed.body["number"], last + 1, "{written}: {placed:?}");
    }
}

#[test]
fn there_is_a_store_of_the_version_that_this_program_writes() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    server.signal("TERM");
    assert!(server.ended().0.success());
    let now = version(data.path());
    let newest = stores().last().map(|(version, _)| *version);
    assert_eq!(
        newest,
        Some(now),
        "make one with tests/store-of-now, for the programs to come"
    );
}

#[test]
fn a_store_of_a_later_program_is_refused_with_both_versions_and_stays_as_it_is() {
    let (written, folder) = stores().pop().unwrap();
    let home = super::folder();
    let store = unpacked(&folder, home.path());
    let data = home.path().join("data");
    run(&["restore", text(&store), "--data", text(&data)], 0);
    let file = data.join("placewright.db");
    let mut later = fs::read(&file).unwrap();
    later[VERSION].copy_from_slice(&(written + 1).to_be_bytes());
    fs::write(&file, &later).unwrap();
    let expected = format!(
        "has version {}, and this program knows versions up to {written}",
        written + 1
    );
    let refused = placewright(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(&data)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains(&expected), "{said}");
    let copy = home.path().join("later.db");
    fs::write(&copy, &later).unwrap();
    for words in [
        vec!["store", "check", text(&copy)],
        vec!["restore", text(&copy), "--data", text(home.path())],
    ] {
        let said = run(&words, 2);
        assert!(said.contains(&expected), "{words:?}: {said}");
    }
    // The program that wrote it finds all that it held.
    let mut kept = fs::read(&file).unwrap();
    assert_eq!(kept[VERSION], later[VERSION]);
    kept[VERSION].copy_from_slice(&written.to_be_bytes());
    fs::write(&file, &kept).unwrap();
    let rows = |store: &Path| {
        let checked = run(&["store", "check", text(store), "--format", "json"], 0);
        serde_json::from_str::<Value>(&checked).unwrap()["rows"].clone()
    };
    assert_eq!(rows(&data), rows(&store));
}
