//! What a request may take: memory, names, bodies, rights of pages.

use std::fs;

use placewright_tests::server::Server;
use serde_json::{Value, json};

use super::access::token;
use super::deployment::{Answer, Api, cluster, vm};
use super::folder;

const JSON: (&str, &str) = ("content-type", "application/json");

/// The most memory that a process has had, in KiB.
#[cfg(target_os = "linux")]
fn peak(server: &Server) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse().unwrap()
}

/// A document with so many nulls in a list.
fn nulls(count: usize) -> Vec<u8> {
    format!("{{\"a\":[{}null]}}", "null,".repeat(count - 1)).into_bytes()
}

fn with_cluster(data: &std::path::Path) -> (Server, Api) {
    // A machine that is busy takes long for the large documents.
    let words = ["--durability", "normal", "--request-time", "10 min"];
    let server = Server::start(data, &words);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 2));
    assert_eq!(made.status, 201, "{made:?}");
    (server, api)
}

fn errors(answer: &Answer) -> usize {
    answer.body["errors"].as_array().map_or(0, Vec::len)
}

#[test]
#[cfg(target_os = "linux")]
fn a_document_that_is_refused_takes_a_small_multiple_of_its_size() {
    let data = folder();
    let (server, api) = with_cluster(data.path());
    let before = peak(&server);
    let document = nulls(200_000);
    let told = api.ask("POST", "/v1/clusters/c/why?host=h0", &[JSON], &document);
    let told = told.unwrap();
    assert_eq!((told.status, errors(&told)), (422, 100));
    let detail = told.body["detail"].as_str().unwrap();
    assert!(
        detail.contains("and there are ") && detail.ends_with(" more"),
        "{detail}"
    );
    assert!(told.body.to_string().len() < 64 << 10);
    let document = nulls(800_000);
    let path = "/v1/clusters/c/inventory";
    let told = api.ask("PUT", path, &[JSON], &document).unwrap();
    assert_eq!((told.status, errors(&told)), (422, 100));
    let grown = (peak(&server) - before) << 10;
    println!("{} bytes, {grown} bytes of memory", document.len());
    assert!(
        grown < 48 * document.len(),
        "{grown} bytes for {}",
        document.len()
    );
    // Names that nobody knows, one beside the other.
    let keys: Vec<String> = (0..60_000).map(|it| format!("\"k{it}\":1")).collect();
    let document = format!("{{\"id\":\"v\",{}}}", keys.join(",")).into_bytes();
    let told = api.ask("POST", "/v1/clusters/c/place", &[JSON], &document);
    assert_eq!(errors(&told.unwrap()), 100);
}

#[test]
fn routes_take_bodies_of_the_size_that_they_need() {
    let data = folder();
    let (_server, api) = with_cluster(data.path());
    let padded = |bytes: usize| {
        let text = vm("v").to_string();
        format!("{text}{}", " ".repeat(bytes - text.len())).into_bytes()
    };
    for path in [
        "/v1/clusters/c/why?host=h0",
        "/v1/clusters/c/capacity",
        "/v1/clusters/c/place?dry-run=true",
    ] {
        let asked = |bytes| api.ask("POST", path, &[JSON], &padded(bytes));
        assert_eq!(asked(1 << 20).unwrap().status, 200, "{path}");
        // The server closes before all of it is sent; then there may be no answer.
        if let Ok(told) = asked((1 << 20) + 1) {
            assert_eq!(told.status, 413, "{path}");
            let detail = told.body["detail"].as_str().unwrap();
            assert!(detail.contains("at most 1048576 bytes"), "{detail}");
        }
    }
    let mut inventory = cluster("c", 2).to_string();
    inventory.push_str(&" ".repeat(3 << 20));
    let path = "/v1/clusters/c/inventory";
    let put = api.ask("PUT", path, &[JSON], inventory.as_bytes());
    assert_eq!(put.unwrap().status, 200);
    let routes = api.get("/v1/openapi.json").body;
    let told = |path: &str, method: &str| {
        routes["paths"][path][method]["responses"]["413"]["description"].to_string()
    };
    assert!(told("/v1/clusters/{cluster}/place", "post").contains("1 MiB"));
    assert!(told("/v1/clusters/{cluster}/place-batch", "post").contains("4 MiB"));
    assert!(told("/v1/clusters/{cluster}/inventory", "put").contains("request-body"));
}

#[test]
fn ids_texts_and_names_of_attributes_have_a_greatest_length() {
    let data = folder();
    let (_server, api) = with_cluster(data.path());
    let changes = |body: &Value| api.send("POST", "/v1/clusters/c/inventory/changes", body);
    let place = |vm: &Value| api.send("POST", "/v1/clusters/c/place", vm);
    let of = |length: usize| "x".repeat(length);
    assert_eq!(place(&vm(&of(253))).status, 200);
    assert_eq!(place(&vm(&of(254))).status, 422);
    let host = |id: &str| json!({"hosts": [{"id": id, "cpu.cores": 1, "memory.total": 1}]});
    assert_eq!(changes(&host(&of(253))).status, 200);
    assert_eq!(changes(&host(&of(254))).status, 422);
    let group = |vm: &str| json!({"groups": [{"id": "g", "vms": [vm]}]});
    assert_eq!(changes(&group(&of(253))).status, 200);
    assert_eq!(changes(&group(&of(254))).status, 422);
    let attribute = |name: &str| json!({"attributes": {"vms": {name: "text"}}});
    assert_eq!(changes(&attribute(&of(64))).status, 200);
    assert_eq!(changes(&attribute(&of(65))).status, 422);
    let with_text = |id: &str, text: &str| {
        let mut vm = vm(id);
        vm[format!("attribute.{}", of(64))] = text.into();
        place(&vm)
    };
    assert_eq!(with_text("v", &of(4096)).status, 200);
    let refused = with_text("w", &of(4097));
    let detail = refused.body["detail"].as_str().unwrap_or_default();
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(
        detail.contains("at most 4096 bytes; this one has 4097"),
        "{detail}"
    );
    let many = |count: usize, from: usize| {
        let kinds = (from..from + count).map(|it| (format!("a{it}"), json!("text")));
        json!({"attributes": {"hosts": kinds.collect::<serde_json::Map<_, _>>()}})
    };
    assert_eq!(changes(&many(1000, 0)).status, 200);
    assert_eq!(changes(&many(1, 1000)).status, 422);
}

#[test]
fn only_an_admin_places_a_vm_without_asking_units() {
    let data = folder();
    let (operator, of_operator) = token(&["--name", "operator", "--role", "operator"]);
    let (admin, of_admin) = token(&["--name", "admin", "--role", "admin"]);
    let config = data.path().join("placewright.toml");
    fs::write(&config, of_operator + &of_admin).unwrap();
    let server = Server::start(data.path(), &["--config", &config.display().to_string()]);
    let (operator, admin) = (Api::with(&server, &operator), Api::with(&server, &admin));
    let made = admin.send("POST", "/v1/clusters?policy=worst-fit", &cluster("c", 2));
    assert_eq!(made.status, 201, "{made:?}");
    let mut forced = vm("v");
    forced["force"] = "h1".into();
    for path in ["/v1/clusters/c/place", "/v1/clusters/c/migrate"] {
        let refused = operator.send("POST", path, &forced);
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(refused.body.to_string().contains("this needs admin"));
    }
    assert_eq!(
        operator
            .send("POST", "/v1/clusters/c/place", &vm("w"))
            .status,
        200
    );
    let placed = admin.send("POST", "/v1/clusters/c/place", &forced);
    assert_eq!((placed.status, &placed.body["host"]), (200, &json!("h1")));
}

#[test]
fn pages_of_other_servers_on_this_machine_change_nothing() {
    let data = folder();
    let (server, api) = with_cluster(data.path());
    let address = server.url.trim_start_matches("http://");
    let disable = |headers: &[(&str, &str)]| {
        let path = "/v1/units/worst-fit/disable";
        api.ask("POST", path, headers, b"").unwrap().status
    };
    let own = format!("http://{address}");
    assert_eq!(disable(&[("origin", "http://localhost:3000")]), 403);
    assert_eq!(disable(&[("sec-fetch-site", "same-site")]), 403);
    let simple = [("content-type", "text/plain")];
    for (method, path) in [
        ("PUT", "/v1/units"),
        ("POST", "/v1/units/check"),
        ("POST", "/v1/units/shadow"),
    ] {
        let told = api.ask(method, path, &simple, b"\0asm").unwrap();
        assert_eq!(told.status, 415, "{method} {path}: {told:?}");
    }
    assert_ne!(
        disable(&[("origin", &own), ("sec-fetch-site", "same-origin")]),
        403
    );
    assert_ne!(disable(&[]), 403);
}
