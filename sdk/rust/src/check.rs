//! Rules between settings.

use std::rc::Rc;

use crate::call::Call;
use crate::contract::Problem;
use crate::settings::{self, Settings};

/// A unit's check of its settings, beyond what each says for itself.
pub trait CheckSettings {
    /// What an admin may set; the same type in every part of a unit.
    type Settings: Settings;

    /// Accepts the settings.
    ///
    /// # Errors
    ///
    /// A sentence for the admin that says what does not go together.
    fn check(settings: &Self::Settings) -> Result<(), String>;
}

/// Reads the settings of a call and checks them.
pub(crate) fn check<K: CheckSettings>(call: &Rc<Call>) -> Result<(), String> {
    let settings = settings::read::<K::Settings>(call).map_err(sentence)?;
    K::check(&settings)
}

/// The sentence of a problem.
pub(crate) fn sentence(problem: Problem) -> String {
    match problem {
        Problem::Refused(sentence) | Problem::Failed(sentence) => sentence,
    }
}
