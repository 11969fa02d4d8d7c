//! The policy `general`: whatever a VM needs, a host that lacks it is removed for that
//! reason, and one that has it is chosen.

pub(crate) mod cases;
mod columns;
mod pairs;
mod situations;

use std::sync::Arc;
use std::time::Duration;

use placewright_chain::Explanation;
use placewright_document::{ClusterDocument, Surroundings, read_requests};
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_plugins as plugins;
use placewright_policy::Policy;
use placewright_scheduler::{Scheduler, SchedulerOptions};
use placewright_tests::units::built_in;

use cases::{CASES, Case};
use situations::REFUSED;

/// A cluster of a host that lacks what is needed and one that has it. The second one is
/// busier, so that nothing but the need speaks for it.
pub(crate) fn inventory(case: &Case) -> Inventory {
    Inventory::of_document(document(case), 1000).unwrap()
}

fn document(case: &Case) -> ClusterDocument {
    let host = |id: &str, facts: &str| {
        format!(
            "[[hosts]]\nid = \"{id}\"\nmemory.total = \"64 GiB\"\ncpu.total = \"16 cores\"\n{facts}\n"
        )
    };
    let text = format!(
        "name = \"test\"\nnow = 1000\n{}\n{}\n{}\n\
         [[vms]]\nid = \"busy\"\nhost = \"has\"\ncpu = \"2 cores\"\nmemory = \"4 GiB\"\n",
        case.cluster,
        host("lacks", case.lacks),
        host("has", case.has),
    );
    let document = ClusterDocument::read(&text, case.need);
    document.unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// What the policy makes of the only request of a document.
fn explained(policy: &str, inventory: Inventory, request: &str) -> Explanation {
    let schema = inventory.schema().clone();
    let surroundings = Surroundings {
        schema: &schema,
        now: 1000,
        hosts: None,
    };
    let requests = read_requests(request, "request.toml", surroundings);
    let mut requests = requests.unwrap_or_else(|problems| panic!("{problems}\n{request}"));
    let policy = Policy::load(policy, "policy.toml", built_in(), &schema);
    let policy = Arc::new(policy.unwrap_or_else(|problems| panic!("{problems}")));
    let options = SchedulerOptions {
        chain_limit: Duration::from_secs(60),
        ..SchedulerOptions::default()
    };
    let mut scheduler = Scheduler::new(inventory, policy, built_in(), options).unwrap();
    let decision = scheduler.place(requests.remove(0)).unwrap();
    scheduler.explain(decision.number).unwrap()
}

fn general() -> &'static str {
    plugins::policy(plugins::DEFAULT_POLICY).unwrap().text
}

/// Why the host was removed, if it was.
fn removal<'e>(explanation: &'e Explanation, host: &str) -> Option<(&'e str, &'e str)> {
    let mut hosts = explanation.stages.iter().flat_map(|stage| &stage.hosts);
    let host = hosts.find(|shown| *shown.host == *host)?;
    let removed = host.removed.as_ref()?;
    Some((&removed.unit, &removed.reason))
}

#[test]
fn a_host_that_lacks_what_is_needed_is_removed_for_it_and_one_that_has_it_is_chosen() {
    for case in CASES {
        let explanation = explained(general(), inventory(case), case.request);
        assert_eq!(
            removal(&explanation, "lacks"),
            Some((case.unit, case.reason)),
            "{}",
            case.need
        );
        assert_eq!(explanation.chosen.as_deref(), Some("has"), "{}", case.need);
    }
}

#[test]
fn every_need_has_a_case() {
    let schema = Schema::built_in();
    let is_refused = |need: &str| REFUSED.iter().any(|(_, refused, _)| *refused == need);
    let without = schema
        .needs()
        .filter(|need| CASES.iter().all(|case| case.need != &*need.name))
        .filter(|need| !is_refused(&need.name));
    let without: Vec<&str> = without.map(|need| &*need.name).collect();
    assert!(
        without.is_empty(),
        "the policy general is not tried with {without:?}: give it a case, and a filter if it has none"
    );
}

#[test]
fn without_the_need_the_host_that_lacks_it_is_chosen() {
    for case in CASES.iter().filter(|case| case.is_of_the_request) {
        let plain = "id = \"new\"\ncpu = \"1 core\"\nmemory = \"1 GiB\"\n";
        let explanation = explained(general(), inventory(case), plain);
        let removed = removal(&explanation, "lacks");
        assert_eq!(removed, None, "{}", case.need);
        assert_eq!(
            explanation.chosen.as_deref(),
            Some("lacks"),
            "{}",
            case.need
        );
    }
}

/// Two hosts that promised all of their CPU once, of which one may promise it twice.
const OVERCOMMITTED: Case = Case {
    need: "overcommit",
    cluster: "[[vms]]\nid = \"a\"\nhost = \"lacks\"\ncpu = \"16 cores\"\ncores = 1\n\
              [[vms]]\nid = \"b\"\nhost = \"has\"\ncpu = \"14 cores\"\ncores = 1\n",
    lacks: "",
    has: "cpu.overcommit = 2.0",
    request: "id = \"new\"\ncpu = \"4 cores\"\nmemory = \"1 GiB\"\ngpu.count = 0\n",
    unit: "",
    reason: "",
    is_of_the_request: false,
};

#[test]
fn every_policy_that_looks_at_promised_cpu_heeds_what_the_host_says_of_overcommit() {
    for (name, chosen) in [
        ("general", Some("has")),
        ("none", Some("has")),
        ("even-distribution", Some("has")),
        ("power-saving", Some("has")),
        ("first-fit", Some("has")),
        ("best-fit", Some("has")),
        ("worst-fit", Some("has")),
        ("dot-product", Some("has")),
        ("gpu-random", Some("has")),
        ("gpu-dot-product", Some("has")),
        ("gpu-clustering", Some("has")),
        ("gpu-packing", Some("has")),
        ("gpu-best-fit", Some("has")),
        ("gpu-fgd", Some("has")),
    ] {
        let policy = plugins::policy(name).unwrap().text;
        let explanation = explained(policy, inventory(&OVERCOMMITTED), OVERCOMMITTED.request);
        assert_eq!(explanation.chosen.as_deref(), chosen, "{name}");
        let (_, reason) = removal(&explanation, "lacks").unwrap();
        assert!(reason.contains("too little"), "{name}: {reason}");
        assert!(reason.contains("CPU"), "{name}: {reason}");
    }
}

#[test]
fn a_policy_without_a_limit_of_promised_cpu_keeps_that_of_a_host_that_has_one() {
    let limited = Case {
        lacks: "cpu.overcommit = 1.0",
        has: "",
        ..OVERCOMMITTED
    };
    let policy = "[[filters]]\nunit = \"cpu\"\n";
    let explanation = explained(policy, inventory(&limited), limited.request);
    assert_eq!(
        removal(&explanation, "lacks"),
        Some(("cpu", "has too little CPU left to promise"))
    );
    assert_eq!(explanation.chosen.as_deref(), Some("has"));
}

#[test]
fn the_reserve_for_failures_is_off_until_it_is_enabled() {
    let half_full = Case {
        cluster: "[[vms]]\nid = \"a\"\nhost = \"lacks\"\nmemory = \"50 GiB\"\n",
        request: "id = \"new\"\nmemory = \"10 GiB\"\n",
        ..OVERCOMMITTED
    };
    let explanation = explained(general(), inventory(&half_full), half_full.request);
    assert_eq!(removal(&explanation, "lacks"), None);
    let enabled = general().replace("enabled = false", "enabled = true");
    assert_ne!(enabled, general());
    let explanation = explained(&enabled, inventory(&half_full), half_full.request);
    assert_eq!(
        removal(&explanation, "lacks"),
        Some((
            "failover-reserve",
            "would have too little memory left for the VMs of hosts that fail"
        ))
    );
    let restart = "kind = \"restart\"\n[[vms]]\nid = \"new\"\nmemory = \"10 GiB\"\n";
    let explanation = explained(&enabled, inventory(&half_full), restart);
    assert_eq!(removal(&explanation, "lacks"), None);
}

#[test]
fn soft_groups_and_preferred_hosts_count_more_than_load_and_hosts_with_gpus_are_left_to_others() {
    let plain = |cluster, lacks, request| Case {
        cluster,
        lacks,
        request,
        ..OVERCOMMITTED
    };
    let new = "id = \"new\"\ncpu = \"1 core\"\nmemory = \"1 GiB\"\n";
    let group = "[[groups]]\nid = \"g\"\nvms = [\"busy\", \"new\"]\nrule = \"positive\"\n";
    let preferred = "id = \"new\"\ncpu = \"1 core\"\nmemory = \"1 GiB\"\npreferred = [\"has\"]\n";
    for case in [
        plain(group, "", new),
        plain("", "", preferred),
        plain("", "gpus = [{ index = 0 }]", new),
    ] {
        let explanation = explained(general(), inventory(&case), case.request);
        assert_eq!(removal(&explanation, "lacks"), None);
        assert_eq!(explanation.chosen.as_deref(), Some("has"));
    }
}
