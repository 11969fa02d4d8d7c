//! What it takes to have a unit: its code, from scratch and kept, and an instance.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::Quartiles;
use placewright_engine::contract::Part;
use placewright_engine::unit::{Fault, Unit, UnitLoadError};
use placewright_engine::{Engine, EngineError, Limits};

/// How many instances are made to see what one takes.
const INSTANCES: usize = 31;
/// How often the kept code is loaded.
const LOADS: usize = 5;

/// A unit that was loaded twice: to be timed, and to have its instructions counted.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Where it came from.
    pub source: String,
    /// Under the limits in force.
    pub timed: Arc<Unit>,
    /// Under [`Limits::reproducible`].
    pub counted: Arc<Unit>,
    /// What loading it took.
    pub cost: LoadCost,
}

/// What it takes to have a unit. Times are in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct LoadCost {
    /// Bytes of its component.
    pub bytes: usize,
    /// To compile it, to keep its code, and to ask it who it is; once.
    pub compiled_ns: f64,
    /// The same with the code that was kept.
    pub from_cache_ns: Quartiles,
    /// A fresh instance.
    pub instance_ns: Quartiles,
}

/// Why a unit was not loaded to be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// There is something wrong with its bytes.
    #[error(transparent)]
    NotLoaded(#[from] UnitLoadError),
    /// It cannot be instantiated.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// There is no engine for it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// There is no place for its code.
    #[error("cannot make a folder for compiled code")]
    Folder(#[from] io::Error),
}

/// Load a unit, and measure that. It is compiled under the limits in force, whatever
/// code of it is kept elsewhere; `counting` is an engine that counts fuel.
///
/// # Errors
/// If it cannot be loaded.
pub fn load(bytes: &[u8], source: &str, counting: &Engine) -> Result<Loaded, MeasureError> {
    let folder = tempfile::tempdir()?;
    let engine = Engine::new(Limits::default(), Some(folder.path()))?;
    let begun = Instant::now();
    let timed = Unit::load(&engine, bytes, source)?;
    let compiled_ns = nanoseconds(begun);
    let mut loads = Vec::with_capacity(LOADS);
    for _ in 0..LOADS {
        let begun = Instant::now();
        Unit::load(&engine, bytes, source)?;
        loads.push(nanoseconds(begun));
    }
    let part = timed.exports().into_iter().next_back();
    let mut instances = Vec::with_capacity(INSTANCES);
    for _ in 0..INSTANCES {
        let begun = Instant::now();
        let instance = timed.instantiate(part.unwrap_or(Part::Unit))?;
        instances.push(nanoseconds(begun));
        drop(instance);
    }
    let none = Quartiles {
        lower: 0.0,
        median: 0.0,
        upper: 0.0,
    };
    Ok(Loaded {
        source: source.to_owned(),
        counted: Unit::load(counting, bytes, source)?,
        cost: LoadCost {
            bytes: timed.size(),
            compiled_ns,
            from_cache_ns: Quartiles::of(loads).unwrap_or(none),
            instance_ns: Quartiles::of(instances).unwrap_or(none),
        },
        timed,
    })
}

/// Since then.
pub(super) fn nanoseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e9
}
