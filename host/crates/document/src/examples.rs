//! The documents in `host/examples` are good ones.

use super::{ClusterDocument, Surroundings, read_requests};

const CLUSTER: &str = include_str!("../../../examples/cluster.toml");
const VM: &str = include_str!("../../../examples/vm.toml");

#[test]
fn the_example_cluster_and_vm_are_read() {
    let cluster = ClusterDocument::read(CLUSTER, "cluster.toml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((cluster.hosts.len(), cluster.vms.len()), (3, 3));
    let hosts = cluster.hosts.iter().map(|host| host.id.clone()).collect();
    let surroundings = Surroundings {
        schema: &cluster.schema,
        now: cluster.now.unwrap_or(0),
        hosts: Some(&hosts),
    };
    let requests = read_requests(VM, "vm.toml", surroundings).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(requests.len(), 1);
}
