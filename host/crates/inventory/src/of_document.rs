//! A cluster's document becomes an inventory.

use std::sync::Arc;

use super::{Inventory, InventoryError};
use placewright_document::ClusterDocument;
use placewright_model::budget::ClusterBounds;

impl Inventory {
    /// The cluster of a document, at `now` (seconds).
    ///
    /// # Errors
    /// If something in it does not go together.
    pub fn of_document(document: ClusterDocument, now: i64) -> Result<Self, InventoryError> {
        Self::of_document_within(document, now, ClusterBounds::NONE)
    }

    /// The same, if it takes no more than that, now and later.
    ///
    /// # Errors
    /// If something in it does not go together, or it takes more.
    pub fn of_document_within(
        document: ClusterDocument,
        now: i64,
        bounds: ClusterBounds,
    ) -> Result<Self, InventoryError> {
        let mut inventory = Self::new(document.name, Arc::new(document.schema));
        inventory.set_bounds(bounds);
        inventory.advance(now);
        inventory.set_facts(document.facts)?;
        for (id, facts) in document.tenants {
            inventory.set_tenant(id, facts)?;
        }
        inventory.rank_together(|inventory| {
            let mut hosts = document.hosts.into_iter();
            hosts.try_for_each(|host| inventory.add_host(host).map(drop))
        })?;
        // A VM on the move runs before it has its other place.
        let (pending, running): (Vec<_>, Vec<_>) =
            document.vms.into_iter().partition(|placed| placed.pending);
        for placed in running.into_iter().chain(pending) {
            let writes = placed.writes();
            match placed.pending {
                true => inventory.reserve_vm(Arc::new(placed.vm), &placed.host, None)?,
                false => inventory.run_vm(placed.vm, &placed.host)?,
            }
            inventory.apply(&writes)?;
        }
        inventory.group_together(|inventory| {
            let mut groups = document.groups.into_iter();
            groups.try_for_each(|group| inventory.set_group(group))
        })?;
        inventory.check_growth(0)?;
        Ok(inventory)
    }
}
