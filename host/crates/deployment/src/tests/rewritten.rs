//! Files of policies that are written anew, in every way that programs have, while decisions
//! are made: a policy counts once it is whole.

use std::fs::{self, File};
use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Instant;

use super::*;

/// How often a file is written anew, and how often slowly.
const ROUNDS: usize = 4000;
const SLOW: usize = 6;

/// Each of its prefixes that ends with a line is a policy, but for the first: most have less
/// filters.
const WHOLE: &str = r#"[[filters]]
unit = "worst-fit"
[[costs]]
unit = "worst-fit"
[[filters]]
name = "apart"
unit = "affinity"
"#;

/// Waits for longer than a document needs to settle.
fn pause(options: &watch::Options) {
    thread::sleep(options.settle * 3);
}

fn watched(settle: Duration) -> watch::Options {
    watch::Options {
        settle,
        ..watch::Options::policies(1 << 20)
    }
}

/// Asks for a place that only the last filter refuses, until it is told to stop; gives how
/// often it asked, and was given a host that it must not have.
fn asking(cluster: Arc<Cluster>, stops: Arc<AtomicBool>) -> thread::JoinHandle<(usize, usize)> {
    thread::spawn(move || {
        let (mut asked, mut wrong) = (0, 0);
        while !stops.load(Ordering::Relaxed) {
            let mut request = request("new", 1);
            request.dry_run = true;
            request.allowed = vec!["a".into()];
            asked += 1;
            wrong += usize::from(place(&cluster, request).is_some());
        }
        (asked, wrong)
    })
}

/// Write the same text in one of the ways in which programs do.
fn rewrite(path: &Path, round: usize) {
    match round % 5 {
        // Truncated and written, as by a shell or `cp`.
        0 => fs::write(path, WHOLE).unwrap(),
        1 => {
            let source = path.with_extension("source");
            fs::write(&source, WHOLE).unwrap();
            fs::copy(&source, path).unwrap();
        }
        // Line by line.
        2 => {
            let mut file = File::create(path).unwrap();
            for line in WHOLE.split_inclusive('\n') {
                file.write_all(line.as_bytes()).unwrap();
                thread::yield_now();
            }
        }
        // Renamed into its place.
        3 => {
            let new = path.with_extension("new");
            fs::write(&new, WHOLE).unwrap();
            fs::rename(new, path).unwrap();
        }
        // Written over, and cut to its length.
        _ => {
            let mut file = File::options().write(true).open(path).unwrap();
            file.write_all(WHOLE.as_bytes()).unwrap();
            file.set_len(WHOLE.len() as u64).unwrap();
        }
    }
}

#[test]
fn a_policy_file_that_is_written_anew_with_the_same_text_changes_no_decision() {
    let (data, policies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let world = start(data.path(), &units());
    let deployment = &world.deployment;
    let path = policies.path().join("mine.toml");
    fs::write(&path, WHOLE).unwrap();
    let options = watched(Duration::from_millis(100));
    let folder = PolicyFolder::watch(deployment, policies.path(), options.clone()).unwrap();
    folder.settle();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    let stops = Arc::new(AtomicBool::new(false));
    let asking = asking(cluster, stops.clone());
    for round in 0..ROUNDS {
        rewrite(&path, round);
    }
    // A program that pauses in the middle of the text, or before it, with the file open.
    for line in 0..=SLOW {
        let mut file = File::create(&path).unwrap();
        let end = WHOLE.split_inclusive('\n').take(line).map(str::len).sum();
        file.write_all(&WHOLE.as_bytes()[..end]).unwrap();
        file.flush().unwrap();
        pause(&options);
        file.write_all(&WHOLE.as_bytes()[end..]).unwrap();
    }
    folder.settle();
    stops.store(true, Ordering::Relaxed);
    let (asked, wrong) = asking.join().unwrap();
    assert!(asked > 100, "{asked}");
    assert_eq!(wrong, 0, "of {asked} decisions");
    assert_eq!(deployment.policy("mine").unwrap().revision, 1);
    assert_eq!(told(deployment, "policy-changed"), 1);
    let events = deployment.events().listen(Some(0)).missed;
    let refused = events
        .iter()
        .filter(|it| it.kind == EventKind::PolicyRefused);
    let refused: Vec<&String> = refused.map(|it| &it.message).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn a_policy_that_is_empty_or_has_no_filters_is_refused_unless_it_says_so() {
    let (data, policies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let world = start(data.path(), &units());
    let deployment = &world.deployment;
    let folder = PolicyFolder::watch(deployment, policies.path(), watched(Duration::ZERO)).unwrap();
    let costs = "[[costs]]\nunit = \"worst-fit\"\n";
    for (text, why) in [
        ("", "the document is empty"),
        ("# nothing yet\n", "the document is empty"),
        (costs, "the policy has no filters"),
        ("[[stages]]\nname = \"main\"\n", "the policy has no filters"),
    ] {
        let refused = deployment.put_policy(&edit(text), "somebody").unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
        assert!(refused.to_string().contains("filters = []"), "{refused}");
        let checked = deployment.check_policy(&edit(text)).unwrap_err();
        assert_eq!(checked.to_string(), refused.to_string());
        let before = told(deployment, "policy-refused");
        fs::write(
            policies.path().join("mine.toml"),
            format!("{text}# {before}"),
        )
        .unwrap();
        let begin = Instant::now();
        while told(deployment, "policy-refused") == before {
            assert!(begin.elapsed() < Duration::from_secs(60), "{text}");
            folder.settle();
        }
        assert!(deployment.policy("mine").is_err());
    }
    let said = format!("filters = []\n{costs}");
    deployment.put_policy(&edit(&said), "somebody").unwrap();
}

#[test]
fn a_policy_with_characters_that_terminals_act_on_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let world = start(data.path(), &units());
    let deployment = &world.deployment;
    for hidden in ['\u{9b}', '\u{1b}', '\u{202e}', '\u{2066}'] {
        let text = format!("# one\n# two {hidden}2J\n{WHOLE}");
        let sentence = format!(
            "line 2 of the policy has the control character U+{:04X}",
            u32::from(hidden)
        );
        let refused = deployment.put_policy(&edit(&text), "somebody").unwrap_err();
        assert!(refused.to_string().starts_with(&sentence), "{refused}");
        let checked = deployment.check_policy(&edit(&text)).unwrap_err();
        assert_eq!(checked.to_string(), refused.to_string());
    }
    let text = format!("# \tGröße 主机\r\n{WHOLE}");
    deployment.put_policy(&edit(&text), "somebody").unwrap();
}

#[test]
fn a_filter_that_is_lost_is_told_by_the_check_and_when_it_is_lost() {
    let data = tempfile::tempdir().unwrap();
    let world = start(data.path(), &units());
    let deployment = &world.deployment;
    deployment.put_policy(&edit(WHOLE), "somebody").unwrap();
    assert!(deployment.check_policy(&edit(WHOLE)).unwrap().is_empty());
    let less = WHOLE.replace("[[filters]]\nname = \"apart\"\nunit = \"affinity\"\n", "");
    let remarks = deployment.check_policy(&edit(&less)).unwrap();
    assert!(
        remarks[0].contains("revision 1 checks by \"affinity\""),
        "{remarks:?}"
    );
    deployment.put_policy(&edit(&less), "somebody").unwrap();
    let events = deployment.events().listen(Some(0)).missed;
    let mut lost = events
        .iter()
        .filter(|it| it.kind == EventKind::PolicyLostFilters);
    let lost = lost.next().expect("it is told");
    assert!(lost.kind.is_warning());
    assert!(lost.message.contains("\"affinity\""), "{}", lost.message);
    deployment.put_policy(&edit(WHOLE), "somebody").unwrap();
    assert_eq!(told(deployment, "policy-lost-filters"), 1);
}

#[test]
fn a_policy_is_called_what_it_is_attached_by_and_another_name_is_told() {
    let data = tempfile::tempdir().unwrap();
    let world = start(data.path(), &units());
    let deployment = &world.deployment;
    let text = format!("name = \"general\"\n{POLICY}");
    let remarks = deployment.check_policy(&edit(&text)).unwrap();
    assert!(
        remarks[0].contains("calls itself \"general\""),
        "{remarks:?}"
    );
    deployment.put_policy(&edit(&text), "somebody").unwrap();
    let cluster = deployment.create_cluster(document(), attach()).unwrap();
    place(&cluster, request("new", 4));
    let past = cluster.turn(|state| Ok(state.past(1)?)).wait().unwrap();
    assert_eq!(&*past.explain().unwrap().policy, "mine");
}

#[test]
fn settings_that_a_unit_refuses_are_told_where_they_stand_in_the_document() {
    let data = tempfile::tempdir().unwrap();
    let world = start(data.path(), &units_named(&["power-saving"]));
    let deployment = &world.deployment;
    let place = |text: &str| {
        let refused = deployment.check_policy(&edit(text)).unwrap_err();
        let DeploymentError::Problems(problems) = refused else {
            panic!("{refused}");
        };
        let problems: Vec<_> = problems.iter().collect();
        let [problem] = problems[..] else {
            panic!("{problems:?}");
        };
        let told = &problem.message;
        assert!(
            told.contains("power-saving") && told.contains("must"),
            "{told}"
        );
        (problem.place.line, problem.place.column)
    };
    let good = "settings = { low-utilization = 20 }\n";
    let low = "settings = { high-utilization = 50, low-utilization = 90 }\n";
    let first = "filters = []\n[[costs]]\nunit = \"power-saving\"\n";
    // The setting that the unit names, of the entry that is set so.
    let other = format!("{first}{good}[[costs]]\nname = \"b\"\nunit = \"power-saving\"\n{low}");
    assert_eq!(place(&other), (8, 37));
    let of_all =
        "filters = []\n[settings]\nlow-utilization = 90\n[balance]\nunit = \"power-saving\"\n";
    assert_eq!(place(of_all), (3, 1));
    // Where it is not set in the document, the entry.
    let default = format!("{first}settings = {{ low-memory = \"2 GiB\", high-utilization = 0 }}\n");
    assert_eq!(place(&default), (3, 8));
}
