//! What clients take for granted that an engine says of a cluster, and about which nothing is
//! known here: the values that a new cluster of an engine has.

use super::ids;
use super::tree::Tree;

/// Id of the pool of network addresses that all clusters seem to have.
pub(crate) fn mac_pool() -> String {
    ids::of("mac pool", &[])
}

/// Name of the data centre that all clusters seem to be in.
pub(crate) const DATA_CENTER: &str = "Default";

/// Id of the data centre that all clusters seem to be in.
pub(crate) fn data_center() -> String {
    ids::of("data center", &[])
}

/// The elements of a cluster that say nothing of its scheduling.
pub(crate) fn of_cluster() -> Vec<Tree> {
    let flag = |name: &'static str, value: bool| Tree::new(name).text("enabled", value);
    let (pool, center) = (mac_pool(), data_center());
    let fencing = flag("fencing_policy", true)
        .with(
            Tree::new("skip_if_connectivity_broken")
                .text("enabled", false)
                .text("threshold", 50),
        )
        .with(Tree::new("skip_if_sd_active").text("enabled", false));
    let bandwidth = Tree::new("bandwidth").text("assignment_method", "auto");
    let migration = Tree::new("migration")
        .text("auto_converge", "inherit")
        .with(bandwidth)
        .text("compressed", "inherit")
        .text("encrypted", "inherit");
    let memory = Tree::new("memory_policy")
        .with(Tree::new("over_commit").text("percent", 100))
        .with(flag("transparent_hugepages", true));
    vec![
        Tree::new("cpu")
            .text("architecture", "x86_64")
            .text("type", ""),
        Tree::new("error_handling").text("on_error", "migrate"),
        fencing,
        Tree::of_text("gluster_service", false),
        Tree::new("ksm")
            .text("enabled", false)
            .text("merge_across_nodes", true),
        memory,
        migration,
        Tree::list("required_rng_sources", []),
        Tree::new("version").text("major", 4).text("minor", 7),
        Tree::of_text("virt_service", true),
        Tree::new("data_center")
            .at(&format!("/ovirt-engine/api/datacenters/{center}"), &center)
            .text("name", DATA_CENTER),
        Tree::new("mac_pool")
            .at(&format!("/ovirt-engine/api/macpools/{pool}"), &pool)
            .text("name", "Default"),
    ]
}
