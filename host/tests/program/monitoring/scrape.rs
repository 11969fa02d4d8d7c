//! What a server that works tells collectors.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;

use placewright_records::telemetry::families;
use placewright_tests::server::Server;
use serde_json::json;

use super::super::server::deployment::Api;
use super::prometheus;

/// A server that has placed, rejected, confirmed and released VMs, and measured a host.
fn worked(data: &std::path::Path) -> (Server, Api) {
    let server = Server::start(data, &[]);
    let api = Api::of(&server);
    let cluster = json!({
        "name": "north",
        "hosts": [
            {"id": "h1", "cpu.cores": 16, "memory.total": "64 GiB"},
            {"id": "h2", "cpu.cores": 16, "memory.total": "64 GiB"},
            {"id": "h3", "cpu.cores": 16, "memory.total": "64 GiB", "state": "down"},
        ],
    });
    assert_eq!(api.send("POST", "/v1/clusters", &cluster).status, 201);
    let place = |id: &str, memory: &str| {
        let vm = json!({"id": id, "cpu": 1, "memory": memory});
        let placed = api.send("POST", "/v1/clusters/north/place", &vm);
        assert_eq!(placed.status, 200, "{placed:?}");
    };
    for id in ["a", "b", "c", "d", "e"] {
        place(id, "1 GiB");
    }
    place("large", "1 TiB");
    let vms = |path: &str, vms: &[&str]| {
        let done = api.send("POST", path, &json!({ "vms": vms }));
        assert!(done.status < 300, "{done:?}");
    };
    vms("/v1/clusters/north/confirm", &["a", "b"]);
    vms("/v1/clusters/north/cancel", &["c"]);
    // Two that are said to run, one of them elsewhere than its place is.
    let host = |vm: &str| {
        let shown = api.get(&format!("/v1/clusters/north/reservations/{vm}"));
        shown.body["host"].as_str().unwrap().to_owned()
    };
    let other = match &*host("e") {
        "h1" => "h2",
        _ => "h1",
    };
    let changes = json!({
        "vms": [{"id": "d", "host": host("d")}, {"id": "e", "host": other}],
        "statistics": [{"id": "h1", "cpu.usage": 0.5}],
    });
    let changed = api.send("POST", "/v1/clusters/north/inventory/changes", &changes);
    assert_eq!(changed.status, 200, "{changed:?}");
    (server, api)
}

fn scraped(server: &Server, accept: &str) -> (String, String) {
    let mut answer = ureq::get(format!("{}/metrics", server.url))
        .header("accept", accept)
        .call()
        .unwrap();
    let kind = answer.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    (kind, answer.body_mut().read_to_string().unwrap())
}

#[test]
fn a_server_s_metrics_are_those_that_are_described_and_count_what_happened() {
    let data = tempfile::tempdir().unwrap();
    let (server, _) = worked(data.path());
    // As Prometheus asks.
    let (kind, text) = scraped(
        &server,
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
    );
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    let described: BTreeMap<String, String> = families()
        .into_iter()
        .map(|it| (it.name, it.kind))
        .collect();
    let told = text.lines().filter_map(|it| it.strip_prefix("# TYPE "));
    let mut count = 0;
    for (name, kind) in told.filter_map(|it| it.split_once(' ')) {
        assert_eq!(
            described.get(name).map(String::as_str),
            Some(kind),
            "{name}"
        );
        count += 1;
    }
    assert!(count > 40, "{text}");
    let lines = [
        r#"placewright_decisions_total{cluster="north",outcome="placed"} 5"#,
        r#"placewright_decisions_total{cluster="north",outcome="rejected"} 1"#,
        r#"placewright_reservations_ended_total{cluster="north",how="confirmed"} 3"#,
        r#"placewright_reservations_ended_total{cluster="north",how="released"} 2"#,
        r#"placewright_hosts_in_state{cluster="north",state="down"} 1"#,
        r#"placewright_hosts_with_statistics{cluster="north",statistics="current"} 1"#,
        r#"placewright_hosts_with_statistics{cluster="north",statistics="none"} 1"#,
    ];
    for line in lines {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    let begins = [
        r#"placewright_decisions_rejected_total{cluster="north",reason="memory: "#,
        r#"placewright_statistics_age_seconds{cluster="north",host="newest"} "#,
        "process_cpu_seconds_total ",
        "process_open_fds ",
        "process_max_fds ",
        "process_threads ",
        "process_virtual_memory_bytes ",
    ];
    for begin in begins {
        if begin.starts_with("process_") && !cfg!(target_os = "linux") {
            continue;
        }
        assert!(
            text.lines().any(|it| it.starts_with(begin)),
            "{begin}\n{text}"
        );
    }
}

#[test]
fn promtool_finds_nothing_wrong_with_the_metrics_of_a_server() {
    let Some(mut promtool) = prometheus("promtool") else {
        return;
    };
    let data = tempfile::tempdir().unwrap();
    let (server, _) = worked(data.path());
    let (kind, text) = scraped(&server, "text/plain");
    assert!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
    promtool.args(["check", "metrics"]);
    promtool.stdin(Stdio::piped());
    promtool.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = promtool.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    let done = child.wait_with_output().unwrap();
    let [out, err] = [&done.stdout, &done.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(done.status.success() && err.is_empty(), "{out}{err}");
}
