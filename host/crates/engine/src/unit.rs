//! A loaded policy unit: who it is, what it reads and can do, and instances of it.
//!
//! [`Unit::load`] turns bytes into a unit or says what is wrong with them;
//! nothing of it runs before its size, imports and exports are known to be right,
//! and then only `describe`, under limits. Calls go through [`Instance`].

mod answer;
mod artifact;
mod backtrace;
mod call;
mod error;
mod exports;
mod fault;
mod guest;
pub mod inspect;
mod lines;
mod load;
mod place;
mod shown;
mod state;

pub use artifact::Digest;
pub use call::Instance;
pub use error::{LoadError, UnitLoadError};
pub use fault::{Cause, Fault, Identity};
pub use load::{Compiled, Inspected};
pub use place::Place;
pub use shown::{
    ColumnShown, PartShown, ReadShown, ReasonShown, SettingColumnShown, SettingShown, UnitShown,
    kinds,
};
pub use state::Logged;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use wasmtime::component::InstancePre;

use crate::Engine;
use crate::contract::{Description, Part};
use exports::Exports;
use guest::{Guest, Pace};
use inspect::Interfaces;
use lines::Lines;
use state::State;

/// A policy unit, compiled and described, ready to be called.
pub struct Unit {
    engine: Engine,
    identity: Arc<Identity>,
    source: String,
    size: usize,
    interfaces: Interfaces,
    description: Arc<Description>,
    pre: InstancePre<State>,
    exports: Arc<Exports>,
    lines: Arc<Lines>,
}

impl Unit {
    /// Load a component. `source` says where the bytes came from, for messages.
    ///
    /// Takes as long as compiling does; about a millisecond if the compiled code
    /// is on disk.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes, in a sentence that says what to do; all
    /// problems of a description at once.
    pub fn load(engine: &Engine, bytes: &[u8], source: &str) -> Result<Arc<Self>, UnitLoadError> {
        Self::try_load(engine, bytes, source).map_err(|error| error.of(source))
    }

    fn try_load(engine: &Engine, bytes: &[u8], source: &str) -> Result<Arc<Self>, LoadError> {
        Inspected::new(bytes, engine.limits())?
            .compile(engine)?
            .describe(source)
    }

    /// A fresh instance, with memory as the component begins with. Takes some
    /// microseconds. `part` is what it is meant for, for messages.
    ///
    /// # Errors
    /// If it needs more than the limits allow, or too many instances exist, or too much memory is
    /// in use.
    pub fn instantiate(&self, part: Part) -> Result<Instance, Fault> {
        self.instance(part, Pace::Wall)
    }

    /// The same for calls that no decision waits for: their time is that of the processor, as
    /// [`Limits::time`](crate::Limits::time) says.
    ///
    /// # Errors
    /// As [`Unit::instantiate`].
    pub fn instantiate_beside_decisions(&self, part: Part) -> Result<Instance, Fault> {
        self.instance(part, Pace::Processor)
    }

    fn instance(&self, part: Part, pace: Pace) -> Result<Instance, Fault> {
        let (identity, exports) = (&self.identity, &self.exports);
        let (pre, lines) = (&self.pre, &self.lines);
        let guest = Guest::new(&self.engine, identity, pre, exports, lines, (part, pace))?;
        Ok(Instance::new(guest, self.description.clone()))
    }

    /// Name, as described, and digest.
    #[inline]
    pub fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// The name that it describes itself with.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// The digest of its component.
    #[inline]
    pub fn digest(&self) -> Digest {
        self.identity.digest
    }

    /// Where it was loaded from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Bytes of the component.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The interfaces that it imports, by their names in the component.
    pub fn imports(&self) -> &[String] {
        &self.interfaces.imports
    }

    /// The parts that it exports, `unit` among them.
    pub fn exports(&self) -> BTreeSet<Part> {
        self.interfaces.parts().collect()
    }

    /// Whether it exports the part.
    pub fn has(&self, part: Part) -> bool {
        self.exports.function(part).is_some()
    }

    /// What it says of itself.
    #[inline]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The engine that it was compiled for.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl fmt::Debug for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unit")
            .field("identity", &self.identity)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

fn unfit(fault: &Fault) -> String {
    format!("the export {}: {}", fault.part, fault.cause)
}

#[cfg(test)]
mod tests;
