//! Who asks for something that takes a while, and whether it may still be done then.

use crate::stage::{Staging, Step};

/// Whoever asks the library for something.
#[derive(Clone, Copy)]
pub struct Asker<'a> {
    name: &'a str,
    /// Whether it still may; None: it always may.
    may_still: Option<&'a dyn Fn() -> bool>,
}

impl<'a> Asker<'a> {
    /// One for whom a unit comes into force only if `may_still` says so then: compiling and probing
    /// it takes minutes at worst.
    pub fn while_it_may(name: &'a str, may_still: &'a dyn Fn() -> bool) -> Self {
        let may_still = Some(may_still);
        Self { name, may_still }
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Whether it still may; if not, the unit is refused. To be called with the library locked.
    pub(super) fn still_may(&self, staging: &mut Staging) -> bool {
        if self.may_still.is_none_or(|may| may()) {
            return true;
        }
        let name = self.name;
        let why = format!("the token \"{name}\" was taken away, or has expired, meanwhile");
        staging.refuse(Step::InForce, why);
        false
    }
}

/// One that always may.
impl<'a> From<&'a str> for Asker<'a> {
    fn from(name: &'a str) -> Self {
        Self {
            name,
            may_still: None,
        }
    }
}
