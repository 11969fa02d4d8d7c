//! Reads the document of a cluster into an inventory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use placewright::document::ClusterDocument;
use placewright::inventory::{Inventory, InventoryError};

use super::failure::Failure;
use super::units;

/// A cluster, as its document tells of it.
pub struct Cluster {
    /// The state.
    pub inventory: Inventory,
    /// The time that the document speaks of; that of now if it does not say.
    pub now: i64,
    /// What is left to chance is derived from this.
    pub seed: u64,
    /// The ids of the hosts.
    pub hosts: BTreeSet<Arc<str>>,
}

/// Read the document of a cluster.
pub fn read(path: &Path) -> Result<Cluster, Failure> {
    let file = path.display().to_string();
    let document = ClusterDocument::read(&units::read(path)?, &file).map_err(Failure::input)?;
    let now = document.now.unwrap_or_else(clock);
    let (seed, hosts) = (
        document.seed,
        document.hosts.iter().map(|host| host.id.clone()).collect(),
    );
    let inventory = inventory(document, now)
        .map_err(|error| Failure::input(anyhow::Error::new(error).context(file)))?;
    Ok(Cluster {
        inventory,
        now,
        seed,
        hosts,
    })
}

fn inventory(document: ClusterDocument, now: i64) -> Result<Inventory, InventoryError> {
    let mut inventory = Inventory::new(document.name, Arc::new(document.schema));
    inventory.advance(now);
    inventory.set_facts(document.facts)?;
    for (id, facts) in document.tenants {
        inventory.set_tenant(id, facts)?;
    }
    for host in document.hosts {
        inventory.add_host(host)?;
    }
    for placed in document.vms {
        let writes = placed.writes();
        match placed.pending {
            true => inventory.reserve_vm(Arc::new(placed.vm), &placed.host, None)?,
            false => inventory.run_vm(placed.vm, &placed.host)?,
        }
        inventory.apply(&writes)?;
    }
    for group in document.groups {
        inventory.set_group(group)?;
    }
    Ok(inventory)
}

/// Seconds since 1970-01-01 UTC; 0 if the clock stands before.
fn clock() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
