//! What compiling and instantiating a component takes, bounded from its bytes.
//!
//! Almost everywhere both take as long as the bytes are many, and the bound on a unit's file is
//! enough. Here stand the places where few bytes stand for much work: values that every branch
//! of a function may carry, elements that become code of their own, instances of instances. The
//! bounds are several times what the interpreters of Python and JavaScript need. What passes
//! them all the same is bounded by the limits of the compiler itself.

mod function;
mod instances;
mod module;

use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentOuterAliasKind, Encoding, Payload,
};

use crate::unit::LoadError;
use instances::Component;
use module::Module;

/// Goes over a component payload by payload.
#[derive(Debug, Default)]
pub(super) struct Effort {
    /// The modules and components around what is read now, the outermost first.
    frames: Vec<Frame>,
    /// What is written into code once for each time that it is instantiated, in all modules.
    initializers: u64,
    /// What the components that have been read to their ends take at most.
    greatest: instances::Taken,
}

#[derive(Debug)]
enum Frame {
    Component(Component),
    Module(Module),
}

/// Why a component is refused: it cannot be read, or would take too much.
pub(super) enum Refused {
    Damaged(wasmparser::Error),
    TooMuch(String),
}

impl From<wasmparser::Error> for Refused {
    fn from(error: wasmparser::Error) -> Self {
        Self::Damaged(error)
    }
}

impl From<Refused> for LoadError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Damaged(error) => Self::damaged(&error),
            Refused::TooMuch(what) => Self::TooMuchWork(what),
        }
    }
}

/// Elements of tables, segments of data, and instructions of initial values, in all modules of a
/// component. Each may become some kilobytes while it is compiled. An interpreter has some
/// 20,000.
const MOST_INITIALIZERS: u64 = 50_000;

impl Effort {
    /// Take the next payload into account.
    pub(super) fn take(&mut self, payload: &Payload<'_>) -> Result<(), Refused> {
        match payload {
            Payload::Version { encoding, .. } => self.frames.push(match encoding {
                Encoding::Module => Frame::Module(Module::default()),
                Encoding::Component => Frame::Component(Component::default()),
            }),
            Payload::End(_) => return self.end(),
            payload => match self.frames.last_mut() {
                Some(Frame::Module(module)) => {
                    self.initializers += module.take(payload)?;
                    bounded(
                        self.initializers,
                        MOST_INITIALIZERS,
                        "elements of tables, segments of data and instructions of initial values",
                    )?;
                }
                Some(Frame::Component(_)) => return self.take_of_component(payload),
                None => {}
            },
        }
        Ok(())
    }

    fn take_of_component(&mut self, payload: &Payload<'_>) -> Result<(), Refused> {
        let greatest = self.greatest;
        if let Payload::ComponentAliasSection(aliases) = payload {
            for alias in aliases.clone() {
                self.take_alias(&alias?);
            }
        } else if let Some(component) = self.innermost() {
            component.take(payload, greatest)?;
        }
        Ok(())
    }

    /// An alias of a module or component gets the next index among them.
    fn take_alias(&mut self, alias: &ComponentAlias<'_>) {
        let greatest = self.greatest;
        match alias {
            ComponentAlias::InstanceExport { kind, .. } => match (kind, self.innermost()) {
                (ComponentExternalKind::Module, Some(component)) => {
                    component.modules.push(greatest.module);
                }
                (ComponentExternalKind::Component, Some(component)) => {
                    component.components.push(greatest);
                }
                _ => {}
            },
            ComponentAlias::Outer { kind, count, index } => {
                let (around, index) = (self.around(*count), *index as usize);
                let module = around.and_then(|it| it.modules.get(index).copied());
                let inner = around.and_then(|it| it.components.get(index).copied());
                match (kind, self.innermost()) {
                    (ComponentOuterAliasKind::CoreModule, Some(component)) => {
                        component.modules.push(module.unwrap_or(greatest.module));
                    }
                    (ComponentOuterAliasKind::Component, Some(component)) => {
                        component.components.push(inner.unwrap_or(greatest));
                    }
                    _ => {}
                }
            }
            ComponentAlias::CoreInstanceExport { .. } => {}
        }
    }

    /// The component so many further out than the innermost.
    fn around(&self, count: u32) -> Option<&Component> {
        let depth = self.frames.len().checked_sub(1)?;
        match self.frames.get(depth.checked_sub(count as usize)?)? {
            Frame::Component(component) => Some(component),
            Frame::Module(_) => None,
        }
    }

    fn innermost(&mut self) -> Option<&mut Component> {
        match self.frames.last_mut() {
            Some(Frame::Component(component)) => Some(component),
            _ => None,
        }
    }

    /// A module or component has been read to its end.
    fn end(&mut self) -> Result<(), Refused> {
        match self.frames.pop() {
            Some(Frame::Module(module)) => {
                self.greatest.module = self.greatest.module.max(module.segments);
                if let Some(around) = self.innermost() {
                    around.modules.push(module.segments);
                }
            }
            Some(Frame::Component(component)) => {
                component.taken.check()?;
                self.greatest.raise_to(component.taken);
                if let Some(around) = self.innermost() {
                    around.components.push(component.taken);
                }
            }
            None => {}
        }
        Ok(())
    }
}

/// Hold a number against its bound.
fn bounded(number: u64, most: u64, what: &str) -> Result<(), Refused> {
    match number > most {
        false => Ok(()),
        true => Err(Refused::TooMuch(format!(
            "it has {number} {what}, and at most {most} are allowed"
        ))),
    }
}

#[cfg(test)]
mod tests;
