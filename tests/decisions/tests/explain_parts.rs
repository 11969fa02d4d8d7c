//! What units can tell of how they came to their answers.

use placewright_chain::{Explanation, FactShown};
use placewright_model::{Request, Value};
use placewright_tests::parts::{fact, facts, parts};
use placewright_tests::scene::{GIB, cluster, request, scheduler, vm};
use placewright_tests::units::generation;

/// A cost and a filter of different settings.
const SIEVE: &str = "
    [[filters]]
    unit = 'parts'
    name = 'sieve'
    settings.without = 'h1'
    settings.near = 2
    [[costs]]
    unit = 'parts'
    name = 'first'
    settings.without = 'h1'
    settings.near = 2
    factor = 10
";

fn explained(hosts: usize, policy: &str, request: Request) -> Explanation {
    let mut scheduler = parts(hosts, policy);
    let decision = scheduler.place(request).unwrap();
    scheduler.explain(decision.number).unwrap()
}

fn about<'a>(facts: &'a [FactShown], name: &str) -> Vec<(&'a str, &'a str)> {
    let named = facts.iter().filter(|fact| fact.name == name);
    let rows = named.filter_map(|fact| fact.about.as_ref());
    rows.map(|(table, row)| (table.as_str(), row.as_str()))
        .collect()
}

#[test]
fn facts_name_hosts_and_vms_by_their_ids() {
    let mut both = request(vm("v"));
    both.members.push(vm("w").with("memory", 8 * GIB));
    let explanation = explained(3, SIEVE, both);
    let facts = facts(&explanation);
    assert_eq!(about(facts, "memory"), [("members", "v"), ("members", "w")]);
    assert_eq!(about(facts, "placed"), [("hosts", "h0"), ("hosts", "h2")]);
    assert_eq!(
        about(facts, "group"),
        [("candidates", "h0"), ("candidates", "h2")]
    );
    let memory = fact(&explanation, "memory", "w");
    assert_eq!(memory, Some(&Value::Integer(8 * GIB)));
    let whole: Vec<_> = facts.iter().filter(|fact| fact.about.is_none()).collect();
    assert_eq!(whole.len(), 1);
    assert_eq!(
        (whole[0].name.as_str(), &whole[0].value),
        ("candidates", &Value::Integer(2))
    );
}

#[test]
fn a_part_that_reads_candidates_sees_those_who_are_left_with_their_costs() {
    let explanation = explained(3, SIEVE, request(vm("v")));
    let number = |name: &str, host: &str| fact(&explanation, name, host).cloned();
    assert_eq!(number("cost", "h0"), Some(Value::Number(20.0)));
    assert_eq!(number("first", "h0"), Some(Value::Number(2.0)));
    assert_eq!(number("share", "h2"), Some(Value::Number(0.5)));
    assert_eq!(number("group", "h2"), Some(Value::Integer(0)));
    assert_eq!(number("cost", "h1"), None);
}

#[test]
fn candidates_are_told_as_they_were_before_the_selections_of_the_stage() {
    let policy = SIEVE.to_owned()
        + "[[selections]]\nunit = 'parts'\nsettings.without = 'h1'\nsettings.near = 2\n\
           settings.refine = 'dead-first'\n";
    let explanation = explained(3, &policy, request(vm("v")));
    for host in ["h0", "h2"] {
        let shares: Vec<_> = facts(&explanation)
            .iter()
            .filter(|fact| fact.name == "share")
            .filter(|fact| fact.about.as_ref().is_some_and(|(_, id)| id == host))
            .map(|fact| fact.value.clone())
            .collect();
        // Once by the filter and cost, once by the selection, which is set apart.
        assert_eq!(shares, [Value::Number(0.5), Value::Number(0.5)]);
    }
}

#[test]
fn a_part_that_reads_no_candidates_sees_all_hosts_that_came_to_the_stage() {
    let policy = "
        [[filters]]
        unit = 'parts'
        settings.without = 'h1'
        [[selections]]
        unit = 'broken-parts'";
    let generation = generation(&["parts", "broken-parts"]);
    let mut scheduler = scheduler(cluster(3), policy, &generation);
    let decision = scheduler.place(request(vm("v"))).unwrap();
    let explanation = scheduler.explain(decision.number).unwrap();
    let seen = about(facts(&explanation), "seen");
    assert_eq!(seen, [("hosts", "h0"), ("hosts", "h1"), ("hosts", "h2")]);
}

#[test]
fn a_unit_explains_itself_once_for_each_of_its_settings_in_each_stage() {
    let entries = |explanation: &Explanation, stage: usize| -> Vec<(String, String)> {
        let facts = explanation.stages[stage].facts.iter();
        let mut entries: Vec<_> = facts
            .map(|fact| (fact.entry.to_string(), fact.unit.clone()))
            .collect();
        entries.dedup();
        entries
    };
    let by = |entry: &str| (entry.to_owned(), "parts".to_owned());
    let explanation = explained(3, SIEVE, request(vm("v")));
    assert_eq!(entries(&explanation, 0), [by("sieve")]);
    let policy = "
        [[stages]]
        [[stages.costs]]
        unit = 'parts'
        name = 'one'
        [[stages.costs]]
        unit = 'parts'
        name = 'same'
        [[stages.costs]]
        unit = 'parts'
        name = 'two'
        settings.near = 1
        [[stages]]
        [[stages.costs]]
        unit = 'parts'
        name = 'three'
    ";
    let explanation = explained(3, policy, request(vm("v")));
    assert_eq!(entries(&explanation, 0), [by("one"), by("two")]);
    assert_eq!(entries(&explanation, 1), [by("three")]);
}

#[test]
fn facts_are_those_of_the_inventory_as_it_was() {
    let mut scheduler = parts(3, SIEVE);
    let decision = scheduler.place(request(vm("v"))).unwrap();
    let before = scheduler.explain(decision.number).unwrap();
    scheduler.inventory_mut().confirm_vm("v").unwrap();
    scheduler.place(request(vm("w"))).unwrap();
    scheduler.inventory_mut().remove_host("h1").unwrap();
    assert_eq!(scheduler.explain(decision.number).unwrap(), before);
}

#[test]
fn facts_are_written_as_data_with_table_and_row() {
    let explanation = explained(1, "[[costs]]\nunit = 'parts'", request(vm("v")));
    let json = serde_json::to_value(&explanation).unwrap();
    let memory = &json["stages"][0]["facts"][1];
    let expected = serde_json::json!({
        "entry": "parts",
        "unit": "parts",
        "name": "memory",
        "about": ["members", "v"],
        "value": 4 * GIB,
    });
    assert_eq!(*memory, expected);
}
