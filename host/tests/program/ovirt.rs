//! oVirt's own clients with the server. Where they are not installed, nothing is tried:
//! `tests/run --install` installs them. What needs none of them is tried without.

mod bodies;
mod bounds;
mod roles;
mod said;
mod speed;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use placewright_tests::server::{Server, placewright};
use placewright_tests::{repository, target_folder};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A program of the environment that oVirt's clients are installed in, if they are there.
fn client(program: &str) -> Option<PathBuf> {
    let folder = target_folder().join("ovirt-sdk/bin");
    let mut asked = Command::new(folder.join("python"));
    asked.args(["-c", "import ovirtsdk4"]).stdin(Stdio::null());
    let is_there = asked.output().is_ok_and(|it| it.status.success());
    let found = folder.join(program);
    if !is_there || !found.is_file() {
        eprintln!(
            "OVIRT'S CLIENTS ARE NOT TRIED: {program} is missing; install it with tests/run --install"
        );
        return None;
    }
    Some(found)
}

/// A server with one token for everything, and a cluster with hosts and VMs.
struct Engine {
    server: Server,
    secret: String,
    _data: TempDir,
}

impl Engine {
    fn start() -> Self {
        Self::start_with("")
    }

    /// The same, with more lines of the configuration.
    fn start_with(lines: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut token = placewright(["token", "new", "--name", "admin", "--role", "admin"]);
        let token = token.output().unwrap();
        let told = String::from_utf8(token.stderr).unwrap();
        let secret = told.lines().find(|line| line.starts_with("pw_"));
        let secret = secret.unwrap().to_owned();
        let configuration = data.path().join("placewright.toml");
        let own = String::from_utf8(token.stdout).unwrap();
        fs::write(&configuration, format!("{own}\n{lines}")).unwrap();
        let server = Server::start(data.path(), &["--config", configuration.to_str().unwrap()]);
        let engine = Self {
            server,
            secret,
            _data: data,
        };
        engine.make_cluster();
        engine
    }

    fn make_cluster(&self) {
        let host = |id: &str, state: &str| {
            json!({
                "id": id, "state": state, "cpu.sockets": 2, "cpu.cores": 16, "cpu.threads": 32,
                "memory.total": "64 GiB", "memory.free": "60 GiB", "cpu.usage": 0.1,
                "networks": [{"name": "lan", "ipv4": "dhcp"}],
                "numa-nodes": [
                    {"index": 0, "memory.total": "32 GiB"}, {"index": 1, "memory.total": "32 GiB"},
                ],
                "tags": [{"key": "rack", "value": id}],
            })
        };
        let vm = |id: &str, host: &str| {
            json!({
                "id": id, "host": host, "cpu": 2, "memory": "2 GiB", "state": "up",
                "nics": [{"network": "lan"}, {"plugged": false}],
            })
        };
        let cluster = json!({
            "name": "Default",
            "hosts": [host("h1", "up"), host("h2", "up"), host("h3", "maintenance")],
            "vms": [vm("web1", "h1"), vm("web2", "h1"), vm("db", "h2")],
        });
        let (status, answer) = self.send("POST", "/v1/clusters", &cluster);
        assert_eq!(status, 201, "{answer}");
    }

    /// Status and body of an answer of our own API.
    fn send(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let body = match method {
            "GET" => String::new(),
            _ => body.to_string(),
        };
        self.ask(method, path, "application/json", body.as_bytes())
    }

    /// Status and body of an answer of the engine's, to a body in XML.
    fn xml(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let path = format!("/ovirt-engine/api/{path}");
        self.ask(method, &path, "application/xml", body.as_bytes())
    }

    /// Status and body of an answer.
    fn ask(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> (u16, String) {
        self.ask_as(
            &format!("Bearer {}", self.secret),
            method,
            path,
            (kind, body),
        )
    }

    /// The same of a caller who shows this; bodies are answered in their own kind.
    fn ask_as(
        &self,
        shown: &str,
        method: &str,
        path: &str,
        (kind, body): (&str, &[u8]),
    ) -> (u16, String) {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent: ureq::Agent = config.build().into();
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.server.url))
            .header("authorization", shown)
            .header("accept", kind)
            .header("content-type", kind);
        let request = request.body(body.to_vec()).unwrap();
        let config = agent.configure_request(request);
        let mut answer = agent
            .run(config.allow_non_standard_methods(true).build())
            .unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        (answer.status().as_u16(), text)
    }

    /// Make a policy of that name; gives its path.
    fn policy(&self, name: &str) -> String {
        let body = format!("<scheduling_policy><name>{name}</name></scheduling_policy>");
        let (status, made) = self.xml("POST", "schedulingpolicies", &body);
        assert_eq!(status, 201, "{made}");
        let (_, after) = made.split_once(" id=\"").unwrap();
        let (id, _) = after.split_once('"').unwrap();
        format!("schedulingpolicies/{id}")
    }

    /// A client that knows where the server is and how to sign in.
    fn with(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env("URL", format!("{}/ovirt-engine/api", self.server.url))
            .env("PASSWORD", &self.secret)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null());
        command
    }
}

fn run(command: &mut Command) -> String {
    let done = command.output().unwrap();
    let told = format!(
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
    assert!(done.status.success(), "{told}");
    told
}

/// Run a client, and hold what it and the server say against what they said when that was
/// written down. UPDATE_TRAFFIC=1 writes it down anew.
fn recorded(
    engine: &Engine,
    python: &Path,
    name: &str,
    client: impl FnOnce(&mut Command),
) -> String {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("traffic");
    let mut command = engine.with(python);
    command.arg(script("record.py")).arg(&out);
    client(&mut command);
    let told = run(&mut command);
    let traffic = fs::read_to_string(&out).unwrap();
    let committed = script("traffic").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_TRAFFIC").is_some() {
        fs::create_dir_all(script("traffic")).unwrap();
        fs::write(&committed, &traffic).unwrap();
    }
    let expected = fs::read_to_string(&committed).unwrap_or_default();
    let differs = expected
        .lines()
        .zip(traffic.lines())
        .position(|(one, other)| one != other);
    let line = differs.unwrap_or_else(|| expected.lines().count().min(traffic.lines().count()));
    let around = |text: &str| {
        let lines: Vec<&str> = text.lines().skip(line.saturating_sub(8)).take(16).collect();
        lines.join("\n")
    };
    assert!(
        expected == traffic,
        "line {} of {} is not what is said now; if that is meant: UPDATE_TRAFFIC=1\nbefore:\n{}\nnow:\n{}",
        line + 1,
        committed.display(),
        around(&expected),
        around(&traffic)
    );
    told
}

fn script(name: &str) -> PathBuf {
    repository().join("host/tests/program/ovirt").join(name)
}

#[test]
fn the_official_sdk_finds_an_engine() {
    let Some(python) = client("python") else {
        return;
    };
    let engine = Engine::start();
    recorded(&engine, &python, "sdk", |command| {
        command.arg(&python).arg(script("sdk.py"));
    });
    // What it has made is the same policy for our own API.
    let (status, policy) = engine.send("GET", "/v1/policies/copy", &Value::Null);
    assert_eq!(status, 200, "{policy}");
    let policy: Value = serde_json::from_str(&policy).unwrap();
    let text = policy["text"].as_str().unwrap();
    assert!(text.contains("unit = \"even-distribution\""), "{text}");
    assert!(text.contains("unit = \"pin-to-host\""), "{text}");
}

#[test]
fn an_admin_of_ovirt_does_the_whole_work_with_the_official_sdk() {
    let Some(python) = client("python") else {
        return;
    };
    let engine = Engine::start();
    let told = recorded(&engine, &python, "administration", |command| {
        command.arg(&python).arg(script("administration.py"));
    });
    let checks = told.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(checks >= 45, "{told}");
}

#[test]
fn playbooks_find_an_engine_and_change_nothing_the_second_time() {
    let (Some(playbook), Some(python)) = (client("ansible-playbook"), client("python")) else {
        return;
    };
    let engine = Engine::start();
    play(&engine, (&playbook, &python), "playbook");
}

#[test]
fn the_role_that_upgrades_a_cluster_changes_its_policy_and_puts_it_back() {
    let (Some(playbook), Some(python)) = (client("ansible-playbook"), client("python")) else {
        return;
    };
    let engine = Engine::start();
    play(&engine, (&playbook, &python), "upgrade");
}

fn play(engine: &Engine, (playbook, python): (&Path, &Path), name: &str) {
    let home = tempfile::tempdir().unwrap();
    recorded(engine, python, name, |command| {
        command
            .arg(playbook)
            .arg("--extra-vars")
            .arg(format!("ansible_python_interpreter={}", python.display()))
            .arg(script(&format!("{name}.yml")))
            .env("ANSIBLE_HOME", home.path())
            .env("ANSIBLE_LOCALHOST_WARNING", "false")
            .env("ANSIBLE_INVENTORY_UNPARSED_WARNING", "false")
            .env("LC_ALL", "C.UTF-8");
    });
}
