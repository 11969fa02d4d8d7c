//! Scheduling policies of oVirt become policies here.

use crate::run::{Folder, INPUT, Run, placewright, placewright_given};

/// A policy that spreads load, as an engine answers with it.
const EVEN: &str = r#"<scheduling_policy id="1">
  <name>spread</name>
  <filters>
    <filter id="6d636bf6-a35c-4f9d-b68d-0731f720cddc"><position>-1</position></filter>
    <filter id="98842bc5-4094-4b83-8224-7b50f86a94c9"><position>0</position></filter>
    <filter id="c9ddbb34-0e1d-4061-a8d7-b0893fa80932"><position>0</position></filter>
    <filter id="84e6ddee-ab0d-42dd-82f0-c297779db566"><position>0</position></filter>
    <filter id="e69808a9-8a41-40f1-94ba-dd5d385d82d8"><position>1</position></filter>
  </filters>
  <weights>
    <weight id="7db4ab05-81ab-42e8-868a-aee2df483edb"><factor>2</factor></weight>
    <weight id="84e6ddee-ab0d-42dd-82f0-c297779db567"><factor>1</factor></weight>
    <weight id="427aed70-dae3-48ba-8fe9-a902a9d563c8"><factor>20</factor></weight>
  </weights>
  <balances><balance id="7db4ab05-81ab-42e8-868a-aee2df483ed2"/></balances>
  <properties>
    <property><name>CpuOverCommitDurationMinutes</name><value>3</value></property>
    <property><name>HighUtilization</name><value>85</value></property>
    <property><name>MaxFreeMemoryForOverUtilized</name><value>1024</value></property>
  </properties>
</scheduling_policy>
"#;

/// Two hosts, one of which has little to do.
const CLUSTER: &str = "
now = 1000
[[hosts]]
id = 'busy'
cpu = { sockets = 1, cores = 8, threads = 16, usage = 0.7 }
memory = { total = '32 GiB', free = '30 GiB' }
[[hosts]]
id = 'idle'
cpu = { sockets = 1, cores = 8, threads = 16, usage = 0.1 }
memory = { total = '32 GiB', free = '30 GiB' }
";

/// The same, with a unit that is not wanted here.
fn with_hosted_engine() -> String {
    let filter = r#"<filters><filter id="e659c871-0bf1-4ccc-b748-f28f5d08dffd"/>"#;
    EVEN.replace("<filters>", filter)
}

fn import(files: &[&str], words: &[&str]) -> Run {
    placewright(&[&["policy", "import-ovirt"], files, words].concat())
}

fn is_fine(folder: &Folder, policy: &str) -> String {
    let file = folder.write("imported.toml", policy);
    let text = placewright(&["policy", "check", &file]).done();
    assert!(text.contains("is fine"), "{text}");
    text
}

#[test]
fn an_imported_policy_passes_the_check_and_places() {
    let folder = Folder::new();
    let file = folder.write("even.xml", EVEN);
    let text = import(&[&file], &["--without-mandatory"]).done();
    for part in [
        "name = \"spread\"",
        "high-utilization = \"85 %\"",
        "over-commit-duration = \"3 min\"",
        "low-memory = \"1024 MiB\"",
        "unit = \"cpu\"\nposition = \"first\"",
        "factor = 20\nscaling = \"rank\"",
        "[balance]\nunit = \"even-distribution\"",
        "name = \"cpu-over\"",
        "at-least = \"85 %\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let said = is_fine(&folder, &text);
    for unit in [
        "cpu",
        "cpu-overloaded",
        "memory",
        "affinity",
        "even-distribution",
    ] {
        assert!(said.contains(unit), "{unit}: {said}");
    }
    let cluster = folder.write("cluster.toml", CLUSTER);
    let vm = folder.write("vm.toml", "id = 'v'\ncpu = '1 cores'\nmemory = '1 GiB'\n");
    let policy = folder.path("imported.toml");
    let words = [
        "place",
        "--cluster",
        &cluster,
        "--vm",
        &vm,
        "--policy",
        &policy,
    ];
    let placed = placewright(&words).done();
    assert!(placed.contains("idle"), "{placed}");
}

#[test]
fn mandatory_filters_are_added_and_the_policy_still_passes_the_check() {
    let folder = Folder::new();
    let file = folder.write("even.xml", EVEN);
    let run = import(&[&file], &["--selector", "basic"]);
    assert_eq!(run.code, 0, "{}", run.err);
    // There are no mediated devices here.
    assert!(
        run.err
            .contains("warning: mandatory filter \"MDevice\" is about mediated devices"),
        "{}",
        run.err
    );
    assert!(
        run.out.contains("factor = 2\nscaling = \"stretch\""),
        "{}",
        run.out
    );
    is_fine(&folder, &run.out);
}

#[test]
fn standard_input_is_read_and_the_policy_can_be_written_to_a_file() {
    let folder = Folder::new();
    let out = folder.path("out.toml");
    let words = [
        "policy",
        "import-ovirt",
        "-",
        "--without-mandatory",
        "-o",
        &out,
    ];
    assert_eq!(placewright_given(EVEN, &words).done(), "");
    is_fine(&folder, &std::fs::read_to_string(&out).unwrap());
}

#[test]
fn what_has_no_unit_here_is_told_and_can_be_refused() {
    let folder = Folder::new();
    let file = folder.write("even.xml", with_hosted_engine());
    let run = import(&[&file], &["--without-mandatory"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let warning = format!("warning: {file}:3:12: filter \"HA\" (e659c871-");
    assert!(run.err.starts_with(&warning), "{}", run.err);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    is_fine(&folder, &run.out);
    let out = folder.path("strict.toml");
    let run = import(&[&file], &["--without-mandatory", "--strict", "-o", &out]);
    assert_eq!((run.code, run.out.as_str()), (INPUT, ""));
    assert!(run.err.starts_with(&warning), "{}", run.err);
    assert!(
        run.err.contains("\nerror: nothing is written, since"),
        "{}",
        run.err
    );
    assert!(!std::path::Path::new(&out).exists());
}

#[test]
fn a_policy_without_any_unit_is_one() {
    let policy =
        r#"{"name": "nothing", "filters": {}, "weights": {}, "balances": {}, "properties": {}}"#;
    let words = ["policy", "import-ovirt", "-", "--without-mandatory"];
    let text = placewright_given(policy, &words).done();
    is_fine(&Folder::new(), &text);
}

#[test]
fn mistakes_are_told_with_file_and_place_and_nothing_is_written() {
    let folder = Folder::new();
    let out = folder.path("out.toml");
    for (content, place, part) in [
        ("<scheduling_policy>", ":1:1: ", "this is no XML"),
        ("name = 'a'", ":1:1: ", "neither XML"),
        ("{\"name\": 1,}", ":1:", "this is no JSON"),
        ("<html/>", ":1:1: ", "?follow=filters,weights,balances"),
        (
            &EVEN.replace("<position>-1<", "<position>5<"),
            ":4:55: ",
            "\"position\" must be -1 for the first",
        ),
        (
            &EVEN.replace("<value>85<", "<value>8.5<"),
            ":18:5: ",
            "property \"HighUtilization\" must match",
        ),
    ] {
        let file = folder.write("bad.xml", content);
        let said = import(&[&file], &["-o", &out]).refused(INPUT);
        assert!(said.starts_with(&format!("error: {file}{place}")), "{said}");
        assert!(said.contains(part), "{said}");
        assert!(!std::path::Path::new(&out).exists());
    }
    let said = import(&["nowhere.xml"], &[]).refused(INPUT);
    assert!(said.contains("cannot read nowhere.xml"), "{said}");
}

#[test]
fn what_a_units_own_rule_forbids_is_refused() {
    let policy = r#"{"name": "a", "weights": {"weight": [{"id": "736999d0-1023-46a4-9a75-1316ed50e15b"}]},
        "properties": {"property": [
            {"name": "MaxFreeMemoryForOverUtilized", "value": "4096"},
            {"name": "MinFreeMemoryForUnderUtilized", "value": "1024"}
        ]}}"#;
    let words = ["policy", "import-ovirt", "-", "--without-mandatory"];
    let said = placewright_given(policy, &words).refused(INPUT);
    assert!(
        said.contains("high-memory must not be below low-memory"),
        "{said}"
    );
}

/// The filters of every policy that comes with oVirt, in order.
const STOCK_FILTERS: [&str; 15] = [
    "6d636bf6-a35c-4f9d-b68d-0731f720cddc",
    "98842bc5-4094-4b83-8224-7b50f86a94c9",
    "58894b5b-d55d-4f85-8f82-5bf217e640b0",
    "e659c871-0bf1-4ccc-b748-f28f5d08dffd",
    "43b9e654-337f-4b0d-a896-cbb22ce5a7fc",
    "c9ddbb34-0e1d-4061-a8d7-b0893fa80932",
    "fcbfe4b1-b83e-4428-b9d3-b3d348b93be6",
    "23e07b34-66dd-4735-bc45-bcddded02c05",
    "e659c871-0bf1-4ccc-b748-f28f5d08ddda",
    "84e6ddee-ab0d-42dd-82f0-c297779db566",
    "e69808a9-8a41-40f1-94ba-dd5d385d82d8",
    "72163d1c-9468-4480-99d9-0888664eb143",
    "53bff075-8306-446f-a53b-9c872a29d197",
    "47ea3cd0-8a2f-438d-9f63-49534178882a",
    "aae8c702-4756-4934-b84c-8daf59efc134",
];

/// The weights that all of them have.
const STOCK_WEIGHTS: [(&str, u32); 7] = [
    ("591cdb81-ba67-45b4-9642-e28f61a97d57", 99),
    ("98e92667-6161-41fb-b3fa-34f820ccbc4b", 1),
    ("7f262d70-6cac-11e3-981f-0800200c9a66", 1),
    ("84e6ddee-ab0d-42dd-82f0-c297779db567", 1),
    ("427aed70-dae3-48ba-8fe9-a902a9d563c8", 20),
    ("71931e14-f0e6-4f91-a7c8-d494a26e3a09", 4),
    ("1b14ac11-20e9-4593-a149-2eb83c60a330", 5),
];

/// A policy that comes with oVirt, by the weights and the balance that it has of its
/// own.
fn stock(name: &str, weights: &[(&str, u32)], balance: &str) -> String {
    let maintenance = ["0bd8fef9-bcb4-4250-9998-410f01608d9b"];
    let first: &[&str] = match name {
        "cluster_maintenance" => &maintenance,
        _ => &[],
    };
    let filters = first.iter().chain(&STOCK_FILTERS).enumerate();
    let filters: String = filters
        .map(|(number, id)| {
            let position = -i32::from(number == 0);
            format!("<filter id='{id}'><position>{position}</position></filter>")
        })
        .collect();
    let weights: String = weights
        .iter()
        .chain(&STOCK_WEIGHTS)
        .map(|(id, factor)| format!("<weight id='{id}'><factor>{factor}</factor></weight>"))
        .collect();
    format!(
        "<scheduling_policy><name>{name}</name><filters>{filters}</filters><weights>{weights}\
         </weights><balances><balance id='{balance}'/></balances></scheduling_policy>"
    )
}

/// What a policy document has under a key: of each entry the values of these keys.
fn entries(document: &toml::Table, list: &str, keys: &[&str]) -> Vec<Vec<Option<String>>> {
    let list = document.get(list).and_then(toml::Value::as_array);
    let mut entries: Vec<_> = list
        .into_iter()
        .flatten()
        .map(|entry| {
            let value = |key: &&str| entry.get(*key).map(ToString::to_string);
            keys.iter().map(value).collect()
        })
        .collect();
    entries.dedup();
    entries
}

#[test]
fn the_policies_that_come_with_ovirt_become_those_that_come_with_the_program() {
    let even = [
        ("7db4ab05-81ab-42e8-868a-aee2df483edb", 2),
        ("4134247a-9c58-4b9a-8593-530bb9e37c59", 1),
    ];
    let saving = [
        ("736999d0-1023-46a4-9a75-1316ed50e15b", 2),
        ("9dfe6086-646d-43b8-8eef-4d94de8472c8", 1),
    ];
    let guests = [("3ba8c988-f779-42c0-90ce-caa8243edee7", 2)];
    let nothing = "38440000-8cf0-14bd-c43e-10b96e4ef00a";
    for (name, weights, balance) in [
        ("none", &even[..], nothing),
        ("cluster_maintenance", &even, nothing),
        (
            "evenly_distributed",
            &even,
            "7db4ab05-81ab-42e8-868a-aee2df483ed2",
        ),
        (
            "power_saving",
            &saving,
            "736999d0-1023-46a4-9a75-1316ed50e151",
        ),
        (
            "vm_evenly_distributed",
            &guests,
            "d58c8e32-44e1-418f-9222-52cd887bf9e0",
        ),
    ] {
        let text = stock(name, weights, balance);
        let run = placewright_given(&text, &["policy", "import-ovirt", "-"]);
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        let own = format!("ovirt-{}", name.replace('_', "-"));
        let own = placewright(&["policy", "show", &own]).done();
        let [imported, own]: [toml::Table; 2] = [&run.out, &own].map(|it| it.parse().unwrap());
        // Affinity may stand there once for VMs and hosts, or twice.
        let filters = |document| entries(document, "filters", &["unit"]);
        assert_eq!(filters(&imported), filters(&own), "{name}");
        assert_eq!(imported.get("effects"), own.get("effects"), "{name}");
        assert_eq!(imported.get("balance"), own.get("balance"), "{name}");
        let costs = |document| {
            let keys = ["unit", "name", "factor", "scaling", "settings"];
            let mut costs = entries(document, "costs", &keys);
            costs.sort();
            costs
        };
        assert_eq!(costs(&imported), costs(&own), "{name}");
        // The VM of oVirt's engine, time stamp counters, mediated devices.
        assert_eq!(run.err.lines().count(), 5, "{name}: {}", run.err);
    }
}
