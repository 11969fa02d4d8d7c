//! Units that are made to take the server down with them: each is refused in a short sentence,
//! and nothing large is kept, sent or logged of it.

use std::fs;
use std::path::Path;

use placewright_tests::component::{branching, computed_elements, long_named, long_winded};
use placewright_tests::server::Server;
use placewright_tests::waiting::wait_until;

use super::deployment::{Answer, Api};
use super::folder;

/// Bytes of every answer about refused units, and of the log.
const SHORT: usize = 256 << 10;

fn upload(api: &Api, bytes: &[u8]) -> Answer {
    let headers = [("content-type", "application/wasm")];
    api.ask("PUT", "/v1/units", &headers, bytes).unwrap()
}

/// The most memory that the process ever had, in bytes.
fn peak(server: &Server) -> Option<usize> {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    let kib: usize = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib << 10)
}

fn drop_in(data: &Path, name: &str, bytes: &[u8]) {
    fs::write(data.join("units").join(name), bytes).unwrap();
}

#[test]
fn hostile_units_are_refused_in_short_and_the_server_stays_small() {
    let data = folder();
    // The answer is awaited, however long a compiler takes on a busy machine.
    let words = [
        "--unit-compile-memory",
        "200 MiB",
        "--request-time",
        "10 min",
    ];
    let server = Server::start(data.path(), &words);
    let api = Api::of(&server);
    let before = peak(&server);
    let units = [
        (long_winded(50 << 20), "describes itself with more than"),
        (long_winded(200_000), "the summary has 200000 bytes"),
        (long_named(300_000), "the name of a setting has"),
        (branching(10_000, 10_000), "would take too much to compile"),
        (computed_elements(60_000), "would take too much to compile"),
        (branching(1800, 10_000), "memory"),
    ];
    for (number, (bytes, says)) in units.iter().enumerate() {
        let answer = upload(&api, bytes);
        let said = answer.body.to_string();
        assert_eq!(answer.status, 422, "{says}: {said:.500}");
        assert!(said.contains(says), "{says}: {said:.500}");
        assert!(said.len() < SHORT, "{says}: {}", said.len());
        drop_in(data.path(), &format!("{number}.wasm"), bytes);
    }
    let is_seen = |number: usize| {
        let files = api.get("/v1/unit-files").body.to_string();
        assert!(files.len() < SHORT, "{}", files.len());
        files.matches("\"trouble\":\"").count() >= number
    };
    wait_until("all files looked at", || is_seen(units.len()));
    if let (Some(before), Some(after)) = (before, peak(&server)) {
        // A file in memory, its instance, and what reading it takes; the reviewers' units took
        // gigabytes.
        assert!(after < before + (400 << 20), "{before} to {after} bytes");
    }
    server.signal("TERM");
    let (status, log) = server.ended();
    assert!(status.success());
    assert!(log.len() < SHORT, "the log has {} bytes", log.len());
    // Nothing large was kept that a restart would read.
    let database = fs::metadata(data.path().join("placewright.db")).map_or(0, |it| it.len());
    assert!(database < 8 << 20, "{database}");
}
