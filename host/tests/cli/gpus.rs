//! Clusters of GPUs: lists of pods replayed, and compared with what was published.

use crate::run::{Folder, INPUT, placewright};

/// Two nodes with three GPUs.
const NODES: &str = "node,cpu_milli,memory_mib,gpu,model\n0,8000,16384,2,T4\n1,8000,16384,1,A10\n";
const PODS: &str = "pod,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n0,1000,1,1,1000,\n";
const PUBLISHED: &str = "workload,policy,arrived_pct,gpu_alloc_pct_mean,gpu_alloc_pct_sd,runs\n\
                         default,fgd,130,99.5,0.1,10\n";

/// A folder as the data has it, with one list of pods; and its path.
fn data() -> (Folder, String) {
    let folder = Folder::new();
    folder.write("nodes.csv", NODES);
    folder.write("pods-default.csv", PODS);
    folder.write("published-results.csv", PUBLISHED);
    let path = folder.path(".");
    (folder, path)
}

fn compare(path: &str, more: &[&str]) -> crate::run::Run {
    let words = ["compare-openb", path, "--seeds=2", "--workload=default"];
    placewright(&[words.as_slice(), more].concat())
}

#[test]
fn a_list_of_pods_is_replayed_on_the_nodes_of_a_file() {
    let (_folder, path) = data();
    let words = [
        "simulate".to_owned(),
        format!("--trace={path}/pods-default.csv"),
        format!("--nodes={path}/nodes.csv"),
        "--policy=gpu-fgd".to_owned(),
    ];
    let out = placewright(&words).done();
    assert!(
        out.contains("GPUs allocated, 130 % asked for   100.00 %"),
        "{out}"
    );
    let report = placewright(&[words.as_slice(), &["--format=json".to_owned()]].concat()).json();
    assert_eq!(report["arrivals"], 4);
    assert_eq!(report["placed"], 3);
    assert_eq!(report["gpus"], 3);
}

#[test]
fn answers_are_kept_in_a_replay_of_pods_unless_they_are_not_to_be() {
    let (_folder, path) = data();
    let report = |more: &[&str]| {
        let trace = format!("--trace={path}/pods-default.csv");
        let nodes = format!("--nodes={path}/nodes.csv");
        let words = [
            "simulate",
            &trace,
            &nodes,
            "--policy=gpu-fgd",
            "--format=json",
        ];
        placewright(&[words.as_slice(), more].concat()).json()
    };
    let (with, without) = (report(&[]), report(&["--no-reuse"]));
    assert_eq!(with["reuse"]["decisions"], 4);
    assert!(without["reuse"].is_null());
    assert_eq!(with["decision-fnv1a64"], without["decision-fnv1a64"]);
}

#[test]
fn figures_stand_beside_the_published_ones_in_every_format() {
    let (_folder, path) = data();
    let one = ["--policy=fgd"];
    let report = compare(&path, &[one.as_slice(), &["--format=json"]].concat()).json();
    let line = &report["lines"][2];
    assert_eq!(
        (&line["policy"], &line["arrived-pct"]),
        (&"fgd".into(), &130.into())
    );
    assert_eq!(
        (&line["mean"], &line["deviation"]),
        (&100.0.into(), &0.0.into())
    );
    assert_eq!(
        (&line["published-mean"], &line["difference"]),
        (&99.5.into(), &0.5.into())
    );
    assert!(report["lines"][0]["published-mean"].is_null());

    let csv = compare(&path, &[one.as_slice(), &["--format=csv"]].concat()).done();
    let lines: Vec<&str> = csv.lines().collect();
    assert!(
        lines[0].starts_with("workload,policy,arrived-pct,mean,deviation,runs,"),
        "{csv}"
    );
    assert_eq!(lines[3], "default,fgd,130,100.0,0.0,2,99.5,0.1,0.5");

    let document = compare(&path, &[one.as_slice(), &["--format=markdown"]].concat()).done();
    assert!(document.contains("\n## default\n"), "{document}");
    assert!(
        document.contains("| 100.00 ± 0.00 | 99.50 ± 0.10 | +0.50 |"),
        "{document}"
    );
    assert!(
        document.contains("--workload default --policy fgd --seeds 2"),
        "{document}"
    );

    let run = compare(&path, &one);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("99.50 ± 0.10"), "{}", run.out);
}

#[test]
fn all_six_policies_are_compared_if_none_is_named() {
    let (_folder, path) = data();
    let report = compare(&path, &["--format=json"]).json();
    let lines = report["lines"].as_array().unwrap();
    let mut policies: Vec<&str> = lines
        .iter()
        .map(|line| line["policy"].as_str().unwrap())
        .collect();
    policies.dedup();
    assert_eq!(
        policies,
        [
            "random",
            "dot-product",
            "gpu-clustering",
            "gpu-packing",
            "best-fit",
            "fgd"
        ]
    );
}

#[test]
fn what_is_missing_or_wrong_is_told() {
    let (folder, path) = data();
    let said = placewright(&["compare-openb", &path, "--workload=defualt"]).refused(INPUT);
    assert!(said.contains("did you mean \"default\"?"), "{said}");
    let said = placewright(&["compare-openb", &path]).refused(INPUT);
    assert!(said.contains("there is no workload \"cpu050\""), "{said}");
    let said = compare(&path, &["--policy=fdg-like"]).refused(INPUT);
    assert!(said.contains("there is no policy \"fdg-like\""), "{said}");
    let said = compare(&folder.path("nowhere"), &[]).refused(INPUT);
    assert!(said.contains("nowhere"), "{said}");
    folder.write("nodes.csv", NODES.replace("8000", "many"));
    let said = compare(&path, &[]).refused(INPUT);
    assert!(
        said.contains("line 2, column 2 (cpu_milli): \"many\" is not"),
        "{said}"
    );
    for of_other_replays in ["--hosts=2", "--balance"] {
        let words = [
            "simulate",
            "--trace=t.csv",
            "--nodes=n.csv",
            of_other_replays,
            "--policy=none",
        ];
        let said = placewright(&words);
        assert_eq!(said.code, INPUT);
        let flag = of_other_replays.trim_end_matches("=2");
        assert!(said.err.contains(flag), "{}", said.err);
    }
}
