//! How often modules are instantiated in a component and those inside it.

use wasmparser::{ComponentInstance, ComponentTypeRef, Instance, Payload};

use super::{Refused, bounded};
use crate::CORE_INSTANCES;

/// Instances of components, those inside others each time that these are instantiated. A unit
/// has one for each of its parts.
const MOST_INSTANCES: u64 = 1000;

/// Functions that are lifted out of modules or lowered into them, each of which is compiled.
const MOST_CANONICAL: u64 = 10_000;

/// Bytes of segments, each time that they are instantiated: as many as the largest file may
/// have, twice.
const MOST_SEGMENT_BYTES: u64 = 128 << 20;

/// A component that is being read.
#[derive(Debug, Default)]
pub(super) struct Component {
    /// Bytes of the segments of each module, in the order of their index.
    pub(super) modules: Vec<u64>,
    /// What instantiating each component in it takes, in the order of their index.
    pub(super) components: Vec<Taken>,
    pub(super) taken: Taken,
}

/// What instantiating a component takes.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Taken {
    /// Bytes of segments of the module with the most.
    pub(super) module: u64,
    /// Instances of modules.
    core: u64,
    /// Instances of components.
    components: u64,
    /// Bytes of segments, each time that they are instantiated.
    segments: u64,
    canonical: u64,
}

impl Component {
    /// `greatest` is what any component that can be instantiated here takes at most.
    pub(super) fn take(&mut self, payload: &Payload<'_>, greatest: Taken) -> Result<(), Refused> {
        match payload {
            Payload::ComponentImportSection(imports) => {
                for import in imports.clone() {
                    match import?.ty {
                        ComponentTypeRef::Module(_) => self.modules.push(greatest.module),
                        ComponentTypeRef::Component(_) => self.components.push(greatest),
                        _ => {}
                    }
                }
            }
            Payload::InstanceSection(instances) => {
                for instance in instances.clone() {
                    if let Instance::Instantiate { module_index, .. } = instance? {
                        let module = self.modules.get(module_index as usize);
                        self.taken.core += 1;
                        self.taken.segments += module.copied().unwrap_or(greatest.module);
                    }
                }
            }
            Payload::ComponentInstanceSection(instances) => {
                for instance in instances.clone() {
                    if let ComponentInstance::Instantiate {
                        component_index, ..
                    } = instance?
                    {
                        let component = self.components.get(component_index as usize);
                        let component = component.copied().unwrap_or(greatest);
                        self.taken.instantiate(component);
                    }
                    // Each may stand for twice as many as the one before.
                    self.taken.check()?;
                }
            }
            Payload::ComponentCanonicalSection(functions) => {
                self.taken.canonical += u64::from(functions.count());
            }
            _ => {}
        }
        self.taken.check()
    }
}

impl Taken {
    fn instantiate(&mut self, other: Self) {
        self.core = self.core.saturating_add(other.core);
        self.components = self.components.saturating_add(other.components + 1);
        self.segments = self.segments.saturating_add(other.segments);
        self.canonical = self.canonical.saturating_add(other.canonical);
    }

    /// The greater of both, in each respect.
    pub(super) fn raise_to(&mut self, other: Self) {
        self.module = self.module.max(other.module);
        self.core = self.core.max(other.core);
        self.components = self.components.max(other.components);
        self.segments = self.segments.max(other.segments);
        self.canonical = self.canonical.max(other.canonical);
    }

    pub(super) fn check(self) -> Result<(), Refused> {
        bounded(self.core, u64::from(CORE_INSTANCES), "instances of modules")?;
        bounded(
            self.components,
            MOST_INSTANCES,
            "instances of components, counting those inside others each time",
        )?;
        bounded(
            self.canonical,
            MOST_CANONICAL,
            "functions that cross the borders of its modules",
        )?;
        bounded(
            self.segments,
            MOST_SEGMENT_BYTES,
            "bytes of segments, counting them for each instance of their module",
        )
    }
}
