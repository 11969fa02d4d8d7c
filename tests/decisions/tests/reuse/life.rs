//! What may happen to a cluster, at random but the same for a seed.

use std::sync::Arc;

use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Group, GroupRule, Host, Request, Value, Vm};
use placewright_tests::scene::GIB;

/// Makes changes and requests.
pub(super) struct Life {
    numbers: u64,
    now: i64,
    /// Ids of all hosts that ever were.
    hosts: Vec<String>,
    /// Ids of VMs that were asked for.
    vms: Vec<String>,
    shapes: u64,
}

/// One change of an inventory. One that is not possible is none.
pub(super) enum Change {
    HostValue(String, &'static str, Option<Value>),
    HostRows(String, &'static str, Vec<Facts>),
    AddHost(Box<Host>),
    RemoveHost(String),
    Confirm(String),
    Cancel(String),
    Remove(String),
    Run(Box<Vm>, String),
    Group(Group),
    Tenant(String, Facts),
}

impl Change {
    /// Make the change.
    pub(super) fn make(&self, inventory: &mut Inventory) {
        // What is not possible is refused, the same in all inventories.
        let _ = match self {
            Change::HostValue(host, column, value) => {
                inventory.set_host_value(host, column, value.clone())
            }
            Change::HostRows(host, table, rows) => {
                inventory.set_host_rows(host, table, rows.clone())
            }
            Change::AddHost(host) => inventory.add_host((**host).clone()).map(drop),
            Change::RemoveHost(host) => inventory.remove_host(host),
            Change::Confirm(vm) => inventory.confirm_vm(vm),
            Change::Cancel(vm) => inventory.cancel_vm(vm),
            Change::Remove(vm) => inventory.remove_vm(vm),
            Change::Run(vm, host) => inventory.run_vm((**vm).clone(), host),
            Change::Group(group) => inventory.set_group(group.clone()),
            Change::Tenant(id, facts) => inventory.set_tenant(id.as_str(), facts.clone()),
        };
    }
}

impl Life {
    pub(super) fn new(seed: u64) -> Self {
        let mut life = Self {
            numbers: seed,
            now: 1_000,
            hosts: Vec::new(),
            vms: Vec::new(),
            shapes: 6,
        };
        let hosts = 2 + life.below(60);
        life.hosts = (0..hosts).map(|host| format!("h{host:03}")).collect();
        life
    }

    /// The same with requests of one kind, and hosts enough that some stay as they are.
    pub(super) fn of_few_shapes(mut self) -> Self {
        self.shapes = 1;
        self.hosts = (0..200).map(|host| format!("h{host:03}")).collect();
        self
    }

    /// The same with requests of which no two are alike.
    pub(super) fn of_many_shapes(mut self) -> Self {
        self.shapes = 1 << 20;
        self
    }

    /// A number from 0 and below that (Knuth's MMIX generator).
    pub(super) fn below(&mut self, below: u64) -> u64 {
        self.numbers = (self.numbers)
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.numbers >> 33) % below
    }

    /// One of these.
    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// True in one of so many cases.
    pub(super) fn once_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }

    /// The cluster at its beginning.
    pub(super) fn inventory(&self) -> Inventory {
        // The same for every scheduler.
        let mut same = Self {
            numbers: self.hosts.len() as u64,
            hosts: Vec::new(),
            vms: Vec::new(),
            ..*self
        };
        let mut inventory = Inventory::new("test", Arc::new(Schema::built_in().clone()));
        for id in &self.hosts {
            inventory.add_host(same.host(id)).expect("ids differ");
        }
        inventory
    }

    fn host(&mut self, id: &str) -> Host {
        let cores = self.one_of(&[8, 16, 16, 32]);
        let mut host = Host::new(id)
            .with("cpu.sockets", 2i64)
            .with("cpu.cores", cores)
            .with("cpu.threads", 2 * cores)
            .with("zone", self.one_of(&["a", "b"]))
            .with("created", self.below(5) as i64)
            .with("memory.total", self.one_of(&[32, 64, 64, 128]) * GIB);
        if !self.once_in(4) {
            host = host
                .with("memory.free", self.below(9) as i64 * 8 * GIB)
                .with("cpu.usage", self.below(9) as f64 / 8.0);
        }
        for name in ["cpu", "memory"] {
            let total = self.below(20) as i64;
            let amount = Facts::new().with("name", name).with("total", total);
            host.facts.push_row("amounts", amount);
        }
        for name in ["n1", "n2", "n3"] {
            if self.once_in(2) {
                host.facts
                    .push_row("networks", Facts::new().with("name", name));
            }
        }
        host
    }

    fn vm(&mut self, id: &str) -> Vm {
        let shape = self.below(self.shapes) as i64;
        let mut vm = Vm::new(id)
            .with("cores", 1 + shape % 3)
            .with("memory", (2 + shape % 6) * GIB + shape);
        if shape == 4 {
            vm = vm.with("ha", true);
        }
        if shape == 5 {
            let need = Facts::new().with("name", "cpu").with("need", 3i64);
            vm.facts.push_row("amounts", need);
        }
        if shape == 3 {
            vm.facts.push_row("nics", nic("n1"));
        }
        if self.shapes > 1 && self.once_in(2) {
            for name in ["n1", "n2", "n3"] {
                if self.once_in(3) {
                    vm.facts.push_row("nics", nic(name));
                }
            }
        }
        if self.shapes > 1 && self.once_in(8) && !self.hosts.is_empty() {
            let named = |life: &mut Self| vec![life.any_host().as_str().into()];
            match self.below(3) {
                0 => vm.pinning.pinned = named(self),
                1 => vm.pinning.preferred = named(self),
                _ => {
                    let host = self.any_host().as_str().into();
                    vm.pinning.location = vec![(host, self.below(9) as i64 - 4)];
                }
            }
        }
        vm
    }

    fn any_host(&mut self) -> String {
        let place = self.below(self.hosts.len() as u64) as usize;
        self.hosts[place].clone()
    }

    fn any_vm(&mut self) -> Option<String> {
        let place = self.below(self.vms.len().max(1) as u64) as usize;
        self.vms.get(place).cloned()
    }

    /// What happens before the next decision.
    pub(super) fn changes(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        for _ in 0..self.below(4) {
            changes.extend(self.change());
        }
        changes
    }

    fn change(&mut self) -> Option<Change> {
        Some(match self.below(24) {
            0..6 => Change::Confirm(self.any_vm()?),
            6 => Change::Cancel(self.any_vm()?),
            7..11 => Change::Remove(self.any_vm()?),
            11..14 => {
                let usage = match self.below(4) {
                    0 => None,
                    _ => Some(Value::Number(self.below(9) as f64 / 8.0)),
                };
                Change::HostValue(self.any_host(), "cpu.usage", usage)
            }
            14 => {
                let free = Value::Integer(self.below(9) as i64 * 8 * GIB);
                Change::HostValue(self.any_host(), "memory.free", Some(free))
            }
            15 | 16 => {
                let state = self.one_of(&["up", "up", "maintenance", "down"]);
                Change::HostValue(self.any_host(), "state", Some(state.into()))
            }
            17 => {
                let id = format!("x{:04}", self.below(10_000));
                let host = self.host(&id);
                self.hosts.push(id);
                Change::AddHost(Box::new(host))
            }
            18 => Change::RemoveHost(self.any_host()),
            19 => {
                let name = self.one_of(&["n1", "n2", "n3"]);
                let rows = vec![Facts::new().with("name", name)];
                Change::HostRows(self.any_host(), "networks", rows)
            }
            20 => {
                let id = format!("m{}", self.below(40));
                self.vms.push(id.clone());
                Change::Run(Box::new(self.vm(&id)), self.any_host())
            }
            21 => Change::Tenant("t".into(), Facts::new()),
            _ => Change::Group(self.group()?),
        })
    }

    fn group(&mut self) -> Option<Group> {
        let hard = self.once_in(3);
        let rule = match self.below(3) {
            0 => None,
            1 => Some(GroupRule::Positive { hard }),
            _ => Some(GroupRule::Negative { hard }),
        };
        let mut vms: Vec<Arc<str>> = Vec::new();
        for _ in 0..self.below(5) {
            let next = format!("vm{}", self.vms.len() as u64 + self.below(4));
            vms.push(self.any_vm()?.as_str().into());
            vms.push(next.as_str().into());
        }
        vms.sort_unstable();
        vms.dedup();
        let mut hosts: Vec<Arc<str>> = Vec::new();
        let mut host_rule = None;
        if !self.hosts.is_empty() && self.once_in(2) {
            for _ in 0..1 + self.below(3) {
                hosts.push(self.any_host().as_str().into());
            }
            hosts.sort_unstable();
            hosts.dedup();
            let hard = self.once_in(2);
            host_rule = Some(match self.once_in(2) {
                true => GroupRule::Positive { hard },
                false => GroupRule::Negative { hard },
            });
        }
        Some(Group {
            vms,
            hosts,
            vm_rule: rule,
            host_rule,
            priority: 1.0 + self.below(2) as f64,
            ..Group::new(format!("g{}", self.below(4)).as_str())
        })
    }

    /// The next request.
    pub(super) fn request(&mut self) -> Request {
        if self.once_in(3) {
            self.now += self.below(90) as i64;
        }
        let again = self.shapes > 1 && self.once_in(6);
        let id = match again.then(|| self.any_vm()).flatten() {
            // One that runs is moved.
            Some(id) => id,
            None => format!("vm{}", self.vms.len()),
        };
        let mut members = vec![self.vm(&id)];
        self.vms.push(id);
        if self.shapes > 1 && self.once_in(10) {
            let id = format!("vm{}", self.vms.len());
            members.push(self.vm(&id));
            self.vms.push(id);
        }
        let mut request = Request {
            members,
            // Sometimes a clock goes back.
            now: self.now - i64::from(self.once_in(20)) * 60,
            dry_run: self.once_in(5),
            ..Request::default()
        };
        request.facts.set("tenant", "t");
        if self.shapes > 1 && self.once_in(3) {
            request.facts.set("zone", self.one_of(&["a", "b", "c"]));
        }
        if self.shapes > 1 && self.once_in(8) {
            let host = self.any_host().as_str().into();
            match self.below(3) {
                0 => request.allowed.push(host),
                1 => request.excluded.push(host),
                _ => request.preferred.push(host),
            }
        }
        request
    }
}

/// A network card that is connected.
fn nic(network: &str) -> Facts {
    Facts::new().with("network", network).with("plugged", true)
}
