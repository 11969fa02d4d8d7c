//! The command line asks a server elsewhere.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use placewright_tests::server::{Server, placewright};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::roles::token;
use super::{folder, json};

const CLUSTER: &str = r#"
name = "east"
hosts = [
    { id = "h1", cpu = { cores = 8 }, memory = { total = "16 GiB" } },
    { id = "h2", cpu = { cores = 8 }, memory = { total = "16 GiB" } },
]
vms = [{ id = "old", host = "h1", cpu = 1, memory = "1 GiB" }]
"#;

/// A server, and a user's folder with contexts and documents.
struct World {
    server: Server,
    folder: TempDir,
    _data: TempDir,
}

impl World {
    fn start(words: &[&str]) -> Self {
        let (data, folder) = (folder(), folder());
        let server = Server::start(data.path(), words);
        let world = Self {
            server,
            folder,
            _data: data,
        };
        world.write("cluster.toml", CLUSTER);
        world.write("vm.toml", "id = \"new\"\ncpu = 2\nmemory = \"2 GiB\"\n");
        world
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn run(&self, words: &[&str]) -> Output {
        placewright(words)
            .env(
                "PLACEWRIGHT_CONTEXTS",
                self.folder.path().join("contexts.toml"),
            )
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }

    /// A command for the server, which ends in that way: what it prints.
    fn ask(&self, code: i32, line: &str) -> String {
        let words = ["--server", self.server.url.as_str()];
        let words: Vec<&str> = words.into_iter().chain(line.split(' ')).collect();
        let output = self.run(&words);
        assert_eq!(output.status.code(), Some(code), "{line}: {output:?}");
        match code {
            2 | 3 => String::from_utf8(output.stderr).unwrap(),
            _ => String::from_utf8(output.stdout).unwrap(),
        }
    }

    fn ask_json(&self, code: i32, line: &str) -> Value {
        json(&self.ask(code, &format!("--format json {line}")))
    }
}

#[test]
fn a_vm_is_placed_explained_and_confirmed_from_elsewhere() {
    let world = World::start(&[]);
    let made = world.ask_json(0, "create cluster.toml --policy general");
    assert_eq!(made["counted"]["hosts"], 2);

    let dry = world.ask_json(0, "place -c east --vm vm.toml --dry-run");
    assert_eq!(dry["reserved"], false, "{dry}");
    let text = world.ask(0, "place -c east --vm vm.toml");
    assert!(text.contains("new") && text.contains("h2"), "{text}");
    let reservations = world.ask_json(0, "get reservations -c east");
    assert_eq!(reservations[0]["vm"], "new");
    let number = reservations[0]["decision"].as_u64().unwrap();
    let explanation = world.ask_json(0, &format!("explain {number} -c east"));
    assert_eq!(explanation["chosen"], "h2");
    let by = world.ask(0, &format!("explain {number} -c east --policy best-fit"));
    assert!(by.starts_with("Chosen: h1\n"), "{by}");
    assert!(by.contains("Policy: best-fit"), "{by}");
    let why = world.ask_json(0, "why -c east --vm new --host h1");
    assert_eq!(why["host"], "h1");
    // Sentences for people.
    for line in [
        "why -c east --vm new --host h1".to_owned(),
        format!("explain {number} -c east --host h1"),
    ] {
        let told = world.ask(0, &line);
        assert!(told.starts_with("new goes to h2: h1 "), "{told}");
        assert!(!told.contains("standing"), "{told}");
    }
    world.ask(0, "confirm new -c east");
    // It may be told again.
    world.ask(0, "confirm new -c east --host h2");
    let vms = world.ask_json(0, "get vms -c east --where host=h2");
    assert_eq!(vms[0]["id"], "new");
    assert_eq!(vms.as_array().unwrap().len(), 1);

    world.write("huge.toml", "id = \"huge\"\ncpu = 99\nmemory = \"1 GiB\"\n");
    let none = world.ask(1, "place -c east --vm huge.toml");
    assert!(none.contains("none of 2 hosts is left"), "{none}");
    assert!(none.contains("too few CPUs"), "{none}");
    let full = world.ask_json(1, "capacity -c east --vm huge.toml");
    assert_eq!(full["fit"], 0);
    let costs = world.ask(0, "costs -c east --vm huge.toml --policy best-fit");
    assert!(
        costs.contains("under best-fit it would find no host")
            && costs.contains("too little free CPU"),
        "{costs}"
    );
    let costs = world.ask_json(0, "costs -c east --cpu 1 --memory 1GiB");
    assert_eq!(costs["hosts"].as_array().unwrap().len(), 2, "{costs}");
    world.ask(2, "costs -c east");
    // Of a single failure it is told where its VMs go.
    let failure = world.ask(0, "what-if -c east --without-host h1 --restart all");
    assert!(
        failure.contains("old") && failure.contains("priority"),
        "{failure}"
    );
    let failures = world.ask(0, "what-if -c east");
    assert!(
        failures.contains("h1") && failures.contains("VMs restarted"),
        "{failures}"
    );
}

#[test]
fn vms_of_a_batch_for_which_nothing_is_decided_or_reserved_are_told_with_the_reason() {
    let world = World::start(&[]);
    world.ask(0, "create cluster.toml --policy general");
    world.ask(0, "place -c east --vm vm.toml");
    let one = r#"{"id": "one", "cpu": 1, "memory": "1 GiB"}"#;
    let batch = |vm: &str| world.write("b.json", &format!(r#"{{"vms": [{one}, {vm}]}}"#));
    // A place is reserved for it already.
    batch(r#"{"id": "new", "cpu": 2, "memory": "2 GiB"}"#);
    let failed = world.ask(1, "place -c east --batch --vm b.json --dry-run");
    assert!(failed.contains("one") && failed.contains("new"), "{failed}");
    assert!(failed.contains("has a place reserved already"), "{failed}");
    let failed = world.ask_json(1, "place -c east --batch --vm b.json --dry-run");
    assert_eq!(failed["failed"][0]["vms"], json!(["new"]));
    batch(r#"{"id": "huge", "cpu": 99, "memory": "2 GiB"}"#);
    let none = world.ask(1, "place -c east --batch --all-or-nothing --vm b.json");
    assert!(none.contains("so none gets one"), "{none}");
    assert_eq!(
        world
            .ask_json(0, "get reservations -c east")
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let some = world.ask(1, "place -c east --batch --vm b.json");
    assert!(!some.contains("so none gets one"), "{some}");
    let none = world.ask(2, "unit history nothing");
    assert!(none.contains("there is no unit \"nothing\""), "{none}");
    assert_eq!(world.ask(0, "unit history memory").trim(), "There is none.");
}

#[test]
fn things_of_a_cluster_are_changed_with_the_state_that_was_looked_at() {
    let world = World::start(&[]);
    world.ask(0, "create cluster.toml");
    let host = world.ask_json(0, "patch hosts h1 --set state=maintenance -c east");
    assert_eq!(host["state"], "maintenance");
    let listed = world.ask_json(0, "get hosts -c east --where state=maintenance");
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let old = world.ask(2, "patch hosts h1 --set state=up --if-match \"0\" -c east");
    assert!(old.contains("answers 412"), "{old}");
    world.write("h3.json", r#"{"cpu.cores": 4, "memory.total": "8 GiB"}"#);
    world.ask(0, "put hosts h3 h3.json -c east");
    let wrong = world.ask(2, "patch hosts h3 --set cpus=4 -c east");
    assert!(wrong.contains("cpus"), "{wrong}");
    world.ask(0, "delete hosts h3 -c east");
    let gone = world.ask(2, "get hosts h3 -c east");
    assert!(gone.contains("answers 404"), "{gone}");
    let filtered = world.ask(2, "get hosts -c east --where colour=red");
    assert!(filtered.contains("colour"), "{filtered}");

    let plan = world.ask_json(0, "evacuate h1 -c east");
    let number = plan["number"].as_u64().unwrap();
    let begun = world.ask(0, &format!("begin {number} -c east"));
    assert!(begun.contains("begun") && begun.contains("old"), "{begun}");
    world.ask(0, &format!("stop {number} -c east"));
    assert_eq!(world.ask_json(0, "get reservations -c east"), json!([]));
}

#[test]
fn policies_and_units_of_a_server_are_changed_from_elsewhere() {
    let world = World::start(&[]);
    world.ask(0, "create cluster.toml --policy general");
    world.write(
        "mine.toml",
        "[[filters]]\nunit = \"memory\"\n\n[[filters]]\nunit = \"cpu\"\n",
    );
    world.ask(0, "policy check mine mine.toml");
    world.ask(0, "put policies mine mine.toml");
    world.ask(0, "policy attach mine -c east");
    assert_eq!(world.ask_json(0, "get settings -c east")["policy"], "mine");
    let shown = world.ask(0, "policy show mine");
    assert!(shown.contains("unit = \"cpu\""), "{shown}");
    let drafted = world.ask_json(0, "policy draft mine mine.toml -c east --in-sequence");
    assert_eq!(
        (&drafted["in-sequence"], &drafted["tried"]),
        (&true.into(), &0.into())
    );
    let drafted = world.ask(0, "policy draft other mine.toml -c east --decisions 10");
    assert!(drafted.contains("tried"), "{drafted}");
    world.write("broken.toml", "[[filters]]\nunit = \"memroy\"\n");
    let broken = world.ask(2, "put policies mine broken.toml");
    assert!(broken.contains("memroy"), "{broken}");

    let checked = world.ask_json(0, "unit check memory");
    assert_eq!(checked["name"], "memory");
    world.write("no.wasm", "none");
    let refused = world.ask_json(1, "unit put no.wasm");
    assert_eq!(refused["outcome"]["result"], "refused", "{refused}");
    world.ask(0, "unit pin memory");
    let pinned = world.ask_json(0, "get units memory");
    assert_eq!(pinned["pinned"], true);
}

#[test]
fn a_context_names_a_server_a_token_and_a_cluster() {
    let data = folder();
    let (secret, lines) = token("viewer", None);
    let config = data.path().join("placewright.toml");
    fs::write(&config, lines).unwrap();
    let world = World::start(&["--config", config.to_str().unwrap()]);
    world.write("secret", &secret);
    let unnamed = world.run(&["get", "clusters"]);
    assert_eq!(unnamed.status.code(), Some(2));
    let url = world.server.url.clone();
    let set = [
        "context",
        "set",
        "prod",
        "--server",
        &url,
        "--token-file",
        "secret",
        "--cluster",
        "east",
    ];
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = world.folder.path().join("secret");
        let mode = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let told = |words: &[&str]| {
            let open = world.run(words);
            assert_eq!(open.status.code(), Some(2), "{open:?}");
            assert!(String::from_utf8_lossy(&open.stderr).contains("chmod 600"));
        };
        mode(0o644);
        told(&set);
        mode(0o600);
        assert!(world.run(&set).status.success());
        mode(0o644);
        told(&["get", "clusters"]);
        mode(0o600);
    }
    #[cfg(not(unix))]
    assert!(world.run(&set).status.success());
    assert!(world.run(&["get", "clusters"]).status.success());
    let list = world.run(&["context", "list"]).stdout;
    assert!(String::from_utf8_lossy(&list).contains("prod (current)"));
    // A viewer changes nothing.
    let made = world.run(&["create", "cluster.toml"]);
    assert_eq!(made.status.code(), Some(2));
    let sentence = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(sentence.contains("answers 403"), "{sentence}");
    // The cluster of the context is meant, and there is none yet.
    let hosts = world.run(&["get", "hosts"]);
    assert!(
        String::from_utf8_lossy(&hosts.stderr).contains("east"),
        "{hosts:?}"
    );
    assert!(world.run(&["context", "remove", "prod"]).status.success());
    assert_eq!(world.run(&["get", "clusters"]).status.code(), Some(2));
}

#[test]
fn a_context_keeps_what_is_not_changed_and_takes_only_what_can_be_used() {
    let world = World::start(&[]);
    let url = world.server.url.clone();
    let file = world.folder.path().join("contexts.toml");
    let kept = || fs::read_to_string(&file).unwrap_or_default();
    let set = |words: &str| {
        let words = words.split_whitespace();
        world.run(
            &["context", "set"]
                .into_iter()
                .chain(words)
                .collect::<Vec<_>>(),
        )
    };
    let first = set("prod --cluster east");
    let said = String::from_utf8_lossy(&first.stderr).into_owned();
    assert!(said.contains("a new one needs --server URL"), "{said}");
    assert!(
        set(&format!("prod --server {url} --cluster east"))
            .status
            .success()
    );
    assert!(set("prod --cluster west").status.success());
    let both = kept();
    assert!(
        both.contains(&url) && both.contains("cluster = \"west\""),
        "{both}"
    );
    world.write("empty", "");
    world.write("authority", "no certificate");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = world.folder.path().join("empty");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    for (words, told) in [
        ("prod", "nothing of context \"prod\" is changed"),
        ("prod --server placewright", "is no address of a server"),
        (
            "prod --server http://placewright:port",
            "is no address of a server",
        ),
        ("prod --token-file nowhere", "cannot read"),
        (
            "prod --token-file empty",
            "is empty, and the secret of a token belongs there",
        ),
        (
            "prod --authority authority",
            "certificates of the authority cannot be used",
        ),
        (
            "prod --cluster north --unset cluster",
            "set and unset at once",
        ),
        (
            "prod --unset server",
            "possible values: token-file, authority, cluster",
        ),
    ] {
        let refused = set(words);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(told), "{words}: {said}");
        assert_eq!(kept(), both, "{words}");
    }
    assert!(set("prod --unset cluster").status.success());
    let less = kept();
    assert!(less.contains(&url) && !less.contains("west"), "{less}");
}

#[test]
fn a_server_is_named_before_a_command_or_behind_it() {
    let world = World::start(&[]);
    let url = world.server.url.clone();
    let made = world.run(&["create", "cluster.toml", "--server", &url]);
    assert!(made.status.success(), "{made:?}");
    let placed = world.run(&[
        "place",
        "-c",
        "east",
        "--vm",
        "vm.toml",
        "--dry-run",
        "--server",
        &url,
    ]);
    assert!(placed.status.success(), "{placed:?}");
    let failure = world.run(&["what-if", "-c", "east", "--n-plus-1", "--server", &url]);
    assert!(matches!(failure.status.code(), Some(0 | 1)), "{failure:?}");
    let plan = world.ask(0, "balance -c east --dry-run --margin 0.5 --repairs false");
    assert!(plan.contains("0 moves"), "{plan}");
    for (words, told) in [
        (
            vec!["columns", "--server", &url],
            "placewright columns works without a server: leave --server and --context away; placewright --server URL call",
        ),
        (
            vec!["--server", &url, "simulate", "--trace", "x"],
            "placewright simulate works without a server",
        ),
        (
            vec![
                "--server",
                &url,
                "what-if",
                "--without-host",
                "h1",
                "--search",
            ],
            "placewright what-if has --search for files alone, not for a server",
        ),
    ] {
        let refused = world.run(&words);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn tokens_are_issued_shown_and_revoked_from_elsewhere() {
    let data = folder();
    let (secret, lines) = token("admin", None);
    let config = data.path().join("placewright.toml");
    fs::write(&config, lines).unwrap();
    let world = World::start(&["--config", config.to_str().unwrap()]);
    world.write("secret", &secret);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = world.folder.path().join("secret");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let ask = |code, line: &str| world.ask(code, &format!("--token-file secret {line}"));
    let issued = ask(
        0,
        "token create ci --role operator --cluster east --expires-in 1h",
    );
    assert!(
        issued.starts_with("pw_") && issued.lines().count() == 1,
        "{issued}"
    );
    let shown = json(&ask(0, "--format json token show ci"));
    assert_eq!(
        (&shown["role"], &shown["clusters"]),
        (&"operator".into(), &json!(["east"]))
    );
    assert!(shown["expires"].as_u64() > shown["at"].as_u64());
    let at = "2100-01-01T00:00:00Z";
    let made = ask(
        0,
        &format!("--format json token create b --role viewer --expires-at {at}"),
    );
    assert_eq!(json(&made)["token"]["expires"], 4_102_444_800_u64);
    let listed = ask(0, "token list");
    assert!(
        listed.contains("configuration") && listed.contains(at),
        "{listed}"
    );
    world.write("issued", issued.trim());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = world.folder.path().join("issued");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    world.ask(0, "--token-file issued get clusters");
    let refused = world.ask(2, "--token-file issued token list");
    assert!(refused.contains("answers 403"), "{refused}");
    ask(0, "token delete ci");
    let gone = world.ask(2, "--token-file issued get clusters");
    assert!(gone.contains("answers 401"), "{gone}");
    let past = ask(
        2,
        "token create c --role viewer --expires-at 1971-01-01T00:00:00Z",
    );
    assert!(past.contains("later than now"), "{past}");
}

#[test]
fn what_the_server_counts_is_called_beside_the_versions_of_its_api() {
    let world = World::start(&[]);
    for path in ["/metrics", "metrics"] {
        let told = world.ask(0, &format!("call get {path}"));
        assert!(told.contains("# TYPE placewright_"), "{told}");
    }
    let told = world.ask(2, "call get metrics/all");
    assert!(told.contains("/v1/metrics/all"), "{told}");
}

#[test]
fn events_and_lists_are_followed() {
    let world = World::start(&[]);
    world.ask(0, "create cluster.toml");
    let events = world.ask(0, "events --after 0 --limit 1");
    assert!(events.contains("cluster-created  east"), "{events}");
    let listed = world.ask(0, "get events --where kind=cluster");
    assert!(listed.contains("cluster-created"), "{listed}");
    let url = world.server.url.clone();
    let mut watching = placewright([
        "--server",
        &url,
        "--format",
        "json",
        "get",
        "hosts",
        "-c",
        "east",
        "--watch",
        "--where",
        "state=down",
    ])
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "[]");
    world.ask(0, "patch hosts h2 --set state=down -c east");
    let next = lines.find(|line| line.as_ref().unwrap().contains("h2"));
    assert!(next.is_some());
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn a_vm_is_a_file_a_pipe_or_one_that_is_known() {
    let world = World::start(&[]);
    world.ask(0, "create cluster.toml");
    for line in [
        "place -c east --vm nofile",
        "place -c east --vm nofile --dry-run",
        "migrate -c east --vm nofile",
        "why -c east --vm nofile",
        "capacity -c east --vm nofile",
    ] {
        let said = world.ask(2, line);
        assert!(said.contains("neither a file nor the id of a VM"), "{said}");
    }
    assert!(world.ask(2, "capacity -c east --vm .").contains("a folder"));
    let reservations = world.ask_json(0, "get reservations -c east");
    assert_eq!(reservations, json!([]));
    // Of one that is known its id is enough.
    world.ask(0, "capacity -c east --vm old");
    let url = world.server.url.as_str();
    let words = ["--server", url, "place", "-c", "east", "--vm", "/dev/stdin"];
    let mut placing = placewright(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let piped = br#"{"id": "piped", "cpu": 1, "memory": "1 GiB"}"#;
    placing.stdin.take().unwrap().write_all(piped).unwrap();
    let placed = placing.wait_with_output().unwrap();
    assert!(placed.status.success(), "{placed:?}");
    let reservations = world.ask_json(0, "get reservations -c east");
    assert_eq!(reservations[0]["vm"], "piped");
}

#[test]
fn why_without_a_host_tells_where_a_vm_goes_and_changes_nothing() {
    let world = World::start(&[]);
    world.ask(0, "create cluster.toml --policy general");
    let told = world.ask_json(0, "why -c east --vm old");
    assert_eq!(
        (&told["vms"], &told["reserved"]),
        (&json!(["old"]), &json!(false))
    );
    let told = world.ask(0, "why -c east --vm vm.toml");
    assert!(told.contains("hosts considered"), "{told}");
    assert_eq!(world.ask_json(0, "get reservations -c east"), json!([]));
}

#[test]
fn a_token_of_the_environment_goes_before_that_of_the_context() {
    let data = folder();
    let (secret, lines) = token("viewer", None);
    let config = data.path().join("placewright.toml");
    fs::write(&config, lines).unwrap();
    let world = World::start(&["--config", config.to_str().unwrap()]);
    world.write("wrong", "pw_wrong");
    let mut private = Command::new("chmod");
    private.arg("600").arg(world.folder.path().join("wrong"));
    assert!(private.status().unwrap().success());
    let set = [
        "context",
        "set",
        "prod",
        "--token-file",
        "wrong",
        "--server",
    ];
    let set = [&set[..], &[world.server.url.as_str()]].concat();
    assert!(world.run(&set).status.success());
    let refused = world.run(&["get", "clusters"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("--token-file"), "{said}");
    let ask = |token: &str| {
        placewright(["get", "clusters"])
            .env(
                "PLACEWRIGHT_CONTEXTS",
                world.folder.path().join("contexts.toml"),
            )
            .env("PLACEWRIGHT_TOKEN", token)
            .output()
            .unwrap()
    };
    let allowed = ask(&secret);
    assert!(allowed.status.success(), "{allowed:?}");
    // An empty one is none.
    assert_eq!(ask("").status.code(), Some(2));
}

#[test]
fn the_name_of_a_cluster_where_a_file_is_meant_is_told_how_to_name_the_server() {
    let world = World::start(&[]);
    let said = world.run(&["place", "--cluster", "east", "--vm", "vm.toml"]);
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(2), "{text}");
    assert!(text.contains("--server URL"), "{text}");
    let none = world.ask(2, "get hosts --limit 0 -c east");
    assert!(none.contains("--limit"), "{none}");
}

/// Read the head of a request, and begin an answer that is a stream of one event.
fn stream(listener: &TcpListener, event: u64) -> String {
    let (mut connection, _) = listener.accept().unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        connection.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n\
         id: {event}\nevent: vm-placed\ndata: {{\"message\": \"event {event}\"}}\n\n"
    );
    connection.write_all(answer.as_bytes()).unwrap();
    String::from_utf8(head).unwrap().to_lowercase()
}

#[test]
fn events_go_on_after_the_last_one_when_the_server_was_away() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let following = placewright(["--server", &url, "events", "--limit", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(!stream(&listener, 7).contains("last-event-id"));
    assert!(stream(&listener, 9).contains("last-event-id: 7"));
    let ended = following.wait_with_output().unwrap();
    let [told, said] = [ended.stdout, ended.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(ended.status.success(), "{said}");
    assert!(
        told.contains("event 7") && told.contains("event 9"),
        "{told}"
    );
    assert!(said.contains("it goes on after event 7"), "{said}");
}

#[test]
fn the_certificate_that_the_book_makes_is_trusted_by_the_command_line() {
    let folder = folder();
    let book =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/tokens.md"));
    let book = book.unwrap();
    let recipe = book
        .lines()
        .find_map(|line| line.strip_prefix("$ openssl "));
    let made = Command::new("openssl")
        .args(recipe.unwrap().split(' '))
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut private = Command::new("chmod");
    assert!(
        private
            .args(["600", &path("tls.key")])
            .status()
            .unwrap()
            .success()
    );
    let (certificate, key) = (path("tls.crt"), path("tls.key"));
    let words = ["--tls-certificate", &certificate, "--tls-key", &key];
    let server = Server::start(folder.path(), &words);
    let port = server.url.rsplit(':').next().unwrap();
    let url = format!("https://localhost:{port}");
    let asked = placewright(["--server", &url, "--authority", &certificate, "status"]);
    let asked = { asked }.output().unwrap();
    assert!(asked.status.success(), "{asked:?}");
    let unknown = placewright(["--server", &url, "status"]).output().unwrap();
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(unknown.status.code(), Some(3), "{said}");
    assert!(said.contains("--authority"), "{said}");

    // A port of the other kind is told as such at once, and not tried again and again.
    let plain = Server::start(&folder.path().join("plain"), &[]);
    let plain_port = plain.url.rsplit(':').next().unwrap();
    for (asked, speaks, answers) in [
        (
            format!("http://localhost:{port}"),
            "speaks TLS",
            format!("https://localhost:{port}"),
        ),
        (
            format!("https://localhost:{plain_port}"),
            "speaks no TLS",
            format!("http://localhost:{plain_port}"),
        ),
    ] {
        let output = placewright(["--server", &asked, "status"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let sentence = String::from_utf8(output.stderr).unwrap();
        let hint = format!("the server {speaks} here: write {answers}");
        assert!(sentence.contains(&hint), "{sentence}");
    }
}

#[test]
fn only_kinds_that_can_be_put_changed_or_deleted_are_taken() {
    for (command, takes, refuses) in [
        ("put", "policies", "units"),
        ("patch", "quotas", "policies"),
        ("delete", "reservations", "settings"),
    ] {
        let help = placewright([command, "--help"]).output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        assert!(help.contains(takes), "{help}");
        assert!(!help.contains(&format!("- {refuses}:")), "{help}");
        let words = ["--server", "http://127.0.0.1:1", command, refuses, "x"];
        let refused = placewright(words).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let sentence = String::from_utf8(refused.stderr).unwrap();
        let allowed = sentence.contains("possible values") && sentence.contains(takes);
        assert!(allowed && sentence.contains(refuses), "{sentence}");
    }
}

#[test]
fn a_server_that_is_not_there_is_told_as_such() {
    let folder = folder();
    let output = placewright(["--server", "http://127.0.0.1:1", "status"])
        .env("PLACEWRIGHT_CONTEXTS", folder.path().join("none.toml"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert!(
        sentence.contains("cannot ask http://127.0.0.1:1"),
        "{sentence}"
    );
    let wrong = placewright(["--server", "127.0.0.1:1", "status"])
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(!Path::new("contexts.toml").exists());
}

#[test]
fn a_shell_completes_commands_and_the_names_of_what_the_server_has() {
    let world = World::start(&[]);
    world.ask(0, "create cluster.toml --policy general");
    let completed = |line: &str| {
        let output = placewright(["--", "placewright"].into_iter().chain(line.split(' ')))
            .env("COMPLETE", "fish")
            .env("PLACEWRIGHT_SERVER", &world.server.url)
            .env(
                "PLACEWRIGHT_CONTEXTS",
                world.folder.path().join("contexts.toml"),
            )
            .current_dir(world.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        let lines = String::from_utf8(output.stdout).unwrap();
        let names = lines
            .lines()
            .map(|line| line.split('\t').next().unwrap().to_owned());
        names.collect::<Vec<String>>()
    };
    assert!(completed("evac").contains(&"evacuate".to_owned()));
    assert_eq!(completed("get vms --cluster e"), ["east"]);
    let server = format!("--server {}", world.server.url);
    let hosts = completed(&format!("{server} evacuate -c east h"));
    assert_eq!(hosts, ["h1", "h2"]);
    assert_eq!(completed("delete vms -c east o"), ["old"]);
    assert!(completed("create x.toml --policy gen").contains(&"general".to_owned()));
    let set = ["context", "set", "lab", "--server", &world.server.url];
    assert!(world.run(&set).status.success());
    for line in ["context use la", "context remove la", "--context la"] {
        assert_eq!(completed(line), ["lab"], "{line}");
    }
    // Nobody is told of a server that does not answer, and nothing is made up.
    let gone = completed("--server http://127.0.0.1:9 evacuate -c east h");
    assert!(!gone.iter().any(|it| it.starts_with("h1")), "{gone:?}");
}

/// What bash completes a line with whose words it has taken apart like this, at the last one.
fn in_bash(world: &World, words: &[&str]) -> Vec<String> {
    let program = placewright(["status"]).get_program().to_owned();
    let folder = Path::new(&program).parent().unwrap().to_owned();
    let script = world.run(&["completions", "bash"]);
    assert!(script.status.success(), "{script:?}");
    world.write("complete.bash", &String::from_utf8(script.stdout).unwrap());
    // Signs stand without spaces between words, and the others with them.
    let is_sign = |word: &&str| matches!(*word, ":" | "=" | "://");
    let mut line = String::new();
    for (number, word) in words.iter().enumerate() {
        let glued = is_sign(word) || number > 0 && is_sign(&words[number - 1]);
        line.push_str(if glued || number == 0 { "" } else { " " });
        line.push_str(word);
    }
    let ask = r#"source complete.bash
line="$1"; shift
COMP_LINE="$line" COMP_POINT=${#line} COMP_TYPE=9 COMP_WORDS=("$@") COMP_CWORD=$(( $# - 1 ))
last="${COMP_WORDS[COMP_CWORD]}"; [[ $last =~ ^[:=]+$ ]] && last=""
_clap_complete_placewright placewright "$last" ""
printf '%s\n' "${COMPREPLY[@]}""#;
    let mut paths = vec![folder];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", ask, "bash", &line])
        .args(words)
        .env("PATH", std::env::join_paths(paths).unwrap())
        .env("PLACEWRIGHT_SERVER", &world.server.url)
        .current_dir(world.folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn bash_completes_lines_that_it_takes_apart_at_colons_and_equals_signs() {
    let world = World::start(&[]);
    world.ask(0, "create cluster.toml --policy general");
    let port = world.server.url.rsplit(':').next().unwrap();
    let server = [
        "placewright",
        "--server",
        "http",
        ":",
        "//127.0.0.1",
        ":",
        port,
    ];
    let of_server = [&server[..], &["evacuate", "-c", "east", "h"]].concat();
    assert_eq!(in_bash(&world, &of_server), ["h1", "h2"]);
    let cluster = ["placewright", "get", "vms", "--cluster", "=", "e"];
    assert_eq!(in_bash(&world, &cluster), ["east"]);
    assert_eq!(in_bash(&world, &cluster[..5]), ["east"]);
    let patch = json!({"cpu.cores": 4, "memory.total": "8 GiB"}).to_string();
    world.write("host.json", &patch);
    world.ask(0, "put hosts esx:22 host.json -c east");
    let host = [
        "placewright",
        "delete",
        "hosts",
        "-c",
        "east",
        "esx",
        ":",
        "2",
    ];
    assert_eq!(in_bash(&world, &host), ["22"]);
}

#[test]
fn quotas_are_set_listed_and_deleted_from_elsewhere() {
    let world = World::start(&[]);
    world.ask(0, "create cluster.toml --policy none");
    world.write("acme.toml", "id = \"a\"\ntenant = \"acme\"\ncpu = 2\n");
    let nameless = world.ask(2, "quota set gold --vms 1");
    assert!(nameless.contains("give --tenant as well"), "{nameless}");
    world.ask(0, "quota set gold --tenant acme --cpu 500m --memory 1GiB");
    let refused = world.ask(1, "place --cluster east --vm acme.toml");
    assert!(refused.contains("0.5 cores allowed"), "{refused}");
    let explained = world.ask(0, "explain --cluster east 1");
    assert!(
        explained.contains("No host was looked for: quota \"gold\""),
        "{explained}"
    );
    let set = "quota set gold --cluster east --cpu 4 --gpus 1.5 --no-limit memory";
    let changed = world.ask_json(0, set);
    assert_eq!(changed["limits"], json!({"cpu": 4, "gpus": 1.5}));
    assert_eq!(changed["cluster"], "east");
    world.ask(0, "place --cluster east --vm acme.toml");
    let listed = world.ask(0, "quota list --tenant acme --cluster east");
    assert!(
        listed.lines().last().unwrap().starts_with("gold"),
        "{listed}"
    );
    let shown = world.ask_json(0, "quota show gold");
    assert_eq!(shown["used"]["cpu"], 2);
    assert_eq!(world.ask_json(0, "get quotas")[0], shown);
    assert!(world.ask_json(0, "quota set gold --all-clusters")["cluster"].is_null());
    world.ask(0, "quota delete gold");
    assert_eq!(world.ask(0, "quota list").trim(), "There is none.");
}
