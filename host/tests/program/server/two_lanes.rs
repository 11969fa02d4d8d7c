//! A unit that takes long to compile holds no other one up.

use std::fs;
use std::time::{Duration, Instant};

use placewright_tests::python;
use placewright_tests::server::Server;
use serde_json::Value;

use super::deployment::Api;
use super::folder;
use super::reload::{variant, wait_for};

/// No unit takes so long, on the slowest machine.
const LONG: Duration = Duration::from_secs(600);

/// The number of the first event of that kind about a unit or file, once there is one.
fn event(api: &Api, kind: &str, about: &str) -> u64 {
    let path = format!("/v1/events/recent?kind={kind}&text={about}");
    let begin = Instant::now();
    loop {
        let told = api.get(&path).body;
        let events = told["items"].as_array().cloned().unwrap_or_default();
        if let Some(number) = events.last().and_then(|it: &Value| it["number"].as_u64()) {
            return number;
        }
        assert!(begin.elapsed() < LONG, "{path}: {told}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_small_unit_comes_into_force_while_a_large_one_in_python_is_being_compiled() {
    let Some(mut large) = python::component("examples/cpu-in-python") else {
        return;
    };
    let data = folder();
    // Servers of a test run share compiled code: a section that nobody reads makes this one new.
    let mut section = b"\x04note".to_vec();
    section.extend_from_slice(data.path().file_name().unwrap().as_encoded_bytes());
    large.extend([0, u8::try_from(section.len()).unwrap()]);
    large.extend(section);
    let server = Server::start(data.path(), &["--unit-compile-time", "600"]);
    let api = Api::of(&server);
    let units = data.path().join("units");
    let put = |name: &str, bytes: &[u8]| {
        let new = units.join(format!("{name}.new"));
        fs::write(&new, bytes).unwrap();
        fs::rename(&new, units.join(format!("{name}.wasm"))).unwrap();
    };
    put("cpu-in-python", &large);
    let large_seen = event(&api, "unit-seen", "cpu-in-python");
    let small = variant(1);
    put("worst-fit", &small);
    wait_for(&api, &small, "the small unit");
    let small_in_force = event(&api, "unit-in-force", "worst-fit");
    let large_in_force = event(&api, "unit-in-force", "cpu-in-python");
    assert!(
        large_seen < small_in_force && small_in_force < large_in_force,
        "{large_seen} {small_in_force} {large_in_force}: {}",
        api.get("/v1/events/recent").body
    );
}
