//! Amounts that are allowed and surely a mistake.

use std::collections::BTreeSet;

use super::{Facts, Host, Vm};

/// A VM with less memory was meant to have more: its unit was forgotten.
const LEAST_MEMORY: i64 = 1 << 20;
/// A host with less memory, likewise.
const LEAST_HOST_MEMORY: i64 = 1 << 30;
/// A VM with less CPU, in thousandths of a core, was meant to have more.
const LEAST_CPU: i64 = 10;
/// A host that promises more than so many times what it has was given a percentage.
const MOST_OVERCOMMIT: f64 = 16.0;
/// So many amounts are named; who has more of them has seen enough.
const MOST_NAMED: usize = 20;

/// A sentence for each amount of these VMs and hosts that is surely a mistake; of many, for
/// the first ones. They are whole: a VM that says no memory has none, and a host that says neither
/// memory nor CPU has neither, unless it is sized by amounts with names.
pub fn doubts<'a>(
    vms: impl IntoIterator<Item = &'a Vm>,
    hosts: impl IntoIterator<Item = &'a Host>,
) -> Vec<String> {
    let no_memory = |vm: &Vm| {
        let is_sized = vm.facts.integer("memory").is_some() || !vm.facts.rows("amounts").is_empty();
        (!is_sized).then(|| of_no_memory(vm))
    };
    of_all(
        vms.into_iter()
            .flat_map(|vm| no_memory(vm).into_iter().chain(of_vm(vm))),
        hosts.into_iter().flat_map(|host| {
            let no_room = doubt_of_room(&host.id, &host.facts);
            no_room.into_iter().chain(of_host(host))
        }),
    )
}

/// The same of what is given anew of VMs and hosts: of what is not given nothing is said.
pub fn doubts_of_changes<'a>(
    vms: impl IntoIterator<Item = &'a Vm>,
    hosts: impl IntoIterator<Item = &'a Host>,
) -> Vec<String> {
    of_all(
        vms.into_iter().flat_map(of_vm),
        hosts.into_iter().flat_map(of_host),
    )
}

/// A sentence if a VM is said to have GPUs (rows with `index`) of which its host, with these
/// facts, has none of that number: they count as others of its GPUs.
pub fn doubt_of_gpus(vm: &str, given: &[Facts], host: &str, facts: &Facts) -> Option<String> {
    let numbers = |rows: &[Facts]| -> BTreeSet<i64> {
        rows.iter().filter_map(|row| row.integer("index")).collect()
    };
    let (given, known) = (numbers(given), numbers(facts.rows("gpus")));
    let lost: Vec<i64> = given.difference(&known).copied().collect();
    if lost.is_empty() {
        return None;
    }
    let known: Vec<i64> = known.into_iter().collect();
    Some(format!(
        "VM \"{vm}\" is said to have {} of host \"{host}\", which has {}: what it is said to take of it counts on whichever GPU of the host has room",
        named_gpus(&lost),
        match known.is_empty() {
            true => "no GPUs that are listed".to_owned(),
            false => named_gpus(&known),
        }
    ))
}

/// A sentence if a host with these facts can hold no VM, since nothing says how much memory or CPU
/// it has. Who counts one of both alone, or amounts with names, says so by what is given.
pub fn doubt_of_room(id: &str, facts: &Facts) -> Option<String> {
    let has_rows = ["amounts", "usage"]
        .iter()
        .any(|table| !facts.rows(table).is_empty());
    let is_sized = ["memory.total", "cpu.total", "cpu.cores"]
        .iter()
        .any(|column| facts.get(column).is_some());
    (!has_rows && !is_sized).then(|| {
        format!(
            "host \"{id}\" says neither memory nor CPU, so that no VM that needs any fits there: write for example memory.total = \"64 GiB\" and cpu.cores = 16"
        )
    })
}

/// `GPU 3`, or `GPUs 0, 1, 2`; of many, the first ones.
fn named_gpus(numbers: &[i64]) -> String {
    let shown: Vec<String> = numbers
        .iter()
        .take(MOST_NAMED)
        .map(i64::to_string)
        .collect();
    let more = match numbers.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let plural = if numbers.len() == 1 { "" } else { "s" };
    format!("GPU{plural} {}{more}", shown.join(", "))
}

fn of_all(vms: impl Iterator<Item = String>, hosts: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = hosts.chain(vms);
    let mut sentences: Vec<String> = all.by_ref().take(MOST_NAMED).collect();
    match all.count() {
        0 => {}
        1 => sentences.push("1 more amount is as doubtful".to_owned()),
        others => sentences.push(format!("{others} more amounts are as doubtful")),
    }
    sentences
}

fn of_vm(vm: &Vm) -> impl Iterator<Item = String> {
    [doubt_of_memory(vm), doubt_of_cpu(vm)]
        .into_iter()
        .flatten()
}

fn of_no_memory(vm: &Vm) -> String {
    format!(
        "VM \"{}\" says no memory, so that it fits wherever there is any: write for example memory = \"8 GiB\"",
        vm.id
    )
}

fn doubt_of_memory(vm: &Vm) -> Option<String> {
    let memory = vm.facts.integer("memory")?;
    (0..LEAST_MEMORY).contains(&memory).then(|| {
        format!(
            "VM \"{}\" has {memory} bytes of memory, less than 1 MiB: a number without a unit counts bytes; write for example \"8 GiB\"",
            vm.id
        )
    })
}

fn doubt_of_cpu(vm: &Vm) -> Option<String> {
    let cpu = vm.facts.integer("cpu")?;
    (1..LEAST_CPU).contains(&cpu).then(|| {
        format!(
            "VM \"{}\" has {} cores of CPU, less than 10 thousandths of one: a number without a unit counts cores; write for example 4 or \"500m\"",
            vm.id,
            cpu as f64 / 1000.0
        )
    })
}

fn of_host(host: &Host) -> impl Iterator<Item = String> {
    let (id, facts) = (&host.id, &host.facts);
    let overcommits = ["cpu.overcommit", "memory.overcommit"]
        .into_iter()
        .filter_map(|column| doubt_of_overcommit(id, facts, column));
    doubt_of_host_memory(id, facts)
        .into_iter()
        .chain(overcommits)
}

fn doubt_of_host_memory(id: &str, facts: &Facts) -> Option<String> {
    let memory = facts.integer("memory.total")?;
    (memory < LEAST_HOST_MEMORY).then(|| {
        format!(
            "host \"{id}\" has {memory} bytes of memory, less than 1 GiB: a number without a unit counts bytes; write for example memory.total = \"64 GiB\""
        )
    })
}

fn doubt_of_overcommit(id: &str, facts: &Facts, column: &str) -> Option<String> {
    let times = facts.number(column)?;
    (times > MOST_OVERCOMMIT).then(|| {
        format!(
            "host \"{id}\" has {column} {times}, which is {times} times what it has: if a percentage is meant, write \"{times} %\" or {}",
            times / 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_vms(vms: &[Vm]) -> Vec<String> {
        doubts(vms, [])
    }

    #[test]
    fn amounts_that_are_surely_a_mistake_are_named_with_their_vms() {
        let vm = |memory: i64, cpu: i64| Vm::new("v").with("memory", memory).with("cpu", cpu);
        let said = of_vms(&[vm(8192, 4)]).join("\n");
        assert!(
            said.contains("8192 bytes") && said.contains("0.004 cores"),
            "{said}"
        );
        assert_eq!(of_vms(&[vm(1 << 20, 10)]), [""; 0]);
        assert!(of_vms(&[vm(0, 0)])[0].contains("has 0 bytes of memory"));
        assert!(of_vms(&[Vm::new("w")])[0].contains("VM \"w\" says no memory"));
        assert_eq!(doubts_of_changes([&Vm::new("w")], []), [""; 0]);
        let many: Vec<Vm> = (0..30).map(|_| vm(1, 1000)).collect();
        let said = of_vms(&many);
        assert_eq!(
            (said.len(), &*said[20]),
            (21, "10 more amounts are as doubtful")
        );
    }

    #[test]
    fn gpus_that_a_host_does_not_have_are_named() {
        let rows = |numbers: &[i64]| -> Vec<Facts> {
            let rows = numbers.iter();
            rows.map(|number| Facts::new().with("index", *number))
                .collect()
        };
        let mut host = Facts::new();
        host.set_rows("gpus", rows(&[0, 1]));
        let said = |given: &[i64]| doubt_of_gpus("v", &rows(given), "h", &host);
        assert_eq!(said(&[0, 1]), None);
        assert_eq!(
            said(&[7, 1, 7]).as_deref(),
            Some(
                "VM \"v\" is said to have GPU 7 of host \"h\", which has GPUs 0, 1: what it is said to take of it counts on whichever GPU of the host has room"
            )
        );
        let none = doubt_of_gpus("v", &rows(&[0, 1]), "h", &Facts::new()).unwrap();
        assert!(
            none.contains("have GPUs 0, 1 of host \"h\", which has no GPUs that are listed"),
            "{none}"
        );
    }

    #[test]
    fn hosts_with_a_forgotten_unit_and_percentages_taken_for_factors_are_named() {
        let host = |memory: i64, column: &str, times: f64| {
            Host::new("h")
                .with("memory.total", memory)
                .with("cpu.cores", 8)
                .with(column, times)
        };
        let said = doubts([], &[host(512, "cpu.overcommit", 16.0)]).join("\n");
        assert!(
            said.contains("has 512 bytes of memory, less than 1 GiB"),
            "{said}"
        );
        assert!(!said.contains("overcommit"), "{said}");
        for column in ["cpu.overcommit", "memory.overcommit"] {
            assert_eq!(
                doubts([], &[host(1 << 30, column, 150.0)]),
                [format!(
                    "host \"h\" has {column} 150, which is 150 times what it has: if a percentage is meant, write \"150 %\" or 1.5"
                )]
            );
        }
        assert_eq!(doubts_of_changes([], &[Host::new("h")]), [""; 0]);
    }

    #[test]
    fn hosts_that_can_hold_no_vm_are_named() {
        let said = |host: Host| doubts([], &[host]).join("\n");
        let whole = Host::new("h")
            .with("memory.total", 1 << 40)
            .with("cpu.cores", 8);
        assert_eq!(said(whole), "");
        let neither = said(Host::new("h"));
        assert!(
            neither.starts_with("host \"h\" says neither memory nor CPU"),
            "{neither}"
        );
        // One of both alone may be what is counted.
        assert_eq!(said(Host::new("h").with("cpu.total", 8000)), "");
        assert_eq!(said(Host::new("h").with("memory.total", 1 << 40)), "");
        let mut sized = Host::new("h");
        sized.facts.push_row(
            "amounts",
            Facts::new().with("name", "gold").with("total", 3),
        );
        assert_eq!(said(sized), "");
    }
}
