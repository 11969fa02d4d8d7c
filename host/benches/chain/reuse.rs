//! Decisions that follow each other on a cluster that stays equally full: a VM comes, and
//! the one that came first leaves. Requests are of some eighty kinds, a few of them
//! frequent, as in a public cloud.

use std::collections::VecDeque;
use std::sync::Arc;

use placewright::chain::{Reuse, Runner};
use placewright::inventory::Inventory;
use placewright::model::{Facts, Group, GroupRule, Request, Vm};
use placewright::policy::Policy;
use placewright::scheduler::{Scheduler, SchedulerOptions};

use crate::fleet::{self, Numbers};
use crate::native::Twin;

const GIB: i64 = 1 << 30;

/// Kinds of requests.
const SHAPES: u64 = 84;

/// VMs that came so far stay until so many others have come, per host.
const STAYING: usize = 2;

/// A cluster, and requests for it without end.
pub struct Coming {
    scheduler: Scheduler,
    numbers: Numbers,
    number: u64,
    staying: VecDeque<String>,
    hosts: usize,
    kind: Kind,
}

/// What is asked besides memory and cores.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kind {
    /// So many groups keep their VMs apart, and each VM stands in one.
    pub groups: u64,
    /// A sixth unit keeps hosts with the VM's network, which is one of so many. Each
    /// host has seven in eight of them.
    pub networks: u64,
}

impl Coming {
    /// A cluster of `hosts` hosts under the policy of the five units, each scaled so.
    pub fn new(hosts: usize, scaling: &str, kind: Kind, reuse: Option<Reuse>) -> Self {
        let Kind { groups, networks } = kind;
        let generation = fleet::generation();
        let mut inventory = fleet::fleet(hosts);
        for group in 0..groups {
            let members = (0..40_000).filter(|number| number % groups == group);
            let group = Group {
                id: format!("g{group}").as_str().into(),
                vms: members.map(|number| id(number).as_str().into()).collect(),
                hosts: Vec::new(),
                vm_rule: Some(GroupRule::Negative { hard: false }),
                host_rule: None,
                priority: 1.0,
            };
            inventory.set_group(group).expect("no hosts are named");
        }
        let mut text =
            fleet::POLICY.replace("[[costs]]", &format!("[[costs]]\nscaling = '{scaling}'"));
        if networks > 0 {
            text.push_str("[[filters]]\nunit = 'network'\n");
            connect(&mut inventory, networks);
        }
        let policy = Policy::load(&text, "bench.toml", &generation, inventory.schema())
            .expect("the policy fits the units");
        let options = SchedulerOptions {
            reuse,
            ..SchedulerOptions::default()
        };
        let scheduler = Scheduler::new(inventory, Arc::new(policy), &generation, options)
            .expect("the units are there");
        let mut coming = Self {
            scheduler,
            numbers: Numbers::new(3),
            number: 0,
            staying: VecDeque::new(),
            hosts,
            kind,
        };
        for _ in 0..4_000 {
            coming.come();
        }
        coming
    }

    /// Decide for one VM, reserve its place and confirm it; the oldest leaves.
    pub fn come(&mut self) {
        let number = self.number;
        self.number += 1;
        let id = match self.kind.groups {
            0 => format!("new-{number:09}"),
            _ => id(number % 40_000),
        };
        // Of 84 kinds the first ten make three quarters.
        let uniform = self.numbers.below(1 << 20) as f64 / f64::from(1 << 20);
        let shape = (SHAPES as f64 * uniform.powi(7)) as i64;
        let mut vm = Vm::new(id.as_str())
            .with("cores", 1 + shape % 6)
            .with("memory", (1 + shape / 6) * 2 * GIB);
        if self.kind.networks > 0 {
            let network = network(self.numbers.below(self.kind.networks));
            let nic = Facts::new().with("network", network.as_str());
            vm.facts.push_row("nics", nic.with("plugged", true));
        }
        let request = Request {
            members: vec![vm],
            now: i64::try_from(number / 50).unwrap_or(0),
            ..Request::default()
        };
        let decision = self.scheduler.place(request).expect("the request is good");
        let inventory = self.scheduler.inventory_mut();
        if decision.host.is_some() {
            inventory.confirm_vm(&id).expect("its place is reserved");
            self.staying.push_back(id);
        }
        while self.staying.len() > (STAYING * self.hosts).min(20_000)
            && let Some(id) = self.staying.pop_front()
        {
            inventory.remove_vm(&id).expect("it runs");
        }
    }

    /// The twin of a decision that looks at every host.
    pub fn twin(&self) -> Twin {
        let mut runner = Runner::new(self.scheduler.chain().clone(), crate::BUDGET);
        let request = Request {
            members: vec![Vm::new("twin").with("cores", 2i64).with("memory", 8 * GIB)],
            ..Request::default()
        };
        let whole = runner.explain(self.scheduler.inventory(), &request, 0.5);
        whole.expect("the decision can be explained");
        Twin::new(&runner)
    }

    /// What keeping answers has come to, in one line.
    pub fn told(&self) -> String {
        let counts = self.scheduler.reuse_counts();
        let units = self.scheduler.unit_reuse();
        let decisions = counts.decisions.max(1) as f64;
        let asked: u64 = units.iter().map(|unit| unit.asked).sum();
        let reused: u64 = units.iter().map(|unit| unit.reused).sum();
        format!(
            "hosts asked {:.0}, reused {:.0} a decision over all units; {:.0} % of decisions from kept sums, {} classes, {} skip sets, {:.1} MB, {} evicted",
            asked as f64 / decisions,
            reused as f64 / decisions,
            100.0 * counts.from_sums as f64 / decisions,
            counts.classes,
            counts.skip_sets,
            counts.bytes as f64 / 1e6,
            counts.evicted
        )
    }
}

fn id(number: u64) -> String {
    format!("new-{number:09}")
}

/// Connect each host to seven in eight of the networks.
fn connect(inventory: &mut Inventory, networks: u64) {
    let hosts: Vec<_> = inventory.hosts().map(|(_, host)| host.id.clone()).collect();
    for (number, host) in (0..).zip(hosts) {
        let there = (0..networks).filter(|network| (network + number) % 8 > 0);
        let row = |number| Facts::new().with("name", network(number).as_str());
        let rows = inventory.set_host_rows(&host, "networks", there.map(row).collect());
        rows.expect("the host is there");
    }
}

fn network(number: u64) -> String {
    format!("net-{number}")
}
