//! From bytes to a unit, in steps that can be told of one by one.
//!
//! [`Inspected`] has been read and not run, [`Compiled`] has become code; only
//! describing runs any of it, under limits.

use std::fmt;
use std::sync::Arc;

use wasmtime::component::{Component, InstancePre};

use super::artifact::Artifact;
use super::exports::Exports;
use super::guest::{Guest, Pace};
use super::inspect::{self, Interfaces};
use super::lines::Lines;
use super::state::{self, State};
use super::{Digest, Identity, LoadError, Unit};
use crate::contract::Part;
use crate::{Engine, Limits};
use placewright_model::cut;
use placewright_model::schema::Schema;

/// Bytes of which size, imports, exports and version of the contract are right.
#[derive(Debug)]
pub struct Inspected {
    artifact: Artifact,
    interfaces: Interfaces,
}

impl Inspected {
    /// Look at the bytes without running or compiling them. Takes some
    /// microseconds for each 10 KB.
    ///
    /// # Errors
    /// If they are too many, no component, cut off, or no unit for this contract.
    pub fn new(bytes: &[u8], limits: &Limits) -> Result<Self, LoadError> {
        let artifact = Artifact::new(bytes, limits.file)?;
        let interfaces = Interfaces::read(&artifact.bytes)?;
        Ok(Self {
            artifact,
            interfaces,
        })
    }

    /// The digest of the bytes.
    pub fn digest(&self) -> Digest {
        self.artifact.digest
    }

    /// The interfaces that it imports, by their names in the component.
    pub fn imports(&self) -> &[String] {
        &self.interfaces.imports
    }

    /// Compile it, or take its code from disk.
    ///
    /// # Errors
    /// If it is invalid, takes too long to compile, or does not fit the contract.
    pub fn compile(self, engine: &Engine) -> Result<Compiled, LoadError> {
        let size = self.artifact.bytes.len();
        let component = engine.compile(self.artifact.bytes, &self.artifact.digest.to_string())?;
        let pre = state::linker(engine)
            .and_then(|linker| linker.instantiate_pre(&component))
            .map_err(|error| LoadError::Unfit(cut(format!("{error:#}"))))?;
        Ok(Compiled {
            engine: engine.clone(),
            digest: self.artifact.digest,
            size,
            interfaces: self.interfaces,
            component,
            pre,
        })
    }
}

/// What its bytes say of it: how many there are, and what is imported and exported.
impl fmt::Display for Inspected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = bytesize::ByteSize(self.artifact.bytes.len() as u64);
        write!(f, "{}, exports", size.display().iec())?;
        for (number, part) in self.interfaces.parts().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma} {part}")?;
        }
        match self.interfaces.imports.as_slice() {
            [] => f.write_str("; imports nothing"),
            imports => write!(f, "; imports {}", imports.join(", ")),
        }
    }
}

/// A component that has become code, and has not run.
pub struct Compiled {
    engine: Engine,
    digest: Digest,
    size: usize,
    interfaces: Interfaces,
    component: Component,
    pre: InstancePre<State>,
}

impl Compiled {
    /// Ask it who it is. `source` says where the bytes came from, for messages.
    ///
    /// # Errors
    /// If its functions are of other types than the contract's, it fails, or its
    /// description is wrong, with all problems at once.
    pub fn describe(self, source: &str) -> Result<Arc<Unit>, LoadError> {
        let engine = self.engine;
        let exports = Arc::new(Exports::find(&self.component, &self.interfaces));
        // Until it has said its name, it goes by where it came from.
        let unnamed = Arc::new(Identity {
            name: source.to_owned(),
            digest: self.digest,
        });
        let describe = |error| LoadError::Describe(Box::new(error));
        let lines = Arc::new(Lines::default());
        let (pre, part) = (&self.pre, (Part::Unit, Pace::Processor));
        let mut guest =
            Guest::new(&engine, &unnamed, pre, &exports, &lines, part).map_err(describe)?;
        let parts: Vec<Part> = self.interfaces.parts().collect();
        Exports::check(&mut guest, &parts)
            .map_err(|fault| LoadError::Unfit(super::unfit(&fault)))?;
        let description = guest.describe(engine.limits().time).map_err(describe)?;
        let problems = inspect::problems(&description, &parts, Schema::built_in());
        if !problems.is_empty() {
            return Err(LoadError::Description(problems));
        }
        Ok(Arc::new(Unit {
            engine,
            identity: Arc::new(Identity {
                name: description.name.clone(),
                digest: self.digest,
            }),
            source: source.to_owned(),
            size: self.size,
            interfaces: self.interfaces,
            description: Arc::new(description),
            pre: self.pre,
            exports,
            lines,
        }))
    }
}
