//! What is not trusted any more decides nowhere from then on, whatever policies need.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Deployment, DeploymentError};
use placewright_engine::generation::Generation;
use placewright_library::live::LibraryOperationError;
use placewright_library::trust::Trust;

impl Deployment {
    /// Trust others from now on. Units and candidates that are not trusted any more decide
    /// and judge nothing from the next turn of each cluster on; a cluster whose policy
    /// cannot do without them decides nothing.
    ///
    /// # Errors
    /// If what is to be trusted makes no sense, or what is kept of units cannot be read:
    /// then nothing has changed.
    pub fn trust(&self, trust: Trust) -> Result<(), LibraryOperationError> {
        self.library.trust(trust)?;
        self.end_distrusted_shadows();
        Ok(())
    }

    /// Have every cluster decide by these units from its next turn on, or by nothing. Nobody
    /// waits for it.
    pub(super) fn enforce_generation(
        &self,
        generation: &Arc<Generation>,
        distrusted: &BTreeMap<String, String>,
    ) {
        let _control = self.control();
        let mut in_force = self.in_force().with_units(generation.clone());
        in_force.distrusted = Arc::new(distrusted.clone());
        self.put_in_force(in_force);
        self.count_units();
    }

    /// Have every cluster decide by these units from its next turn on, or by nothing, since an
    /// admin wants it so. Nobody waits for it.
    pub(super) fn impose_generation(&self, generation: Arc<Generation>) {
        let _control = self.control();
        self.put_in_force(self.in_force().with_units(generation));
        self.count_units();
    }
}

/// Why a policy cannot run, with why units that it names are not trusted.
pub(super) fn because(error: &DeploymentError, distrusted: &BTreeMap<String, String>) -> String {
    let mut text = error.to_string();
    let names = distrusted.iter();
    let named: Vec<String> = names
        .filter(|(name, _)| text.contains(&format!("\"{name}\"")))
        .map(|(name, why)| format!("; the unit \"{name}\" is not trusted: {why}"))
        .collect();
    text.extend(named);
    text
}
