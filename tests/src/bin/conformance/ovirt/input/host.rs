//! A host of the input as one of our own.

use placewright_model::{Facts, Host};

use super::vm::set;
use super::{HostInput, HostNode, NetworkInput, bytes, seconds};

/// An attribute that is 1 while the vector says that a host is over-committed: what
/// a policy's watch can look at.
pub(super) const OVER_COMMITTED: &str = "over-committed";

impl HostInput {
    /// The host with all that is said of it; `networks` are those of the cluster.
    ///
    /// What its VMs add up to is added by the inventory, so it is not set here but in
    /// `cluster`.
    ///
    /// # Errors
    /// The field that is wrong and what is wrong with it.
    pub(crate) fn host(&self, networks: &[NetworkInput]) -> Result<Host, String> {
        let mut host = Host::new(self.id.as_str());
        let facts = &mut host.facts;
        set(facts, "name", self.name.as_deref());
        self.cpu(facts)?;
        self.memory(facts)?;
        self.power(facts);
        self.pages(facts)?;
        self.nodes(facts)?;
        self.cpus(facts);
        self.connections(facts, networks);
        for lease in self.lease_domains.iter().flatten() {
            let row = Facts::new().with("domain", lease.domain.as_str());
            facts.push_row("leases", row.with("acquired", lease.acquired));
        }
        Ok(host)
    }

    /// The name of a field, for a sentence.
    pub(crate) fn field(&self, name: &str) -> String {
        format!("hosts[{}].{name}", self.id)
    }

    /// An amount of memory in bytes.
    pub(crate) fn bytes(&self, name: &str, mebibytes: Option<i64>) -> Result<Option<i64>, String> {
        mebibytes.map(|it| bytes(&self.field(name), it)).transpose()
    }

    fn cpu(&self, facts: &mut Facts) -> Result<(), String> {
        set(facts, "cpu.sockets", self.cpu_sockets);
        set(facts, "cpu.cores", self.cpu_cores);
        set(facts, "cpu.threads", self.cpu_threads);
        set(
            facts,
            "cpu.usage",
            self.cpu_usage_percent.map(|it| it / 100.0),
        );
        if let Some(since) = &self.cpu_overcommit_since {
            let since = seconds(&self.field("cpu_overcommit_since"), since)?;
            facts.set(format!("attribute.{OVER_COMMITTED}"), 1i64);
            facts.set("watch.cpu-over.since", since);
        }
        Ok(())
    }

    fn memory(&self, facts: &mut Facts) -> Result<(), String> {
        // oVirt counts less than nothing as nothing.
        let reserved = self.mem_reserved_mb.map(|reserved| reserved.max(0));
        for (column, field, value) in [
            ("memory.total", "mem_physical_mb", self.mem_physical_mb),
            ("memory.free", "mem_free_mb", self.mem_free_mb),
            ("memory.reserved", "mem_reserved_mb", reserved),
            ("swap.total", "swap_total_mb", self.swap_total_mb),
            ("swap.free", "swap_free_mb", self.swap_free_mb),
        ] {
            set(facts, column, self.bytes(field, value)?);
        }
        let overcommit = self.mem_overcommit_percent.map(|percent| percent / 100.0);
        set(facts, "memory.overcommit", overcommit);
        Ok(())
    }

    fn power(&self, facts: &mut Facts) {
        set(facts, "attribute.spm", self.spm);
        set(facts, "state", self.status.as_deref());
        let external = |ok| if ok { "ok" } else { "error" };
        set(facts, "status.external", self.ok.map(external));
        set(facts, "power.managed", self.pm);
        set(facts, "power.keep-on", self.keep_on);
        set(facts, "power.by-policy", self.by_policy);
    }

    fn pages(&self, facts: &mut Facts) -> Result<(), String> {
        for pages in self.huge_pages.iter().flatten() {
            let size = pages
                .size_kib
                .checked_mul(1024)
                .ok_or_else(|| format!("field input.{}: too large", self.field("huge_pages")))?;
            let row = Facts::new().with("size", size).with("free", pages.free);
            facts.push_row("huge-pages", row);
        }
        Ok(())
    }

    /// A host without support for NUMA has no nodes.
    fn numa_nodes(&self) -> impl Iterator<Item = &HostNode> {
        let nodes = self.numa_nodes.iter().flatten();
        nodes.filter(|_| self.numa_support != Some(false))
    }

    fn nodes(&self, facts: &mut Facts) -> Result<(), String> {
        for node in self.numa_nodes() {
            let total = node.mem_total_mb.or(node.mem_free_mb).unwrap_or(0);
            let total = bytes(&self.field("numa_nodes"), total)?;
            let mut row = Facts::new()
                .with("index", node.index)
                .with("memory.total", total);
            set(
                &mut row,
                "memory.free",
                self.bytes("numa_nodes", node.mem_free_mb)?,
            );
            facts.push_row("numa-nodes", row);
        }
        Ok(())
    }

    /// CPUs are told of as those that are online, as those of NUMA nodes, or both.
    fn cpus(&self, facts: &mut Facts) {
        let of_nodes = self.numa_nodes().flat_map(|node| {
            let cpus = node.cpus.iter().flatten();
            cpus.map(|cpu| (*cpu, Some(node.index)))
        });
        let mut cpus: Vec<(i64, Option<i64>)> = of_nodes.collect();
        for cpu in self.online_cpus.iter().flatten() {
            if cpus.iter().all(|(known, _)| known != cpu) {
                cpus.push((*cpu, None));
            }
        }
        for (cpu, node) in cpus {
            let online = self.online_cpus.as_ref();
            let mut row = Facts::new().with("cpu", cpu);
            row.set("online", online.is_none_or(|online| online.contains(&cpu)));
            set(&mut row, "numa", node);
            facts.push_row("cpus", row);
        }
    }

    /// A host that says how it has the network of consoles is connected to it.
    fn connections(&self, facts: &mut Facts, networks: &[NetworkInput]) {
        let named = || self.networks.iter().flatten().map(String::as_str);
        let consoles: Vec<&str> = networks
            .iter()
            .filter(|network| network.display == Some(true))
            .map(|network| network.name.as_str())
            .collect();
        let display = self.display.as_ref();
        let besides = consoles
            .iter()
            .copied()
            .filter(|name| display.is_some() && named().all(|known| known != *name));
        let protocol = |text: &Option<String>| text.clone().filter(|text| text != "none");
        for name in named().chain(besides) {
            let mut row = Facts::new().with("name", name);
            if let Some(display) = display.filter(|_| consoles.contains(&name)) {
                set(&mut row, "ipv4", protocol(&display.ipv4).as_deref());
                set(&mut row, "ipv6", protocol(&display.ipv6).as_deref());
            }
            facts.push_row("networks", row);
        }
    }
}
