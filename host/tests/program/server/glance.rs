//! A cluster at a glance, drafts of policies, and what happened lately.

use serde_json::{Value, json};

use placewright_tests::server::Server;

use super::deployment::Api;
use super::folder;

fn fleet() -> Value {
    json!({
        "name": "north",
        "attributes": {"hosts": {"rack": "text"}},
        "hosts": [
            {"id": "h2", "cpu.cores": 8, "memory.total": "64 GiB", "memory.reserved": "4 GiB", "memory.overcommit": 1.5, "attribute.rack": "r1"},
            {"id": "h1", "cpu.cores": 4, "memory.total": "32 GiB", "cpu.usage": 0.5},
            {"id": "h3", "cpu.cores": 4, "memory.total": "32 GiB", "state": "maintenance"},
        ],
        "vms": [
            {"id": "a", "host": "h2", "cpu": 2, "memory": "8 GiB"},
            {"id": "b", "host": "h2", "cpu": 1, "memory": "1 GiB"},
            {"id": "c", "host": "h3", "cpu": 1, "memory": "1 GiB"},
        ],
        "groups": [
            {"id": "apart", "vms": ["a", "b"], "rule": "negative", "hard": true},
            {"id": "home", "vms": ["a"], "hosts": ["h2"], "host-rule": "positive"},
            {"id": "together", "vms": ["a", "c"], "rule": "positive"},
        ],
    })
}

#[test]
fn decisions_of_the_last_hour_are_told_minute_by_minute() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters", &fleet());
    assert_eq!(made.status, 201, "{made:?}");
    let path = "/v1/clusters/north/rates";
    let counted = |name: &str| -> u64 {
        let minutes = api.get(path).body["minutes"].as_array().unwrap().clone();
        assert_eq!(minutes.len(), 60);
        minutes.iter().map(|it| it[name].as_u64().unwrap()).sum()
    };
    assert_eq!(["placed", "rejected", "failed"].map(counted), [0, 0, 0]);
    for (id, cpu) in [("d", 1), ("e", 1), ("f", 100)] {
        let vm = json!({"id": id, "cpu": cpu, "memory": "1 GiB"});
        let decided = api.send("POST", "/v1/clusters/north/place", &vm);
        assert_eq!(decided.status, 200, "{decided:?}");
    }
    assert_eq!(["placed", "rejected", "failed"].map(counted), [2, 1, 0]);
    let minutes = api.get(path).body["minutes"].as_array().unwrap().clone();
    let times: Vec<&str> = minutes
        .iter()
        .map(|it| it["time"].as_str().unwrap())
        .collect();
    assert!(
        times.is_sorted() && times.iter().all(|it| it.ends_with(":00Z")),
        "{times:?}"
    );
    assert_eq!(api.get("/v1/clusters/south/rates").status, 404);
}

#[test]
fn cpu_of_hosts_without_an_overcommit_is_promisable_as_the_policy_says() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let mut cluster = fleet();
    cluster["hosts"][0]["cpu.overcommit"] = json!(3);
    api.send("POST", "/v1/clusters", &cluster);
    let sums = || api.get("/v1/clusters/north/sums").body;
    let overcommit = || {
        let columns = api.get("/v1/clusters/north/host-columns?columns=id").body;
        columns["cpu-overcommit"].clone()
    };
    assert_eq!(sums()["cpu"]["promisable"], json!(28.0));
    assert_eq!(overcommit(), json!(1.0), "as \"general\" has it");
    let policy = |least: f64| {
        let filter = |overcommit: f64| json!({"unit": "cpu", "name": format!("c{overcommit}"), "settings": {"overcommit": overcommit}});
        json!({"filters": [filter(least), filter(4.0)], "costs": [{"unit": "cpu"}]})
    };
    let any = [("if-match", "*"), ("content-type", "application/json")];
    let policy = policy(2.0).to_string();
    let put = api.ask("PUT", "/v1/policies/twice", &any, policy.as_bytes());
    assert_eq!(put.unwrap().status, 200);
    let settings = json!({"policy": "twice"}).to_string();
    let attached = api.ask(
        "PUT",
        "/v1/clusters/north/settings",
        &any,
        settings.as_bytes(),
    );
    assert_eq!(attached.unwrap().status, 200);
    let shown = sums();
    assert_eq!(shown["cpu"]["promisable"], json!(32.0), "{shown}");
    assert_eq!(overcommit(), json!(2.0));
    let metrics = api.get("/metrics").body;
    let metrics = metrics.as_str().unwrap();
    let promisable = "placewright_cpu_cores{cluster=\"north\",amount=\"promisable\"} 32";
    assert!(metrics.contains(promisable), "{metrics}");
}

#[test]
fn sums_columns_and_groups_say_in_short_what_rows_say_at_length() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let made = api.send("POST", "/v1/clusters", &fleet());
    assert_eq!(made.status, 201, "{made:?}");
    let sums = api.get("/v1/clusters/north/sums").body;
    assert_eq!(sums["hosts"], json!({"up": 2, "maintenance": 1}));
    assert_eq!((&sums["vms"], &sums["vms-not-up"]), (&3.into(), &1.into()));
    let cpu = &sums["cpu"];
    assert_eq!(
        (&cpu["total"], &cpu["committed"], &cpu["used"]),
        (&12.0.into(), &3.0.into(), &2.0.into())
    );
    let gib = f64::from(1 << 30);
    let memory = &sums["memory"];
    assert_eq!(
        memory["promisable"],
        json!((64.0 * 1.5 - 4.0) * gib + 32.0 * gib)
    );
    assert_eq!(
        (&memory["committed"], memory.get("used")),
        (&(9.0 * gib).into(), None)
    );
    let columns = api
        .get("/v1/clusters/north/host-columns?columns=id,state,cpu.total,attribute.rack")
        .body;
    let expected = json!({
        "id": ["h1", "h2", "h3"], "state": ["up", "up", "maintenance"], "cpu.total": [4.0, 8.0, 4.0],
        "attribute.rack": [null, "r1", null],
    });
    let shown = &columns["columns"];
    assert_eq!(shown["id"], expected["id"]);
    assert_eq!(shown["state"], expected["state"]);
    assert_eq!(shown["attribute.rack"], expected["attribute.rack"]);
    let cores: Vec<f64> = shown["cpu.total"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_f64().unwrap())
        .collect();
    assert_eq!(cores, [4.0, 8.0, 4.0]);
    for (query, sentence) in [
        ("columns=", "must name from 1 to 64"),
        ("columns=id,cpu.totl", "did you mean \\\"cpu.total\\\""),
        ("column=id", "columns"),
    ] {
        let refused = api.get(&format!("/v1/clusters/north/host-columns?{query}"));
        assert_eq!(refused.status, 400, "{refused:?}");
        assert!(
            refused.body.to_string().contains(sentence),
            "{query}: {refused:?}"
        );
    }
    let groups = api.get("/v1/clusters/north/group-standings").body;
    let kept: Vec<(&str, bool)> = groups["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (group["id"].as_str().unwrap(), group["kept"] == true))
        .collect();
    assert_eq!(
        kept,
        [("apart", false), ("home", true), ("together", false)]
    );
    let by = &groups["items"][0]["broken-by"][0];
    assert_eq!(
        (&by["vms"], &by["hosts"], &by["hard"]),
        (&json!(["a", "b"]), &json!(["h2"]), &true.into())
    );
    assert_eq!(
        groups["items"][2]["broken-by"][0]["why"],
        "a and c belong on one host and are on h2 and h3"
    );
    let ids = |query: &str| -> Vec<String> {
        let listed = api.get(&format!("/v1/clusters/north/group-standings?{query}"));
        let items = listed.body["items"].as_array().cloned().unwrap();
        let ids = items.iter().map(|it| it["id"].as_str().unwrap().to_owned());
        ids.collect()
    };
    assert_eq!(ids("kept=true"), ["home"]);
    assert_eq!(ids("kept=false&after=group-standings:apart"), ["together"]);
    assert_eq!(ids("vm=c&text=TOGETH"), ["together"]);
}

#[test]
fn of_a_large_group_the_first_vms_are_named_and_all_are_counted() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let host = json!({"id": "h", "cpu.cores": 900, "memory.total": "900 GiB"});
    let vms: Vec<Value> = (100..320)
        .map(|it| json!({"id": format!("v{it}"), "host": "h", "cpu": 1, "memory": "1 GiB"}))
        .collect();
    let ids: Vec<&Value> = vms.iter().map(|vm| &vm["id"]).collect();
    let group = json!({"id": "apart", "vms": ids, "rule": "negative", "hard": true});
    let cluster = json!({"name": "north", "hosts": [host], "vms": vms, "groups": [group]});
    assert_eq!(api.send("POST", "/v1/clusters", &cluster).status, 201);
    let listed = api.get("/v1/clusters/north/group-standings").body;
    let group = &listed["items"][0];
    let len = |list: &Value| list.as_array().map_or(0, Vec::len);
    assert_eq!(
        (&group["members"], &group["placed"]),
        (&json!(220), &json!(220))
    );
    assert_eq!(len(&group["places"]), 8);
    assert_eq!(
        (&group["breaks"], len(&group["broken-by"][0]["vms"])),
        (&json!(1), 100)
    );
}

#[test]
fn a_draft_says_which_recorded_decisions_would_have_another_outcome() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let hosts: Vec<Value> = (1..=4)
        .map(|it| json!({"id": format!("h{it}"), "cpu.cores": 16, "memory.total": format!("{} GiB", 16 * it)}))
        .collect();
    let cluster = json!({"name": "north", "hosts": hosts});
    assert_eq!(
        api.send("POST", "/v1/clusters?policy=best-fit", &cluster)
            .status,
        201
    );
    for number in 0..6 {
        let vm = json!({"id": format!("v{number}"), "cpu": 1, "memory": "2 GiB"});
        assert!(api.send("POST", "/v1/clusters/north/place", &vm).body["host"].is_string());
    }
    let ask = |policy: &str, query: &str| {
        let text = api.get(&format!("/v1/policies/{policy}")).body["text"]
            .as_str()
            .unwrap()
            .to_owned();
        let kind = [("content-type", "application/toml")];
        let path = format!("/v1/clusters/north/draft?policy=mine{query}");
        api.ask("POST", &path, &kind, text.as_bytes()).unwrap()
    };
    let same = ask("best-fit", "").body;
    assert_eq!((&same["tried"], &same["differing"]), (&6.into(), &0.into()));
    assert_eq!(same["changed"], json!([]));
    let other = ask("worst-fit", "").body;
    assert!(other["differing"].as_u64().unwrap() > 0, "{other}");
    let changed = &other["changed"][0];
    assert_ne!(changed["before"], changed["after"]);
    let sum = |name: &str| -> u64 {
        let hosts = other["hosts"].as_array().unwrap().iter();
        hosts.map(|host| host[name].as_u64().unwrap()).sum()
    };
    assert_eq!((sum("before"), sum("after")), (6, 6));
    // Nothing was changed by asking.
    assert_eq!(api.get("/v1/policies/mine").status, 404);
    for (query, status) in [
        ("&decisions=0", 400),
        ("&examples=1001", 400),
        ("&decisions=2", 200),
        ("&shares-of=99", 410),
    ] {
        assert_eq!(ask("worst-fit", query).status, status, "{query}");
    }
    let kind = [("content-type", "application/toml")];
    let wrong = api
        .ask(
            "POST",
            "/v1/clusters/north/draft",
            &kind,
            b"[[costs]]\nunit = \"cpuu\"\n",
        )
        .unwrap();
    assert_eq!(
        (wrong.status, &wrong.body["code"]),
        (422, &"invalid-document".into())
    );
}

#[test]
fn what_happened_lately_is_listed_newest_first_and_filtered() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let cluster =
        json!({"name": "north", "hosts": [{"id": "h1", "cpu.cores": 4, "memory.total": "8 GiB"}]});
    assert_eq!(api.send("POST", "/v1/clusters", &cluster).status, 201);
    let vm = json!({"id": "v1", "cpu": 1, "memory": "1 GiB"});
    assert_eq!(
        api.send("POST", "/v1/clusters/north/place", &vm).status,
        200
    );
    let recent = |query: &str| api.get(&format!("/v1/events/recent?{query}"));
    let all = recent("").body;
    let numbers: Vec<u64> = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["number"].as_u64().unwrap())
        .collect();
    assert!(
        numbers.len() >= 2 && numbers.is_sorted_by(|a, b| a > b),
        "{numbers:?}"
    );
    let placed = recent("kind=vm&cluster=north&by=anonymous&text=V1").body;
    assert_eq!(placed["items"][0]["kind"], "vm-placed", "{placed}");
    assert_eq!(recent("cluster=south").body["items"], json!([]));
    let first = recent("limit=1").body;
    let rest = recent(&format!("after={}", first["next"].as_str().unwrap())).body;
    assert_eq!(rest["items"][0]["number"], numbers[1]);
    assert_eq!(recent("after=x").status, 400);
}

/// The value of a metric with these labels.
fn metric(api: &Api, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let text = api.get("/metrics").body;
    let text = text.as_str().unwrap();
    let lines = text.lines().filter(|line| {
        let labels = labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{value}\""));
        line.starts_with(&format!("placewright_{name}{{"))
            && labels.clone().all(|it| line.contains(&it))
    });
    let values: Vec<f64> = lines
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(values.len() <= 1, "{name} {labels:?}: {values:?}");
    values.first().copied()
}

#[test]
fn metrics_say_what_each_cluster_has_and_promised_and_how_many_hosts_are_in_which_state() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    let mut fleet = fleet();
    fleet["hosts"][1]["gpus"] = json!([{"index": 0}, {"index": 1}]);
    fleet["hosts"][1]["memory.free"] = "20 GiB".into();
    assert_eq!(api.send("POST", "/v1/clusters", &fleet).status, 201);
    let half = json!({"id": "g", "cpu": 1, "memory": "2 GiB", "gpu.share": 500});
    let placed = api.send("POST", "/v1/clusters/north/place", &half);
    assert_eq!(placed.body["host"], "h1", "{placed:?}");
    let amounts = |name: &str| {
        let of = |amount| metric(&api, name, &[("cluster", "north"), ("amount", amount)]);
        [
            "total",
            "promisable",
            "promised",
            "reserved",
            "free",
            "used",
        ]
        .map(of)
    };
    let some = |values: [f64; 5]| values.map(Some);
    assert_eq!(amounts("cpu_cores")[..5], some([12.0, 12.0, 3.0, 1.0, 8.0]));
    assert_eq!(amounts("cpu_cores")[5], Some(2.0));
    assert_eq!(amounts("gpus")[..5], some([2.0, 2.0, 0.0, 0.5, 1.5]));
    assert_eq!(amounts("gpus")[5], None);
    let gib = f64::from(1 << 30);
    let memory = [96.0, 124.0, 9.0, 2.0, 113.0].map(|amount| amount * gib);
    assert_eq!(amounts("memory_bytes")[..5], some(memory));
    assert_eq!(amounts("memory_bytes")[5], Some(12.0 * gib));
    let hosts = |state| {
        metric(
            &api,
            "hosts_in_state",
            &[("cluster", "north"), ("state", state)],
        )
    };
    assert_eq!(
        (hosts("up"), hosts("maintenance"), hosts("down")),
        (Some(2.0), Some(1.0), None)
    );
    assert_eq!(
        api.send("POST", "/v1/clusters/north/confirm", &json!({"vms": ["g"]}))
            .status,
        204
    );
    assert_eq!(amounts("gpus")[..5], some([2.0, 2.0, 0.5, 0.0, 1.5]));
    // What is gone is not told of.
    let gone = api.ask("DELETE", "/v1/clusters/north", &[], b"").unwrap();
    assert!(gone.status < 300, "{gone:?}");
    assert_eq!(amounts("cpu_cores"), [None; 6]);
    assert_eq!(hosts("up"), None);
}

#[test]
fn the_columns_of_hosts_are_told_with_their_units_of_measure() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters", &fleet());
    let told = api.get("/v1/clusters/north/host-schema");
    assert_eq!(told.status, 200, "{told:?}");
    let columns = told.body["columns"].as_array().unwrap().clone();
    let column = |name: &str| {
        let found = columns.iter().find(|it| it["name"] == name);
        found
            .cloned()
            .unwrap_or_else(|| panic!("{name}: {columns:?}"))
    };
    assert_eq!(column("memory.total")["measure"], "bytes");
    assert_eq!(column("cpu.usage")["measure"], "fraction");
    let rack = column("attribute.rack");
    assert_eq!((&rack["kind"], rack.get("measure")), (&"text".into(), None));
    assert_eq!(api.get("/v1/clusters/south/host-schema").status, 404);
}

#[test]
fn every_host_says_what_a_vm_would_cost_there_or_what_removes_it_under_any_policy() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let api = Api::of(&server);
    api.send("POST", "/v1/clusters?policy=worst-fit", &fleet());
    let vm = json!({"id": "new", "cpu": 1, "memory": "40 GiB"});
    let ask = |query: &str| {
        api.send(
            "POST",
            &format!("/v1/clusters/north/host-costs{query}"),
            &vm,
        )
    };
    let told = ask("");
    assert_eq!(told.status, 200, "{told:?}");
    assert_eq!(told.body["policy"], "worst-fit");
    assert_eq!(told.body["chosen"], "h2");
    let hosts = told.body["hosts"].as_array().unwrap().clone();
    let ids: Vec<&str> = hosts
        .iter()
        .map(|it| it["host"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["h1", "h2", "h3"]);
    assert_eq!(hosts[0]["filter"], "worst-fit", "{hosts:?}");
    assert_eq!(hosts[0]["costs"], json!([]));
    assert!(hosts[1]["costs"][0].is_number(), "{hosts:?}");
    assert_eq!(hosts[1].get("reason"), None);
    let reason = hosts[2]["reason"].as_str().unwrap();
    assert!(reason.contains("maintenance"), "{reason}");
    // As `why` says it.
    let why = api.send("POST", "/v1/clusters/north/why?host=h1", &vm).body;
    assert_eq!(why["by"][0]["reason"], hosts[0]["reason"]);
    // Another policy need not decide there.
    let other = ask("?policy=best-fit").body;
    assert_eq!(
        (&other["policy"], &other["chosen"]),
        (&"best-fit".into(), &"h2".into())
    );
    assert_ne!(other["hosts"][1]["costs"], hosts[1]["costs"]);
    assert_eq!(ask("?policy=no-such-policy").status, 404);
    let vms = api.get("/v1/clusters/north/vms").body;
    assert_eq!(
        vms["items"].as_array().unwrap().len(),
        3,
        "nothing is reserved"
    );
}
