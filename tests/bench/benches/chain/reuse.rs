//! Decisions that follow each other on a cluster that stays equally full: a VM comes, and
//! the one that came first leaves. Requests are of some eighty kinds, a few of them
//! frequent, as in a public cloud.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use placewright_chain::{Reuse, Runner, UnitReuse};
use placewright_engine::generation::Generation;
use placewright_inventory::Inventory;
use placewright_model::{Facts, Group, GroupRule, Request, Vm};
use placewright_policy::Policy;
use placewright_scheduler::{Scheduler, SchedulerOptions};

use crate::fleet::{self, Numbers};
use crate::fused::Fused;
use crate::native::Twin;

const GIB: i64 = 1 << 30;

/// The VM that the native twin decides about.
const TWIN_CORES: i64 = 2;
const TWIN_MEMORY: i64 = 8 * GIB;

/// Kinds of requests.
const SHAPES: u64 = 84;

/// VMs that came so far stay until so many others have come, per host.
const STAYING: usize = 2;

/// A unit that looks at all hosts at once.
const WHOLE_TABLE: &str = "
[[costs]]
unit = 'memory-spreading'
scaling = 'none'
";

/// A unit that filters by networks.
const NETWORK: &str = "
[[filters]]
unit = 'network'
";

/// Which decisions follow each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant {
    pub hosts: usize,
    /// Of all costs.
    pub scaling: &'static str,
    /// VMs stand in one of so many groups that keep apart, if there are any.
    pub groups: u64,
    /// Whether a unit is asked besides that looks at all hosts at once.
    pub whole_table: bool,
    /// A unit is asked besides that keeps the hosts with the VM's network, which is one of
    /// so many; each host has seven in eight of them. 0: it is not.
    pub networks: u64,
}

impl Default for Variant {
    fn default() -> Self {
        Self {
            hosts: 10_000,
            scaling: "none",
            groups: 0,
            whole_table: false,
            networks: 0,
        }
    }
}

impl Variant {
    pub(crate) fn of(self, hosts: usize) -> Self {
        Self { hosts, ..self }
    }

    pub(crate) fn scaled(self, scaling: &'static str) -> Self {
        Self { scaling, ..self }
    }

    pub(crate) fn with_groups(self, groups: u64) -> Self {
        Self { groups, ..self }
    }

    pub(crate) fn with_a_whole_table(self) -> Self {
        let whole_table = true;
        Self {
            whole_table,
            ..self
        }
    }

    pub(crate) fn with_networks(self, networks: u64) -> Self {
        Self { networks, ..self }
    }

    /// Whether the sums are those of the five units as they are.
    pub(crate) fn is_of_five_units_alone(&self) -> bool {
        self.scaling == "none" && self.groups == 0 && !self.whole_table && self.networks == 0
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scaling {}", self.scaling)?;
        if self.groups > 0 {
            write!(f, ", {} groups", self.groups)?;
        }
        if self.whole_table {
            write!(f, ", a whole-table part")?;
        }
        if self.networks > 0 {
            write!(f, ", {} networks", self.networks)?;
        }
        Ok(())
    }
}

/// A cluster, and requests for it without end.
pub(crate) struct Coming {
    scheduler: Scheduler,
    numbers: Numbers,
    number: u64,
    staying: VecDeque<String>,
    variant: Variant,
}

impl Coming {
    /// A cluster under the policy of a variant.
    pub(crate) fn new(variant: Variant, reuse: Option<Reuse>) -> Self {
        let scaling = format!("[[costs]]\nscaling = '{}'", variant.scaling);
        let mut text = fleet::POLICY.replace("[[costs]]", &scaling);
        if variant.whole_table {
            text.push_str(WHOLE_TABLE);
        }
        if variant.networks > 0 {
            text.push_str(NETWORK);
        }
        Self::under(&text, &fleet::generation(), variant, reuse)
    }

    /// The same cluster under another policy, of the units of that generation.
    pub(crate) fn under(
        text: &str,
        generation: &Generation,
        variant: Variant,
        reuse: Option<Reuse>,
    ) -> Self {
        let Variant { hosts, groups, .. } = variant;
        let mut inventory = fleet::fleet(hosts);
        if variant.networks > 0 {
            connect(&mut inventory, variant.networks);
        }
        for group in 0..groups {
            let members = (0..40_000).filter(|number| number % groups == group);
            let group = Group {
                vms: members.map(|number| id(number).as_str().into()).collect(),
                hosts: Vec::new(),
                vm_rule: Some(GroupRule::Negative { hard: false }),
                host_rule: None,
                priority: 1.0,
                ..Group::new(format!("g{group}").as_str())
            };
            inventory.set_group(group).expect("no hosts are named");
        }
        let policy = Policy::load(text, "bench.toml", generation, inventory.schema())
            .expect("the policy fits the units");
        let options = SchedulerOptions {
            reuse,
            ..SchedulerOptions::default()
        };
        let scheduler = Scheduler::new(inventory, Arc::new(policy), generation, options)
            .expect("the units are there");
        let mut coming = Self {
            scheduler,
            numbers: Numbers::new(3),
            number: 0,
            staying: VecDeque::new(),
            variant,
        };
        for _ in 0..4_000 {
            coming.come();
        }
        coming
    }

    /// Decide for one VM, reserve its place and confirm it; the oldest leaves.
    pub(crate) fn come(&mut self) {
        let number = self.number;
        self.number += 1;
        let id = match self.variant.groups {
            0 => format!("new-{number:09}"),
            _ => id(number % 40_000),
        };
        // Of 84 kinds the first ten make three quarters.
        let uniform = self.numbers.below(1 << 20) as f64 / f64::from(1 << 20);
        let shape = (SHAPES as f64 * uniform.powi(7)) as i64;
        let mut vm = Vm::new(id.as_str())
            .with("cores", 1 + shape % 6)
            .with("memory", (1 + shape / 6) * 2 * GIB);
        if self.variant.networks > 0 {
            let network = network(self.numbers.below(self.variant.networks));
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
        while self.staying.len() > (STAYING * self.variant.hosts).min(20_000)
            && let Some(id) = self.staying.pop_front()
        {
            inventory.remove_vm(&id).expect("it runs");
        }
        // As a server does after every turn.
        self.scheduler.forget_the_past();
    }

    /// The twin of a decision that looks at every host.
    pub(crate) fn twin(&self) -> Twin {
        let mut runner = Runner::new(self.scheduler.chain().clone(), crate::BUDGET);
        let request = Request {
            members: vec![
                Vm::new("twin")
                    .with("cores", TWIN_CORES)
                    .with("memory", TWIN_MEMORY),
            ],
            ..Request::default()
        };
        let whole = runner.explain(self.scheduler.inventory(), &request, 0.5);
        whole.expect("the decision can be explained");
        Twin::new(&runner)
    }

    /// All that the five units have to say of that decision, as one loop.
    pub(crate) fn fused(&self) -> Fused {
        Fused::new(self.scheduler.inventory(), TWIN_CORES, TWIN_MEMORY)
    }

    /// Of each unit, what it was asked, a line each.
    pub(crate) fn told_by_unit(&self) -> Vec<String> {
        let decisions = self.scheduler.reuse_counts().decisions.max(1) as f64;
        let told = |unit: UnitReuse| {
            format!(
                "{}: hosts asked {:.1}, reused {:.0} a decision",
                unit.unit,
                unit.asked as f64 / decisions,
                unit.reused as f64 / decisions
            )
        };
        self.scheduler.unit_reuse().into_iter().map(told).collect()
    }

    /// What keeping answers has come to, in one line.
    pub(crate) fn told(&self) -> String {
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
