//! What one request may ask for at most.

use serde_json::json;

use super::Engine;

#[test]
fn a_body_in_xml_has_as_many_values_as_one_in_json_at_most() {
    let engine = Engine::start();
    for (piece, count) in [("<a/>", 200_000), ("<a b=''/>", 110_000)] {
        let body = format!("<job>{}</job>", piece.repeat(count));
        let (status, fault) = engine.xml("POST", "jobs", &body);
        assert_eq!(status, 400, "{piece}: {fault}");
        assert!(fault.contains("this one holds more"), "{piece}: {fault}");
    }
    let attributes: String = (0..1_000).map(|it| format!(" a{it}=''")).collect();
    let (status, fault) = engine.xml("POST", "jobs", &format!("<job{attributes}/>"));
    assert_eq!(status, 400, "{fault}");
    assert!(fault.contains("at most 100 attributes"), "{fault}");
    // A long one that is none of these is read when it is its turn.
    let comment = " ".repeat(500_000);
    let body = format!("<job><!--{comment}--><description>a job</description></job>");
    let (status, answer) = engine.xml("POST", "jobs", &body);
    assert_eq!(status, 201, "{answer}");
    // One that no route takes is refused before it is read.
    let (status, fault) = engine.xml("POST", "jobs", &" ".repeat((1 << 20) + 1));
    assert_eq!(status, 413, "{fault}");
}

#[test]
fn searches_have_so_many_terms_and_stars_at_most() {
    let engine = Engine::start();
    let search = |search: &str, path: &str| {
        let search = search.replace(' ', "%20");
        engine.xml("GET", &format!("{path}?search={search}"), "")
    };
    let terms = |count| vec!["name=web*"; count].join(" or ");
    for path in ["vms", "hosts", "clusters", "datacenters"] {
        let (status, answer) = search(&terms(100), path);
        assert_eq!(status, 200, "{path}: {answer}");
        let (status, fault) = search(&terms(101), path);
        assert_eq!(status, 400, "{path}: {fault}");
        assert!(fault.contains("at most 100 terms"), "{path}: {fault}");
        let (status, fault) = search(&format!("name={}", "*a".repeat(17)), path);
        assert_eq!(status, 400, "{path}: {fault}");
        assert!(fault.contains("at most 16 times"), "{path}: {fault}");
    }
}

#[test]
fn hosts_are_looked_for_with_so_many_vms_at_most() {
    let engine = Engine::start();
    let vms = vec!["no-such-vm"; 101].join(",");
    let (status, fault) = engine.xml("GET", &format!("hosts?migration_target_of={vms}"), "");
    assert_eq!(status, 400, "{fault}");
    assert!(fault.contains("at most 100 VMs"), "{fault}");
}

#[test]
fn labels_that_are_followed_are_shown_without_their_members() {
    let engine = Engine::start();
    let label = json!({"name": "mine", "vms": {"vm": [{"name": "web1"}, {"name": "web2"}]}});
    let path = "/ovirt-engine/api/affinitylabels";
    let (status, answer) = engine.send("POST", path, &label);
    assert_eq!(status, 201, "{answer}");
    let follow = "follow=affinity_labels,vms";
    let (_, vms) = engine.xml("GET", &format!("vms?{follow}"), "");
    assert_eq!(vms.matches("<name>mine</name>").count(), 2, "{vms}");
    assert_eq!(vms.matches("<vm ").count(), 3, "{vms}");
    let (_, hosts) = engine.xml("GET", &format!("hosts?{follow}"), "");
    assert!(!hosts.contains("<name>mine</name>"), "{hosts}");
    let (_, labels) = engine.xml("GET", "affinitylabels?follow=vms", "");
    assert_eq!(labels.matches("<vm ").count(), 2, "{labels}");
}
