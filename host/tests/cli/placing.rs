//! `place` and `balance` on the documents in `host/examples`.

use crate::run::{Folder, INPUT, NO, example, placewright};

fn place(words: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = ["place", "--cluster"].map(str::to_owned).into();
    all.push(example("cluster.toml"));
    all.extend(words.iter().map(|word| (*word).to_owned()));
    all
}

fn examples(policy: &str, words: &[&str]) -> Vec<String> {
    let (policy, vm) = (example(policy), example("vm.toml"));
    place(&[&["--policy", &policy, "--vm", &vm], words].concat())
}

#[test]
fn the_example_policies_place_the_example_vm_away_from_the_other_database() {
    for policy in ["even.toml", "saving.toml"] {
        let decisions = placewright(&examples(policy, &["--format", "json"])).json();
        assert_eq!(decisions[0]["host"], "h2", "{policy}: {decisions}");
        assert_eq!(decisions[0]["vms"][0], "database-2");
        assert_eq!(
            decisions[0]["left-out"].as_array().unwrap().len(),
            0,
            "{decisions}"
        );
    }
}

#[test]
fn an_explanation_tells_of_every_host() {
    let out = placewright(&examples("even.toml", &["--explain"])).done();
    for part in [
        "h1     affinity",
        "h2 <- chosen",
        "host h3 is not up: its state is maintenance",
        "Chosen: h2",
        "Policy: even",
        "Units: memory",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

#[test]
fn an_explanation_as_json_holds_reasons_values_costs_and_digests() {
    let decisions = placewright(&examples("even.toml", &["--explain", "--format", "json"])).json();
    let explanation = &decisions[0]["explanation"];
    assert_eq!(explanation["chosen"], "h2");
    let hosts = explanation["stages"][0]["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 2, "h3 is in maintenance: {hosts:?}");
    let removed = &hosts[0]["removed"];
    assert_eq!(removed["unit"], "affinity", "{removed}");
    assert!(removed["reason"].is_string());
    let cost = &hosts[1]["costs"][0];
    for key in ["raw", "scaled", "weighted"] {
        assert!(cost[key].is_number(), "{cost}");
    }
    for unit in explanation["units"].as_array().unwrap() {
        assert_eq!(unit["digest"].as_str().unwrap().len(), 64);
    }
}

#[test]
fn an_explanation_tells_the_settings_and_the_overcommit_that_decided() {
    let folder = Folder::new();
    let cluster = folder.write(
        "cluster.toml",
        "name = 'c'\n[[hosts]]\nid = 'own'\ncpu = { total = '8 cores', overcommit = 1.5 }\nmemory.total = '64 GiB'\n\
         [[hosts]]\nid = 'plain'\ncpu.total = '8 cores'\nmemory.total = '64 GiB'\n",
    );
    let vm = folder.write("vm.toml", "id = 'v'\ncpu = '16 cores'\ncores = 1\n");
    let explained = placewright(&["place", "--cluster", &cluster, "--vm", &vm, "--explain"]);
    assert_eq!(explained.code, NO, "{explained:?}");
    let words: Vec<&str> = explained.out.split_whitespace().collect();
    let out = words.join(" ");
    assert!(out.contains("too little CPU left to promise"), "{out}");
    assert!(out.contains("cpu.overcommit 150.0 %"), "{out}");
    assert!(out.contains("setting overcommit 100.0 %"), "{out}");
    let why = placewright(&[
        "explain",
        "--cluster",
        &cluster,
        "--vm",
        &vm,
        "--host",
        "own",
        "--format",
        "json",
    ]);
    for part in ["\"settings\"", "\"cpu.overcommit\"", "\"150.0 %\""] {
        assert!(why.out.contains(part), "{part}: {why:?}");
    }
}

#[test]
fn a_host_that_ganeti_costs_infinitely_much_is_no_place() {
    let folder = Folder::new();
    let cluster = folder.write(
        "cluster.toml",
        "name = 'c'\n[[hosts]]\nid = 'h'\ncpu.total = '8 cores'\nmemory.total = '8 GiB'\n\
         attribute.disk.total = 1000\nattribute.disk.available = 1000\n\
         [attributes.hosts]\n'disk.total' = 'integer'\n'disk.available' = 'integer'\n",
    );
    let place = |memory: &str| {
        let vm = folder.write("vm.toml", format!("id = 'v'\nmemory = '{memory}'\n"));
        let policy = ["--policy", "ganeti", "--format", "json", "--explain"];
        placewright(&[&["place", "--cluster", &cluster, "--vm", &vm][..], &policy].concat())
    };
    let fits = place("4 GiB");
    assert_eq!(fits.code, 0, "{fits:?}");
    let refused = place("500 GiB");
    assert_eq!(refused.code, NO, "{refused:?}");
    let decisions: serde_json::Value = serde_json::from_str(&refused.out).unwrap();
    assert_eq!(decisions[0]["host"], serde_json::Value::Null, "{decisions}");
    let removed = &decisions[0]["explanation"]["stages"][0]["hosts"][0]["removed"];
    assert_eq!(removed["filter"], "ganeti-score", "{decisions}");
    let reason = "costs infinitely much, so it cannot take the VM";
    assert_eq!(removed["reason"], reason, "{decisions}");
}

#[test]
fn the_same_documents_give_the_same_output() {
    let words = examples("even.toml", &["--explain", "--format", "json"]);
    assert_eq!(placewright(&words).done(), placewright(&words).done());
}

#[test]
fn a_vm_that_finds_no_host_is_told_why_and_the_exit_code_says_so() {
    let folder = Folder::new();
    let vm = folder.write(
        "vm.toml",
        "id = 'giant'\ncpu = '1 cores'\nmemory = '9 TiB'\n",
    );
    let run = placewright(&place(&["--policy", "none", "--vm", &vm, "--explain"]));
    assert_eq!((run.code, run.err.as_str()), (NO, ""));
    for part in [
        "none of 2 hosts is left",
        "memory: 2",
        "memory.total 512",
        "Chosen: none",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
}

#[test]
fn amounts_that_are_surely_mistakes_are_warnings_of_every_command() {
    let folder = Folder::new();
    let cluster = folder.write(
        "cluster.toml",
        "[[hosts]]\nid = 'h'\ncpu.cores = 4\nmemory = { total = '8 GiB', overcommit = 150 }\n\
         [[hosts]]\nid = 's'\ncpu.cores = 4\nmemory.total = 512\n\
         [[vms]]\nid = 'r'\nhost = 'h'\ncpu = 1\n",
    );
    let vm = folder.write("vm.toml", "id = 'v'\ncpu = 1\nmemory = 0\n");
    for words in [
        &["place", "--cluster", &cluster, "--vm", &vm][..],
        &["policy", "check", "general", "--cluster", &cluster],
        &["balance", "--cluster", &cluster],
    ] {
        let run = placewright(words);
        for part in [
            "warning: host \"h\" has memory.overcommit 150, which is 150 times what it has",
            "warning: host \"s\" has 512 bytes of memory, less than 1 GiB",
            "warning: VM \"r\" says no memory",
        ] {
            assert!(run.err.contains(part), "{words:?} {part}: {}", run.err);
        }
    }
    let run = placewright(&["place", "--cluster", &cluster, "--vm", &vm]);
    let said = "warning: VM \"v\" has 0 bytes of memory";
    assert!(run.err.contains(said), "{}", run.err);
}

#[test]
fn hosts_that_are_not_up_are_told_with_state_and_name() {
    let folder = Folder::new();
    let vm = folder.write(
        "vm.toml",
        "id = 'v'\ncpu = 1\nmemory = '1 GiB'\nallowed = ['h3']\n",
    );
    let run = placewright(&place(&["--vm", &vm, "--explain"]));
    assert_eq!((run.code, run.err.as_str()), (NO, ""));
    for part in [
        "no host was considered",
        "state: 1 (is not up: its state is maintenance): h3",
        "2 hosts, of which each is not among the hosts that the request allows: h1, h2",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
}

#[test]
fn requests_are_decided_one_after_the_other_and_see_each_other() {
    let folder = Folder::new();
    let vms = "[[vms]]\nid = 'a'\ncpu = '40 cores'\nmemory = '4 GiB'\n\
               [[vms]]\nid = 'b'\ncpu = '36 cores'\nmemory = '4 GiB'\n\
               [[vms]]\nid = 'c'\ncpu = '30 cores'\nmemory = '4 GiB'\n";
    let vms = folder.write("vms.toml", vms);
    let cluster = folder.write(
        "cluster.toml",
        "[[hosts]]\nid = 'h1'\ncpu.cores = 40\nmemory.total = '64 GiB'\n\
         [[hosts]]\nid = 'h2'\ncpu.cores = 40\nmemory.total = '64 GiB'\n",
    );
    let words = [
        "place",
        "--cluster",
        &cluster,
        "--policy",
        "best-fit",
        "--vm",
        &vms,
    ];
    let run = placewright(&[words.as_slice(), &["--format", "json"]].concat());
    assert_eq!(run.code, NO, "{}", run.err);
    let decisions: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let hosts: Vec<_> = (0..3)
        .map(|number| decisions[number]["host"].as_str())
        .collect();
    assert_eq!(hosts, [Some("h1"), Some("h2"), None]);
}

#[test]
fn json_documents_are_read_like_toml() {
    let folder = Folder::new();
    let cluster = folder.write(
        "cluster.json",
        r#"{"hosts": [{"id": "h1", "cpu.cores": 8, "memory": {"total": "16 GiB"}}]}"#,
    );
    let vm = folder.write("vm.json", r#"{"id": "v", "cpu": 1, "memory": "1 GiB"}"#);
    let policy = folder.write("policy.json", r#"{"filters": [{"unit": "best-fit"}]}"#);
    let words = [
        "place",
        "--cluster",
        &cluster,
        "--policy",
        &policy,
        "--vm",
        &vm,
    ];
    assert!(placewright(&words).done().contains("h1"));
}

#[test]
fn a_policy_is_checked_and_found_fine() {
    for policy in ["even.toml", "saving.toml"] {
        let out = placewright(&["policy", "check", &example(policy)]).done();
        assert!(out.contains("is fine"), "{out}");
    }
}

#[test]
fn a_request_with_a_need_that_the_policy_does_not_check_is_refused() {
    let vm = example("vm.toml");
    let words = place(&["--policy", "even-distribution", "--vm", &vm]);
    let refused = placewright(&words).refused(INPUT);
    for part in ["database-2", "(nics)", "even-distribution", "network"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
}

#[test]
fn a_policy_that_warns_of_a_need_decides_and_says_so() {
    let folder = Folder::new();
    let policy = folder.write(
        "warning.toml",
        "unheeded = 'warn'\n[[filters]]\nunit = 'memory'\n",
    );
    let (cluster, vm) = (example("cluster.toml"), example("vm.toml"));
    let words = [
        "place",
        "--cluster",
        &cluster,
        "--policy",
        &policy,
        "--vm",
        &vm,
    ];
    let text = placewright(&words).done();
    assert!(text.contains("warning: VM"), "{text}");
    let decisions = placewright(&[&words[..], &["--format", "json"]].concat()).json();
    assert_eq!(decisions[0]["unheeded"][0]["need"], "nics", "{decisions}");
}

#[test]
fn the_check_of_a_policy_for_a_cluster_tells_which_needs_of_its_vms_go_unheeded() {
    let folder = Folder::new();
    let cluster = folder.write(
        "cluster.toml",
        "[[hosts]]\nid = 'h'\ncpu.cores = 4\nvms = [{ id = 'v', memory = '1 GiB', pinned = ['h'] }]\n",
    );
    let words = [
        "policy",
        "check",
        "even-distribution",
        "--cluster",
        &cluster,
    ];
    let text = placewright(&words).done();
    for part in [
        "is fine",
        "\"pinned\"",
        "need: v",
        "are refused",
        "pin-to-host",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_balance_unit_is_asked_about_the_example_cluster() {
    let (cluster, policy) = (example("cluster.toml"), example("saving.toml"));
    let words = [
        "balance",
        "--cluster",
        &cluster,
        "--policy",
        &policy,
        "--format",
        "json",
    ];
    assert!(placewright(&words).json()["moves"].is_array());
}

#[test]
fn an_amount_that_is_surely_a_mistake_is_warned_of() {
    let folder = Folder::new();
    let vm = folder.write("vm.json", r#"{"id": "v", "cpu": 0.5, "memory": 8192}"#);
    let words = ["--policy", "none", "--vm", &vm, "--format", "json"];
    let run = placewright(&place(&words));
    assert!(
        run.err
            .starts_with("warning: VM \"v\" has 8192 bytes of memory, less than 1 MiB"),
        "{}",
        run.err
    );
    let decisions: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let warnings = decisions[0]["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn a_host_of_unknown_load_is_not_preferred_by_a_factor_below_0() {
    let folder = Folder::new();
    let mut cluster = String::from("name = \"c\"\n");
    for (id, usage) in [
        ("a-unknown", ""),
        ("b-idle", ", usage = 0.1"),
        ("d-busy", ", usage = 0.7"),
    ] {
        cluster += &format!(
            "[[hosts]]\nid = \"{id}\"\nmemory.total = \"64 GiB\"\n\
             cpu = {{ sockets = 1, cores = 16, threads = 16{usage} }}\n"
        );
    }
    let cluster = folder.write("cluster.toml", cluster);
    let vm = folder.write("vm.toml", "id = \"s\"\ncpu = 1\nmemory = \"1 GiB\"\n");
    for scaling in ["none", "min-max", "rank", "stretch", "stretched-rank"] {
        let policy = format!(
            "[[filters]]\nunit = \"memory\"\n\
             [[costs]]\nunit = \"even-distribution\"\nfactor = -1\nscaling = \"{scaling}\"\n"
        );
        let policy = folder.write("policy.toml", policy);
        let words = [
            "place",
            "--cluster",
            &cluster,
            "--policy",
            &policy,
            "--vm",
            &vm,
        ];
        let placed = placewright(&[&words[..], &["--format", "json"]].concat()).json();
        assert_eq!(placed[0]["host"], "d-busy", "{scaling}: {placed}");
    }
}
