//! What is not known is never best, whatever the scaling and the sign of the factor, with kept
//! answers and without.

use std::sync::Arc;

use placewright_chain::Reuse;
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Host, Request, Vm};
use placewright_scheduler::{Scheduler, SchedulerOptions};

use super::{PATIENT, generation, loaded};

/// All but `range`: units that declare a range give no infinite costs.
const SCALINGS: [&str; 5] = ["none", "min-max", "rank", "stretch", "stretched-rank"];

const HOSTS: [&str; 4] = ["h0", "h1", "h2", "h3"];

/// Hosts of which some have no measured load, which is an infinite cost.
fn cluster(unknown: &[&str]) -> Inventory {
    let mut inventory = Inventory::new("c", Arc::new(Schema::default()));
    for (number, id) in (0_i64..).zip(HOSTS) {
        let mut host = Host::new(id)
            .with("cpu.cores", 8_i64)
            .with("memory.total", 64_i64 << 30);
        if !unknown.contains(&id) {
            host = host.with("cpu.usage", 0.2 + 0.1 * number as f64);
        }
        inventory.add_host(host).unwrap();
    }
    inventory
}

fn scheduler(policy: &str, unknown: &[&str], reuse: Option<Reuse>) -> Scheduler {
    let options = SchedulerOptions {
        chain_limit: PATIENT,
        reuse,
        ..SchedulerOptions::default()
    };
    let policy = loaded(policy, generation());
    Scheduler::new(cluster(unknown), policy, generation(), options).unwrap()
}

/// Of VMs that are placed one after the other, while loads change: whether a host of known load
/// was chosen for each, and all that was decided.
fn decided(scheduler: &mut Scheduler, unknown: &[&str]) -> Vec<(String, String)> {
    let mut decided = Vec::new();
    for number in 0..6 {
        let changed = HOSTS[number % HOSTS.len()];
        if !unknown.contains(&changed) {
            let usage = Some((0.05 * number as f64).into());
            let inventory = scheduler.inventory_mut();
            inventory
                .set_host_value(changed, "cpu.usage", usage)
                .unwrap();
        }
        let vm = Vm::new(format!("v{number}")).with("memory", 1_i64 << 30);
        let request = Request {
            members: vec![vm],
            ..Request::default()
        };
        let decision = scheduler.place(request).unwrap();
        let host = decision.host.as_deref().unwrap_or("none");
        decided.push((host.to_owned(), format!("{:?}", decision.decided)));
    }
    decided
}

#[test]
fn hosts_of_unknown_load_are_last_under_every_scaling_and_sign_with_kept_answers_and_without() {
    for scaling in SCALINGS {
        for factor in ["2.5", "-2.5"] {
            for unknown in [&HOSTS[..], &["h0", "h2"], &["h0"]] {
                let policy = format!(
                    "tie-rule = ['listed']\n[[filters]]\nunit = 'memory'\n[[costs]]\nunit = 'even-distribution'\nscaling = '{scaling}'\nfactor = {factor}\n"
                );
                let case = format!("{scaling}, factor {factor}, unknown {unknown:?}");
                let mut with = scheduler(&policy, unknown, Some(Reuse::default()));
                let mut without = scheduler(&policy, unknown, None);
                let decided_with = decided(&mut with, unknown);
                assert_eq!(decided_with, decided(&mut without, unknown), "{case}");
                for (host, _) in decided_with {
                    let is_known = !unknown.contains(&&*host);
                    assert!(is_known || unknown.len() == HOSTS.len(), "{case}: {host}");
                }
            }
        }
    }
}
