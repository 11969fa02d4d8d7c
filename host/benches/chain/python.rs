//! The chain of the five reference units with one of them in Python: the unit
//! `cpu-in-python` in place of its twin `cpu`.
//!
//! Its component of some 18 MB is not in the repository. It is built by
//! `sdk/python/build sdk/python/examples/cpu-in-python --out target/units/cpu-in-python.wasm`,
//! or named by the variable `PLACEWRIGHT_PYTHON_UNIT`.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use placewright::contract::Call;
use placewright::engine::{Engine, Limits};
use placewright::library::Generation;
use placewright::unit::Unit;

use crate::fleet;

/// The variable that names the component.
const VARIABLE: &str = "PLACEWRIGHT_PYTHON_UNIT";

const NAME: &str = "cpu-in-python";

/// The component; says where it would be taken from, if it is not there.
pub fn component() -> Option<Vec<u8>> {
    let file = env::var_os(VARIABLE).map_or_else(built, PathBuf::from);
    let component = std::fs::read(&file);
    if component.is_err() {
        println!(
            "python: skipped, since {} is not there: build it with sdk/python/build, or name one by {VARIABLE}",
            file.display()
        );
    }
    component.ok()
}

fn built() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"),
        PathBuf::from,
    );
    target.join("units").join(NAME).with_extension("wasm")
}

/// The unit in Python and the one in Rust, under the limits in force.
pub struct Units {
    pub python: Arc<Unit>,
    pub rust: Arc<Unit>,
    others: Vec<Arc<Unit>>,
}

impl Units {
    /// Compiles them: that of Python takes some seconds.
    pub fn load(component: &[u8]) -> Self {
        let engine = Engine::new(Limits::default(), None).expect("an engine");
        let python = Unit::load(&engine, component, NAME).expect("the unit loads");
        let [memory, rust, affinity, even, power, ..] = fleet::units(&engine);
        Self {
            python,
            rust,
            others: vec![memory, affinity, even, power],
        }
    }

    /// The five, with that of Python among them.
    pub fn generation(&self) -> Generation {
        let units = self.others.iter().chain([&self.python]).cloned();
        Generation::new(units).expect("five names")
    }

    /// The policy of the five, with that of Python among them.
    pub fn policy(&self) -> String {
        fleet::POLICY.replace("\"cpu\"", &format!("\"{NAME}\""))
    }
}

/// A call for one VM and so many hosts, which the units read in the same order.
pub fn call(hosts: usize) -> Call {
    let vm = [1, 2, 2, 0, 2_000];
    let host = [2, 40, 80, 40_000, 8_000, 0, 0, 1];
    let mut integers = vm.to_vec();
    for value in host {
        integers.extend(std::iter::repeat_n(value, hosts));
    }
    // Offsets of the VMs that run there already, of which there are none.
    integers.extend(std::iter::repeat_n(0, hosts + 1));
    // Settings.
    integers.extend([0, 0]);
    Call {
        rows: vec![1, u32::try_from(hosts).expect("not that many"), 0, 1],
        integers,
        numbers: vec![4.0],
        ..Call::default()
    }
}
