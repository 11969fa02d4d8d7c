//! Needs in pairs, of hosts that lack the one or the other.

use placewright_document::{ClusterDocument, Surroundings, read_requests};
use placewright_inventory::Inventory;
use placewright_model::{Facts, Group, Host, Request};
use placewright_policy::Policy;
use placewright_scheduler::{Scheduler, SchedulerOptions};
use placewright_tests::units::built_in;

use super::cases::{CASES, Case};
use super::general;

/// A case as the model has it.
struct Read {
    document: ClusterDocument,
    lacks: Facts,
    has: Facts,
    request: Request,
}

fn read(case: &Case) -> Read {
    let text = format!(
        "[[hosts]]\nid = \"lacks\"\n{}\n[[hosts]]\nid = \"has\"\n{}\n\
         [[vms]]\nid = \"busy\"\nhost = \"has\"\n{}\n",
        case.lacks, case.has, case.cluster
    );
    let document = ClusterDocument::read(&text, case.need).unwrap();
    let surroundings = Surroundings {
        schema: &document.schema,
        now: 1000,
        hosts: None,
    };
    let mut requests = read_requests(case.request, "request.toml", surroundings).unwrap();
    Read {
        lacks: document.hosts[0].facts.clone(),
        has: document.hosts[1].facts.clone(),
        request: requests.remove(0),
        document,
    }
}

/// What both say together; None if they speak of the same column or table.
fn both(first: &Facts, second: &Facts) -> Option<Facts> {
    let mut facts = first.clone();
    for (column, value) in second.values() {
        if facts.get(column).is_some_and(|known| known != value) {
            return None;
        }
        facts.set(column.clone(), value.clone());
    }
    for (table, rows) in second.tables() {
        if !facts.rows(table).is_empty() && facts.rows(table) != rows {
            return None;
        }
        facts.set_rows(table.clone(), rows.to_vec());
    }
    Some(facts)
}

fn host(id: &str, facts: Facts) -> Host {
    let mut host = Host::new(id)
        .with("memory.total", 64_i64 << 30)
        .with("cpu.total", 16_000_i64);
    for (column, value) in facts.values() {
        host.facts.set(column.clone(), value.clone());
    }
    for (table, rows) in facts.tables() {
        host.facts.set_rows(table.clone(), rows.to_vec());
    }
    host
}

/// A host that has both, and two that lack one of them, and the request that needs both;
/// None if these needs cannot be told from each other.
fn pair(first: &Read, second: &Read) -> Option<(Inventory, Request)> {
    let mut inventory = Inventory::new("test", first.document.schema.clone().into());
    let of_cluster = both(&first.document.facts, &second.document.facts)?;
    inventory.set_facts(of_cluster).unwrap();
    for (id, facts) in [
        ("lacks-first", both(&first.lacks, &second.has)?),
        ("lacks-second", both(&first.has, &second.lacks)?),
        ("has", both(&first.has, &second.has)?),
    ] {
        inventory.add_host(host(id, facts)).unwrap();
    }
    let mut busy = first.document.vms.iter();
    let busy = busy.find(|placed| *placed.vm.id == *"busy").unwrap();
    inventory.run_vm(busy.vm.clone(), "has").unwrap();
    for (number, case) in [first, second].into_iter().enumerate() {
        for (id, facts) in &case.document.tenants {
            inventory.set_tenant(id.clone(), facts.clone()).unwrap();
        }
        for group in &case.document.groups {
            let id = format!("{}-{number}", group.id).into();
            inventory
                .set_group(Group {
                    id,
                    ..group.clone()
                })
                .unwrap();
        }
    }
    let mut request = first.request.clone();
    request.facts = both(&request.facts, &second.request.facts)?;
    let (member, other) = (&mut request.members[0], &second.request.members[0]);
    member.facts = both(&member.facts, &other.facts)?;
    member.pinning.pinned.extend(other.pinning.pinned.clone());
    member.pinning.pinned.dedup();
    for (host, score) in other.pinning.location.clone() {
        member.pinning.location.push((host, score));
    }
    // Both of the hosts that lack something are forbidden, where one is.
    if let Some((_, score)) = member.pinning.location.first().cloned() {
        let lacking = ["lacks-first", "lacks-second"];
        member.pinning.location = lacking.map(|id| (id.into(), score)).to_vec();
    }
    Some((inventory, request))
}

#[test]
fn of_two_needs_at_once_a_host_that_lacks_either_is_not_taken() {
    let read: Vec<Read> = CASES.iter().map(read).collect();
    let mut pairs = 0;
    for (at, first) in read.iter().enumerate() {
        for second in &read[at + 1..] {
            let Some((inventory, request)) = pair(first, second) else {
                continue;
            };
            let member = &request.members[0].facts;
            if !member.rows("huge-pages").is_empty() && !member.rows("numa-nodes").is_empty() {
                // The pages must be those of the NUMA nodes, of which these hosts tell nothing.
                continue;
            }
            pairs += 1;
            let about = format!("{} and {}", first.document.name, second.document.name);
            let policy = Policy::load(general(), "p.toml", built_in(), inventory.schema());
            let options = SchedulerOptions {
                chain_limit: std::time::Duration::from_secs(60),
                ..SchedulerOptions::default()
            };
            let policy = policy.unwrap().into();
            let mut scheduler = Scheduler::new(inventory, policy, built_in(), options).unwrap();
            let dry = |excluded: &[&str]| Request {
                excluded: excluded.iter().map(|host| (*host).into()).collect(),
                dry_run: true,
                ..request.clone()
            };
            let decision = scheduler.place(dry(&[])).unwrap();
            let removed = &decision.decided.removed;
            assert_eq!(
                decision.host.as_deref(),
                Some("has"),
                "{about}: {removed:?}"
            );
            let decision = scheduler.place(dry(&["has"])).unwrap();
            assert_eq!(decision.host, None, "{about}");
        }
    }
    // Most of them: a few speak of the same column.
    assert!(
        pairs * 10 > CASES.len() * (CASES.len() - 1) / 2 * 8,
        "{pairs}"
    );
}
