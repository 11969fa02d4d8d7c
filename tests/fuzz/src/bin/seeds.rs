//! Writes the inputs that a campaign begins with, and a dictionary of the words that documents have.
//!
//!     cargo run -p placewright-fuzz --bin fuzz-seeds -- FOLDER
//!
//! They are made from the examples, policies, vectors and reference units of the repository, cut
//! into pieces of the size of an input, so that they stay right when those change.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use placewright_document::{changes_json_schema, cluster_json_schema, event_json_schema};
use placewright_fuzz::find;
use placewright_plugins as plugins;
use placewright_policy::policy_json_schema;
use placewright_tests::repository;
use placewright_tools::scenario::scenario_json_schema;

fn main() -> io::Result<()> {
    let out = std::env::args_os().nth(1).map(PathBuf::from);
    let out = out.ok_or_else(|| io::Error::other("give the folder that they are written to"))?;
    let mut seeds = Seeds { out, written: 0 };
    documents(&mut seeds)?;
    imports(&mut seeds)?;
    components(&mut seeds)?;
    requests(&mut seeds)?;
    fs::write(seeds.out.join("dictionary"), dictionary())?;
    println!("{} inputs", seeds.written);
    Ok(())
}

struct Seeds {
    out: PathBuf,
    written: usize,
}

impl Seeds {
    /// Write an input of a target, if it is no longer than inputs of it are.
    fn add(&mut self, target: &str, input: &[u8]) -> io::Result<()> {
        let longest = find(target).map_or(0, |target| target.longest);
        if input.len() > longest || input.is_empty() {
            return Ok(());
        }
        let folder = self.out.join(target);
        fs::create_dir_all(&folder)?;
        self.written += 1;
        fs::write(folder.join(format!("seed-{:04}", self.written)), input)
    }

    /// Write what lies in files below a folder and ends so.
    fn add_files(&mut self, target: &str, folder: &str, ending: &str) -> io::Result<()> {
        for path in files(&repository().join(folder), ending) {
            let input = fs::read(path)?;
            self.add(target, &input)?;
        }
        Ok(())
    }
}

/// The files below a folder that end so, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found
}

fn documents(seeds: &mut Seeds) -> io::Result<()> {
    for policy in plugins::POLICIES {
        seeds.add("policy", policy.text.as_bytes())?;
    }
    seeds.add_files("policy", "host/examples", "ven.toml")?;
    for (target, name) in [
        ("cluster", "cluster.toml"),
        ("request", "vm.toml"),
        ("scenario", "scenario.toml"),
    ] {
        seeds.add_files(target, "host/examples", name)?;
    }
    seeds.add_files("scenario", "book", ".toml")?;
    seeds.add_files("scenario", "plugins", "scenarios.toml")?;
    seeds.add_files("cluster", "book", "cluster.toml")?;
    for text in [CLUSTER, SMALL] {
        seeds.add("cluster", text.as_bytes())?;
    }
    for text in CHANGES {
        seeds.add("changes", text.as_bytes())?;
    }
    for text in REQUESTS {
        seeds.add("request", text.as_bytes())?;
    }
    for text in POLICIES {
        seeds.add("policy", text.as_bytes())?;
    }
    seeds.add("scenario", SCENARIO.as_bytes())?;
    for line in STORE {
        let text = line.replace('|', "\t");
        seeds.add("store", text.as_bytes())?;
    }
    Ok(())
}

fn imports(seeds: &mut Seeds) -> io::Result<()> {
    for ending in [".xml", ".json"] {
        seeds.add_files("ovirt", "host/tests", ending)?;
        seeds.add_files("ovirt", "tests/vectors/ovirt", ending)?;
    }
    for text in OVIRT {
        seeds.add("ovirt", text.as_bytes())?;
    }
    seeds.add_files("ganeti", "host/crates/tools/tests/ganeti", ".data")?;
    for text in GANETI {
        seeds.add("ganeti", text.as_bytes())?;
    }
    for text in TRACES {
        for how in [0, 1, 2, 3] {
            let input = [&[how][..], text.as_bytes()].concat();
            seeds.add("trace", &input)?;
        }
    }
    seeds.add_files("engine", "tests/fuzz/corpus/engine", "")?;
    for text in AMOUNTS {
        seeds.add("amounts", text.as_bytes())?;
    }
    for text in HEADERS {
        seeds.add("headers", text.as_bytes())?;
    }
    Ok(())
}

/// The smallest components, and what the largest end with.
fn components(seeds: &mut Seeds) -> io::Result<()> {
    let contrary = placewright_tests::component::contradicting();
    seeds.add("component", &contrary)?;
    seeds.add("component", &placewright_tests::component::importing_wasi())?;
    seeds.add("component", b"\0asm\x01\0\0\0")?;
    seeds.add("component", b"\0asm\x0d\0\x01\0")?;
    for unit in plugins::UNITS.iter().take(4) {
        seeds.add("component", &unit.bytes[..unit.bytes.len().min(4 << 10)])?;
    }
    for target in ["description", "answers", "decisions"] {
        // Images are made of an input's bytes as they come.
        for byte in [0_u8, 1, 5, 77, 128, 200, 255] {
            let input: Vec<u8> = (0..200_u8).map(|n| n.wrapping_mul(byte) ^ byte).collect();
            seeds.add(target, &input)?;
        }
    }
    let mut signed = b"\0asm\x0d\0\x01\0".to_vec();
    signed.extend([7; 90]);
    seeds.add("signature", &signed)?;
    seeds.add("signature", "11".repeat(32).as_bytes())
}

/// A request for each route that the API documents, and some that are not right.
fn requests(seeds: &mut Seeds) -> io::Result<()> {
    let openapi = serde_json::to_value(placewright_api::openapi())?;
    let paths = openapi["paths"].as_object().cloned().unwrap_or_default();
    for (path, methods) in paths {
        let path = path
            .replace("{cluster}", "c")
            .replace("{unit}", "worst-fit")
            .replace("{policy}", "even")
            .replace("{host}", "h0")
            .replace("{vm}", "v0")
            .replace("{number}", "1");
        for method in methods.as_object().into_iter().flat_map(|it| it.keys()) {
            let method = method.to_uppercase();
            for body in ["", "{}", r#"{"id": "q", "cpu": 1, "memory": "1 GiB"}"#] {
                if method == "GET" && !body.is_empty() {
                    continue;
                }
                let input = format!(
                    "{method} {path} HTTP/1.1\r\nhost: localhost\r\nif-match: \"1\"\r\n\
                     content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                seeds.add("http", input.as_bytes())?;
            }
        }
    }
    for input in HTTP {
        seeds.add("http", input.as_bytes())?;
    }
    Ok(())
}

/// The words of the documents' schemas, as libFuzzer reads them.
fn dictionary() -> String {
    let schemas = [
        serde_json::to_value(policy_json_schema()),
        serde_json::to_value(cluster_json_schema()),
        serde_json::to_value(changes_json_schema()),
        serde_json::to_value(event_json_schema()),
        serde_json::to_value(scenario_json_schema()),
    ];
    let mut words = BTreeSet::new();
    for schema in schemas.iter().flatten() {
        gather(schema, &mut words);
    }
    for word in [
        "[[",
        "]]",
        "{}",
        "null",
        "true",
        "1e308",
        "-0.0",
        "nan",
        "inf",
        "1 GiB",
        "50 %",
        "\\u0000",
        "If-Match: ",
        "Idempotency-Key: k",
    ] {
        words.insert(word.to_owned());
    }
    let lines = words
        .iter()
        .filter(|word| !word.contains(['"', '\\']) && word.len() < 60);
    lines.map(|word| format!("\"{word}\"\n")).collect()
}

/// Names of properties and words that a value may be.
fn gather(value: &serde_json::Value, words: &mut BTreeSet<String>) {
    if let Some(properties) = value["properties"].as_object() {
        words.extend(properties.keys().cloned());
    }
    let constants = value["enum"].as_array().into_iter().flatten();
    words.extend(
        constants
            .chain([&value["const"]])
            .filter_map(|it| it.as_str())
            .map(str::to_owned),
    );
    match value {
        serde_json::Value::Object(map) => map.values().for_each(|it| gather(it, words)),
        serde_json::Value::Array(list) => list.iter().for_each(|it| gather(it, words)),
        _ => {}
    }
}

const SMALL: &str = r#"{"hosts": [{"id": "a", "cpu": {"cores": 4}, "memory": {"total": "8 GiB", "overcommit": 1.5},
 "networks": [{"name": "n"}], "vms": [{"id": "v", "memory": 1073741824}]}], "groups": [{"id": "g", "vms": ["v"], "hosts": ["a"], "rule": "positive"}]}"#;

const CLUSTER: &str = r#"name = "x"
now = 2026-11-20T12:00:00Z
seed = 7
[attributes.hosts]
rack = { kind = "text", meaning = "m" }
[attributes.tables."hosts/disks"]
columns = { size = { kind = "integer", measure = "bytes" } }
[[hosts]]
id = "h"
zone = "z1"
state = "maintenance"
cpu = { sockets = 2, cores = 40, threads = 80, usage = "35 %" }
memory.total = "512 GiB"
attribute.rack = "r1"
gpus = [{ index = 0, model = "A100" }]
[[vms]]
id = "v"
host = "h"
pending = true
"cpu.usage" = "60 %"
pinned-hosts = ["h"]
"#;

const CHANGES: &[&str] = &[
    r#"{"hosts": [{"id": "h3", "memory.total": "1 GiB"}], "statistics": [{"id": "h0", "cpu.usage": 0.5}]}"#,
    r#"{"vms": [{"id": "n", "host": "h0"}, {"id": "v0", "host": "h1"}], "gone": {"vms": ["v1"], "hosts": ["h2"], "groups": ["apart"]}}"#,
    r#"{"missing": "ignore", "gone": {"vms": ["zzz"]}, "hosts": [{"id": "h0", "cpu.cores": null}], "groups": [{"id": "apart", "add-vms": ["x"], "remove-vms": ["v0"], "rule": null}]}"#,
    "[attributes.hosts]\nnew = 'text'\n[[tenants]]\nid = 't'\n[[tenants]]\nid = 'u'\n[[hosts]]\nid = 'h1'\nattribute.new = 'x'\n",
    r#"{"vms": [{"id": "a", "host": "h0"}, {"id": "b", "host": "nope"}]}"#,
];

const REQUESTS: &[&str] = &[
    r#"{"id": "q", "cpu": "2 cores", "memory": "4 GiB", "draw": 0.5, "excluded": ["h0"], "reserve-for": 60}"#,
    r#"{"vms": [{"id": "a"}, {"id": "b", "pinned-hosts": ["h1"]}], "together": true, "all-or-nothing": true}"#,
    "[[requests]]\nid = 'a'\nnow = 2026-11-20T12:00:00Z\n[[requests]]\nforce = 'h1'\nvms = [{ id = 'b', cpu = '500 m' }]\n",
];

const POLICIES: &[&str] = &[
    "name = 'p'\nunheeded = 'warn'\nunheeded-needs = { zone = 'ignore' }\n[[filters]]\nunit = 'affinity'\n[[costs]]\nunit = 'worst-fit'\nfactor = 2.5\nscaling = 'rank'\n",
    "[[stages]]\nname = 'a'\nkeep = 3\n[[stages.filters]]\nunit = 'worst-fit'\nposition = 'first'\non-failure = 'fail'\n[[stages]]\nname = 'b'\n[[stages.costs]]\nunit = 'worst-fit'\n",
    "watches = [{ name = 'busy', column = 'cpu.usage', at-least = 0.5 }]\ninfinite-costs = 'remove'\ntie-rule = ['first']\n[order]\nunit = 'priority'\n[balance]\nunit = 'even-guest-distribution'\n[[effects]]\nunit = 'placement-keys'\n",
    r#"{"settings": {"a": 1}, "costs": [{"unit": "worst-fit@1.0.0", "settings": {"x": null}, "factor": -1}]}"#,
];

const SCENARIO: &str = "[cluster]\nhosts = [{ id = 'a', memory.total = '8 GiB', cpu.cores = 4 }, { id = 'b', memory.total = '16 GiB', cpu.cores = 4 }]\n[[cases]]\nname = 'one'\nvm = { id = 'v', memory = '1 GiB' }\nexpect = { host = 'b' }\n[[cases]]\nname = 'two'\nhosts = [{ id = 'b', state = 'down' }]\nvm = { id = 'v', memory = '1 GiB' }\nexpect.removed = ['b']\n";

const OVIRT: &[&str] = &[
    "<?xml version=\"1.0\"?><scheduling_policy id=\"1\"><name>p</name><description>d</description><properties><property><name>HighUtilization</name><value>80</value></property></properties><filters><filter><position>0</position><scheduling_policy_unit id=\"c9ddbb34-0e1d-4061-a8d7-b0893fa80932\"/></filter><filter><name>Memory</name></filter></filters><weights><weight><factor>2</factor><name>OptimalForEvenDistribution</name></weight></weights><balances><balance><name>OptimalForEvenDistribution</name></balance></balances></scheduling_policy>",
    "{\"name\": \"p\", \"filters\": {\"filter\": [{\"name\": \"Memory\", \"position\": \"-1\"}]}, \"weights\": {\"weight\": [{\"factor\": \"1\", \"id\": \"x\"}]}, \"properties\": {\"property\": [{\"name\": \"MaxFreeMemoryForOverUtilized\", \"value\": \"1024\"}]}}",
    "<cluster><scheduling_policy><name>a</name><thresholds low=\"20\" high=\"80\" duration=\"120\"/></scheduling_policy></cluster>",
];

const GANETI: &[&str] = &[
    "group-01|fake-uuid-01|preferred||\n\nnode-01|65523|1023|62300|1000000|950000|16|N|fake-uuid-01|1\nnode-02|65523|1023|62300|1000000|950000|16|Y|fake-uuid-01|1\n\ninst-1|2048|10240|2|running|Y|node-01|node-02|drbd||1\n\nhtools:iextags:a\n\n|128,1,1024,1,1,1|128,1,1024,1,1,1;32768,8,1048576,16,8,12|plain,drbd|4.0|32.0\n",
    "group-01|fake-uuid-01|preferred|tag|\n\nnode-01|?|1023|62300|1000000|950000|16|M|fake-uuid-01\n\ninst-1|2048|10240|2|ADMIN_down|N|node-01||plain|exclude:a\n",
];

const TRACES: &[&str] = &[
    "vm,tenant,core_u,ram_u,prio,start_s,end_s\n1,2,0.5,0.25,0,-1,100\n2,2,1,1,1,5,\n",
    "vm,batch,flavor,start_s,dur_s\n1,1,2,0,10\n",
    "node,cpu_milli,memory_mib,gpu,model\nn0,96000,262144,8,A100\nn1,32000,131072,0,\n",
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np0,1000,1024,1,500,A100|V100\np1,2000,2048,0,0,\n",
];

const AMOUNTS: &[&str] = &[
    "4 GiB",
    "1.5 cores",
    "500 m",
    "35 %",
    "2 h",
    "1 day",
    "0.1",
    "-1",
    "1e400",
    "9007199254740993",
    "2026-11-20T12:00:00Z",
    "worst-fit@1.2.0",
    "worst-fit@9f2cab01",
];

const HEADERS: &[&str] = &[
    "authorization: Bearer pw_00\nhost: localhost",
    "host: 127.0.0.1:7425\norigin: http://127.0.0.1:7425",
    "host: [::1]\norigin: null",
    "host: evil.example\nauthorization: Basic dGVzdA==\nauthorization: Bearer x",
];

const HTTP: &[&str] = &[
    "GET /v1/ready HTTP/1.1\r\nhost: localhost\r\n\r\nGET /v1/clusters?limit=1&after=a HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "POST /v1/clusters/c/place HTTP/1.1\r\nhost: localhost\r\nidempotency-key: k\r\ntransfer-encoding: chunked\r\ncontent-type: application/toml\r\n\r\n7\r\nid = 'a\r\n1\r\n'\r\n0\r\n\r\n",
    "PUT /v1/policies/mine HTTP/1.1\r\nhost: localhost\r\nif-none-match: *\r\ncontent-type: application/toml\r\ncontent-length: 29\r\n\r\n[[costs]]\nunit = 'worst-fit'\n\n",
    "PUT /v1/clusters/c/settings HTTP/1.1\r\nhost: localhost\r\nif-match: W/\"1\"\r\ncontent-type: application/json\r\ncontent-length: 58\r\n\r\n{\"policy\": \"none\", \"balance\": {\"every\": 600}, \"seed\": 3 }\n\n",
    "POST /v1/clusters/c/confirm HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{\"vms\": [\"v1\"]}",
    "GET /v1/clusters/c/decisions/1/explanation HTTP/1.0\r\nhost: localhost\r\n\r\n",
];

const STORE: &[&str] = &[
    "cluster|c|0|{\"document\":{\"name\":\"c\"},\"settings\":{\"policy\":\"none\",\"revision\":1}}\nhost|h|0|{\"id\":\"h\",\"facts\":{\"cpu.cores\":4}}\nvm|v|0|{\"vm\":{\"id\":\"v\"},\"host\":\"h\"}\ncounters|c|7|\n",
    "policy|mine|1|{\"name\":\"mine\",\"text\":\"[[costs]]\\nunit='worst-fit'\",\"origin\":\"api\"}\nsetting|library|0|{}\nunit|worst-fit|1|{}\n",
    "cluster|c|0|{\"document\":{},\"settings\":{\"policy\":\"even\",\"revision\":18446744073709551615}}\nplan|c|3|{}\nended|v|0|{}\nanswer|k|1000|[\"a\",\"b\"]\ndecision|c|1|{}\nmeasured|h|0|{}\ntenant|t|0|{}\ngroup|g|0|{}\n",
];
