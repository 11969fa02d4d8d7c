//! A document of changes is read with the words of a cluster.

use super::*;
use placewright_model::GroupRule;

fn read(text: &str) -> Result<InventoryChanges, String> {
    InventoryChanges::read(text, "changes", &Schema::default()).map_err(|it| it.to_string())
}

fn names(list: &[Arc<str>]) -> Vec<&str> {
    list.iter().map(|name| &**name).collect()
}

#[test]
fn a_document_of_changes_is_read_with_the_words_of_a_cluster() {
    let text = r#"{
        "hosts": [{"id": "h", "memory": {"total": "4 GiB"}}],
        "statistics": [{"id": "g", "cpu.usage": 0.5, "measured": "1970-01-02T00:00:00Z"}],
        "vms": [{"id": "v", "host": "h", "memory": "1 GiB"}, {"id": "w", "cpu": "500m"}],
        "groups": [{"id": "apart", "vms": ["v", "w"], "rule": "negative", "hosts": ["new"]}],
        "gone": {"vms": ["x"], "hosts": ["f"]}
    }"#;
    let changes = read(text).unwrap();
    let total = changes.hosts[0].facts.set.integer("memory.total");
    assert_eq!(total, Some(4 << 30));
    let usage = changes.statistics[0].facts.set.number("cpu.usage");
    assert_eq!(usage, Some(0.5));
    assert_eq!(changes.statistics[0].measured, Some(86400));
    assert_eq!(changes.vms[0].host.as_deref(), Some("h"));
    assert_eq!(changes.vms[1].host, None);
    let group = changes.groups[0].apply(None).unwrap();
    assert_eq!(group.vm_rule, Some(GroupRule::Negative { hard: false }));
    assert_eq!(names(&group.hosts), ["new"]);
    assert_eq!(&*changes.gone.vms[0], "x");
    assert_eq!(changes.missing, Missing::Refuse);
}

#[test]
fn everything_wrong_is_told_with_its_place() {
    let text = "{\"host\": [], \"vms\": [{\"memory\": 1}],\n \"statistics\": [{\"id\": \"h\", \"cpu.usag\": 1}]}";
    let said = read(text).unwrap_err();
    for part in [
        "\"host\"",
        "did you mean \"hosts\"",
        "needs \"id\"",
        "changes:2",
        "cpu.usage",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
}

#[test]
fn a_key_that_is_like_no_other_is_refused_with_those_that_there_are() {
    let said = read(r#"{"remove": ["v"]}"#).unwrap_err();
    assert_eq!(
        said,
        "changes:1:2: a document of changes has no key \"remove\"; it may have \"missing\", \"attributes\", \"tenants\", \"hosts\", \"statistics\", \"vms\", \"groups\" and \"gone\""
    );
    let said = read(r#"{"groups": [{"id": "g", "add-vm": ["v"]}]}"#).unwrap_err();
    assert!(said.contains("did you mean \"add-vms\""), "{said}");
}

#[test]
fn null_and_lists_without_rows_take_away() {
    let text = r#"{
        "hosts": [{"id": "h", "name": null, "memory": null, "gpus": [], "networks": null}],
        "vms": [{"id": "v", "memory": null, "pinned": null, "preferred": []}]
    }"#;
    let changes = read(text).unwrap();
    let host = names(&changes.hosts[0].facts.unset);
    for name in ["name", "memory.total", "memory.free", "gpus", "networks"] {
        assert!(host.contains(&name), "{name} in {host:?}");
    }
    assert!(!host.contains(&"swap.total"), "{host:?}");
    let vm = &changes.vms[0];
    assert_eq!(names(&vm.facts.unset), ["memory"]);
    assert_eq!(vm.pinning.pinned, Some(vec![]));
    assert_eq!(vm.pinning.preferred, Some(vec![]));
    assert_eq!(vm.pinning.location, None);
}

#[test]
fn what_cannot_be_taken_away_is_said() {
    for (text, sentence) in [
        (
            r#"{"hosts": [{"id": null}]}"#,
            "\"id\" must be a text, not null",
        ),
        (
            r#"{"vms": [{"id": "v", "host": null}]}"#,
            "a VM runs on some host; one that runs no more stands under \"gone\"",
        ),
        (
            r#"{"hosts": [{"id": "h", "vms.widest": null}]}"#,
            "\"vms.widest\" is worked out by the runtime; leave it out",
        ),
        (
            r#"{"hosts": [{"id": "h", "colour": null}]}"#,
            "a host has no \"colour\"",
        ),
        (
            r#"{"hosts": [{"id": "h", "networks": [{"name": null}]}]}"#,
            "needs \"name\"",
        ),
        (
            r#"{"groups": [{"id": "g", "rule": null, "hard": true}]}"#,
            "\"hard\" says nothing without \"rule\"",
        ),
        (
            r#"{"groups": [{"id": "g", "vms": ["v"], "add-vms": ["w"]}]}"#,
            "\"vms\" gives all members, \"add-vms\" and \"remove-vms\" some: give either",
        ),
        (
            r#"{"hosts": [{"id": "h", "memory": {"total": null}, "memory.total": 1}]}"#,
            "\"memory.total\" is given twice",
        ),
    ] {
        let said = read(text).unwrap_err();
        assert!(said.contains(sentence), "{sentence} in {said}");
    }
}

#[test]
fn an_attribute_can_be_used_where_it_is_declared() {
    let text = r#"{"attributes": {"hosts": {"rack": "text"}},
        "hosts": [{"id": "h", "attribute.rack": "r1"}]}"#;
    let changes = read(text).unwrap();
    assert_eq!(changes.attributes[0].name, "rack");
    let rack = changes.hosts[0].facts.set.text("attribute.rack");
    assert_eq!(rack, Some("r1"));
    assert!(read(r#"{"hosts": [{"id": "h", "attribute.rack": "r1"}]}"#).is_err());
}

#[test]
fn of_a_rule_only_what_is_given_changes() {
    let group = |text: &str| {
        let text = format!(r#"{{"groups": [{{"id": "g", {text}}}]}}"#);
        read(&text).unwrap().groups[0].clone()
    };
    let old = group(r#""vms": ["a", "b"], "rule": "negative", "hard": true, "priority": 3"#);
    let old = old.apply(None).unwrap();
    let changed = |text: &str| group(text).apply(Some(&old));

    let members = changed(r#""add-vms": ["c", "a"], "remove-vms": ["b", "x"]"#).unwrap();
    assert_eq!(names(&members.vms), ["a", "c"]);
    let Some(hard) = members.vm_rule else {
        panic!("the rule is gone")
    };
    assert_eq!(hard, GroupRule::Negative { hard: true });
    assert_eq!(members.priority, 3.0);
    let rule = |text: &str| changed(text).unwrap().vm_rule;
    assert_eq!(
        rule(r#""rule": "positive""#),
        Some(GroupRule::Positive { hard: true })
    );
    assert_eq!(
        rule(r#""hard": null"#),
        Some(GroupRule::Negative { hard: false })
    );
    assert_eq!(rule(r#""rule": null"#), None);
    assert_eq!(changed(r#""priority": null"#).unwrap().priority, 1.0);
    assert_eq!(changed(r#""host-hard": true"#), Err("host-hard"));
}
