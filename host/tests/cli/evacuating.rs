//! `evacuate`, and what `balance` puts right.

use crate::run::{Folder, NO, placewright};

const CLUSTER: &str = "
name = 'c'
[[hosts]]
id = 'kvm1'
cpu.cores = 8
memory.total = '32 GiB'
[[hosts]]
id = 'kvm2'
cpu.cores = 8
memory.total = '16 GiB'
[[vms]]
id = 'small'
host = 'kvm1'
cpu = '1 cores'
memory = '4 GiB'
[[vms]]
id = 'large'
host = 'kvm1'
cpu = '1 cores'
memory = '24 GiB'
";

#[test]
fn a_host_is_emptied_and_what_cannot_go_is_told() {
    let folder = Folder::new();
    let cluster = folder.write("c.toml", CLUSTER);
    let words = ["evacuate", "--cluster", &cluster, "--policy", "worst-fit"];
    let one = [&words[..], &["--host", "kvm1"]].concat();
    let run = placewright(&one);
    assert_eq!(run.code, NO, "{}", run.err);
    assert!(run.out.contains("large stays on kvm1"), "{}", run.out);
    assert!(run.out.contains("Of 2 VMs, 1 cannot go."), "{}", run.out);
    let json = [&one[..], &["--format", "json"]].concat();
    let plan: serde_json::Value = serde_json::from_str(&placewright(&json).out).unwrap();
    assert_eq!(plan["origin"], "evacuation", "{plan}");
    assert_eq!(plan["hosts"][0], "kvm1");
    assert_eq!(plan["moves"][0]["vm"], "small");
    assert_eq!(plan["moves"][0]["to"], "kvm2");
    assert_eq!(plan["moves"][0]["cause"], "evacuation");
    assert!(plan["moves"][0].get("cost-before").is_none(), "{plan}");
    let stuck = &plan["stuck"][0];
    assert_eq!(
        (&stuck["vm"], &stuck["from"]),
        (&"large".into(), &"kvm1".into())
    );
    assert!(
        stuck["why"].as_str().unwrap().contains("does not take it"),
        "{stuck}"
    );
    assert_eq!(stuck["removed"][0]["hosts"], 1);
    let other = [&words[..], &["--host", "kvm2"]].concat();
    let out = placewright(&other).done();
    assert!(
        out.contains("Nothing is to be moved: no VM runs on host kvm2."),
        "{out}"
    );
    let typo = [&words[..], &["--host", "kvm11"]].concat();
    let said = placewright(&typo).refused(2);
    assert!(said.contains("did you mean \"kvm1\"?"), "{said}");
}

#[test]
fn a_policy_without_a_unit_that_balances_empties_a_host_in_maintenance() {
    let folder = Folder::new();
    let text = CLUSTER.replacen("id = 'kvm1'", "id = 'kvm1'\nstate = 'maintenance'", 1);
    let cluster = folder.write("c.toml", text);
    let words = ["balance", "--cluster", &cluster, "--policy", "worst-fit"];
    let out = placewright(&words).done();
    assert!(out.contains("host kvm1 is in maintenance"), "{out}");
    assert!(out.contains("large stays on kvm1"), "{out}");
}

#[test]
fn moves_are_shown_in_rounds_of_as_many_as_may_be_under_way_at_once() {
    let folder = Folder::new();
    let text = CLUSTER.replace("24 GiB", "2 GiB");
    let cluster = folder.write("c.toml", text);
    let about = ["--cluster", &cluster, "--policy", "worst-fit"];
    let words = ["evacuate", "--host", "kvm1", "--format", "json"];
    let evacuate = [&words[..], &about].concat();
    let rounds = |words: &[&str]| {
        let plan = placewright(&[&evacuate[..], words].concat()).json();
        let moves = plan["moves"].as_array().unwrap().iter();
        moves
            .map(|it| it.get("round").and_then(serde_json::Value::as_u64))
            .collect::<Vec<_>>()
    };
    assert_eq!(rounds(&[]), [None, None]);
    assert_eq!(rounds(&["--max-in-flight", "1"]), [Some(1), Some(2)]);
    assert_eq!(rounds(&["--max-in-flight", "2"]), [Some(1), Some(1)]);
    let none = [&evacuate[..], &["--max-in-flight", "0"]].concat();
    placewright(&none).refused(2);
}

#[test]
fn what_is_wrong_is_put_right_only_where_that_is_wanted() {
    let folder = Folder::new();
    let text = CLUSTER.replacen("id = 'kvm1'", "id = 'kvm1'\nstate = 'maintenance'", 1);
    let cluster = folder.write("c.toml", text);
    let words = ["balance", "--cluster", &cluster, "--policy", "worst-fit"];
    let rounds = placewright(&[&words[..], &["--max-in-flight", "1"]].concat()).done();
    assert!(rounds.contains("round"), "{rounds}");
    let none = placewright(&[&words[..], &["--repairs", "false"]].concat()).done();
    assert!(none.contains("Nothing is to be moved."), "{none}");
}
