//! Arrivals and departures through the chain, beside the same rule written down
//! plainly: the decisions are the same, one by one.

use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Host, Vm};
use placewright_tests::scene::{request, scheduler};
use placewright_tests::units::generation;

const HOSTS: usize = 6;
/// Millicores of a host.
const CPU: i64 = 16_000;
/// Memory of a host, in quarters of a GiB.
const MEMORY: i64 = 256;
const QUARTER: i64 = 256 << 20;

/// What comes or goes.
enum Event {
    Arrives { vm: usize, cpu: i64, memory: i64 },
    Leaves { vm: usize },
}

/// A trace from a linear congruential generator (Knuth's constants): any will do.
fn trace() -> Vec<Event> {
    let mut state: u64 = 2020;
    let mut next = |below: i64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as i64 % below
    };
    let mut events = Vec::new();
    for vm in 0..400 {
        let (cpu, memory) = (500 * (1 + next(8)), 1 + next(40));
        events.push(Event::Arrives { vm, cpu, memory });
        if vm >= 40 && next(10) > 1 {
            events.push(Event::Leaves { vm: vm - 40 });
        }
    }
    events
}

/// What a policy prefers, as plain arithmetic: the host with the least of it.
type Cost = fn(free: (i64, i64), need: (i64, i64)) -> i128;

/// The hosts that the rule chooses, one entry for each arrival.
fn plainly(cost: Cost) -> Vec<Option<usize>> {
    let mut free = [(CPU, MEMORY); HOSTS];
    let mut places = Vec::new();
    let mut chosen = Vec::new();
    for event in trace() {
        match event {
            Event::Arrives { cpu, memory, .. } => {
                let fits = |host: &usize| free[*host].0 >= cpu && free[*host].1 >= memory;
                let host = (0..HOSTS)
                    .filter(fits)
                    .min_by_key(|host| cost(free[*host], (cpu, memory)));
                if let Some(host) = host {
                    free[host].0 -= cpu;
                    free[host].1 -= memory;
                }
                places.push((host, cpu, memory));
                chosen.push(host);
            }
            Event::Leaves { vm } => {
                if let (Some(host), cpu, memory) = places[vm] {
                    free[host].0 += cpu;
                    free[host].1 += memory;
                }
            }
        }
    }
    chosen
}

/// The same through the units.
fn through_the_chain(unit: &str) -> Vec<Option<usize>> {
    let mut inventory = Inventory::new("fleet", Schema::default().into());
    for number in 0..HOSTS {
        let host = Host::new(format!("h{number}"))
            .with("cpu.total", CPU)
            .with("memory.total", MEMORY * QUARTER);
        inventory.add_host(host).unwrap();
    }
    let text =
        format!("tie-rule = ['id']\n[[filters]]\nunit = '{unit}'\n[[costs]]\nunit = '{unit}'\n");
    let mut scheduler = scheduler(inventory, &text, &generation(&[unit]));
    let mut chosen = Vec::new();
    for event in trace() {
        match event {
            Event::Arrives { vm, cpu, memory } => {
                let vm = Vm::new(format!("v{vm}"))
                    .with("cpu", cpu)
                    .with("memory", memory * QUARTER);
                let id = vm.id.clone();
                let host = scheduler.place(request(vm)).unwrap().host.clone();
                if host.is_some() {
                    scheduler.inventory_mut().confirm_vm(&id).unwrap();
                }
                chosen.push(host.map(|host| host[1..].parse().unwrap()));
            }
            Event::Leaves { vm } => {
                if chosen[vm].is_some() {
                    scheduler
                        .inventory_mut()
                        .remove_vm(&format!("v{vm}"))
                        .unwrap();
                }
            }
        }
    }
    chosen
}

fn replays(unit: &str, cost: Cost) {
    let (plain, chain) = (plainly(cost), through_the_chain(unit));
    let rejected = plain.iter().filter(|host| host.is_none()).count();
    assert!(
        (1..200).contains(&rejected),
        "the fleet is too roomy or too small: {rejected}"
    );
    let differs = plain
        .iter()
        .zip(&chain)
        .position(|(one, other)| one != other);
    assert_eq!(differs, None, "first arrival that is decided otherwise");
}

fn left(free: (i64, i64), need: (i64, i64)) -> i128 {
    let (cpu, memory) = (free.0 - need.0, free.1 - need.1);
    i128::from(cpu) * i128::from(MEMORY) + i128::from(memory) * i128::from(CPU)
}

#[test]
fn best_fit_replays_a_trace_as_the_plain_rule_does() {
    replays("best-fit", left);
}

#[test]
fn worst_fit_replays_a_trace_as_the_plain_rule_does() {
    replays("worst-fit", |free, need| -left(free, need));
}

#[test]
fn dot_product_replays_a_trace_as_the_plain_rule_does() {
    replays("dot-product", |free, need| {
        let cpu = i128::from(free.0) * i128::from(need.0) * i128::from(MEMORY).pow(2);
        let memory = i128::from(free.1) * i128::from(need.1) * i128::from(CPU).pow(2);
        -(cpu + memory)
    });
}

#[test]
fn first_fit_replays_a_trace_as_the_plain_rule_does() {
    // All costs are equal: the tie rule decides.
    replays("first-fit", |_, _| 0);
}
