//! What hosts and VMs have of their own: interfaces, NUMA nodes, tags.

use super::ids;
use super::inventory::Part;
use super::tree::Tree;
use placewright_inventory::HostEntry;
use placewright_model::{Facts, Vm};

/// Bytes of what clients count memory of NUMA nodes in.
const MEBIBYTE: i64 = 1 << 20;

/// The interfaces of a host: one for each network that it is connected to.
pub(crate) fn host_nics(part: &Part, host: &str, entry: &HostEntry) -> Tree {
    let of_host = host.rsplit('/').next().unwrap_or_default();
    let facts = part.inventory().given_facts(entry);
    let nics = facts.rows("networks").iter().map(|network| {
        let name = network.text("name").unwrap_or_default();
        let id = ids::of("nic", &[host, name]);
        let is_up = network.text("ipv4").is_some() || network.text("ipv6").is_some();
        let protocol = |family: &str| {
            let protocol = network.text(family).unwrap_or("none");
            protocol.replace('-', "_")
        };
        let nic = Tree::new("host_nic")
            .at(&format!("{host}/nics/{id}"), &id)
            .text("name", name)
            .text("boot_protocol", protocol("ipv4"))
            .text("ipv6_boot_protocol", protocol("ipv6"))
            .text("status", if is_up { "up" } else { "down" })
            .with(Tree::new("host").at(host, of_host));
        nic.with(Tree::new("network").text("name", name))
    });
    Tree::list("host_nics", nics.collect::<Vec<_>>())
}

/// The NUMA nodes of a host.
pub(crate) fn host_numa_nodes(host: &str, entry: &HostEntry) -> Tree {
    let of_host = host.rsplit('/').next().unwrap_or_default();
    let nodes = entry.facts.rows("numa-nodes").iter().map(|node| {
        let index = node.integer("index").unwrap_or(0);
        let id = ids::of("NUMA node", &[host, &index.to_string()]);
        let cpus = entry.facts.rows("cpus").iter();
        let cpus = cpus.filter(|cpu| cpu.integer("numa") == Some(index));
        let cores = cpus.filter_map(|cpu| cpu.integer("cpu"));
        let cores = cores.map(|cpu| Tree::new("core").text("index", cpu));
        Tree::new("host_numa_node")
            .at(&format!("{host}/numanodes/{id}"), &id)
            .with(Tree::new("cpu").with(Tree::list("cores", cores)))
            .text("index", index)
            .text(
                "memory",
                node.integer("memory.total").unwrap_or(0) / MEBIBYTE,
            )
            .with(Tree::new("host").at(host, of_host))
    });
    Tree::list("host_numa_nodes", nodes)
}

/// The tags of a host or VM, each as `key=value`.
pub(crate) fn tags(facts: &Facts) -> Tree {
    let tags = facts.rows("tags").iter().map(|tag| {
        let text = |key| tag.text(key).unwrap_or_default();
        let name = format!("{}={}", text("key"), text("value"));
        let id = ids::of("tag", &[&name]);
        Tree::new("tag")
            .at(&format!("/ovirt-engine/api/tags/{id}"), &id)
            .text("name", name)
    });
    Tree::list("tags", tags)
}

/// The interfaces of a VM.
pub(crate) fn vm_nics(vm: &str, entry: &Vm) -> Tree {
    let of_vm = vm.rsplit('/').next().unwrap_or_default();
    let nics = entry.facts.rows("nics").iter().enumerate();
    let nics = nics.map(|(index, nic)| {
        let id = ids::of("nic", &[vm, &index.to_string()]);
        let is_passed = nic.is("passthrough");
        let interface = if is_passed {
            "pci_passthrough"
        } else {
            "virtio"
        };
        let tree = Tree::new("nic")
            .at(&format!("{vm}/nics/{id}"), &id)
            .text("name", format!("nic{}", index + 1))
            .text("interface", interface)
            .text("linked", true)
            .text("plugged", nic.get("plugged") != Some(&false.into()))
            .with(Tree::new("vm").at(vm, of_vm));
        match nic.text("network") {
            Some(network) => tree.with(Tree::new("network").text("name", network)),
            None => tree,
        }
    });
    Tree::list("nics", nics)
}

/// The virtual NUMA nodes of a VM.
pub(crate) fn vm_numa_nodes(vm: &str, entry: &Vm) -> Tree {
    let of_vm = vm.rsplit('/').next().unwrap_or_default();
    let nodes = entry.facts.rows("numa-nodes").iter().map(|node| {
        let index = node.integer("index").unwrap_or(0);
        let id = ids::of("NUMA node", &[vm, &index.to_string()]);
        let pins = node.rows("host-nodes").iter();
        let pins = pins.filter_map(|pin| pin.integer("index"));
        let pins = pins.map(|host| {
            Tree::new("numa_node_pin")
                .text("index", host)
                .text("pinned", true)
        });
        Tree::new("vm_numa_node")
            .at(&format!("{vm}/numanodes/{id}"), &id)
            .text("index", index)
            .text("memory", node.integer("memory").unwrap_or(0) / MEBIBYTE)
            .with(Tree::list("numa_node_pins", pins))
            .text("numa_tune_mode", node.text("mode").unwrap_or("strict"))
            .with(Tree::new("vm").at(vm, of_vm))
    });
    Tree::list("vm_numa_nodes", nodes)
}
