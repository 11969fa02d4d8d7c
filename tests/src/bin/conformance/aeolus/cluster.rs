//! Matches as the hosts of a cluster: one for each, in their order.

use std::sync::Arc;

use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_model::{Facts, Host, Kind, Request, Vm};

/// The attributes of hosts that the units of Aeolus's provider selection read.
const ATTRIBUTES: [(&str, Kind); 5] = [
    ("account", Kind::Text),
    ("priority", Kind::Integer),
    ("running", Kind::Integer),
    ("quota", Kind::Integer),
    ("image-pushed", Kind::Boolean),
];

/// A cluster of these hosts.
///
/// # Errors
/// If it does not take one of them.
pub(super) fn of(hosts: impl Iterator<Item = Host>) -> Result<Inventory, String> {
    let mut schema = Schema::default();
    for (name, kind) in ATTRIBUTES {
        schema
            .define_attribute("hosts", name, kind, None, "")
            .map_err(|error| error.to_string())?;
    }
    let mut cluster = Inventory::new("vector", Arc::new(schema));
    for host in hosts {
        cluster.add_host(host).map_err(|error| error.to_string())?;
    }
    Ok(cluster)
}

/// A way into the account, with the account's failures and the costs of instances.
pub(super) fn host(
    id: &str,
    account: &str,
    failures: &[i64],
    costs: impl Iterator<Item = Option<i64>>,
) -> Host {
    let failures = failures.iter().map(|time| Facts::new().with("time", *time));
    let costs = costs.map(|amount| match amount {
        Some(amount) => Facts::new().with("amount", amount),
        None => Facts::new(),
    });
    let mut host = Host::new(id).with("attribute.account", account);
    host.facts.set_rows("failures", failures.collect());
    host.facts.set_rows("costs", costs.collect());
    host
}

/// A request to place a deployment, only to see where it would go.
pub(super) fn request(now: i64, instances: Option<u32>, draw: Option<f64>) -> Request {
    let mut facts = Facts::new();
    if let Some(instances) = instances {
        facts.set("instances", i64::from(instances));
    }
    Request {
        members: vec![Vm::new("deployment")],
        facts,
        now,
        draw,
        dry_run: true,
        ..Request::default()
    }
}
