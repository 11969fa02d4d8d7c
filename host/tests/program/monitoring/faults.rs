//! Real faults, seen by a real Prometheus.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::super::server::deployment::Api;
use super::{folder, prometheus};

/// A Prometheus that is killed when it is dropped.
struct Prometheus {
    child: Child,
    url: String,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prometheus {
    /// One that scrapes this server and has our alerts, without the time for which each must be
    /// so; None: there is no such program.
    fn start(home: &Path, server: &Server) -> Option<Self> {
        let mut command = prometheus("prometheus")?;
        let rules = fs::read_to_string(folder("prometheus").join("alerts.yaml")).unwrap();
        let at_once = rules.lines().filter(|it| !it.trim().starts_with("for: "));
        let rules = home.join("alerts.yaml");
        fs::write(&rules, at_once.collect::<Vec<_>>().join("\n")).unwrap();
        let target = server.url.trim_start_matches("http://");
        let configuration = json!({
            "global": {"scrape_interval": "200ms", "evaluation_interval": "200ms", "scrape_timeout": "200ms"},
            "rule_files": [rules],
            "scrape_configs": [{"job_name": "placewright", "static_configs": [{"targets": [target]}]}],
        });
        let file = home.join("prometheus.yaml");
        fs::write(&file, configuration.to_string()).unwrap();
        // Free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let child = command
            .arg(format!("--config.file={}", file.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                home.join("data").display()
            ))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let url = format!("http://127.0.0.1:{port}");
        Some(Self { child, url })
    }

    fn get(&self, path: &str) -> Value {
        let answer = ureq::get(format!("{}{path}", self.url)).call();
        let text = answer
            .ok()
            .and_then(|mut it| it.body_mut().read_to_string().ok());
        let json = text.and_then(|it| serde_json::from_str(&it).ok());
        json.unwrap_or_default()
    }

    /// The names of the alerts that fire.
    fn firing(&self) -> BTreeSet<String> {
        let answer = self.get("/api/v1/alerts");
        let alerts = answer["data"]["alerts"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let firing = alerts.iter().filter(|it| it["state"] == "firing");
        firing
            .filter_map(|it| it["labels"]["alertname"].as_str().map(str::to_owned))
            .collect()
    }

    /// Wait until these fire.
    fn fires(&self, names: &[&str], mut meanwhile: impl FnMut()) {
        let begin = Instant::now();
        loop {
            let firing = self.firing();
            if names.iter().all(|name| firing.contains(*name)) {
                return;
            }
            assert!(
                begin.elapsed() < Duration::from_secs(120),
                "{names:?} do not fire, but {firing:?}"
            );
            meanwhile();
            sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn alerts_fire_when_something_is_wrong_with_a_server() {
    let (data, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let host = |id: &str| json!({"id": id, "cpu.cores": 16, "memory.total": "64 GiB"});
    let cluster = json!({"name": "north", "hosts": [host("h1"), host("h2")]});
    assert_eq!(api.send("POST", "/v1/clusters", &cluster).status, 201);
    let Some(prometheus) = Prometheus::start(home.path(), &server) else {
        return;
    };
    // All is well.
    let begin = Instant::now();
    let is_up = || {
        let up = prometheus.get("/api/v1/query?query=up");
        up["data"]["result"][0]["value"][1] == "1"
    };
    // That nothing was scraped yet ends with the next look at the rules.
    while !is_up() || !prometheus.firing().is_empty() {
        let firing = prometheus.firing();
        assert!(begin.elapsed() < Duration::from_secs(120), "{firing:?}");
        sleep(Duration::from_millis(50));
    }
    // A host goes down, what runs takes nearly all of the other one, nothing was measured for
    // long, and a file is no unit.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let changes = json!({
        "hosts": [{"id": "h2", "state": "down"}],
        "vms": [{"id": "big", "host": "h1", "cpu": 1, "memory": "63 GiB"}],
        "statistics": [{"id": "h1", "cpu.usage": 0.5, "measured": now - 1000}],
    });
    let changed = api.send("POST", "/v1/clusters/north/inventory/changes", &changes);
    assert_eq!(changed.status, 200, "{changed:?}");
    fs::write(data.path().join("units/broken.wasm"), "no component").unwrap();
    let faults = [
        "PlacewrightHostDown",
        "PlacewrightMemoryLow",
        "PlacewrightStatisticsOld",
        "PlacewrightUnitRefused",
        "PlacewrightManyRejected",
    ];
    // Requests that find no room go on meanwhile.
    prometheus.fires(&faults, || {
        let vm = json!({"id": "next", "cpu": 1, "memory": "8 GiB"});
        let placed = api.send("POST", "/v1/clusters/north/place", &vm);
        assert_eq!(placed.body["host"], Value::Null, "{placed:?}");
    });
    server.signal("KILL");
    prometheus.fires(&["PlacewrightDown"], || {});
}
