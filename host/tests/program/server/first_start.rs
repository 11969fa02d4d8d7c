//! A server that is started for the first time has the units of the program compiled.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use placewright_plugins as plugins;
use placewright_tests::server::placewright;

use super::folder;

/// Ask until there is an answer.
fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// State and parent of a process, while there is one.
fn state(process: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may hold anything.
    let (_, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.parse().ok()?))
}

fn child_of(parent: u32) -> Option<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut processes = processes.filter_map(|it| it.file_name().to_str()?.parse().ok());
    processes.find(|process| state(*process).is_some_and(|(_, of)| of == parent))
}

#[test]
fn a_compiler_ends_with_the_server_that_waits_for_it() {
    let data = folder();
    let mut command = placewright(["serve", "--listen", "127.0.0.1:0", "--data"]);
    command.arg(data.path()).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let compiler = wait_for("no compiler was started", || child_of(server.id()));
    server.kill().unwrap();
    let said = server.wait_with_output().unwrap().stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("compiling the units"), "{said}");
    wait_for("the compiler goes on", || match state(compiler) {
        // Nobody may ask how it ended.
        None | Some(('Z' | 'X', _)) => Some(()),
        Some(_) => None,
    });
    let cache = fs::read_dir(data.path().join("cache"));
    let compiled = cache.map_or(0, Iterator::count);
    assert!(
        compiled < plugins::UNITS.len(),
        "it compiled all {compiled}"
    );
}
