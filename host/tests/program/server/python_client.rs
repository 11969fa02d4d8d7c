//! The client in Python, against the server.

use std::path::PathBuf;
use std::process::Command;

use placewright_tests::repository;

use super::folder;
use super::generated::{installed, run, server};

/// The folder of the client, and a Python that has what it needs; none if it is not installed.
fn client() -> Option<(PathBuf, PathBuf)> {
    let python = installed("openapi-python/bin/python")?;
    Some((repository().join("clients/python"), python))
}

fn python(client: &(PathBuf, PathBuf)) -> Command {
    let mut command = Command::new(&client.1);
    command
        .env("PYTHONPATH", client.0.join("src"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

#[test]
fn the_calls_of_the_python_client_are_those_of_the_contract_and_well_typed() {
    let Some(client) = client() else { return };
    run(python(&client)
        .arg(client.0.join("generate"))
        .arg("--check"));
    let cache = folder();
    let sources = [
        "src/placewright_client",
        "examples/manager.py",
        "tests/drive.py",
    ];
    run(python(&client)
        .args(["-m", "mypy", "--strict", "--cache-dir"])
        .arg(cache.path())
        .args(sources.map(|source| client.0.join(source))));
}

#[test]
fn both_python_clients_drive_the_server() {
    let Some(client) = client() else { return };
    let data = folder();
    let (server, token) = server(data.path());
    run(python(&client)
        .arg(client.0.join("tests/drive.py"))
        .args([&server.url, &token]));
}

#[test]
fn the_vm_manager_of_the_book_places_starts_reports_and_restarts() {
    let Some(client) = client() else { return };
    let program = client.0.join("examples/manager.py");
    let data = folder();
    let (server, token) = server(data.path());
    let printed = run(python(&client).arg(program).args([&server.url, &token]));
    let lines: Vec<&str> = printed.lines().collect();
    let started = lines.iter().filter(|line| line.contains("is started on"));
    // Six at first, and those of h1 again, of which none goes back there.
    assert!(started.count() > 6, "{printed}");
    let again = &lines[6..];
    assert!(
        again.iter().all(|line| !line.contains("on h1")),
        "{printed}"
    );
    let last = lines.last().unwrap();
    assert!(
        last.starts_with("huge: no host (") && last.contains("2 hosts: has too few CPUs"),
        "{printed}"
    );
}
