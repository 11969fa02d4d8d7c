//! The units that come with the program, and schedulers that run them.

use std::sync::Arc;

use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};
use placewright_inventory::Inventory;
use placewright_model::schema::Schema;
use placewright_plugins as plugins;
use placewright_policy::{Policy, Unheeded};
use placewright_scheduler::{Scheduler, SchedulerOptions};

/// All units that come with the program, loaded.
pub(crate) struct Units {
    pub generation: Generation,
}

impl Units {
    /// Load them.
    ///
    /// # Errors
    /// Which one cannot be loaded, and why.
    pub(crate) fn load() -> Result<Self, String> {
        let cache = std::env::temp_dir().join("placewright-conformance");
        let engine = Engine::new(Limits::default(), Some(&cache)).map_err(|it| it.to_string())?;
        let units: Vec<Arc<Unit>> = plugins::UNITS
            .iter()
            .map(|embedded| Unit::load(&engine, embedded.bytes, embedded.name))
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?;
        let generation = Generation::new(units).map_err(|error| error.to_string())?;
        Ok(Self { generation })
    }

    /// Check a policy document.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn policy(&self, text: &str, schema: &Schema) -> Result<Arc<Policy>, String> {
        Policy::load(text, "vector.toml", &self.generation, schema)
            .map(Arc::new)
            .map_err(|problems| problems.to_string())
    }

    /// A scheduler of this policy for the cluster.
    ///
    /// # Errors
    /// What is wrong with the policy.
    pub(crate) fn scheduler(
        &self,
        inventory: Inventory,
        policy: &str,
    ) -> Result<Scheduler, String> {
        let policy = self.policy(policy, &inventory.schema().clone())?;
        let options = SchedulerOptions {
            chain_limit: std::time::Duration::from_secs(60),
            // The systems know needs that their own policies pass over.
            unheeded: Unheeded::Ignore,
            ..SchedulerOptions::default()
        };
        Scheduler::new(inventory, policy, &self.generation, options)
            .map_err(|error| error.to_string())
    }
}
