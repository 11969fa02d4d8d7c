//! A VM of the input as one of our own.

use placewright_model::{Facts, Vm};

use super::{VmInput, bytes, pins};

/// What oVirt says of a VM that may be moved.
const MIGRATABLE: &str = "migratable";
/// What oVirt says of a VM that never leaves the hosts that it is pinned to.
const PINNED: &str = "pinned_to_host";

impl VmInput {
    /// The VM with all that is said of it, where it runs apart.
    ///
    /// # Errors
    /// The field that is wrong and what is wrong with it.
    pub(crate) fn vm(&self) -> Result<Vm, String> {
        let mut vm = Vm::new(self.id.as_str());
        self.sizes(&mut vm.facts)?;
        self.traits(&mut vm.facts);
        self.pinning(&mut vm)?;
        self.nodes(&mut vm.facts)?;
        self.pages(&mut vm.facts)?;
        for nic in self.nics.iter().flatten() {
            let mut row = Facts::new();
            set(&mut row, "network", nic.network.as_deref());
            set(&mut row, "plugged", nic.plugged);
            vm.facts.push_row("nics", row);
        }
        Ok(vm)
    }

    fn field(&self, name: &str) -> String {
        format!("vms[{}].{name}", self.id)
    }

    fn sizes(&self, facts: &mut Facts) -> Result<(), String> {
        set(facts, "sockets", self.sockets);
        set(facts, "cores", self.cores_per_socket);
        set(facts, "threads", self.threads_per_core);
        set(
            facts,
            "cpu.usage",
            self.cpu_usage_percent.map(|it| it / 100.0),
        );
        let memory = self.mem_mb.map(|it| bytes(&self.field("mem_mb"), it));
        set(facts, "memory", memory.transpose()?);
        Ok(())
    }

    fn traits(&self, facts: &mut Facts) {
        set(facts, "name", self.name.as_deref());
        set(facts, "state", self.status.as_deref());
        set(facts, "ha", self.ha);
        let kind = self.kind.as_ref().map(|kind| kind.replace('_', "-"));
        set(facts, "type", kind.as_deref());
        let support = self.migration_support.as_deref();
        // The VM of oVirt's own engine is moved by nobody else.
        let stays = support.is_some_and(|support| support != MIGRATABLE)
            || self.hosted_engine == Some(true);
        set(facts, "migratable", stays.then_some(false));
        let pinned = (support == Some(PINNED)).then_some("pinned");
        set(facts, "attribute.migration-support", pinned);
        set(facts, "attribute.lease", self.lease_domain.as_deref());
        let agent = self.property("sap_agent").map(|value| value == "true");
        set(facts, "attribute.sap-agent", agent);
    }

    fn property(&self, name: &str) -> Option<&str> {
        let properties = self.custom_properties.as_ref()?;
        properties.get(name).map(String::as_str)
    }

    fn pinning(&self, vm: &mut Vm) -> Result<(), String> {
        let (pinning, exclusive) = match self.cpu_pinning_policy.as_deref() {
            None | Some("none") => (None, None),
            Some("manual") => (Some("manual"), None),
            Some("dedicated") => (Some("dedicated"), Some(true)),
            Some("isolate_threads") => (Some("isolate-threads"), Some(true)),
            Some("resize_and_pin_numa") => (Some("resize-and-pin"), None),
            Some(other) => {
                let field = self.field("cpu_pinning_policy");
                return Err(format!(
                    "field input.{field}: there is no policy \"{other}\""
                ));
            }
        };
        set(&mut vm.facts, "pinning", pinning);
        set(&mut vm.facts, "exclusive", exclusive);
        let pins = self
            .cpu_pinning
            .as_deref()
            .map_or(Ok(Vec::new()), pins::read);
        let named = |error| format!("field input.{}: {error}", self.field("cpu_pinning"));
        for (vcpu, cpu) in pins.map_err(named)? {
            let row = Facts::new().with("vcpu", vcpu).with("cpu", cpu);
            vm.facts.push_row("pins", row);
        }
        // oVirt has one list of hosts; what it means is told by the support for
        // migration.
        let hosts = self.preferred_hosts.iter().flatten();
        vm.pinning.preferred = hosts.map(|host| host.as_str().into()).collect();
        if self.migration_support.as_deref() == Some(PINNED) {
            vm.pinning.pinned = vm.pinning.preferred.clone();
        }
        Ok(())
    }

    fn nodes(&self, facts: &mut Facts) -> Result<(), String> {
        for node in self.numa_nodes.iter().flatten() {
            let memory = bytes(&self.field("numa_nodes"), node.mem_total_mb.unwrap_or(0))?;
            let mut row = Facts::new()
                .with("index", node.index)
                .with("memory", memory);
            set(&mut row, "mode", node.mode.as_deref());
            for index in node.host_nodes.iter().flatten() {
                row.push_row("host-nodes", Facts::new().with("index", *index));
            }
            facts.push_row("numa-nodes", row);
        }
        Ok(())
    }

    /// With huge pages a VM has all its memory in them.
    fn pages(&self, facts: &mut Facts) -> Result<(), String> {
        let Some(size) = self.property("hugepages") else {
            return Ok(());
        };
        let field = self.field("custom_properties.hugepages");
        let kibibytes = size.parse::<i64>().ok().filter(|size| *size > 0);
        let size = kibibytes.and_then(|size| size.checked_mul(1024));
        let size = size.ok_or_else(|| format!("field input.{field}: no size of a page"))?;
        let memory = bytes(&self.field("mem_mb"), self.mem_mb.unwrap_or(0))?;
        let count = memory / size + i64::from(memory % size != 0);
        let row = Facts::new().with("size", size).with("count", count);
        facts.push_row("huge-pages", row);
        Ok(())
    }
}

/// Set what is known.
pub(super) fn set<T: Into<placewright_model::Value>>(
    facts: &mut Facts,
    column: &str,
    value: Option<T>,
) {
    if let Some(value) = value {
        facts.set(column, value);
    }
}
