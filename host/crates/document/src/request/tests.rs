use super::*;

fn read(text: &str, file: &str) -> Result<Vec<Request>, String> {
    let hosts = ["h1".into(), "h2".into()].into();
    let surroundings = Surroundings {
        schema: Schema::built_in(),
        now: 1000,
        hosts: Some(&hosts),
    };
    read_requests(text, file, surroundings)
        .map_err(|problems| problems.to_string().replace("r.toml:", ""))
}

fn requests(text: &str) -> Vec<Request> {
    read(text, "r.toml").unwrap()
}

fn problems(text: &str) -> String {
    read(text, "r.toml")
        .err()
        .unwrap_or_else(|| "no problem".to_owned())
}

#[test]
fn a_vm_is_a_request() {
    let toml = "id = 'v1'\nmemory = '4 GiB'\n\"cpu.usage\" = 0.5\npinned = ['h1']\npreferred = ['h2']\n\
                location = [{ host = 'h1', score = 5 }, { host = 'h1', score = -1000000 }]\n\
                tenant = 'acme'\nzone = 'z1'\nkind = 'place'\nforce = 'h2'\ndraw = 0.25\ndry-run = true\n\
                preferred-hosts = ['h1']\nexcluded = ['h1']\nnics = [{ network = 'red' }]\ninstances = 3";
    let [request] = &requests(toml)[..] else {
        panic!("there is one request");
    };
    let [vm] = &request.members[..] else {
        panic!("it has one member");
    };
    assert_eq!(vm.facts.integer("memory"), Some(4 << 30));
    assert_eq!(vm.facts.text("tenant"), Some("acme"));
    assert_eq!(vm.facts.rows("nics")[0].text("network"), Some("red"));
    assert_eq!(vm.pinning.pinned, ["h1".into()]);
    assert_eq!(vm.pinning.preferred, ["h2".into()]);
    assert_eq!(
        vm.pinning.location,
        [("h1".into(), 5), ("h1".into(), -1_000_000)]
    );
    assert_eq!(vm.facts.get("zone"), None);
    assert_eq!(request.facts.text("zone"), Some("z1"));
    assert_eq!(request.facts.text("tenant"), Some("acme"));
    assert_eq!(request.facts.integer("instances"), Some(3));
    assert_eq!(request.forced.as_deref(), Some("h2"));
    assert_eq!(request.preferred, ["h1".into()]);
    assert_eq!((request.now, request.draw), (1000, Some(0.25)));
    assert!(request.dry_run);

    let json = r#"{"id": "v1", "memory": 4294967296, "cpu.usage": 0.5, "pinned": ["h1"],
        "preferred": ["h2"],
        "location": [{"host": "h1", "score": 5}, {"host": "h1", "score": -1000000}], "tenant": "acme", "zone": "z1", "kind": "place", "force": "h2",
        "draw": 0.25, "dry-run": true, "preferred-hosts": ["h1"], "excluded": ["h1"],
        "nics": [{"network": "red"}], "instances": 3}"#;
    assert_eq!(read(json, "r.json"), Ok(vec![request.clone()]));
}

#[test]
fn vms_go_each_for_itself_or_together() {
    let text = "now = 5\n[[vms]]\nid = 'a'\n[[vms]]\nid = 'b'\ntenant = 't'";
    let each = requests(text);
    assert_eq!(each.len(), 2);
    assert_eq!((each[0].now, &*each[1].members[0].id), (5, "b"));
    assert_eq!(each[0].facts.text("tenant"), None);
    assert_eq!(each[1].facts.text("tenant"), Some("t"));
    let together = requests(&format!("together = true\n{text}"));
    assert_eq!(together.len(), 1);
    assert_eq!(together[0].members.len(), 2);
    assert_eq!(together[0].facts.text("tenant"), None);
}

#[test]
fn whole_requests_are_read() {
    let requests = requests(
        "[[requests]]\ntenant = 't'\nallowed = ['h1', 'h2']\nvms = [{ id = 'a' }, { id = 'b', tenant = 'u' }]\n\
         [[requests]]\nkind = 'migrate'\n[[requests.vms]]\nid = 'c'",
    );
    let [first, second] = &requests[..] else {
        panic!("there are two requests");
    };
    assert_eq!(first.allowed, ["h1".into(), "h2".into()]);
    assert_eq!(first.members[0].facts.text("tenant"), Some("t"));
    assert_eq!(first.members[1].facts.text("tenant"), Some("u"));
    assert_eq!(second.facts.text("kind"), Some("migrate"));
}

#[test]
fn mistakes_are_said() {
    assert_eq!(
        problems(""),
        "1:1: a VM needs \"id\": id of the VM, unique in the cluster"
    );
    assert_eq!(
        problems(
            "id = 'v'\nforce = 'h3'\ndraw = 1\npinned = ['hx']\nlocation = [{ host = 'hx', score = 1 }]\nmemry = 1\nvcpus = 2\ncpu = '-1 cores'\nhost = 'h1'"
        ),
        "2:9: there is no host \"h3\" (did you mean \"h1\"?)\n\
         3:8: \"draw\" must be less than 1\n\
         4:11: there is no host \"hx\" (did you mean \"h1\"?)\n\
         5:22: there is no host \"hx\" (did you mean \"h1\"?)\n\
         6:1: a VM has no \"memry\" (did you mean \"memory\"?)\n\
         7:1: \"vcpus\" is worked out by the runtime; leave it out\n\
         8:7: \"cpu\" must be 0 or more, not -1\n\
         9:1: a VM has no \"host\"; the policy chooses the host: to choose it yourself, give \"force\" the host's id"
    );
    assert_eq!(
        problems("id = 'v'\ncpu = {}"),
        "2:1: \"cpu\" is an empty table: give a value, or leave it out"
    );
    assert_eq!(
        problems("zoen = 'z'\nvms = [{ id = 'a' }, { id = 'a' }]"),
        "1:1: a request has no \"zoen\" (did you mean \"zone\"?)\n\
         2:29: there is a second VM \"a\"; the first is at 2:15"
    );
    assert_eq!(
        problems("requests = [{ allowed = 'h1' }]\nzone = 'z'"),
        "1:13: a request needs \"vms\": the VMs to be placed\n\
         1:25: \"allowed\" must be a list of texts, not a text\n\
         2:1: a document of requests has no key \"zone\"; it may have \"requests\""
    );
}

#[test]
fn requests_need_vms() {
    assert_eq!(
        problems("vms = []\ntogether = true"),
        "1:7: \"vms\" is empty: it lists the VMs to be placed"
    );
    assert_eq!(requests("requests = []"), []);
}

#[test]
fn hosts_are_not_checked_where_none_are_known() {
    let surroundings = Surroundings {
        schema: Schema::built_in(),
        now: 0,
        hosts: None,
    };
    assert!(read_requests("id = 'v'\nforce = 'h9'", "r.toml", surroundings).is_ok());
}

#[test]
fn a_request_is_written_as_the_document_that_asks_for_it() {
    let text = r#"{"zone": "z", "kind": "restart", "allowed": ["a", "b"], "excluded": ["c"],
        "preferred-hosts": ["a"], "force": "b", "dry-run": true, "all-or-nothing": true,
        "reserve-for": 60, "again": true, "together": true, "draw": 0.5, "now": 7,
        "vms": [{"id": "v", "cpu": 0.5, "memory": 8192, "pinned": ["a"], "preferred": ["b"],
                 "location": [{"host": "a", "score": 3}], "nics": [{"network": "n"}],
                 "numa-nodes": [{"index": 0, "memory": "1 MiB"}]}, {"id": "w"}]}"#;
    let schema = Schema::built_in();
    let surroundings = Surroundings {
        schema,
        now: 0,
        hosts: None,
    };
    let requests = read_requests(text, "r.json", surroundings).unwrap();
    let request = &requests[0];
    let written = serde_json::to_string(&WrittenRequest { schema, request }).unwrap();
    assert_eq!(
        read_requests(&written, "w.json", surroundings).unwrap(),
        requests,
        "{written}"
    );
}

#[test]
fn a_request_without_a_zone_or_tenant_takes_that_of_its_vms_away() {
    let texts = [
        r#"{"id": "a", "again": true, "zone": null, "tenant": null}"#,
        r#"{"vms": ["a"], "again": true, "zone": null, "tenant": null}"#,
        r#"{"vms": [{"id": "a", "tenant": null}], "together": true, "again": true, "zone": null}"#,
        r#"{"requests": [{"vms": ["a"], "again": true, "zone": null, "tenant": null}]}"#,
    ];
    for text in texts {
        let [request] = &read(text, "r.json").unwrap()[..] else {
            panic!("there is one request");
        };
        let unset: Vec<&str> = request.unset["a"].iter().map(|name| &**name).collect();
        assert_eq!(unset, ["tenant", "zone"], "{text}");
    }
    let other = r#"{"vms": [{"id": "a", "tenant": null}], "tenant": "acme"}"#;
    assert!(read(other, "r.json").unwrap()[0].unset.is_empty());
}

#[test]
fn null_and_empty_lists_take_away_and_are_written_again() {
    let one = |text: &str| {
        let mut requests = read(text, "r.json").unwrap();
        assert_eq!(requests.len(), 1);
        requests.remove(0)
    };
    let request = one(
        r#"{"tenant": "t", "vms": [{"id": "a", "cpu": null, "devices": [], "pinned": null, "tenant": null}]}"#,
    );
    let unset: Vec<&str> = request.unset["a"].iter().map(|name| &**name).collect();
    assert_eq!(unset, ["cpu", "devices", "pinned"]);
    assert_eq!(request.members[0].facts.text("tenant"), Some("t"));
    let schema = Schema::built_in();
    let written = WrittenRequest {
        schema,
        request: &request,
    };
    let written = serde_json::to_string(&written).unwrap();
    assert_eq!(written.matches("\"tenant\"").count(), 2, "{written}");
    assert_eq!(one(&written), request);
    // Of a request itself null is as if nothing were given.
    assert_eq!(
        one(r#"{"id": "a", "draw": null, "vms": null, "allowed": null}"#),
        one(r#"{"id": "a"}"#)
    );
}

/// The way to each VM that is named only, and its id.
fn named(requests: &[Request]) -> Vec<(&str, &str)> {
    let named = requests.iter().flat_map(|request| &request.named);
    named.map(|vm| (&*vm.path, &*vm.id)).collect()
}

fn members(requests: Vec<Request>) -> Vec<Vec<Vm>> {
    requests
        .into_iter()
        .map(|request| request.members)
        .collect()
}

#[test]
fn vms_are_written_as_tables_or_as_their_ids() {
    let tables = requests(r#"vms = [{ id = "a" }, { id = "b", cpu = 2 }]"#);
    assert_eq!(named(&tables), []);
    let texts = requests(r#"vms = ["a", { id = "b", cpu = 2 }]"#);
    assert_eq!(named(&texts), [("vms[0]", "a")]);
    assert_eq!(members(texts), members(tables));
    let whole = requests(r#"requests = [{ vms = [{ id = "a" }] }, { vms = [{ id = "b" }, "c"] }]"#);
    assert_eq!(named(&whole), [("requests[1].vms[1]", "c")]);
    let twice = read(r#"vms = ["a", "a"]"#, "r.toml").unwrap_err();
    assert!(twice.contains("\"a\""), "{twice}");
    let number = read("vms = [1]", "r.toml").unwrap_err();
    assert!(number.contains("a whole number"), "{number}");
}
