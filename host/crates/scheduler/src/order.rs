//! The turns of a batch where no unit gives them: by priority, current score, size.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use placewright_inventory::{Inventory, Shape};
use placewright_model::Vm;

/// The places of VMs in the order of their turns, one VM a turn: greater priority
/// first; then those that run, by the score that they have where they run (what is
/// said of that host in `location`, and the stickiness), before those that do not;
/// then by [`size`]; then as listed.
pub(super) fn by_importance(inventory: &Inventory, vms: &[Vm]) -> Vec<Vec<usize>> {
    let totals = Totals::of(inventory);
    let keys: Vec<_> = vms
        .iter()
        .map(|vm| {
            let score = current_score(inventory, vm);
            (Reverse(priority(vm)), Reverse(score), totals.size(vm))
        })
        .collect();
    let mut order: Vec<usize> = (0..vms.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&keys[*a], &keys[*b]);
        (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2))
    });
    order.into_iter().map(|vm| vec![vm]).collect()
}

/// The VM's priority: the greater, the sooner it is served; 0 if not given.
pub(super) fn priority(vm: &Vm) -> i64 {
    vm.facts.integer("priority").unwrap_or(0)
}

/// None if the VM does not run.
fn current_score(inventory: &Inventory, vm: &Vm) -> Option<i64> {
    let host = inventory.host(inventory.runs_on(&vm.id)?)?;
    let said = vm.pinning.location.iter();
    let said = said.filter(|(id, _)| *id == host.id);
    let stickiness = vm.facts.integer("stickiness").unwrap_or(0);
    Some(said.fold(stickiness, |sum, (_, score)| sum.saturating_add(*score)))
}

/// What all hosts of a cluster have together.
pub(super) struct Totals {
    cpu: i64,
    memory: i64,
    amounts: BTreeMap<Arc<str>, i64>,
}

impl Totals {
    pub(super) fn of(inventory: &Inventory) -> Self {
        let sum = |column: &str| {
            let index = inventory.column_index(column);
            let values = index.map_or(&[][..], |index| inventory.column(index).integers());
            let rows = (0u32..).zip(values);
            let hosts = rows.filter(|(slot, _)| inventory.host(*slot).is_some());
            hosts.fold(0i64, |sum, (_, value)| sum.saturating_add(*value))
        };
        let mut amounts: BTreeMap<Arc<str>, i64> = BTreeMap::new();
        for amount in inventory.hosts().flat_map(|(_, host)| &host.amounts) {
            let total = amounts.entry(amount.name.clone()).or_default();
            *total = total.saturating_add(amount.total);
        }
        Self {
            cpu: sum("cpu.total"),
            memory: sum("memory.total"),
            amounts,
        }
    }

    /// How large a VM is: the greatest share that it needs of what the hosts have
    /// together of CPU, memory or any named amount. That is its dominant share (A.
    /// Ghodsi et al., "Dominant Resource Fairness", NSDI 2011).
    pub(super) fn size(&self, vm: &Vm) -> f64 {
        let shape = Shape::of(&vm.facts);
        let needs = vm.facts.rows("amounts").iter().filter_map(|row| {
            let total = self.amounts.get(row.text("name")?);
            Some((row.integer("need")?, total.copied().unwrap_or(0)))
        });
        [(shape.cpu, self.cpu), (shape.memory, self.memory)]
            .into_iter()
            .chain(needs)
            .map(|(need, total)| share(need, total))
            .fold(0.0, f64::max)
    }
}

/// 0 where hosts are not said to have any: then nothing tells VMs apart by it.
fn share(need: i64, total: i64) -> f64 {
    match total > 0 {
        true => need.max(0) as f64 / total as f64,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placewright_model::schema::Schema;
    use placewright_model::{Facts, Host};

    fn fleet() -> Inventory {
        let mut inventory = Inventory::new("test", Arc::new(Schema::default()));
        for id in ["a", "b"] {
            let mut host = Host::new(id)
                .with("cpu.cores", 8_i64)
                .with("memory.total", 1000_i64);
            let gpus = Facts::new().with("name", "gpus").with("total", 4);
            host.facts.set_rows("amounts", vec![gpus]);
            inventory.add_host(host).unwrap();
        }
        inventory
    }

    fn vm(id: &str, cpu: i64, memory: i64) -> Vm {
        Vm::new(id).with("cpu", cpu).with("memory", memory)
    }

    fn order(inventory: &Inventory, vms: &[Vm]) -> Vec<String> {
        let turns = by_importance(inventory, vms);
        turns
            .iter()
            .map(|turn| vms[turn[0]].id.to_string())
            .collect()
    }

    #[test]
    fn priority_comes_before_score_and_score_before_size_and_size_before_the_list() {
        let mut inventory = fleet();
        let sticky = vm("sticky", 1, 1).with("stickiness", 5_i64);
        for running in [vm("runs", 1, 1), sticky.clone()] {
            inventory.run_vm(running, "a").unwrap();
        }
        let vms = [
            vm("small-2", 1, 1),
            vm("small-1", 1, 1),
            vm("large", 1, 500),
            vm("runs", 1, 1),
            sticky,
            vm("low", 1, 900).with("priority", -1_i64),
            vm("high", 1, 1).with("priority", 1_i64),
        ];
        let expected = [
            "high", "sticky", "runs", "large", "small-2", "small-1", "low",
        ];
        assert_eq!(order(&inventory, &vms), expected);
    }

    #[test]
    fn the_size_is_the_greatest_share_of_what_the_hosts_have() {
        let totals = Totals::of(&fleet());
        assert_eq!(totals.size(&vm("v", 4000, 100)), 0.25);
        assert_eq!(totals.size(&vm("v", 1000, 1000)), 0.5);
        let mut vm = vm("v", 1000, 0);
        let need = |name: &str, need: i64| Facts::new().with("name", name).with("need", need);
        vm.facts
            .set_rows("amounts", vec![need("gpus", 6), need("unheard-of", 9)]);
        assert_eq!(totals.size(&vm), 0.75);
    }
}
