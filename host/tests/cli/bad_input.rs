//! Bad input: one clear sentence that names the thing and the remedy, an exit code
//! other than 0, no panic.

use placewright_tests::component::{contradicting, importing_wasi, renamed};
use placewright_tests::units::component;

use crate::run::{Folder, INPUT, NO, UNIT, example, placewright};

/// A cluster of two hosts, and a VM.
const CLUSTER: &str = "
now = 1000
[[hosts]]
id = 'h1'
cpu.cores = 8
memory.total = '16 GiB'
[[hosts]]
id = 'h2'
cpu.cores = 8
memory.total = '32 GiB'
";
const VM: &str = "id = 'v'\ncpu = '1 cores'\nmemory = '1 GiB'\n";

/// What `place` says and with which code it ends, under a policy over the units for
/// tests.
fn placed(policy: &str) -> crate::run::Run {
    let folder = Folder::new();
    for unit in ["misbehaving", "unsound"] {
        folder.write(&format!("units/{unit}.wasm"), component(unit));
    }
    placewright(&[
        "place",
        "--cluster",
        &folder.write("cluster.toml", CLUSTER),
        "--vm",
        &folder.write("vm.toml", VM),
        "--policy",
        &folder.write("policy.toml", policy),
        "--units",
        &folder.path("units"),
    ])
}

/// What every command says of a file that is no unit: the same.
fn unit_refused(bytes: &[u8]) -> String {
    let folder = Folder::new();
    let file = folder.write("bad.wasm", bytes);
    let said = placewright(&["unit", "inspect", &file]).refused(INPUT);
    assert!(
        said.starts_with(&format!("error: cannot load {file}: ")),
        "{said}"
    );
    let checked = placewright(&["unit", "check", &file]);
    assert_eq!((checked.code, checked.err.as_str()), (NO, ""));
    let sentence = said.lines().next().unwrap_or_default();
    let sentence = sentence.strip_prefix(&format!("error: cannot load {file}: "));
    let sentence = sentence.expect("it was told above");
    assert!(checked.out.contains(sentence), "{}", checked.out);
    let (cluster, vm) = (example("cluster.toml"), example("vm.toml"));
    let words = [
        "place",
        "--cluster",
        &cluster,
        "--vm",
        &vm,
        "--policy",
        "none",
        "--units",
    ];
    let placed = placewright(&[words.as_slice(), &[&file]].concat()).refused(INPUT);
    assert_eq!(placed, said);
    said
}

#[test]
fn truncated_bytes() {
    let whole = component("misbehaving");
    let said = unit_refused(&whole[..whole.len() / 2]);
    assert!(
        said.contains("cut off or damaged") || said.contains("no unit"),
        "{said}"
    );
}

#[test]
fn random_bytes() {
    assert!(unit_refused(b"anything at all").contains("it is not a WebAssembly component"));
    assert!(unit_refused(b"").contains("it is empty"));
}

#[test]
fn a_core_module_instead_of_a_component() {
    assert!(unit_refused(b"\0asm\x01\0\0\0").contains("`placewright unit build`"));
}

#[test]
fn an_unknown_version_of_the_contract() {
    let unit = renamed(&component("misbehaving"), "@0.1.0", "@0.8.0");
    assert!(unit_refused(&unit).contains("upgrade Placewright, or rebuild the unit"));
}

#[test]
fn forbidden_imports() {
    assert!(unit_refused(&importing_wasi()).contains("wasi:cli/environment@0.2.0"));
}

#[test]
fn a_description_that_contradicts_the_exports() {
    assert!(unit_refused(&contradicting()).contains("the part judge is not described"));
}

#[test]
fn an_unknown_column() {
    let unit = renamed(&component("unsound"), "memory.total", "memory.totel");
    assert!(unit_refused(&unit).contains("did you mean memory.total?"));
}

#[test]
fn a_file_or_folder_that_is_not_there() {
    let said = placewright(&["unit", "inspect", "nowhere.wasm"]).refused(INPUT);
    assert!(said.contains("cannot read nowhere.wasm"), "{said}");
    let vm = example("vm.toml");
    let words = [
        "place",
        "--policy",
        "none",
        "--vm",
        &vm,
        "--cluster",
        "nowhere.toml",
    ];
    let said = placewright(&words).refused(INPUT);
    assert!(said.contains("cannot read nowhere.toml"), "{said}");
    let folder = Folder::new();
    folder.write("empty/readme.txt", "");
    let words = ["policy", "check", "none", "--units"];
    let said = placewright(&[words.as_slice(), &[&folder.path("empty")]].concat()).refused(INPUT);
    assert!(said.contains("has no unit"), "{said}");
}

#[test]
fn calls_that_go_wrong_in_a_filter() {
    for (unit, how, part) in [
        ("misbehaving", "loops-forever", "a loop that does not end"),
        ("misbehaving", "eats-memory", "of memory and was refused"),
        (
            "misbehaving",
            "recurses-forever",
            "a recursion that does not end",
        ),
        (
            "misbehaving",
            "panics",
            "the headroom of 1073741824 is beyond me",
        ),
        ("misbehaving", "fails", "the table of prices is empty"),
        ("unsound", "reason-out-of-range", "gave the reason 2"),
        ("unsound", "wrong-until", "entries of until"),
        ("unsound", "traps-silently", "trapped"),
    ] {
        let policy = format!("[[filters]]\nunit = '{unit}'\nsettings.how = '{how}'");
        let said = placed(&policy).refused(UNIT);
        assert!(said.contains(part), "{how}: {said}");
        assert!(
            said.contains(&format!("unit \"{unit}\" (")),
            "{how}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{how}: {said}");
    }
}

#[test]
fn calls_that_go_wrong_in_a_cost_function_are_told_beside_the_decision() {
    for (unit, how, part) in [
        ("unsound", "wrong-length", "costs where"),
        ("misbehaving", "answers-nan", "a cost is a number"),
        (
            "misbehaving",
            "answers-minus-infinity",
            "a cost is a number",
        ),
        ("unsound", "huge-answer", "an answer of more than"),
        ("unsound", "cost-out-of-range", "outside the range"),
    ] {
        let policy = format!("[[costs]]\nunit = '{unit}'\nsettings.how = '{how}'");
        // The table breaks lines where it likes.
        let out = placed(&policy).done();
        let words: Vec<&str> = out.split_whitespace().collect();
        let said = words.join(" ");
        assert!(said.contains("h1"), "{how}: {out}");
        assert!(said.contains("left out"), "{how}: {out}");
        let first = part.split(' ').next().unwrap();
        assert!(said.contains(first), "{how}: {out}");
    }
}

#[test]
fn a_request_that_a_unit_refuses_is_the_inputs_fault() {
    let said = placed("[[filters]]\nunit = 'misbehaving'\nsettings.how = 'refuses'").refused(INPUT);
    assert!(said.contains("the VM must name its owner"), "{said}");
}

#[test]
fn a_policy_with_several_mistakes() {
    let folder = Folder::new();
    let policy = folder.write(
        "policy.toml",
        "tie-rule = ['fewest']\n[[filters]]\nunit = 'memry'\n[[filters]]\nunit = 'memory'\n\
         settings.headroom = -1\n[[costs]]\nunit = 'even-distribution'\nfactr = 2\n",
    );
    let checked = placewright(&["policy", "check", &policy]);
    assert_eq!(checked.code, NO, "{}{}", checked.out, checked.err);
    let told = format!("{}{}", checked.out, checked.err);
    for part in [
        format!("{policy}:1:13: "),
        format!("{policy}:3:8: there is no unit \"memry\" (did you mean \"memory\"?)"),
        format!("{policy}:6:21: \"headroom\" of unit \"memory\" must be"),
        format!("{policy}:9:1: a cost has no key \"factr\" (did you mean \"factor\"?)"),
    ] {
        assert!(told.contains(&part), "{part}: {told}");
    }
    let (cluster, vm) = (example("cluster.toml"), example("vm.toml"));
    let words = [
        "place",
        "--cluster",
        &cluster,
        "--vm",
        &vm,
        "--policy",
        &policy,
    ];
    let said = placewright(&words).refused(INPUT);
    assert!(said.contains("did you mean \"memory\"?"), "{said}");
}

#[test]
fn a_policy_that_a_units_own_rule_between_settings_forbids() {
    let policy = "[[filters]]\nunit = 'misbehaving'\nsettings.headroom = 13";
    let run = placed(policy);
    assert_eq!(run.code, INPUT, "{}", run.out);
    assert!(
        run.err.contains("a headroom of 13 bytes brings bad luck"),
        "{}",
        run.err
    );
}

#[test]
fn a_policy_that_is_not_there() {
    let said = placewright(&["policy", "check", "even-distributio"]).refused(INPUT);
    assert!(
        said.contains("did you mean \"even-distribution\"?"),
        "{said}"
    );
}

#[test]
fn cluster_documents_with_mistakes() {
    let folder = Folder::new();
    let vm = example("vm.toml");
    for (content, part) in [
        (
            "[[hosts]]\nid = 'a'\n[[hosts]]\nid = 'a'\n",
            ":4:6: there is a second host \"a\"",
        ),
        (
            "[[hosts]]\nid = 'a'\nmemory.total = '-1 GiB'\n",
            ":3:16: \"memory.total\" must be",
        ),
        (
            "[[hosts]]\nid = 'alpha'\n[[vms]]\nid = 'v'\nhost = 'alpa'\n",
            ":5:8: there is no host \"alpa\" (did you mean \"alpha\"?)",
        ),
        // What is suggested has the right kind and meaning.
        (
            "[[hosts]]\nid = 'a'\nmemory = '8 GiB'\n",
            ":3:1: a host has no \"memory\"; how much memory it has is \"memory.total\"",
        ),
        (
            "[[hosts]]\nid = 'a'\ncpu = 8\n",
            ":3:1: a host has no \"cpu\"; how many cores it has is \"cpu.cores\"",
        ),
        (
            "[[hosts]]\nid = 'a'\n'gpu.count' = 1\n",
            ":3:1: a host has no \"gpu.count\"; each of its GPUs is a row of \"gpus\"",
        ),
        (
            "[[hosts]]\nid = \"a\\u001b[31m\"\n",
            ":2:6: the id of a host is one line without control characters, not \"a\\u{1b}[31m\"",
        ),
        ("[[hosts]\n", ":1:"),
        ("", ""),
    ] {
        let file = folder.write("cluster.toml", content);
        let words = ["place", "--policy", "none", "--vm", &vm, "--cluster", &file];
        let run = placewright(&words);
        assert_ne!(run.code, 0, "{content}: {}", run.out);
        assert!(run.err.contains(part), "{content}: {}", run.err);
        if !part.is_empty() {
            assert_eq!(run.code, INPUT, "{}", run.err);
            assert!(run.err.contains(&format!("{file}:")), "{}", run.err);
        }
    }
}

#[test]
fn vm_documents_with_mistakes() {
    let folder = Folder::new();
    let cluster = example("cluster.toml");
    for (content, part) in [
        (
            "id = 'v'\nmemry = '1 GiB'\n",
            ":2:1: a VM has no \"memry\" (did you mean \"memory\"?)",
        ),
        (
            "id = 'v'\nmemory = 'much'\n",
            ":2:10: \"memory\" must be an amount of memory",
        ),
        ("memory = '1 GiB'\n", "needs \"id\""),
        (
            "id = 'v'\ngpu = 1\n",
            ":2:1: a VM has no \"gpu\"; how many GPUs it needs is \"gpu.count\"",
        ),
        (
            "id = 'v'\npinned = ['h9']\n",
            ":2:11: there is no host \"h9\"",
        ),
        ("id = 'v'\nforce = 'h9'\n", ":2:9: there is no host \"h9\""),
    ] {
        let file = folder.write("vm.toml", content);
        let words = [
            "place",
            "--policy",
            "none",
            "--cluster",
            &cluster,
            "--vm",
            &file,
        ];
        let said = placewright(&words).refused(INPUT);
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn traces_with_mistakes() {
    let folder = Folder::new();
    let header = "vm,tenant,core_u,ram_u,prio,start_s,end_s\n";
    for (content, part) in [
        (
            "host,time\n1,2\n".to_owned(),
            "is no trace that can be replayed",
        ),
        (
            format!("{header}0,1,many,8,0,0,10\n"),
            "line 2, column 3 (core_u): \"many\" is not",
        ),
        (format!("{header}0,1,100\n"), "line 2"),
        (header.to_owned(), "has no VM that can be replayed"),
        (
            format!("{header}0,1,99999,8,0,0,10\n"),
            "make the hosts larger",
        ),
    ] {
        let file = folder.write("trace.csv", content);
        let said = simulated(&file, &[]).refused(INPUT);
        assert!(said.contains(part) && said.contains(&file), "{said}");
    }
    let damaged = folder.write(
        "trace.csv.gz",
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3],
    );
    let said = simulated(&damaged, &[]).refused(INPUT);
    assert!(said.contains("cannot read"), "{said}");
    let said = simulated("nowhere.csv", &[]).refused(INPUT);
    assert!(said.contains("nowhere.csv"), "{said}");
}

#[test]
fn fleets_that_make_no_sense() {
    let folder = Folder::new();
    let trace = folder.write(
        "trace.csv",
        "vm,tenant,core_u,ram_u,prio,start_s,end_s\n0,1,100,8,0,0,10\n",
    );
    for (flag, value, part) in [
        ("--hosts", "0", "0 is not in 1..=100000"),
        ("--hosts", "-3", "-3"),
        ("--host-memory", "512", "512GiB"),
        ("--host-memory", "lots", "lots"),
        ("--host-cores", "0", "a host needs CPU"),
        ("--policy", "bestfit", "did you mean \"best-fit\"?"),
    ] {
        let run = simulated(&trace, &[(flag, value)]);
        assert_eq!(run.code, INPUT, "{flag} {value}: {}", run.err);
        assert!(run.err.contains(part), "{flag} {value}: {}", run.err);
    }
}

#[test]
fn a_unit_that_fails_in_a_replay_is_told_with_the_line_of_the_trace() {
    let folder = Folder::new();
    let header = "vm,tenant,core_u,ram_u,prio,start_s,end_s";
    let trace = folder.write("trace.csv", format!("{header}\n0,1,100,8,0,0,10\n"));
    let policy = "[[filters]]\nunit = 'misbehaving'\nsettings.how = 'panics'\n";
    let policy = folder.write("policy.toml", policy);
    let unit = folder.write("misbehaving.wasm", component("misbehaving"));
    let run = simulated(&trace, &[("--policy", &policy), ("--units", &unit)]);
    let said = run.refused(UNIT);
    assert!(said.contains("line 2 of the trace"), "{said}");
    assert!(said.contains("is beyond me"), "{said}");
}

/// `simulate` on a small fleet, with some words in place of the usual ones.
fn simulated(trace: &str, instead: &[(&str, &str)]) -> crate::run::Run {
    let mut words = vec![
        "simulate".to_owned(),
        "--trace".to_owned(),
        trace.to_owned(),
    ];
    let usual = [
        ("--hosts", "2"),
        ("--host-cores", "4"),
        ("--host-memory", "16GiB"),
        ("--policy", "best-fit"),
    ];
    for (flag, value) in usual {
        if instead.iter().all(|(other, _)| *other != flag) {
            words.push(format!("{flag}={value}"));
        }
    }
    words.extend(
        instead
            .iter()
            .map(|(flag, value)| format!("{flag}={value}")),
    );
    placewright(&words)
}

#[test]
fn a_vm_that_is_named_only_stands_in_the_cluster() {
    let folder = Folder::new();
    let cluster = folder.write(
        "cluster.toml",
        format!("{CLUSTER}vms = [{{ id = 'web-1', cpu = 1, memory = '1 GiB' }}]\n"),
    );
    let vms = |text: &str| folder.write("vms.toml", text);
    let wanted = "vms[1] \"wbe-1\": there is no such VM in the cluster (did you mean \"web-1\"?)";
    for (command, words) in [
        ("place", &[][..]),
        ("place", &["--batch"]),
        ("explain", &[]),
        ("capacity", &[]),
    ] {
        let file = vms("together = true\nvms = ['web-1', 'wbe-1']");
        let about = [command, "--cluster", &cluster, "--vm", &file];
        let said = placewright(&[&about[..], words].concat()).refused(INPUT);
        assert!(said.contains(wanted), "{command}: {said}");
    }
    let file = vms("again = true\nvms = ['web-1']");
    let placed = placewright(&["place", "--cluster", &cluster, "--vm", &file]).done();
    assert!(placed.contains("web-1"), "{placed}");
}
