use super::*;
use placewright_model::{GroupRule, Pinning, Value};

const TOML: &str = r#"
name = "north"
now = 2026-11-20T12:00:00Z
seed = 7
attribute.region = "eu"
networks = [{ name = "red", required = true }]

[attributes.hosts]
rack = "text"
budget = { kind = "integer", measure = "bytes", meaning = "What may be spent" }
licences = { table = { product = "text", seats = { kind = "integer" } } }
[attributes.clusters]
region = "text"
[attributes.tenants]
tier = "integer"

[[tenants]]
id = "acme"
attribute.tier = -1
[[tenants.bindings]]
host = "gone"
start = 1970-01-02T00:00:00Z
end = 100000
[[tenants.bindings]]
host = "h1"
zone = "z1"
tag = "disk=ssd"
start = 100000

[[hosts]]
id = "h1"
memory.total = "512 GiB"
cpu = { sockets = 2, cores = 40, usage = "25 %" }
"memory.overcommit" = 1.5
attribute.rack = "r1"
attribute.budget = "1 MiB"
attribute.licences = [{ product = "db", seats = 3 }]
networks = [{ name = "red" }, { name = "blue", ipv4 = "dhcp" }]
watch.busy.since = 100
vms = [{ id = "v0", cpu = "0.5 cores", fixed-keys = [{ name = "cpu", value = 2.5 }], numa-nodes = [{ index = 0, memory = "1 GiB", host-nodes = [{ index = 1 }] }] }]

[[hosts]]
id = "h2"

[[vms]]
id = "v1"
host = "h2"
memory = "4 GiB"
pending = true
priority = -5
pinned = ["h1", "h2"]
preferred = ["h2"]
location = [{ host = "h1", score = -20 }, { host = "h2", score = 1000000 }]

[[groups]]
id = "g"
vms = ["v0", "later"]
hosts = ["h1"]
rule = "negative"
hard = true
host-rule = "positive"
"#;

const JSON: &str = r#"{
"name": "north", "now": 1795176000, "seed": 7, "attribute": {"region": "eu"},
"networks": [{"name": "red", "required": true}],
"attributes": {
  "hosts": {"rack": "text",
    "budget": {"kind": "integer", "measure": "bytes", "meaning": "What may be spent"},
    "licences": {"table": {"product": {"kind": "text"}, "seats": "integer"}}},
  "clusters": {"region": "text"}, "tenants": {"tier": "integer"}},
"tenants": [{"id": "acme", "attribute.tier": -1, "bindings": [
  {"host": "gone", "start": 86400, "end": 100000},
  {"host": "h1", "zone": "z1", "tag": "disk=ssd", "start": 100000}]}],
"hosts": [
  {"id": "h1", "memory": {"total": 549755813888, "overcommit": 1.5},
   "cpu.sockets": 2, "cpu.cores": 40, "cpu.usage": 0.25,
   "attribute.rack": "r1", "attribute.budget": 1048576,
   "attribute.licences": [{"product": "db", "seats": 3}],
   "networks": [{"name": "red"}, {"name": "blue", "ipv4": "dhcp", "ipv6": null}],
   "watch.busy.since": 100},
  {"id": "h2"}],
"vms": [
  {"id": "v0", "host": "h1", "cpu": 0.5, "fixed-keys": [{"name": "cpu", "value": 2.5}],
   "numa-nodes": [{"index": 0, "memory": 1073741824, "host-nodes": [{"index": 1}]}]},
  {"id": "v1", "host": "h2", "memory": "4 GiB", "pending": true, "priority": -5,
   "pinned": ["h1", "h2"], "preferred": ["h2"],
   "location": [{"host": "h1", "score": -20}, {"host": "h2", "score": 1000000}]}],
"groups": [{"id": "g", "vms": ["v0", "later"], "hosts": ["h1"], "rule": "negative",
  "hard": true, "host-rule": "positive"}]
}"#;

fn problems(text: &str) -> String {
    match ClusterDocument::read(text, "c.toml") {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => problems.to_string(),
    }
}

/// The problems of a cluster with the host h1 that has `row` besides its id.
fn host(row: &str) -> String {
    problems(&format!("[[hosts]]\nid = 'h1'\n{row}")).replace("c.toml:", "")
}

fn vm(row: &str) -> String {
    host(&format!("[[vms]]\nid = 'v1'\nhost = 'h1'\n{row}"))
}

#[test]
fn a_cluster_is_read() {
    let cluster = ClusterDocument::read(TOML, "c.toml").unwrap();
    assert_eq!(&*cluster.name, "north");
    assert_eq!(cluster.now, Some(1_795_176_000));
    assert_eq!(cluster.seed, 7);
    assert_eq!(cluster.facts.text("attribute.region"), Some("eu"));
    assert!(cluster.facts.rows("networks")[0].is("required"));
    let acme = &cluster.tenants["acme"];
    assert_eq!(acme.integer("attribute.tier"), Some(-1));
    let [gone, bound] = acme.rows("bindings") else {
        panic!("there are two bindings");
    };
    assert_eq!(
        (gone.integer("start"), gone.text("zone")),
        (Some(86_400), None)
    );
    assert_eq!(
        (bound.text("tag"), bound.integer("end")),
        (Some("disk=ssd"), None)
    );

    let h1 = &cluster.hosts[0].facts;
    assert_eq!(h1.integer("memory.total"), Some(512 << 30));
    assert_eq!(h1.number("memory.overcommit"), Some(1.5));
    assert_eq!(h1.integer("cpu.cores"), Some(40));
    assert_eq!(h1.number("cpu.usage"), Some(0.25));
    assert_eq!(h1.integer("attribute.budget"), Some(1 << 20));
    assert_eq!(
        h1.rows("attribute.licences")[0].get("seats"),
        Some(&Value::Integer(3))
    );
    assert_eq!(h1.rows("networks")[1].text("ipv4"), Some("dhcp"));
    assert_eq!(h1.integer("watch.busy.since"), Some(100));

    let [v0, v1] = &cluster.vms[..] else {
        panic!("there are two VMs");
    };
    assert_eq!((&*v0.host, v0.pending), ("h1", false));
    assert_eq!(v0.vm.facts.integer("cpu"), Some(500));
    let node = &v0.vm.facts.rows("numa-nodes")[0];
    assert_eq!(node.rows("host-nodes")[0].integer("index"), Some(1));
    assert_eq!((&*v1.host, v1.pending), ("h2", true));
    assert_eq!(
        v1.vm.pinning,
        Pinning {
            pinned: vec!["h1".into(), "h2".into()],
            preferred: vec!["h2".into()],
            location: vec![("h1".into(), -20), ("h2".into(), 1_000_000)],
        }
    );
    assert_eq!(v0.placed.rows("fixed-keys")[0].number("value"), Some(2.5));
    assert!(v0.vm.facts.rows("fixed-keys").is_empty());
    assert_eq!(v0.writes().len(), 1);
    assert_eq!(v1.writes(), []);

    let group = &cluster.groups[0];
    assert_eq!(group.vm_rule, Some(GroupRule::Negative { hard: true }));
    assert_eq!(group.host_rule, Some(GroupRule::Positive { hard: false }));
    assert_eq!(group.priority, 1.0);
}

#[test]
fn toml_and_json_mean_the_same() {
    let toml = ClusterDocument::read(TOML, "c.toml").unwrap();
    let json = ClusterDocument::read(JSON, "c.json").unwrap();
    assert_eq!(toml, json);
}

#[test]
fn a_cluster_without_a_name_has_that_of_its_file() {
    let name = |file| ClusterDocument::read("", file).unwrap().name;
    assert_eq!(&*name("clusters/north.toml"), "north");
    assert_eq!(&*name("-"), "-");
}

#[test]
fn unknown_columns_and_tables_are_said_with_the_nearest() {
    assert_eq!(
        host("memory.totl = 1"),
        "3:8: a host has no \"memory.totl\" (did you mean \"memory.total\"?)"
    );
    assert_eq!(
        host("network = []"),
        "3:1: a host has no \"network\" (did you mean \"networks\"?)"
    );
    assert_eq!(
        host("networks = [{ nam = 'red' }]"),
        "3:13: a row of \"networks\" needs \"name\": name of the network\n\
         3:15: a row of \"networks\" has no \"nam\" (did you mean \"name\"?)"
    );
    assert_eq!(
        vm("mem = 1"),
        "6:1: a VM has no \"mem\" (did you mean \"memory\"?)"
    );
    assert_eq!(
        problems("host = []"),
        "c.toml:1:1: a cluster has no \"host\" (did you mean \"hosts\"?)"
    );
    assert_eq!(
        host("attribute.rack = 'r1'"),
        "3:11: no attribute \"rack\" is defined; attributes are defined in the cluster's document, under [attributes.hosts]"
    );
    assert_eq!(
        host("rack = 'r1'\n[attributes.hosts]\nrack = 'text'"),
        "3:1: a host has no \"rack\" (did you mean \"attribute.rack\"?)"
    );
}

#[test]
fn what_the_runtime_works_out_cannot_be_given() {
    assert_eq!(
        host("vms.widest = 1"),
        "3:5: \"vms.widest\" is worked out by the runtime; leave it out"
    );
    assert_eq!(
        host("listed = 1"),
        "3:1: \"listed\" is worked out by the runtime; leave it out"
    );
    assert_eq!(
        vm("vcpus = 4"),
        "6:1: \"vcpus\" is worked out by the runtime; leave it out"
    );
    assert_eq!(
        host("current = []"),
        "3:1: \"current\" is worked out by the runtime; leave it out"
    );
    assert_eq!(
        host("memory.committed = 1\n\"vms.count\" = 3"),
        "no problem"
    );
}

#[test]
fn values_are_checked() {
    assert_eq!(
        host("memory.total = 'lots'"),
        "3:16: \"memory.total\" must be an amount of memory, not \"lots\"; write for example \"8 GiB\""
    );
    assert_eq!(
        host("memory.total = -1\ncpu.cores = -2\ncpu.usage = 1.5"),
        "3:16: \"memory.total\" must be 0 or more, not -1\n\
         4:13: \"cpu.cores\" must be 0 or more, not -2\n\
         5:13: \"cpu.usage\" must be from 0 to 1, not 1.5"
    );
    assert_eq!(
        host("memory.overcommit = inf"),
        "3:21: \"memory.overcommit\" must be a finite number, not inf"
    );
    assert_eq!(
        host("state = 'maintenence'"),
        "3:9: \"state\" must be \"up\", \"maintenance\", \"down\" or \"error\", not \"maintenence\" (did you mean \"maintenance\"?)"
    );
    for (row, told) in [
        (
            "pinning = 'dedicatd'",
            "\"pinning\" must be \"manual\", \"dedicated\", \"isolate-threads\" or \"resize-and-pin\", not \"dedicatd\" (did you mean \"dedicated\"?)",
        ),
        ("state = 'runing'", "\"state\" must be \"up\", \"down\", "),
        (
            "type = 'high_performance'",
            "\"type\" must be \"desktop\", \"server\" or \"high-performance\", not \"high_performance\" (did you mean \"high-performance\"?)",
        ),
        (
            "numa-nodes = [{ index = 0, memory = 1, mode = 'strickt' }]",
            "\"mode\" must be \"strict\", \"interleave\" or \"preferred\", not \"strickt\" (did you mean \"strict\"?)",
        ),
    ] {
        let said = vm(row);
        assert!(said.contains(told), "{said}");
    }
    assert_eq!(
        vm("state = 'reboot-in-progress'\ntype = 'server'"),
        "no problem"
    );
    let said = host("networks = [{ name = 'red', ipv4 = 'none' }]");
    assert!(
        said.contains("\"ipv4\" must be \"static\" or \"dhcp\", not \"none\""),
        "{said}"
    );
    assert_eq!(
        host("created = 9007199254740992"),
        "3:11: \"created\" must be at most 9007199254740991 seconds since 1970, the most that units can be given, not 9007199254740992"
    );
    assert_eq!(vm("stickiness = -1\npriority = -1"), "no problem");
    assert_eq!(
        host("\"cpu.cores\" = 1\ncpu = { cores = 2 }"),
        "4:9: \"cpu.cores\" is given twice"
    );
}

#[test]
fn ids_are_needed_and_unique() {
    assert_eq!(
        host("[[hosts]]\nname = 'x'\n[[hosts]]\nid = 'h1'\n[[hosts]]\nid = ''"),
        "3:1: a host needs \"id\": id of the host, unique in the cluster\n\
         6:6: there is a second host \"h1\"; the first is at 2:6\n\
         8:6: the id of a host must not be empty"
    );
    assert_eq!(
        host("vms = [{ id = 'v1' }]\n[[vms]]\nid = 'v1'\nhost = 'h1'"),
        "5:6: there is a second VM \"v1\"; the first is at 3:15"
    );
    assert_eq!(
        problems("tenants = [{ id = 'a' }, { id = 'a' }]\ngroups = [{ id = 'g' }, { id = 'g' }]"),
        "c.toml:1:33: there is a second tenant \"a\"; the first is at c.toml:1:19\n\
         c.toml:2:32: there is a second group \"g\"; the first is at c.toml:2:18"
    );
}

#[test]
fn hosts_that_are_named_must_be_there() {
    assert_eq!(
        vm("[[vms]]\nid = 'v2'\nhost = 'h2'\npinned = ['h1', 'hx']"),
        "8:8: there is no host \"h2\" (did you mean \"h1\"?)\n\
         9:17: there is no host \"hx\" (did you mean \"h1\"?)"
    );
    assert_eq!(
        host("vms = [{ id = 'v1', host = 'h1' }]\n[[vms]]\nid = 'v2'"),
        "3:28: a VM that stands inside a host runs there; leave \"host\" out\n\
         4:1: a VM of a cluster's document needs \"host\", the id of the host that it runs on; a VM to be placed belongs in a separate document"
    );
    assert_eq!(
        host("[[groups]]\nid = 'g'\nhosts = ['h1', 'h3']\nvms = ['unknown']"),
        "5:16: there is no host \"h3\" (did you mean \"h1\"?)"
    );
    assert_eq!(
        vm("location = [{ host = 'h1', score = 5 }, { host = 'hx', score = 5 }]"),
        "6:50: there is no host \"hx\" (did you mean \"h1\"?)"
    );
}

#[test]
fn rows_of_facts_are_checked() {
    assert_eq!(
        vm("location = [{ host = 'h1' }, { score = 'much' }]"),
        "6:13: a row of \"location\" needs \"score\": the score; ±1000000 stand for infinity\n\
         6:30: a row of \"location\" needs \"host\": id of the host\n\
         6:40: \"score\" must be a whole number, not a text"
    );
    assert_eq!(
        host("amounts = [{ name = 'gpu', total = -1 }]"),
        "3:36: \"total\" must be 0 or more, not -1"
    );
    assert_eq!(
        problems("[[tenants]]\nid = 'a'\nbindings = [{ host = 'h1', end = -1 }]"),
        "c.toml:3:13: a row of \"bindings\" needs \"start\": when it began\n\
         c.toml:3:34: \"end\" must be 0 or more, not -1"
    );
    assert_eq!(
        vm("fixed-keys = [{ name = 'cpu', value = 'high' }]"),
        "6:39: \"value\" must be a number, not a text"
    );
}

#[test]
fn groups_are_checked() {
    assert_eq!(
        problems("[[groups]]\nid = 'g'\nrule = 'postive'\nhost-hard = true\npriority = 'high'"),
        "c.toml:3:8: \"rule\" must be \"positive\" or \"negative\", not \"postive\" (did you mean \"positive\"?)\n\
         c.toml:4:13: \"host-hard\" says nothing without \"host-rule\"\n\
         c.toml:5:12: \"priority\" must be a number, not a text"
    );
}

#[test]
fn attributes_are_checked() {
    assert_eq!(
        problems(
            "[attributes.host]\na = 'text'\n[attributes.hosts]\na = 'txt'\nb = {}\nc = { kind = 'text', measure = 'bytes' }\n\
             d = { table = {} }\n'E!' = 'text'\nf = 1\ng = { table = { x = 'text' }, kind = 'text' }"
        ),
        "c.toml:1:13: \"attributes\" has no key \"host\" (did you mean \"hosts\"?)\n\
         c.toml:4:5: \"txt\" is no kind of values: there are \"integer\", \"number\", \"boolean\" and \"text\" (did you mean \"text\"?)\n\
         c.toml:5:5: an attribute needs \"kind\" or, if it is a table, \"table\"\n\
         c.toml:6:32: values in bytes are of kind \"integer\", not \"text\"\n\
         c.toml:7:15: a table needs at least one column\n\
         c.toml:8:1: \"E!\" is no name for an attribute: use lower-case letters, digits, hyphens and dots\n\
         c.toml:9:5: an attribute is defined by a kind, or by a table, not by a whole number\n\
         c.toml:10:38: an attribute that is a table has no kind and no measure: its columns have"
    );
}

#[test]
fn kinds_and_measures_are_written_as_they_are_shown() {
    use crate::Word;
    use placewright_model::Measure;
    for (word, kind) in Kind::WORDS {
        assert_eq!(*word, kind.to_string());
    }
    for (word, measure) in Measure::WORDS {
        // Documents count cores where units see thousandths of them.
        let expected = match measure {
            Measure::Millicores => "cores",
            measure => measure.name(),
        };
        assert_eq!(*word, expected);
        assert_eq!(Measure::from_name(measure.name()), Some(*measure));
    }
}

#[test]
fn many_mistakes_take_no_long_search() {
    let hosts: String = (0..2000)
        .map(|n| format!("[[hosts]]\nid = 'host-{n}'\n"))
        .collect();
    let vms: String = (0..2000)
        .map(|n| format!("[[vms]]\nid = 'vm-{n}'\nhost = 'hots-{n}'\n"))
        .collect();
    let error = ClusterDocument::read(&(hosts + &vms), "c.toml").unwrap_err();
    assert_eq!(error.iter().count() + error.more(), 2000);
}

/// The problems of a cluster with a tenant that has one binding besides its host.
fn binding(row: &str) -> String {
    problems(&format!(
        "[[tenants]]\nid = 't'\nbindings = [{{ host = 'h', {row} }}]"
    ))
}

#[test]
fn a_time_may_stand_beside_itself_after_rfc_3339_as_servers_show_it() {
    for right in [
        "start = 100, start-time = '1970-01-01T00:01:40Z'",
        "start-time = '1970-01-01T01:01:40+01:00', start = 100",
        "start-time = '1970-01-01T00:01:40Z'",
    ] {
        let text = format!("[[tenants]]\nid = 't'\nbindings = [{{ host = 'h', {right} }}]");
        let read = ClusterDocument::read(&text, "c.toml").unwrap();
        let start = read.tenants["t"].rows("bindings")[0].get("start");
        assert_eq!(start, Some(&Value::Integer(100)), "{right}");
    }
    let other = binding("start = 100, start-time = '1970-01-01T00:01:41Z'");
    let told = "\"start-time\" says another time than \"start\"; leave one of them out";
    assert!(other.contains(told), "{other}");
    let nonsense = binding("start-time = 'noon'");
    assert!(nonsense.contains("a time"), "{nonsense}");
    // In seconds it stands under its own key.
    for seconds in [
        "7",
        "7.5",
        "'7'",
        "'100'",
        "true",
        "[]",
        "'1970-01-01 00:01:40'",
    ] {
        let told = binding(&format!("start-time = {seconds}"));
        let right = "\"start-time\" must be a time after RFC 3339, such as \"2026-11-20T12:00:00Z\"; in seconds it stands under \"start\"";
        assert!(told.contains(right), "{seconds}: {told}");
    }
    // A name that is like one is none.
    let unknown = binding("start = 1, host-time = 1");
    assert!(unknown.contains("host-time"), "{unknown}");
    assert_eq!(
        host("created-time = '2026-11-26T09:00:00+01:00'"),
        "no problem"
    );
}
