//! The chain of the five reference units with one of them in Python or JavaScript: the unit
//! `cpu-in-python` or `cpu-in-javascript` in place of its twin `cpu`.
//!
//! Their components of some 18 and 2 MB are not in the repository. They are built by
//! `sdk/python/build sdk/python/examples/cpu-in-python --out target/units/cpu-in-python.wasm`
//! and `sdk/javascript/build sdk/javascript/examples/cpu-in-javascript --out
//! target/units/cpu-in-javascript.wasm`, or lie in the folder that the variable
//! `PLACEWRIGHT_GUEST_UNITS` names.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use placewright_engine::contract::Call;
use placewright_engine::generation::Generation;
use placewright_engine::unit::Unit;
use placewright_engine::{Engine, Limits};

use crate::fleet;

/// The variable that names the folder of the components.
const VARIABLE: &str = "PLACEWRIGHT_GUEST_UNITS";

/// The component of a unit; says where it would be taken from, if it is not there.
pub(crate) fn component(name: &str) -> Option<Vec<u8>> {
    let folder = env::var_os(VARIABLE).map_or_else(built, PathBuf::from);
    let file = folder.join(name).with_extension("wasm");
    let component = std::fs::read(&file);
    if component.is_err() {
        println!(
            "{name}: skipped, since {} is not there: build it by the script of its SDK",
            file.display()
        );
    }
    component.ok()
}

fn built() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
        PathBuf::from,
    );
    target.join("units")
}

/// The unit in another language and the one in Rust, under the limits in force.
pub(crate) struct Units {
    pub guest: Arc<Unit>,
    pub rust: Arc<Unit>,
    others: Vec<Arc<Unit>>,
}

impl Units {
    /// Compiles them: one with an interpreter in it takes some seconds.
    pub(crate) fn load(component: &[u8], name: &str) -> Self {
        let engine = Engine::new(Limits::default(), None).expect("an engine");
        let guest = Unit::load(&engine, component, name).expect("the unit loads");
        let [memory, rust, affinity, even, power, ..] = fleet::units(&engine);
        Self {
            guest,
            rust,
            others: vec![memory, affinity, even, power],
        }
    }

    /// The five, with that of the other language among them.
    pub(crate) fn generation(&self) -> Generation {
        let units = self.others.iter().chain([&self.guest]).cloned();
        Generation::new(units).expect("five names")
    }

    /// The policy of the five, with that of the other language among them.
    pub(crate) fn policy(&self) -> String {
        fleet::POLICY.replace("\"cpu\"", &format!("\"{}\"", self.guest.name()))
    }
}

/// A call for one VM and so many hosts, which the units read in the same order.
pub(crate) fn call(hosts: usize) -> Call {
    let vm = [1, 2, 2, 0, 2_000];
    let host = [2, 40, 80, 40_000, 8_000, 0, 0, 1];
    let mut integers = vm.to_vec();
    for value in host {
        integers.extend(std::iter::repeat_n(value, hosts));
    }
    // Offsets of `hosts/current`: no VM of the request runs on any host.
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
