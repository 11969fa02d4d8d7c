//! Amounts that are allowed and surely a mistake.

use super::Vm;

/// A VM with less memory was meant to have more: its unit was forgotten.
const LEAST_MEMORY: i64 = 1 << 20;
/// A VM with less CPU, in thousandths of a core, was meant to have more.
const LEAST_CPU: i64 = 10;
/// So many VMs are named; who has more of them has seen enough.
const MOST_NAMED: usize = 20;

/// A sentence for each amount of these VMs that is surely a mistake; of many, for the
/// first ones.
pub fn doubts<'a>(vms: impl IntoIterator<Item = &'a Vm>) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let mut others = 0;
    for vm in vms {
        let doubts = [doubt_of_memory(vm), doubt_of_cpu(vm)];
        for doubt in doubts.into_iter().flatten() {
            match sentences.len() < MOST_NAMED {
                true => sentences.push(doubt),
                false => others += 1,
            }
        }
    }
    if others > 0 {
        sentences.push(format!("{others} more amounts are as small"));
    }
    sentences
}

fn doubt_of_memory(vm: &Vm) -> Option<String> {
    let memory = vm.facts.integer("memory")?;
    (1..LEAST_MEMORY).contains(&memory).then(|| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_that_are_surely_a_mistake_are_named_with_their_vms() {
        let vm = |memory: i64, cpu: i64| Vm::new("v").with("memory", memory).with("cpu", cpu);
        let said = doubts(&[vm(8192, 4)]).join("\n");
        assert!(
            said.contains("8192 bytes") && said.contains("0.004 cores"),
            "{said}"
        );
        assert_eq!(doubts(&[vm(1 << 20, 10), vm(0, 0), Vm::new("w")]), [""; 0]);
        let many: Vec<Vm> = (0..30).map(|_| vm(1, 1000)).collect();
        let said = doubts(&many);
        assert_eq!(
            (said.len(), &*said[20]),
            (21, "10 more amounts are as small")
        );
    }
}
