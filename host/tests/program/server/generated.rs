//! Clients that two generators make of the OpenAPI document, against the server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use placewright_tests::server::Server;
use placewright_tests::target_folder;
use serde_json::Value;

use super::deployment::Api;
use super::folder;
use super::roles::token;

const PYTHON: &str = include_str!("generated/drive.py");
const TYPESCRIPT: &str = include_str!("generated/drive.ts");

/// A program in a folder that tests/run fills, or None and a word about it.
pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    let path = target_folder().join(program);
    if !path.is_file() {
        eprintln!(
            "SKIPPED: {} is missing; tests/run --install installs it",
            path.display()
        );
        return None;
    }
    Some(path)
}

/// What a command says, which must go well.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

/// A server, and a token of an operator's programs.
pub(super) fn server(folder: &Path) -> (Server, String) {
    let (token, configuration) = token("admin", None);
    let path = folder.join("placewright.toml");
    fs::write(&path, configuration).unwrap();
    let server = Server::start(folder, &["--config", path.to_str().unwrap()]);
    (server, token)
}

/// The document, as the server gives it.
fn document(server: &Server, folder: &Path) -> Value {
    let document = Api::of(server).get("/v1/openapi.json").body;
    fs::write(folder.join("openapi.json"), document.to_string()).unwrap();
    document
}

/// The ids of all operations.
fn operations(document: &Value) -> Vec<&str> {
    let items = document["paths"].as_object().unwrap().values();
    let operations = items.flat_map(|item| item.as_object().unwrap().values());
    operations
        .map(|it| it["operationId"].as_str().unwrap())
        .collect()
}

#[test]
fn the_document_is_valid_and_a_client_made_of_it_in_python_places_explains_confirms_and_plans() {
    let Some(generator) = installed("openapi-python/bin/openapi-python-client") else {
        return;
    };
    let tools = generator.parent().unwrap();
    let data = folder();
    let (server, token) = server(data.path());
    let document = document(&server, data.path());
    let in_data = |program: &str| {
        let mut command = Command::new(tools.join(program));
        command
            .current_dir(data.path())
            .env("PYTHONPATH", data.path());
        command
    };
    run(in_data("openapi-spec-validator").arg("openapi.json"));
    let said = run(in_data("openapi-python-client")
        .args(["generate", "--path", "openapi.json", "--meta", "none"])
        .args(["--output-path", "placewright_client", "--config"])
        .arg(config(data.path())));
    // What it can make nothing of it leaves out, and says so.
    assert!(!said.contains("WARNING"), "{said}");
    for id in operations(&document) {
        let module = format!("{id}.py");
        let groups = fs::read_dir(data.path().join("placewright_client/api")).unwrap();
        let mut groups = groups.map(|group| group.unwrap().path());
        assert!(
            groups.any(|group| group.join(&module).is_file()),
            "{id} is missing: {said}"
        );
    }
    fs::write(data.path().join("drive.py"), PYTHON).unwrap();
    run(in_data("mypy").args(["--strict", "--cache-dir", "mypy", "drive.py"]));
    run(in_data("python").args(["drive.py", &server.url, &token]));
}

/// How the generator is set: bytes are bytes, of whatever kind, and lines of a stream are text.
fn config(folder: &Path) -> PathBuf {
    let path = folder.join("generator.json");
    let config = serde_json::json!({
        "post_hooks": [],
        "content_type_overrides": {
            "application/wasm": "application/octet-stream",
            "application/openmetrics-text": "text/plain",
            "text/event-stream": "text/plain"
        }
    });
    fs::write(&path, config.to_string()).unwrap();
    path
}

#[test]
fn a_client_made_of_the_document_in_typescript_places_explains_confirms_and_plans() {
    let Some(generator) = installed("openapi-typescript/node_modules/.bin/openapi-typescript")
    else {
        return;
    };
    let data = folder();
    let (server, token) = server(data.path());
    document(&server, data.path());
    let tools = generator.parent().unwrap();
    let modules = tools.parent().unwrap();
    std::os::unix::fs::symlink(modules, data.path().join("node_modules")).unwrap();
    let in_data = |program: &Path| {
        let mut command = Command::new(program);
        command.current_dir(data.path());
        command
    };
    run(in_data(&generator).args(["openapi.json", "--output", "contract.d.ts"]));
    fs::write(data.path().join("drive.ts"), TYPESCRIPT).unwrap();
    fs::write(data.path().join("package.json"), r#"{"type": "module"}"#).unwrap();
    run(in_data(&tools.join("tsc"))
        .args([
            "--strict",
            "--exactOptionalPropertyTypes",
            "--noUncheckedIndexedAccess",
        ])
        .args([
            "--target", "es2022", "--module", "nodenext", "--types", "node",
        ])
        .args(["--outDir", "made", "drive.ts", "contract.d.ts"]));
    run(in_data(Path::new("node")).args(["made/drive.js", &server.url, &token]));
}
