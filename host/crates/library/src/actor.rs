//! Who has something done, and whether it may still be done then.

use std::sync::Arc;

/// Whoever has something done that it may have to wait for: in a turn of a cluster, or with a unit
/// that is compiled first.
#[derive(Clone)]
pub struct Actor {
    name: Arc<str>,
    /// Whether it still may; None: it always may.
    may_still: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

/// Whoever asked may not any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the token \"{0}\" was taken away, or has expired, before this was carried out")]
pub struct TakenAway(Arc<str>);

impl Actor {
    /// One that may only have it done while `may_still` says so: it is asked when the waiting is
    /// over.
    pub fn while_it_may(
        name: Arc<str>,
        may_still: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            may_still: Some(Arc::new(may_still)),
        }
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// That it still may.
    ///
    /// # Errors
    /// If it may not any more.
    pub fn must(&self) -> Result<(), TakenAway> {
        match self.may_still.as_ref().is_none_or(|may| may()) {
            true => Ok(()),
            false => Err(TakenAway(self.name.clone())),
        }
    }
}

/// One that always may.
impl From<&Arc<str>> for Actor {
    fn from(name: &Arc<str>) -> Self {
        Self {
            name: name.clone(),
            may_still: None,
        }
    }
}

/// One that always may.
impl From<&str> for Actor {
    fn from(name: &str) -> Self {
        Self::from(&Arc::from(name))
    }
}
